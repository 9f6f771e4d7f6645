//! The names of variants and slices as arguments.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};

use crownhead::index::{MAX_PIECES, Slice};
use crownhead::rules::{UnknownVariant, Variant};

use super::Failure;

/// The variant a command is about.
#[derive(Debug, clap::Args)]
pub struct VariantArg {
    /// A name that `crownhead variants` lists, or an alias such as checkers
    #[arg(value_parser = VariantNames, hide_possible_values = true)]
    variant: String,
}

impl VariantArg {
    pub fn get(&self) -> Result<Variant, UnknownVariant> {
        self.variant.parse()
    }
}

/// Takes any text, so that an unknown name is not a wrong usage, and tells shells the known ones.
#[derive(Clone, Debug)]
pub struct VariantNames;

impl TypedValueParser for VariantNames {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = Variant::ALL.iter();
        Some(Box::new(
            names.map(|v| PossibleValue::new(v.name()).help(v.title())),
        ))
    }
}

/// Reads the name of a slice of a variant.
pub fn slice(variant: Variant, name: &str) -> Result<Slice, Failure> {
    let slice: Slice = match name.parse() {
        Ok(slice) => slice,
        Err(error) => {
            return Err(match meant(name) {
                Some(slice) => format!("{error}; did you mean {slice}?").into(),
                None => error.into(),
            });
        }
    };
    let kings =
        slice.kings(crownhead::board::Color::White) + slice.kings(crownhead::board::Color::Black);
    if kings > 0 && !variant.rules().has_kings() {
        return Err(format!("slice `{name}`: {variant} has no kings").into());
    }
    Ok(slice)
}

/// The slice that is rather meant by something like `2K1M-KM`, `KK vs K` or `KQvM`: what stands on
/// either side of anything that divides, counts written out, letters of other tongues and pieces
/// (queen, dam; pawn) understood.
fn meant(name: &str) -> Option<Slice> {
    let text = name.to_lowercase().replace("vs", "v");
    let sides: Vec<String> = text
        .split(['v', 'x', '-', '_', ':', '/', ' ', '.', ','])
        .map(side)
        .filter(|side| !side.is_empty())
        .collect();
    let [white, black] = sides.try_into().ok()?;
    format!("{white}v{black}").parse().ok()
}

/// Kings and men of one side, `2k1m` as `KKM`.
fn side(text: &str) -> String {
    let mut letters = String::new();
    let mut count = String::new();
    for c in text.chars() {
        let letter = match c {
            'k' | 'q' | 'd' => 'K',
            'm' | 'p' | 'c' => 'M',
            digit => {
                count.extend(digit.is_ascii_digit().then_some(digit));
                continue;
            }
        };
        let times = count.parse().unwrap_or(1).min(MAX_PIECES + 1);
        letters.extend(std::iter::repeat_n(letter, times));
        count.clear();
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rather_meant() {
        for (text, slice) in [
            ("2K1M-KM", "KKMvKM"),
            ("kk vs k", "KKvK"),
            ("QvP", "KvM"),
            ("KM_K", "KMvK"),
        ] {
            assert_eq!(meant(text).map(|s| s.to_string()).as_deref(), Some(slice));
        }
        for text in ["", "K", "KvKvK", "99K-K", "hello"] {
            assert_eq!(meant(text), None, "{text}");
        }
    }
}
