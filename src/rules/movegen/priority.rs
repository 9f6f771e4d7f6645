use crate::rules::Choice;

/// How much a capture is preferred: of all captures in a position those with the highest priority
/// may be played, whichever piece makes them.
///
/// The number is opaque, comparable only within one [`Choice`] rule, and built up along the
/// capture: [`Priority::start`], then [`Priority::taking`] for each piece in the order taken.
/// Going on never lowers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u64);

impl Priority {
    /// Below every capture of every rule except [`Choice::Free`], and equal to those.
    pub const LOWEST: Priority = Priority(0);

    // Fields of the number, most significant first. Most, MostThenKings: pieces, kings. Value:
    // value, capturing king. Italian: pieces, capturing king, kings, order (bit 31 - i is set if
    // the i-th piece taken is a king, so meeting a king earlier is more).
    const PIECE: u64 = 1 << 48;
    const CAPTURING_KING: u64 = 1 << 40;
    const KING: u64 = 1 << 32;
    const MAN_VALUE: u64 = 100;
    const KING_VALUE: u64 = 199;

    /// Before the first piece is taken, for a capturing king or man.
    #[inline(always)]
    pub const fn start(choice: Choice, by_king: bool) -> Priority {
        match choice {
            Choice::Free | Choice::Most | Choice::MostThenKings => Priority(0),
            Choice::Value | Choice::KingFirst => Priority(by_king as u64),
            Choice::Italian => Priority(by_king as u64 * Self::CAPTURING_KING),
        }
    }

    /// After taking one more piece.
    #[inline(always)]
    pub const fn taking(self, choice: Choice, king: bool) -> Priority {
        let is_king = king as u64;
        Priority(match choice {
            Choice::Free | Choice::KingFirst => self.0,
            Choice::Most => self.0 + Self::PIECE,
            Choice::MostThenKings => self.0 + Self::PIECE + is_king * Self::KING,
            Choice::Value if king => self.0 + 2 * Self::KING_VALUE,
            Choice::Value => self.0 + 2 * Self::MAN_VALUE,
            Choice::Italian => {
                let earlier = self.0 / Self::PIECE;
                let order = is_king << 31 >> earlier;
                self.0 + Self::PIECE + is_king * Self::KING + order
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(choice: Choice, by_king: bool, taken: &str) -> Priority {
        taken
            .chars()
            .fold(Priority::start(choice, by_king), |p, c| {
                p.taking(choice, c == 'k')
            })
    }

    #[test]
    fn italian_steps_in_order() {
        let italian = |by_king, taken| of(Choice::Italian, by_king, taken);
        assert!(italian(false, "mmm") > italian(true, "kk"), "most pieces");
        assert!(italian(true, "mm") > italian(false, "mm"), "with a king");
        assert!(italian(true, "mkk") > italian(true, "kmm"), "most kings");
        assert!(
            italian(true, "kmk") > italian(true, "mkk"),
            "kings earliest"
        );
        assert_eq!(italian(true, "kmk"), italian(true, "kmk"));
    }

    #[test]
    fn frisian_values() {
        let value = |by_king, taken| of(Choice::Value, by_king, taken);
        assert!(
            value(false, "mm") > value(true, "k"),
            "a king is less than two men"
        );
        assert!(
            value(false, "kk") > value(true, "mmm"),
            "two kings more than three men"
        );
        assert!(value(true, "mmmm") > value(false, "kk"));
        assert!(
            value(true, "mk") > value(false, "km"),
            "a tie goes to the king"
        );
    }

    #[test]
    fn other_rules() {
        assert!(of(Choice::MostThenKings, false, "mmm") > of(Choice::MostThenKings, true, "kk"));
        assert!(of(Choice::MostThenKings, false, "mk") > of(Choice::MostThenKings, true, "mm"));
        assert_eq!(of(Choice::Most, false, "mk"), of(Choice::Most, true, "mm"));
        assert!(of(Choice::KingFirst, true, "m") > of(Choice::KingFirst, false, "kkk"));
        assert_eq!(of(Choice::Free, true, "m"), Priority::LOWEST);
    }
}
