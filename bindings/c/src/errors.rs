use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use crownhead::probe::{LineError, ProbeError};
use crownhead::table::TableError;

use crate::Tablebase;

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// Done.
    CrownheadOk = 0,
    /// A table that is needed is not there, or its file is not used; the text tells. The result is
    /// not known; it is no draw.
    CrownheadMissing = 1,
    /// More pieces than tables can have.
    CrownheadTooManyPieces = 2,
    /// The answer is not in the cache (crownhead_probe_wdl_cached only).
    CrownheadNotCached = 3,
    /// A table is damaged.
    CrownheadDamaged = 4,
    /// A table cannot be read, or was replaced since it was found: open the tables again.
    CrownheadIo = 5,
    /// A null pointer, an unknown variant, a position that cannot be, a text that is no position.
    CrownheadInvalidArgument = 6,
    /// A mistake in crownhead itself.
    CrownheadInternal = 7,
}

/// Why a call failed; its text is made when it is asked for.
pub(crate) enum Failure {
    Argument(String),
    Probe(ProbeError),
    Line(LineError),
    Panic,
}

impl Failure {
    pub fn null(name: &str) -> Failure {
        Failure::Argument(format!("`{name}` is a null pointer"))
    }

    fn status(&self) -> Status {
        let of_probe = |error: &ProbeError| match error {
            ProbeError::Missing { .. } => Status::CrownheadMissing,
            ProbeError::TooManyPieces { .. } => Status::CrownheadTooManyPieces,
            ProbeError::Table(TableError::Io { .. } | TableError::Replaced { .. }) => {
                Status::CrownheadIo
            }
            ProbeError::Depth { .. } | ProbeError::Contradiction { .. } | ProbeError::Table(_) => {
                Status::CrownheadDamaged
            }
        };
        match self {
            Failure::Argument(_) => Status::CrownheadInvalidArgument,
            Failure::Probe(error) => of_probe(error),
            Failure::Line(error) => of_probe(&error.cause),
            Failure::Panic => Status::CrownheadInternal,
        }
    }

    fn text(&self) -> String {
        match self {
            Failure::Argument(text) => text.clone(),
            Failure::Probe(error) => error.to_string(),
            Failure::Line(error) => error.to_string(),
            Failure::Panic => "crownhead made a mistake: please report it".to_owned(),
        }
    }
}

impl From<ProbeError> for Failure {
    fn from(error: ProbeError) -> Failure {
        Failure::Probe(error)
    }
}

/// The last failure of a thread with one tablebase, or without any.
struct Last {
    failure: Failure,
    /// Dead once the tablebase is closed, be it by another thread; none for calls without.
    tables: Option<Weak<()>>,
}

impl Last {
    fn is_closed(&self) -> bool {
        let tables = self.tables.as_ref();
        tables.is_some_and(|tables| tables.strong_count() == 0)
    }
}

thread_local! {
    /// The last failure of this thread with each tablebase, by its number; 0 for calls without.
    static LAST: RefCell<HashMap<u64, Last>> = RefCell::default();
}

/// Runs a call, keeps its failure, and stops panics at the border.
pub(crate) fn call(tables: *const Tablebase, f: impl FnOnce() -> Result<(), Failure>) -> Status {
    let failure = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(())) => return Status::CrownheadOk,
        Ok(Err(failure)) => failure,
        Err(_) => Failure::Panic,
    };
    let status = failure.status();
    // SAFETY: null or a tablebase that is open, as the header demands of every call.
    let tables = unsafe { tables.as_ref() };
    let number = tables.map_or(0, |tables| tables.number);
    // A thread that is ending keeps nothing any more.
    let _ = LAST.try_with(|all| {
        let mut all = all.borrow_mut();
        if let Some(last) = all.get_mut(&number) {
            last.failure = failure;
            return;
        }
        // As many stay at most as are open.
        all.retain(|_, last| !last.is_closed());
        let tables = tables.map(|tables| Arc::downgrade(&tables.open));
        all.insert(number, Last { failure, tables });
    });
    status
}

