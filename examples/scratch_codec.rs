use crownhead::board::*;
use crownhead::index::*;
use crownhead::rules::*;
use crownhead::solve::*;
use crownhead::table::*;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
fn utime() -> f64 {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = s[s.rfind(')').unwrap() + 2..].split(' ').collect();
    f[11].parse::<f64>().unwrap() / 100.0
}
struct V<'a, R: Rules>
where
    R::Geometry: Geometry<Word: PlaneWord>,
{
    p: &'a PlaneSlice<R::Geometry>,
    d: Option<&'a Distances<R::Geometry>>,
    ix: SliceIndex<R::Geometry>,
    same: bool,
}
impl<R: Rules> SliceValues for V<'_, R>
where
    R::Geometry: Geometry<Word: PlaneWord>,
{
    fn slice(&self) -> Slice {
        self.ix.slice()
    }
    fn positions(&self) -> u64 {
        self.ix.len()
    }
    fn has(&self, m: Metric) -> bool {
        m == Metric::Wdl || self.d.is_some()
    }
    fn results(&self, side: Color, first: u64, out: &mut [Wdl]) {
        for (n, o) in (first..).zip(out) {
            let b = self.ix.unrank(n, side);
            *o = self.p.get(&b);
        }
    }
    fn distances(&self, _m: Metric, side: Color, first: u64, out: &mut [u16]) {
        let d = self.d.unwrap();
        for (n, o) in (first..).zip(out) {
            let b = self.ix.unrank(n, side);
            *o = if self.same {
                d.get(side, d.index().rank(&b))
            } else {
                d.get(!side, d.index().rank(&b.flipped()))
            };
        }
    }
}
struct M {
    slice: Slice,
    r: [Vec<Wdl>; 2],
    d: [Vec<u16>; 2],
}
impl SliceValues for M {
    fn slice(&self) -> Slice {
        self.slice
    }
    fn positions(&self) -> u64 {
        self.r[0].len() as u64
    }
    fn has(&self, _: Metric) -> bool {
        true
    }
    fn results(&self, side: Color, first: u64, out: &mut [Wdl]) {
        let f = first as usize;
        out.copy_from_slice(&self.r[side as usize][f..f + out.len()]);
    }
    fn distances(&self, _m: Metric, side: Color, first: u64, out: &mut [u16]) {
        let f = first as usize;
        out.copy_from_slice(&self.d[side as usize][f..f + out.len()]);
    }
}
fn run<R: Rules>(a: &[String])
where
    R::Geometry: Geometry<Word: PlaneWord>,
{
    let n: usize = a[2].parse().unwrap();
    let dtc = a.iter().any(|x| x == "dtc");
    let from = a
        .iter()
        .find_map(|x| x.strip_prefix("from="))
        .map_or(2, |x| x.parse().unwrap());
    let only = a.iter().find_map(|x| x.strip_prefix("only="));
    let profile = *Profile::ALL
        .iter()
        .find(|p| a.iter().any(|x| x == p.name()))
        .unwrap_or(&Profile::Fast);
    let mut store = Store::<R::Geometry>::new();
    let dir = Path::new(&a[3]);
    let (mut total, mut bytes, mut ts, mut te) = (0u64, 0u64, 0.0, 0.0);
    for k in 2..=n {
        let (mut kp, mut kb) = (0, 0);
        for slice in Slice::all_canonical(k, R::SET.has_kings()) {
            let p = Arc::new(PlaneSlice::<R::Geometry>::new(slice));
            store.insert(p.clone());
            let d = dtc.then(|| Distances::new(&p));
            let u = utime();
            solve::<R>(&store, &p, d.as_ref());
            ts += utime() - u;
            if k < from || only.is_some_and(|o| o != slice.to_string()) {
                continue;
            }
            let v = V::<R> {
                p: &p,
                d: d.as_ref(),
                ix: SliceIndex::new(slice),
                same: p.slice() == slice,
            };
            use rayon::prelude::*;
            let len = v.positions() as usize;
            let mut mem = M {
                slice,
                r: [vec![Wdl::Draw; len], vec![Wdl::Draw; len]],
                d: [
                    vec![0; if dtc { len } else { 0 }],
                    vec![0; if dtc { len } else { 0 }],
                ],
            };
            for side in Color::BOTH {
                mem.r[side as usize]
                    .par_chunks_mut(65536)
                    .enumerate()
                    .for_each(|(i, c)| v.results(side, i as u64 * 65536, c));
                if dtc {
                    mem.d[side as usize]
                        .par_chunks_mut(65536)
                        .enumerate()
                        .for_each(|(i, c)| v.distances(Metric::Dtc, side, i as u64 * 65536, c));
                }
            }
            let v = mem;
            for m in if dtc {
                &[Metric::Wdl, Metric::Dtc][..]
            } else {
                &[Metric::Wdl][..]
            } {
                let u = utime();
                let w = Instant::now();
                let h = write_table(dir, R::ID, &v, *m, profile).unwrap();
                te += utime() - u;
                let stored = h.positions * h.sides().len() as u64;
                if *m == Metric::Wdl {
                    kp += stored;
                }
                if *m == Metric::Wdl {
                    kb += h.file_len;
                }
                let c: Vec<String> = h
                    .stored
                    .0
                    .iter()
                    .flatten()
                    .map(|s| format!("{} {}", s.codec, s.bytes()))
                    .collect();
                println!(
                    "{slice}.{m} {stored} pos {} bytes {:.4} bit/pos {:.1} Mpos/s wall {:.1} Mpos/s cpu {c:?}",
                    h.file_len,
                    h.file_len as f64 * 8.0 / stored as f64,
                    stored as f64 / w.elapsed().as_secs_f64() / 1e6,
                    stored as f64 / (utime() - u) / 1e6
                );
            }
        }
        println!(
            "-- {k} pieces {kp} positions {kb} bytes {:.4} bit/pos",
            kb as f64 * 8.0 / kp as f64
        );
        total += kp;
        bytes += kb;
    }
    println!(
        "== {} 2-{n}: {total} positions {bytes} bytes, {:.1} pos/byte; solve {ts:.1} s encode {te:.1} s cpu",
        R::ID,
        total as f64 / bytes as f64
    );
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let t = a
        .iter()
        .find_map(|x| x.strip_prefix("t="))
        .map_or(1, |x| x.parse().unwrap());
    rayon::ThreadPoolBuilder::new()
        .num_threads(t)
        .build_global()
        .unwrap();
    let w = Instant::now();
    for id in RuleSetId::ALL {
        if a[1] == "all" || a[1].split(',').any(|x| x == id.name()) {
            crownhead::with_rules!(*id, R => run::<R>(&a));
        }
    }
    eprintln!("wall {:.2}", w.elapsed().as_secs_f64());
}
