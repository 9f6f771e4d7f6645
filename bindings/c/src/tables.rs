use std::ffi::{CStr, OsString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crownhead::board::ByColor;
use crownhead::index::Slice;
use crownhead::probe::{DEFAULT_CACHE, table_paths};
use crownhead::table::Metric;

use crate::errors::{Failure, Status, call, forget};
use crate::positions::{put, variant_of};

/// Opened tables. Made by crownhead_open, only pointers to it are passed around.
pub struct Tablebase {
    pub(crate) tables: crownhead::probe::Tablebase,
    /// Never given to another one.
    pub(crate) number: u64,
    /// Lives as long as this.
    pub(crate) open: Arc<()>,
}

/// Results: win, draw or loss.
pub const CROWNHEAD_METRIC_WDL: i32 = 1;
/// Distances to conversion.
pub const CROWNHEAD_METRIC_DTC: i32 = 2;
/// Distances to the end of the game.
pub const CROWNHEAD_METRIC_DTW: i32 = 4;

/// What the cache of a tablebase has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Statistics {
    /// Values asked for and found.
    pub hits: u64,
    /// Values asked for and not found.
    pub misses: u64,
    /// Blocks that were decoded.
    pub decodes: u64,
    /// Bytes in use, and the most bytes to use: 0 if the system did not give the memory, so that
    /// nothing is kept.
    pub bytes: u64,
    pub budget: u64,
    /// Tables that were found.
    pub tables: u64,
}

/// Opens the tables in a list of directories (separated by `:`, on Windows by `;`) and all below
/// them. Null stands for those of the environment variable CROWNHEAD_TABLES, else `tables`. The
/// cache of decoded values takes up to `cache_bytes`; 0 stands for 256 MiB. Files are mapped when
/// they are first needed. A directory that is not there is no error: ask what is available.
///
/// Returns null only if crownhead itself fails. To be closed with crownhead_close.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_open(
    directories: *const c_char,
    cache_bytes: u64,
) -> *mut Tablebase {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let opened = catch_unwind(AssertUnwindSafe(|| {
        let lists: Vec<OsString> = match directories.is_null() {
            true => Vec::new(),
            // SAFETY: a text, as the header demands.
            false => vec![path(unsafe { CStr::from_ptr(directories) })],
        };
        let bytes = if cache_bytes == 0 {
            DEFAULT_CACHE
        } else {
            cache_bytes
        };
        Box::new(Tablebase {
            tables: crownhead::probe::Tablebase::with_cache(&table_paths(&lists), bytes),
            number: NEXT.fetch_add(1, Relaxed),
            open: Arc::default(),
        })
    }));
    opened.map_or(std::ptr::null_mut(), Box::into_raw)
}

#[cfg(unix)]
fn path(bytes: &CStr) -> OsString {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes.to_bytes()).to_owned()
}

#[cfg(not(unix))]
fn path(bytes: &CStr) -> OsString {
    bytes.to_string_lossy().into_owned().into()
}

/// Closes a tablebase, which no thread may be using. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_close(tables: *mut Tablebase) {
    if tables.is_null() {
        return;
    }
    // Nothing can be done about a panic here but to keep it inside.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: it comes from crownhead_open and is not used any more, as the header demands.
        let tables = unsafe { Box::from_raw(tables) };
        forget(tables.number);
    }));
}

/// Which metrics a slice has, as a sum of CROWNHEAD_METRIC_ constants; 0 also for what cannot be.
/// Colours may be exchanged, tables serve both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_available(
    tables: *const Tablebase,
    variant: i32,
    white_men: u8,
    white_kings: u8,
    black_men: u8,
    black_kings: u8,
) -> i32 {
    let mut found = 0;
    call(tables, || {
        // SAFETY: null or open, as the header demands.
        let tables = unsafe { tables.as_ref() }.ok_or(Failure::null("tables"))?;
        let rule_set = variant_of(variant)?.rule_set();
        let men = ByColor::new(white_men, black_men);
        let kings = ByColor::new(white_kings, black_kings);
        if let Some(slice) = Slice::new(men, kings) {
            found = tables
                .tables
                .available(rule_set, slice)
                .iter()
                .map(|&m| flag(m))
                .sum();
        }
        Ok(())
    });
    found
}

fn flag(metric: Metric) -> i32 {
    match metric {
        Metric::Wdl => CROWNHEAD_METRIC_WDL,
        Metric::Dtc => CROWNHEAD_METRIC_DTC,
        Metric::Dtw => CROWNHEAD_METRIC_DTW,
    }
}

/// The most pieces up to which every slice has a metric (one CROWNHEAD_METRIC_ constant); 0 if
/// not even those of two have it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_complete(
    tables: *const Tablebase,
    variant: i32,
    metric: i32,
) -> i32 {
    let mut pieces = 0;
    call(tables, || {
        // SAFETY: null or open, as the header demands.
        let tables = unsafe { tables.as_ref() }.ok_or(Failure::null("tables"))?;
        let rule_set = variant_of(variant)?.rule_set();
        let known = Metric::ALL.into_iter().find(|&m| flag(m) == metric);
        let metric = known.ok_or_else(|| Failure::Argument(format!("no metric {metric}")))?;
        pieces = tables.tables.complete(rule_set, metric) as i32;
        Ok(())
    });
    pieces
}

/// Tells what the cache has done so far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_cache_statistics(
    tables: *const Tablebase,
    statistics: *mut Statistics,
) -> Status {
    call(tables, || {
        // SAFETY: null or open, as the header demands.
        let tables = unsafe { tables.as_ref() }.ok_or(Failure::null("tables"))?;
        let cache = tables.tables.cache_statistics();
        let coverage = &tables.tables.inventory().coverage;
        let told = Statistics {
            hits: cache.hits,
            misses: cache.misses,
            decodes: cache.decodes,
            bytes: cache.bytes,
            budget: cache.budget,
            tables: coverage.iter().map(|c| c.tables as u64).sum(),
        };
        // SAFETY: null or valid, as the header demands.
        unsafe { put(statistics, "statistics", told) }
    })
}
