//! Logarithms in integers, so that every platform makes the same choices and the same bytes.

/// Bits of a cost are counted in units of 1 / 65536.
pub(super) const BIT: u64 = 1 << 16;

/// Base-two logarithm of a positive number, in units of 1 / 65536 (rounded down).
pub(super) fn log2(number: u64) -> u64 {
    debug_assert!(number > 0);
    let whole = number.ilog2();
    // The number scaled to 1 <= x < 2, with 32 bits behind the point.
    let mut x = if whole > 32 {
        number >> (whole - 32)
    } else {
        number << (32 - whole)
    };
    let mut fraction = 0;
    for _ in 0..16 {
        x = ((u128::from(x) * u128::from(x)) >> 32) as u64;
        fraction <<= 1;
        if x >> 33 != 0 {
            x >>= 1;
            fraction |= 1;
        }
    }
    u64::from(whole) << 16 | fraction
}

/// The cost of coding `count` events of `total`, all told.
#[inline]
pub(super) fn cost(count: u64, total: u64) -> u64 {
    if count == 0 {
        0
    } else {
        count.saturating_mul(log2(total) - log2(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_close() {
        for number in (1..5000u64).chain([u64::from(u32::MAX), 1 << 50, u64::MAX]) {
            let exact = (number as f64).log2();
            let found = log2(number) as f64 / BIT as f64;
            assert!((exact - found).abs() < 1e-3, "{number}: {found} {exact}");
        }
    }
}
