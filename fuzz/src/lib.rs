//! Inputs of the fuzz target `tables`: table files with right checksums over wrong bytes.

use crownhead::board::{ByColor, Color};
use crownhead::index::Slice;
use crownhead::rules::RuleSetId;

const HEADER: usize = 284;
const PAGE: usize = 4096;
/// Where White's and Black's part of the header begin.
const SIDES: [usize; 2] = [72, 176];
/// Bytes before the sections in a recipe.
const RECIPE: usize = 10 + 2 * SIDE;
/// Codec, parameter and four lengths.
const SIDE: usize = 14;

/// A table file from an input: as it is if its first byte is even, else by the recipe behind it;
/// the checksums are right either way. None if the input is too short.
pub fn file(input: &[u8]) -> Option<Vec<u8>> {
    let (&kind, rest) = input.split_first()?;
    if kind % 2 == 0 {
        (rest.len() >= HEADER).then(|| sealed(rest.to_vec()))
    } else {
        by_recipe(rest)
    }
}

/// A recipe: rule set, metric, men and kings of both sides, what is left out, profile, u16 depth
/// bound; for each side codec and parameter (u8 and u32) and the lengths of model, index and
/// exceptions (u16, u16, u8) and its share of the rest in 1/65536 for the data; then the sections.
fn by_recipe(recipe: &[u8]) -> Option<Vec<u8>> {
    let (fields, sections) = recipe.split_at_checked(RECIPE)?;
    let rule_set = RuleSetId::ALL[usize::from(fields[0]) % RuleSetId::ALL.len()];
    let [wm, wk, bm, bk] = [fields[2], fields[3], fields[4], fields[5]].map(|n| n % 8);
    let slice = Slice::new(ByColor::new(wm, bm), ByColor::new(wk, bk))?.canonical();
    let geometry = rule_set.rules().geometry;
    let positions = slice.positions(geometry);
    let mut bytes = b"CRWNHEAD\x02\x00\x1c\x01".to_vec();
    let men = |color| slice.men(color) as u8;
    let kings = |color| slice.kings(color) as u8;
    let sides = if slice.is_symmetric() { 1 } else { 3 };
    bytes.extend([rule_set as u8, geometry as u8, fields[1] % 3, sides]);
    bytes.extend(Color::BOTH.iter().flat_map(|&c| [men(c), kings(c)]));
    bytes.extend([0, fields[6] % 4, 1, 0]);
    bytes.extend(positions.to_le_bytes());
    bytes.extend([fields[8], fields[9], fields[7] % 3, 0]);
    bytes.extend((PAGE as u32).to_le_bytes());
    bytes.resize(HEADER, 0);
    let mut left = sections.len() as u64;
    for (i, &at) in SIDES.iter().enumerate().take(if sides == 3 { 2 } else { 1 }) {
        let field = &fields[10 + i * SIDE..][..SIDE];
        bytes[at + 8..at + 16].copy_from_slice(&positions.to_le_bytes());
        bytes[at + 24..at + 28].fill(0xff);
        bytes[at + 36..at + 40].fill(0xff);
        bytes[at + 64] = field[0] % 6;
        bytes[at + 68..at + 72].copy_from_slice(&field[1..5]);
        let wanted = [
            u64::from(u16::from_le_bytes([field[5], field[6]])),
            u64::from(u16::from_le_bytes([field[7], field[8]])),
            u64::from(u32::from_le_bytes([field[9], field[10], field[11], 0])),
            8 * u64::from(field[12]),
        ];
        let last = i == 1 || sides == 1;
        for (place, wanted) in wanted.into_iter().enumerate() {
            let len = if last && place == 3 { left } else { wanted.min(left) };
            left -= len;
            bytes[at + 72 + 8 * place..][..8].copy_from_slice(&len.to_le_bytes());
        }
    }
    bytes.extend(sections);
    let pages = sections.len().div_ceil(PAGE);
    bytes.resize(bytes.len() + 4 * pages, 0);
    Some(sealed(bytes))
}

/// A recipe that gives a table file back, save for its counts.
pub fn recipe(file: &[u8]) -> Vec<u8> {
    let mut recipe = vec![1, file[12], file[14], file[16], file[17], file[18], file[19], file[21]];
    recipe.extend([file[34], file[32], file[33]]);
    let mut content = 0;
    for at in SIDES {
        let length = |i: usize| {
            let field = file[at + 72 + 8 * i..][..8].try_into();
            u64::from_le_bytes(field.expect("eight bytes"))
        };
        recipe.push(file[at + 64]);
        recipe.extend(&file[at + 68..at + 72]);
        recipe.extend(&(length(0) as u16).to_le_bytes());
        recipe.extend(&(length(1) as u16).to_le_bytes());
        recipe.extend(&(length(2) as u32).to_le_bytes()[..3]);
        recipe.extend([(length(3) / 8) as u8, 0]);
        content += (0..4).map(length).sum::<u64>() as usize;
    }
    recipe.extend(&file[HEADER..HEADER + content]);
    recipe
}

/// Makes length and checksums of a file right.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let len = bytes.len();
    // As many pages as fit with their checksums.
    let pages = (len - HEADER).div_ceil(PAGE + 4);
    let end = (len - 4 * pages).max(HEADER);
    let checksums: Vec<u8> = bytes[HEADER..end]
        .chunks(PAGE)
        .flat_map(|page| crc32fast::hash(page).to_le_bytes())
        .collect();
    bytes.truncate(end);
    bytes.extend(&checksums);
    let len = bytes.len() as u64;
    bytes[40..48].copy_from_slice(&len.to_le_bytes());
    bytes[48..52].copy_from_slice(&crc32fast::hash(&checksums).to_le_bytes());
    let header = crc32fast::hash(&bytes[..HEADER - 4]);
    bytes[HEADER - 4..HEADER].copy_from_slice(&header.to_le_bytes());
    bytes
}
