//! Crownhead: endgame tablebases for every draughts variant.
pub mod board;
pub mod cli;
pub mod index;
pub mod notation;
pub mod probe;
pub mod rules;
pub mod solve;
pub mod table;
pub mod verify;