/// Forgets what this thread knows of a tablebase that is closed.
pub(crate) fn forget(number: u64) {
    let _ = LAST.try_with(|last| last.borrow_mut().remove(&number));
}

/// Writes why the last call of this thread with a tablebase that failed did (null: the last call
/// without a tablebase that failed), cut to `size` bytes with the zero at the end. Returns the bytes
/// the whole text needs with that zero; 0 if none has failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_last_error(
    tables: *const Tablebase,
    buffer: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: null or a tablebase that is open, as the header demands of every call.
    let number = unsafe { tables.as_ref() }.map_or(0, |tables| tables.number);
    let text = catch_unwind(|| LAST.with_borrow(|all| Some(all.get(&number)?.failure.text())));
    match text {
        // SAFETY: `buffer` is null or has `size` bytes, as the header demands.
        Ok(Some(text)) => unsafe { write_text(&text, buffer, size) },
        _ => 0,
    }
}

/// Copies a text, cut at the end of a character, and ends it with a zero; the bytes of the whole.
///
/// # Safety
/// `buffer` must be null or valid for `size` bytes.
pub(crate) unsafe fn write_text(text: &str, buffer: *mut c_char, size: usize) -> usize {
    if !buffer.is_null() && size > 0 {
        let most = text.len().min(size - 1);
        let len = (0..=most)
            .rev()
            .find(|&at| text.is_char_boundary(at))
            .unwrap_or(0);
        // SAFETY: `len` is at most `size - 1` and at most the text's length.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), len);
            *buffer.add(len) = 0;
        }
    }
    text.len() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{crownhead_close, crownhead_open};

    /// A thread that never closes a tablebase itself keeps no failures of those that are closed.
    #[test]
    fn failures_of_closed_tablebases_are_forgotten() {
        for _ in 0..100 {
            // SAFETY: an empty text, and a tablebase that is closed once.
            unsafe {
                let tables = crownhead_open(c"nowhere".as_ptr(), 4096);
                assert_ne!(
                    call(tables, || Err(Failure::null("fen"))),
                    Status::CrownheadOk
                );
                let address = tables as usize;
                let close = move || crownhead_close(address as *mut Tablebase);
                std::thread::spawn(close).join().unwrap();
            }
        }
        LAST.with_borrow(|all| assert!(all.len() <= 2, "{}", all.len()));
    }

    fn last_error() -> String {
        let mut buffer = [0u8; 200];
        // SAFETY: the buffer has as many bytes as it says.
        let needed = unsafe {
            crownhead_last_error(std::ptr::null(), buffer.as_mut_ptr().cast(), buffer.len())
        };
        String::from_utf8(buffer[..needed.saturating_sub(1)].to_vec()).unwrap()
    }

    #[test]
    fn panics_stop_at_the_border() {
        let status = call(std::ptr::null(), || panic!("on purpose"));
        assert_eq!(status, Status::CrownheadInternal);
        assert!(last_error().contains("report"));
        let status = call(std::ptr::null(), || Err(Failure::null("fen")));
        assert_eq!(status, Status::CrownheadInvalidArgument);
        assert_eq!(last_error(), "`fen` is a null pointer");
        assert_eq!(call(std::ptr::null(), || Ok(())), Status::CrownheadOk);
    }

    #[test]
    fn texts_are_cut_to_the_buffer() {
        let mut buffer = [1u8; 6];
        // SAFETY: four of the buffer's six bytes may be written.
        let needed = unsafe { write_text("añb", buffer.as_mut_ptr().cast(), 3) };
        assert_eq!((needed, buffer), (5, [b'a', 0, 1, 1, 1, 1]));
        // SAFETY: as above.
        let needed = unsafe { write_text("abc", buffer.as_mut_ptr().cast(), 6) };
        assert_eq!((needed, buffer), (4, [b'a', b'b', b'c', 0, 1, 1]));
    }
}
