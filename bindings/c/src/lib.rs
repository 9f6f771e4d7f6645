//! The C interface: `crownhead.h` is made from what is public here, `docs/engines.md` tells how to
//! use it.
//!
//! Every function may be called from any thread, with the same tablebase too. None lets a panic
//! out, and none trusts its arguments more than C must be trusted: null pointers and impossible
//! values give [`Status::CrownheadInvalidArgument`]. Failures are told by a status; their text is
//! kept per tablebase and thread until asked for, see [`crownhead_last_error`].

#![allow(
    clippy::missing_safety_doc,
    reason = "what callers must see to is said once, for all functions, in `crownhead.h`"
)]

mod errors;
mod positions;
mod probing;
mod tables;

pub use errors::*;
pub use positions::*;
pub use probing::*;
pub use tables::*;
