//! Crownhead: endgame tablebases for every draughts variant.
//!
//! A tablebase knows, for every position with few enough pieces, who wins and how long it takes.
//! Five parts, each usable alone, lead from the rules of a variant to the answer:
//! rules (what is legal) → index (position ↔ number) → solver (retrograde analysis) → tables
//! (files) → probe (answers).
//!
//! ```
//! use crownhead::notation::fen;
//! use crownhead::probe::Tablebase;
//! use crownhead::rules::Variant;
//! use crownhead::solve::{Plan, Settings, generate, solver};
//! use crownhead::table::{Metric, Profile, Wdl};
//!
//! # let directory = tempfile::tempdir()?;
//! # let tables = directory.path().to_owned();
//! let variant = Variant::Russian;
//! let plan = Plan::complete(variant.rule_set(), 2);
//! let settings = Settings {
//!     tables: tables.clone(),
//!     metrics: vec![Metric::Dtw],
//!     memory: None,
//!     profile: Profile::Fast,
//! };
//! generate(&plan, &mut *solver(variant.rule_set(), &settings.metrics, None), &settings, &|_| ())?;
//!
//! let position = fen::parse(variant, "B:WKa1:BKh8")?;
//! let outcome = Tablebase::open(&[tables]).probe(&position)?;
//! assert_eq!((outcome.result, outcome.dtw), (Wdl::Loss, Some(2)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`board`] | geometries, bitboards, positions |
//! | [`rules`] | variants as data, a fast and a slow move generator |
//! | [`notation`] | FEN, moves, games |
//! | [`index`] | slices of equal material, numbers of positions |
//! | [`solve`] | solvers, the order of slices, the generator of tables |
//! | [`table`] | the file format, writer and reader |
//! | [`verify`] | proof of finished tables |
//! | [`probe`] | opened tables, answers, ranked moves |
//! | [`review`] | the moves of a game judged |
//! | [`stats`] | histograms of distances, mining of remarkable positions |
//!
//! An engine that only probes needs neither solver nor program: with `default-features = false`
//! the crate is without [`solve`], [`verify`], [`review`] and [`stats`] (feature `solve`) and without
//! the program (feature `cli`), and builds in a fraction of the time. `docs/engines.md` tells how to
//! use it, from C too.

pub mod board;
pub mod index;
pub mod notation;
mod parallel;
pub mod probe;
#[cfg(feature = "solve")]
pub mod review;
pub mod rules;
#[cfg(feature = "solve")]
pub mod solve;
#[cfg(feature = "solve")]
pub mod stats;
pub mod table;
#[cfg(feature = "solve")]
pub mod verify;

/// The Rust in the documents runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/engines.md")]
struct Documents;
