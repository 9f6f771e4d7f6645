use crownhead::board::*;
use crownhead::index::*;
use crownhead::rules::movegen;
use crownhead::rules::*;
use crownhead::solve::*;
use crownhead::table::Wdl;
use std::sync::Arc;
use std::time::Instant;
fn utime() -> f64 {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = s[s.rfind(')').unwrap() + 2..].split(' ').collect();
    f[11].parse::<f64>().unwrap() / 100.0
}
fn run<R: Rules>(n: usize, check: bool, dtc: bool)
where
    R::Geometry: Geometry<Word: PlaneWord>,
{
    let mut store = Store::<R::Geometry>::new();
    let mut total = 0u64;
    let u0 = utime();
    let mut tn = 0.0;
    let mut nn = 0u64;
    for k in 2..=n {
        for slice in Slice::all_canonical(k, R::SET.has_kings()) {
            let u = utime();
            let p = Arc::new(PlaneSlice::<R::Geometry>::new(slice));
            store.insert(p.clone());
            let d = dtc.then(|| Distances::new(&p));
            solve::<R>(&store, &p, d.as_ref());
            let cnt = slice.positions(R::Geometry::ID) * if slice.is_symmetric() { 1 } else { 2 };
            let u = utime() - u;
            if k == n {
                tn += u;
                nn += cnt;
                if !check {
                    println!(
                        "{} {slice} {cnt} {u:.2} {:.1} M/s",
                        R::ID,
                        cnt as f64 / u / 1e6
                    );
                }
            }
            total += cnt;
            if check {
                let ix = SliceIndex::<R::Geometry>::new(p.slice());
                let value = |b: &Board<R::Geometry>| -> Wdl {
                    if b.pieces(Color::White).is_empty()
                        || b.pieces(Color::Black).is_empty()
                        || (!R::SET.has_kings() && (b.kings.0[0] | b.kings.0[1]).any())
                    {
                        if R::SET.goal == Goal::Normal {
                            Wdl::Loss
                        } else {
                            Wdl::Win
                        }
                    } else {
                        store.get_slice(Slice::of(b).unwrap()).unwrap().get(b)
                    }
                };
                let mut bad = 0;
                for i in 0..ix.len() {
                    for side in Color::BOTH {
                        let b = ix.unrank(i, side);
                        let mut best: Option<Wdl> = None;
                        movegen::for_each_move::<R>(&b, |m| {
                            let v = value(&movegen::apply::<R>(&b, &m)).reversed();
                            best = Some(best.map_or(v, |x| x.max(v)));
                        });
                        let expect = best.unwrap_or(if R::SET.goal == Goal::Normal {
                            Wdl::Loss
                        } else {
                            Wdl::Win
                        });
                        let got = p.get(&b);
                        if got != expect {
                            bad += 1;
                            if bad < 3 {
                                println!(
                                    "BAD {} {} got {got} expect {expect}\n{b}",
                                    R::ID,
                                    p.slice()
                                );
                            }
                        }
                    }
                }
                if bad > 0 {
                    println!("{} {slice} bad {bad}", R::ID);
                }
            }
        }
    }
    println!(
        "{} {n} pieces: total {total}, user {:.2}; last set {nn} {tn:.2} s {:.1} M/s",
        R::ID,
        utime() - u0,
        nn as f64 / tn / 1e6
    );
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: usize = a[2].parse().unwrap();
    let check = a.iter().any(|x| x == "check");
    let dtc = a.iter().any(|x| x == "dtc");
    let t = a
        .iter()
        .find_map(|x| x.strip_prefix("t="))
        .map_or(1, |x| x.parse().unwrap());
    rayon::ThreadPoolBuilder::new()
        .num_threads(t)
        .build_global()
        .unwrap();
    let w = Instant::now();
    match a[1].as_str() {
        "english" => run::<English>(n, check, dtc),
        "russian" => run::<Russian>(n, check, dtc),
        "international" => run::<International>(n, check, dtc),
        _ => panic!(),
    }
    eprintln!("wall {:.2}", w.elapsed().as_secs_f64());
}
