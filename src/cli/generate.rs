use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::variant::slice;
use super::{Failure, VariantArg, grouped, write_json};
use crownhead::index::{MAX_PIECES, Slice};
use crownhead::notation::parse_position;
use crownhead::probe::{Tablebase, table_paths};
use crownhead::rules::Variant;
use crownhead::solve::plan::{Plan, stored_positions};
use crownhead::solve::{Estimate, Event, Scratch, Settings, estimate, generate, solver};
use crownhead::table::{Header, Metric, Profile};

/// Solve slices and write their tables; finished ones are kept, so a stopped run can be repeated
///
/// A table that is kept must be the file that MANIFEST lists. One that is not listed is entered
/// there, and told, if its checksums are right: so MANIFEST is made anew where it was deleted. A
/// table with a damaged header, or cut off, is told and replaced; any other file in the place of a
/// table is refused.
///
/// A slice is a material balance: White's kings and men, v, Black's, such as KKMvKM.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["pieces", "slice"])))]
pub struct Args {
    #[command(flatten)]
    variant: VariantArg,
    /// All slices of 2 to N pieces
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=MAX_PIECES as i64),
        allow_negative_numbers = true)]
    pieces: Option<u8>,
    /// A slice such as KKMvKM with all it depends on (repeatable)
    #[arg(long, value_name = "S", num_args = 1..)]
    slice: Vec<String>,
    /// Tables to write; results (wdl) always are
    #[arg(long, value_delimiter = ',', default_value = "wdl,dtc,dtw", value_parser = super::metric)]
    metric: Vec<Metric>,
    /// The directory to write to [default: the first of CROWNHEAD_TABLES, else `tables`]
    #[arg(long, value_name = "DIR", value_parser = super::directories())]
    tables: Option<OsString>,
    /// Threads to use [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024),
        allow_negative_numbers = true)]
    threads: Option<u16>,
    /// The most memory to use, such as 500M or 8G
    #[arg(long, value_name = "SIZE", value_parser = super::bytes)]
    memory: Option<u64>,
    /// What tables are written for: `fast` decoding, `small` size, or `full`, which stores even
    /// what a prober finds by itself
    #[arg(long, value_name = "P", default_value = "fast", value_parser = profile)]
    profile: Profile,
    /// Keep results that --memory has no room for in temporary files of this directory (all of
    /// them without --memory)
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Tell what it would take, and do nothing
    #[arg(long)]
    estimate: bool,
    /// Afterwards probe a position
    #[arg(long, value_name = "FEN", conflicts_with_all = ["json", "estimate"])]
    probe: Option<String>,
    /// Print events as JSON, one a line
    #[arg(long)]
    json: bool,
    /// Print nothing but errors
    #[arg(long, conflicts_with = "json")]
    quiet: bool,
}

const AFTER_HELP: &str = "\
Examples:
  crownhead generate russian --pieces 4
  crownhead generate english --slice KMMvKM --metric wdl
  crownhead generate international --pieces 5 --estimate
  crownhead generate english --pieces 6 --metric wdl --memory 2G --scratch /tmp

Metrics:
  wdl  win, draw or loss
  dtc  plies to the next conversion: a capture or a move of a man
  dtw  plies to the end of the game";

