//! Nodes a second of perft with bulk counting at the leaves, from starting positions.
//!
//! `cargo bench --bench perft`

use crownhead::board::Position;
use crownhead::rules::{Rules, Variant, movegen};
use crownhead::with_rules;
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

#[divan::bench(args = [
    (Variant::English, 10),
    (Variant::Russian, 9),
    (Variant::International, 8),
    (Variant::Frisian, 8),
    (Variant::Canadian, 7),
    (Variant::Turkish, 6),
], sample_count = 10, sample_size = 1)]
fn perft(bencher: Bencher, (variant, depth): (Variant, u32)) {
    with_rules!(variant.rule_set(), R => {
        let board = Position::start(variant).to_board::<<R as Rules>::Geometry>();
        let nodes = movegen::perft::<R>(&board, depth);
        bencher
            .counter(ItemsCount::new(nodes))
            .bench(|| movegen::perft::<R>(divan::black_box(&board), depth))
    })
}
