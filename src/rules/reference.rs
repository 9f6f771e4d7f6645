//! The slow, obviously right move generator.
