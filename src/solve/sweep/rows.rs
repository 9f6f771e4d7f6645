//! Sets of rows of a block. A sweep looks at rows only that can have changed, which late in a block
//! are few: with a bit for each, the others cost next to nothing.

use crate::board::Word;

/// Rows whose marks are kept in one integer: sixty-four that follow each other, in the last group
/// fewer.
pub const GROUP: usize = u64::BITS as usize;

/// Some rows of a block.
pub struct RowSet {
    groups: Vec<u64>,
    rows: usize,
}

impl RowSet {
    /// None of so many rows.
    pub fn new(rows: usize) -> Self {
        RowSet {
            groups: vec![0; rows.div_ceil(GROUP)],
            rows,
        }
    }

    pub fn groups(&self) -> &[u64] {
        &self.groups
    }

    pub fn groups_mut(&mut self) -> &mut [u64] {
        &mut self.groups
    }

    pub fn is_empty(&self) -> bool {
        self.groups.iter().all(|&group| group == 0)
    }

    pub fn clear(&mut self) {
        self.groups.fill(0);
    }

    #[inline(always)]
    pub fn insert_all(&mut self) {
        let mut left = self.rows;
        for group in &mut self.groups {
            *group = u64::MAX >> (GROUP - left.min(GROUP));
            left = left.saturating_sub(GROUP);
        }
    }

    #[inline(always)]
    pub fn insert(&mut self, row: usize) {
        self.groups[row / GROUP] |= 1 << (row % GROUP);
    }

    #[inline(always)]
    pub fn insert_each(&mut self, others: &RowSet) {
        for (group, other) in self.groups.iter_mut().zip(&others.groups) {
            *group |= other;
        }
    }

    /// There are many in it, so that to find out what follows from each does not pay.
    #[inline(always)]
    pub fn is_crowded(&self) -> bool {
        let count: u32 = self.groups.iter().map(|group| group.count_ones()).sum();
        8 * count as usize > self.rows
    }

    #[inline(always)]
    pub fn for_each(&self, mut f: impl FnMut(usize)) {
        for (i, group) in self.groups.iter().enumerate() {
            for row in group.bits() {
                f(i * GROUP + row.trailing_zeros() as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_set_that_were_inserted() {
        for rows in [1, 63, 64, 65, 200] {
            let mut all = RowSet::new(rows);
            assert!(all.is_empty() && !all.is_crowded());
            all.insert_all();
            let mut one_by_one = RowSet::new(rows);
            let mut row = 0;
            all.for_each(|next| {
                assert_eq!(next, row);
                one_by_one.insert(row);
                row += 1;
            });
            assert_eq!(row, rows);
            assert_eq!(one_by_one.groups(), all.groups());
            assert!(all.is_crowded());
            one_by_one.clear();
            assert!(one_by_one.is_empty());
            one_by_one.insert(rows - 1);
            one_by_one.insert_each(&RowSet::new(rows));
            one_by_one.for_each(|row| assert_eq!(row, rows - 1));
            assert_eq!(one_by_one.is_crowded(), rows < 8);
        }
    }
}
