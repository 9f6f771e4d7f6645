//! The program as people and scripts use it: every command, its errors and exit codes, and what
//! it leaves on the disk.

#[path = "../common/mod.rs"]
mod common;
mod support;

mod annotate;
mod batch;
mod generate;
mod info;
mod manual;
mod mine;
mod output;
mod probe;
mod rules;
mod stats;
mod tricky;
mod usage;
mod verify;
