use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Shl, Shr};

/// The machine word that holds one bit for every square of a geometry.
pub trait Word:
    Copy
    + Debug
    + Default
    + Eq
    + Ord
    + Hash
    + Send
    + Sync
    + 'static
    + BitAnd<Output = Self>
    + BitAndAssign
    + BitOr<Output = Self>
    + BitOrAssign
    + BitXor<Output = Self>
    + BitXorAssign
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    const BITS: u32;
    const ZERO: Self;
    const ONE: Self;
    /// All bits set.
    const ALL: Self;

    fn rotate_left(self, by: u32) -> Self;
    fn reverse_bits(self) -> Self;
    fn count_ones(self) -> u32;
    fn trailing_zeros(self) -> u32;
    fn wrapping_sub(self, other: Self) -> Self;
    fn to_u128(self) -> u128;
    /// Keeps the low [`Self::BITS`] bits.
    fn from_u128(bits: u128) -> Self;

    #[inline(always)]
    fn is_empty(self) -> bool {
        self == Self::ZERO
    }

    #[inline(always)]
    fn any(self) -> bool {
        self != Self::ZERO
    }

    /// More than one bit is set.
    #[inline(always)]
    fn several(self) -> bool {
        self.without_lowest().any()
    }

    /// The lowest set bit alone; zero for zero.
    #[inline(always)]
    fn lowest(self) -> Self {
        self & Self::ZERO.wrapping_sub(self)
    }

    #[inline(always)]
    fn without_lowest(self) -> Self {
        self & self.wrapping_sub(Self::ONE)
    }

    /// All bits below the lowest set bit; every bit for zero.
    #[inline(always)]
    fn below_lowest(self) -> Self {
        !self & self.wrapping_sub(Self::ONE)
    }

    /// The set bits one by one, each as a word, lowest first.
    #[inline(always)]
    fn bits(self) -> Bits<Self> {
        Bits(self)
    }
}

macro_rules! word {
    ($($t:ty),*) => { $(
        impl Word for $t {
            const BITS: u32 = <$t>::BITS;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const ALL: Self = <$t>::MAX;

            #[inline(always)]
            fn rotate_left(self, by: u32) -> Self { <$t>::rotate_left(self, by) }
            #[inline(always)]
            fn reverse_bits(self) -> Self { <$t>::reverse_bits(self) }
            #[inline(always)]
            fn count_ones(self) -> u32 { <$t>::count_ones(self) }
            #[inline(always)]
            fn trailing_zeros(self) -> u32 { <$t>::trailing_zeros(self) }
            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self { <$t>::wrapping_sub(self, other) }
            #[inline(always)]
            fn to_u128(self) -> u128 { u128::from(self) }
            #[inline(always)]
            fn from_u128(bits: u128) -> Self { bits as $t }
        }
    )* };
}
word!(u32, u64, u128);

/// Iterator over the set bits of a word, see [`Word::bits`].
#[derive(Clone, Copy, Debug)]
pub struct Bits<W>(W);

impl<W: Word> Iterator for Bits<W> {
    type Item = W;

    #[inline(always)]
    fn next(&mut self) -> Option<W> {
        if self.0.is_empty() {
            return None;
        }
        let bit = self.0.lowest();
        self.0 ^= bit;
        Some(bit)
    }
}