/// Reads the name of a profile, for clap.
fn profile(text: &str) -> Result<Profile, String> {
    let known = Profile::ALL.iter().find(|p| p.name() == text);
    known
        .copied()
        .ok_or("the profiles are fast, small and full".to_owned())
}

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let variant = self.variant.get()?;
        let rule_set = variant.rule_set();
        let plan = match self.pieces {
            Some(pieces) => Plan::complete(rule_set, usize::from(pieces)),
            None => Plan::closure(rule_set, &self.slices(variant)?),
        };
        let probed = self
            .probe
            .as_deref()
            .map(|text| parse_position(variant, text));
        let probed = probed.transpose()?;
        let tables = table_paths(self.tables.as_slice()).swap_remove(0);
        let settings = Settings {
            tables: tables.clone(),
            metrics: self.metric.clone(),
            memory: self.memory,
            profile: self.profile,
        };
        let scratch = self.scratch.as_ref().map(|directory| Scratch {
            directory: directory.clone(),
            memory: settings.solver_memory(&plan, self.threads()),
        });
        let mut solver = solver(rule_set, &self.metric, scratch);
        if self.estimate {
            let estimate = estimate(&plan, &*solver, &settings, self.threads());
            return self.write_estimate(out, &plan, &estimate);
        }
        // The reporter is called from any thread and writes for itself.
        out.flush()?;
        let reporter = Reporter::new(&self, &plan);
        reporter.plan();
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.threads());
        let threads = threads.build()?;
        let generated = threads.install(|| {
            generate(&plan, &mut *solver, &settings, &|event| {
                reporter.tell(event)
            })
        });
        reporter.end(generated.is_ok());
        generated?;
        match probed {
            Some(position) => {
                super::probe::write_answer(out, &Tablebase::open(&[tables]), &position)
            }
            None => Ok(()),
        }
    }

    fn slices(&self, variant: Variant) -> Result<Vec<Slice>, Failure> {
        let names = self.slice.iter();
        names.map(|name| slice(variant, name)).collect()
    }

    fn threads(&self) -> usize {
        let available = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(available, usize::from)
    }

    fn write_estimate(
        &self,
        out: &mut dyn Write,
        plan: &Plan,
        estimate: &Estimate,
    ) -> Result<(), Failure> {
        if self.json {
            return write_json(out, estimate);
        }
        writeln!(out, "{} slices of {}", plan.slices().len(), plan.rule_set())?;
        writeln!(out, "positions  {}", grouped(estimate.positions))?;
        writeln!(out, "memory     {} bytes at most", grouped(estimate.memory))?;
        writeln!(out, "scratch    {} bytes", grouped(estimate.scratch))?;
        writeln!(out, "tables     about {} bytes", grouped(estimate.tables))?;
        writeln!(
            out,
            "unfinished about {} bytes beside them",
            grouped(estimate.unfinished)
        )?;
        writeln!(
            out,
            "time       about {}",
            indicatif::HumanDuration(Duration::from_secs_f64(estimate.seconds.ceil()))
        )?;
        Ok(())
    }
}

/// Tells people or programs how generation goes: JSON events, or lines and, on a terminal, a bar
/// with rate and time left.
struct Reporter<'a> {
    plan: &'a Plan,
    style: Style,
    bar: ProgressBar,
    start: Instant,
    /// Positions of the running slice that the bar already has.
    shown: Mutex<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Quiet,
    Json,
    Lines,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum JsonEvent<'a> {
    Plan {
        rule_set: &'a str,
        slices: Vec<String>,
        positions: u64,
    },
    Kept {
        slice: String,
    },
    Entered {
        slice: String,
        path: String,
    },
    Replacing {
        slice: String,
        path: String,
    },
    Waiting {
        slice: String,
    },
    Started {
        slice: String,
        positions: u64,
    },
    Finished {
        slice: String,
        positions: u64,
        seconds: f64,
        tables: Vec<JsonTable>,
    },
    Done {
        seconds: f64,
    },
}

#[derive(Serialize)]
struct JsonTable {
    metric: &'static str,
    bytes: u64,
}

