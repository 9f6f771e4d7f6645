//! The fast move generator.
