//! Crownhead: endgame tablebases for every draughts variant.
pub mod board;
pub mod notation;
pub mod rules;
