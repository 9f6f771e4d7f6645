//! The rules of every variant, as data ([`RuleSet`]) and as two move generators that read it.
//!
//! * A [`Variant`] is a rule set plus a presentation: numbering of squares, mirroring of the
//!   board, who starts, how moves are written. Variants that differ in presentation only share a
//!   rule set and therefore tables.
//! * [`Rules`] carries a rule set into the type system: each rule set is a type whose
//!   [`SET`](Rules::SET) is a constant, so the generic generator in [`movegen`] is compiled once
//!   per rule set with every rule folded away.
//! * [`mod@reference`] is the slow twin: it walks the board cell by cell straight from the rule
//!   sheet, shares no code with the fast generator, and is what tests and `verify` trust.

pub mod movegen;
mod moves;
pub mod reference;
mod sets;
mod variant;

pub use moves::Move;
pub use sets::*;
pub use variant::{Notation, UnknownVariant, Variant};