impl<'a> Reporter<'a> {
    fn new(args: &Args, plan: &'a Plan) -> Self {
        let style = match (args.quiet, args.json) {
            (true, _) => Style::Quiet,
            (_, true) => Style::Json,
            _ => Style::Lines,
        };
        let bar = ProgressBar::new(plan.positions()).with_style(
            ProgressStyle::with_template("{msg:12} {wide_bar} {percent}% {per_sec} {eta} left")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        if style != Style::Lines || !io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Reporter {
            plan,
            style,
            bar,
            start: Instant::now(),
            shown: Mutex::new(0),
        }
    }

    /// Output that cannot be written is given up: the tables matter more than the report.
    fn write(&self, text: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        self.bar.suspend(|| {
            let mut out = io::stdout().lock();
            let _ = text(&mut out).and_then(|()| out.flush());
        });
    }

    fn write_event(&self, event: JsonEvent) {
        if let Ok(text) = serde_json::to_string(&event) {
            self.write(|out| writeln!(out, "{text}"));
        }
    }

    fn positions(&self, slice: Slice) -> u64 {
        stored_positions(self.plan.rule_set(), slice)
    }

    fn plan(&self) {
        let slices: Vec<String> = self.plan.slices().iter().map(Slice::to_string).collect();
        let (rule_set, positions) = (self.plan.rule_set().name(), self.plan.positions());
        match self.style {
            Style::Quiet => {}
            Style::Json => self.write_event(JsonEvent::Plan {
                rule_set,
                slices,
                positions,
            }),
            Style::Lines => self.write(|out| {
                let count = slices.len();
                writeln!(
                    out,
                    "{rule_set}: {count} slices, {} positions, in this order:",
                    grouped(positions)
                )?;
                writeln!(out, "  {}", slices.join(" "))
            }),
        }
    }

    fn tell(&self, event: Event) {
        match event {
            Event::Kept(slice) => {
                self.bar.inc(self.positions(slice));
                // What was there already says nothing about the rate.
                self.bar.reset_eta();
                self.tell_slice(
                    || JsonEvent::Kept {
                        slice: slice.to_string(),
                    },
                    || format!("{slice:<12} kept"),
                );
            }
            Event::Entered { slice, path } => {
                let path = path.display().to_string();
                let line = format!(
                    "{slice:<12} `{path}` was not listed in MANIFEST: entered, its checksums are right"
                );
                let slice = slice.to_string();
                self.tell_slice(|| JsonEvent::Entered { slice, path }, || line);
            }
            Event::Replacing { slice, path } => {
                let path = path.display().to_string();
                let line = format!("{slice:<12} replaces `{path}`, which is no sound table");
                let slice = slice.to_string();
                self.tell_slice(|| JsonEvent::Replacing { slice, path }, || line);
            }
            Event::Waiting(slice) => self.tell_slice(
                || JsonEvent::Waiting {
                    slice: slice.to_string(),
                },
                || format!("{slice:<12} is being solved by another process: waiting"),
            ),
            Event::Started(slice) => {
                *lock(&self.shown) = 0;
                self.bar.set_message(slice.to_string());
                if self.style == Style::Json {
                    self.write_event(JsonEvent::Started {
                        slice: slice.to_string(),
                        positions: self.positions(slice),
                    });
                }
            }
            Event::Progress(positions) => {
                *lock(&self.shown) += positions;
                self.bar.inc(positions);
            }
            Event::Finished {
                slice,
                headers,
                time,
            } => {
                let positions = self.positions(slice);
                self.bar.inc(positions.saturating_sub(*lock(&self.shown)));
                self.tell_slice(
                    || JsonEvent::Finished {
                        slice: slice.to_string(),
                        positions,
                        seconds: time.as_secs_f64(),
                        tables: headers.iter().map(JsonTable::of).collect(),
                    },
                    || {
                        let bytes = headers.iter().map(|h| h.file_len).sum();
                        format!(
                            "{slice:<12} {:>15} positions {:>13} bytes {:>8.2} s",
                            grouped(positions),
                            grouped(bytes),
                            time.as_secs_f64()
                        )
                    },
                );
            }
        }
    }

    fn tell_slice<'e>(&self, json: impl FnOnce() -> JsonEvent<'e>, line: impl FnOnce() -> String) {
        match self.style {
            Style::Quiet => {}
            Style::Json => self.write_event(json()),
            Style::Lines => {
                let line = line();
                self.write(|out| writeln!(out, "{line}"));
            }
        }
    }

    fn end(&self, done: bool) {
        self.bar.finish_and_clear();
        if done {
            let seconds = self.start.elapsed().as_secs_f64();
            self.tell_slice(
                || JsonEvent::Done { seconds },
                || format!("done in {seconds:.2} s"),
            );
        }
    }
}

impl JsonTable {
    fn of(header: &Header) -> JsonTable {
        JsonTable {
            metric: header.metric.name(),
            bytes: header.file_len,
        }
    }
}

/// The counter stays sound whatever happened to a thread that held it.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
