//! Crownhead: endgame tablebases for every draughts variant.
pub mod board;
pub mod rules;
