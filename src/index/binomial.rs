use super::MAX_PIECES;
use crate::board::Word;

const THINGS: usize = 73;
const SIZES: usize = MAX_PIECES + 1;

/// By size of the subsets, then by the number of things.
static BINOMIAL: [[u64; THINGS]; SIZES] = {
    let mut table = [[1; THINGS]; SIZES];
    let mut k = 1;
    while k < SIZES {
        table[k][0] = 0;
        let mut n = 1;
        while n < THINGS {
            table[k][n] = table[k - 1][n - 1] + table[k][n - 1];
            n += 1;
        }
        k += 1;
    }
    table
};

/// The number of `k`-subsets of `n` things, for at most 72 squares and [`MAX_PIECES`] pieces.
#[inline(always)]
pub fn binomial(n: usize, k: usize) -> u64 {
    BINOMIAL[k][n]
}

/// The number of a set among all sets of its size on the squares `free`, which must contain it.
#[inline(always)]
pub fn rank<W: Word>(set: W, free: W) -> u64 {
    let below = |square: W| (free & square.wrapping_sub(W::ONE)).count_ones();
    if set.is_empty() {
        return 0;
    }
    // Sets of one are as many as there are things.
    let mut rank = u64::from(below(set.lowest()));
    for (size, square) in (2..).zip(set.without_lowest().bits()) {
        rank += BINOMIAL[size][below(square) as usize];
    }
    rank
}

/// The set of `size` squares of `free` with the given [`rank`].
///
/// # Panics
/// If there are not so many sets.
#[inline]
pub fn unrank<W: Word>(mut rank: u64, size: usize, free: W) -> W {
    let mut set = W::ZERO;
    // Highest square first: it is the one with the most squares of `free` below it whose binomial
    // still fits into what is left of the rank.
    let mut limit = free.count_ones() as usize;
    for k in (2..=size).rev() {
        let fits = |&&binomial: &&u64| binomial <= rank;
        let place = BINOMIAL[k][..limit].iter().take_while(fits).count() - 1;
        rank -= BINOMIAL[k][place];
        set |= nth(free, place);
        limit = place;
    }
    if size > 0 {
        set |= nth(free, rank as usize);
    }
    set
}

/// The square of a set that has so many others below it.
#[inline(always)]
fn nth<W: Word>(set: W, place: usize) -> W {
    (0..place)
        .fold(set, |rest, _| rest.without_lowest())
        .lowest()
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
