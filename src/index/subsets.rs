use super::MAX_PIECES;
use crate::board::Word;

/// All sets of a given size on some squares, in order of their [`rank`](super::rank).
pub struct Subsets<W> {
    squares: [W; 72],
    count: usize,
    size: usize,
    /// Places of the next set's squares, ascending; meaningless once `done`.
    places: [u8; MAX_PIECES],
    done: bool,
}

impl<W: Word> Subsets<W> {
    pub fn new(size: usize, free: W) -> Self {
        let mut squares = [W::ZERO; 72];
        let mut count = 0;
        for square in free.bits() {
            squares[count] = square;
            count += 1;
        }
        let places = std::array::from_fn(|i| i as u8);
        Subsets {
            squares,
            count,
            size,
            places,
            done: size > count,
        }
    }
}

impl<W: Word> Iterator for Subsets<W> {
    type Item = W;

    #[inline]
    fn next(&mut self) -> Option<W> {
        if self.done {
            return None;
        }
        let places = &mut self.places[..self.size];
        let set = places
            .iter()
            .fold(W::ZERO, |set, &p| set | self.squares[p as usize]);
        // The next set in colexicographic order: move the lowest square that can move up by one,
        // and gather those below it at the bottom.
        let mut i = 0;
        loop {
            if i == self.size {
                self.done = true;
                break;
            }
            let limit = places.get(i + 1).map_or(self.count, |&p| p as usize);
            if places[i] as usize + 1 < limit {
                places[i] += 1;
                break;
            }
            places[i] = i as u8;
            i += 1;
        }
        Some(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{binomial, unrank};

    #[test]
    fn in_order_of_rank() {
        let free = 0b1101_1011_0110u32;
        for size in 0..=5 {
            let count = binomial(free.count_ones() as usize, size);
            let expected: Vec<u32> = (0..count).map(|r| unrank(r, size, free)).collect();
            assert_eq!(Subsets::new(size, free).collect::<Vec<_>>(), expected);
        }
        assert_eq!(Subsets::new(3, 0b11u32).count(), 0);
    }
}
