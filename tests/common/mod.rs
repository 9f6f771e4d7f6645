//! What several test suites share: random positions.

use crownhead::board::{ByColor, Color, Position, Square};
use crownhead::rules::Variant;
use proptest::prelude::*;

/// Random positions of a variant with 1 to `max_pieces` pieces, either side to move, men and
/// kings of both colours anywhere they may stand (one side may be without pieces).
pub fn positions(variant: Variant, max_pieces: usize) -> impl Strategy<Value = Position> {
    let most = max_pieces.clamp(1, usize::from(variant.squares()));
    let pieces = prop::collection::btree_map(
        0..variant.squares(),
        (any::<bool>(), prop::bool::weighted(0.4)),
        1..=most,
    );
    (pieces, any::<bool>()).prop_map(move |(pieces, white_to_move)| {
        let mut men = ByColor::<u128>::default();
        let mut kings = ByColor::<u128>::default();
        for (index, (white, king)) in pieces {
            let bit = Square::new(index).bit();
            let color = side(white);
            if variant.rules().has_kings() && (king || variant.promotion_row(color) & bit != 0) {
                kings[color] |= bit;
            } else if variant.promotion_row(color) & bit != 0 {
                men[!color] |= bit;
            } else {
                men[color] |= bit;
            }
        }
        Position::new(variant, men, kings, side(white_to_move))
            .expect("every piece may stand there")
    })
}

fn side(white: bool) -> Color {
    if white { Color::White } else { Color::Black }
}
