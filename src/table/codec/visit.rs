use super::codes::{Codes, SideCodes};
use super::context::{BITS, Contexts, Past, Planes};
use super::domain::Domain;
use super::reference::Reference;
use super::rows::Rows;
use crate::board::{Geometry, Word};

/// Calls the visitor with the numbers of the contexts and the value of each stored position of a
/// block, in order. `other` has the codes with the other side to move, for contexts that ask for
/// them.
pub(super) fn visit<G: Geometry>(
    domain: &Domain<G>,
    codes: &SideCodes,
    other: Option<&SideCodes>,
    contexts: &[Contexts<G>],
    block: u64,
    mut visitor: impl FnMut(&[u16], u8),
) {
    let range = domain.range(block);
    let mut reference = other.map(|other| {
        let mut codes = Codes::default();
        other.copy(range.clone(), &mut codes);
        Reference::new(domain, block, &codes)
    });
    let mut position = range.start;
    let mut past = Past::new();
    let mut fixed = vec![[0; BITS]; contexts.len()];
    let mut numbers = vec![0; contexts.len()];
    for row in Rows::new(&domain.index, domain.side, range) {
        let known = past.enter(domain, &row);
        for (contexts, fixed) in contexts.iter().zip(&mut fixed) {
            contexts.fixed(domain, &row, &known, &past, reference.as_ref(), fixed);
        }
        let mut values = Planes::UNKNOWN;
        for square in row.squares.bits() {
            values.set(square, codes.get(position));
            position += 1;
        }
        for square in known.kept.bits() {
            for ((contexts, fixed), number) in contexts.iter().zip(&fixed).zip(&mut numbers) {
                *number = contexts.at(square, &known, fixed, values, &past) as u16;
            }
            visitor(&numbers, values.at(square.trailing_zeros()) as u8);
        }
        past.add(&known, values);
        if let Some(reference) = &mut reference {
            reference.advance();
        }
    }
}
