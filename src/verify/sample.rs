use super::worth::Worth;
use super::{Subject, VerifyError};
use crate::board::Color;
use crate::index::Slice;
use crate::parallel;
use crate::probe::Tablebase;
use crate::rules::reference::RuleSheet;
use crate::rules::{Rules, Variant, with_rules};
use crate::table::{Metric, Wdl, stored_sides};

/// Positions of a sample looked at by one task.
const SAMPLE_CHUNK: u64 = 1024;

/// Verifies so many values of each table of one slice in these metrics, spread evenly. Returns the
/// number of values compared.
///
/// # Errors
/// The first thing that is wrong.
pub fn verify_sample(
    tables: &Tablebase,
    variant: Variant,
    slice: Slice,
    metrics: &[Metric],
    values: u64,
) -> Result<u64, VerifyError> {
    with_rules!(variant.rule_set(), R => {
        Subject::<R>::new(tables, variant, slice).verify_sample(metrics, values)
    })
}

impl<R: Rules> Subject<'_, R> {
    fn verify_sample(&self, metrics: &[Metric], values: u64) -> Result<u64, VerifyError> {
        let positions = self.index.len();
        let mut compared = 0;
        for metric in self.available(metrics) {
            for &side in stored_sides(self.slice) {
                let wanted = values.min(positions);
                // Multiples of such a step visit every part of the slice, no position twice.
                let step = (positions as f64 * 0.618_033_988_75) as u64;
                let step = (step.max(1)..).find(|&step| gcd(step, positions) == 1);
                let step = step.expect("some number has no factor in common");
                let chunks = wanted.div_ceil(SAMPLE_CHUNK);
                let wrong = parallel::map(chunks, &|chunk| {
                    let first = chunk * SAMPLE_CHUNK;
                    let sheet = &mut RuleSheet::default();
                    (first..wanted.min(first + SAMPLE_CHUNK)).find_map(|i| {
                        let position = match wanted == positions {
                            true => i,
                            false => {
                                ((u128::from(i) * u128::from(step)) % u128::from(positions)) as u64
                            }
                        };
                        self.check_one(sheet, metric, side, position).err()
                    })
                });
                let wrong = wrong.into_iter().flatten().next();
                if let Some(wrong) = wrong {
                    return Err(wrong);
                }
                compared += wanted;
            }
        }
        Ok(compared)
    }

    fn check_one(
        &self,
        sheet: &mut RuleSheet,
        metric: Metric,
        side: Color,
        position: u64,
    ) -> Result<(), VerifyError> {
        let board = self.board(side, position);
        let result = self.tables.result::<R>(&board)?;
        if metric == Metric::Wdl {
            let mut worth = Worth::default();
            self.each_by_rule_sheet(sheet, &board, |after, _| {
                worth.add(self.tables.result::<R>(after)?.reversed(), true);
                Ok(())
            })?;
            let expected = worth.result::<R>();
            return match result == expected {
                true => Ok(()),
                false => Err(self.wrong(metric, side, position, result, expected)),
            };
        }
        if result == Wdl::Draw {
            return Ok(());
        }
        let mut plies = [0];
        self.tables
            .distances_of::<R>(self.slice, metric, side, position, &mut plies)?;
        self.check_distance(sheet, metric, side, position, plies[0])
    }
}

/// The greatest common divisor.
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
