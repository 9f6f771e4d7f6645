use super::MAX_PIECES;
use crate::board::Word;

const ROWS: usize = 73;
const COLUMNS: usize = MAX_PIECES + 1;

static BINOMIAL: [[u64; COLUMNS]; ROWS] = {
    let mut table = [[0u64; COLUMNS]; ROWS];
    let mut n = 0;
    while n < ROWS {
        table[n][0] = 1;
        let mut k = 1;
        while k < COLUMNS && n > 0 {
            table[n][k] = table[n - 1][k - 1] + table[n - 1][k];
            k += 1;
        }
        n += 1;
    }
    table
};

/// The number of `k`-subsets of `n` things, for at most 72 squares and [`MAX_PIECES`] pieces.
#[inline(always)]
pub fn binomial(n: usize, k: usize) -> u64 {
    BINOMIAL[n][k]
}

/// The number of a set among all sets of its size on the squares `free`, which must contain it.
#[inline(always)]
pub fn rank<W: Word>(set: W, free: W) -> u64 {
    let mut rank = 0;
    for (size, square) in (1..).zip(set.bits()) {
        let below = free & square.wrapping_sub(W::ONE);
        rank += BINOMIAL[below.count_ones() as usize][size];
    }
    rank
}

/// The set of `size` squares of `free` with the given [`rank`].
#[inline]
pub fn unrank<W: Word>(mut rank: u64, size: usize, free: W) -> W {
    let mut set = W::ZERO;
    // Highest square first: it is the one with the most squares of `free` below it whose binomial
    // still fits into what is left of the rank.
    let mut place = free.count_ones() as usize;
    let mut squares = free;
    for k in (1..=size).rev() {
        loop {
            place -= 1;
            let top = highest(squares);
            squares ^= top;
            if BINOMIAL[place][k] <= rank {
                rank -= BINOMIAL[place][k];
                set |= top;
                break;
            }
        }
    }
    set
}

#[inline(always)]
fn highest<W: Word>(set: W) -> W {
    set.reverse_bits().lowest().reverse_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_up_without_gaps() {
        let free = 0b1011_0110_1101u64;
        for size in 0..=4 {
            let count = binomial(free.count_ones() as usize, size);
            for r in 0..count {
                let set = unrank(r, size, free);
                assert_eq!(set & !free, 0);
                assert_eq!(set.count_ones() as usize, size);
                assert_eq!(rank(set, free), r);
            }
        }
    }
}
