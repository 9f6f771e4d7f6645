//! The solver against the reference solver, against itself with other numbers of threads, and
//! against its own look-ahead.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use crownhead::board::{Board, ByColor, Color, Geometry, Word};
use crownhead::index::{Slice, SliceIndex};
use crownhead::rules::{Goal, RuleSetId, Rules, movegen};
use crownhead::solve::plan::stored_positions;
use crownhead::solve::reference::{Solved, by_bitboards};
use crownhead::solve::{
    DtcDistances, DtwDistances, DtwStore, Fast, Plan, PlaneSlice, PlaneWord, SolvedSlice, Store,
    UNKNOWN, solve, solve_dtw,
};
use crownhead::table::{Metric, SliceValues, Wdl};
use crownhead::with_rules;

/// One slice by the solver under test.
struct Solution<G: Geometry> {
    planes: Arc<PlaneSlice<G>>,
    dtc: Arc<DtcDistances<G>>,
    dtw: Arc<DtwDistances<G>>,
    values: SolvedSlice<G>,
}

/// All slices up to some number of pieces.
fn solve_up_to<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    pieces: usize,
) -> Vec<Solution<R::Geometry>> {
    solve_placed::<R>(pieces, &mut |slice| PlaneSlice::new(slice).expect("memory"))
}

/// The same; `place` makes room for the words of a slice.
fn solve_placed<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    pieces: usize,
    place: &mut (dyn FnMut(Slice) -> PlaneSlice<R::Geometry> + Send),
) -> Vec<Solution<R::Geometry>> {
    let mut store = Store::new();
    let mut dtw_store = DtwStore::new();
    let slices = (2..=pieces).flat_map(|n| Slice::all_canonical(n, R::SET.has_kings()));
    let solve_one = |slice| {
        let planes = Arc::new(place(slice));
        store.insert(planes.clone());
        let mut dtc = DtcDistances::new(&planes).expect("memory");
        solve::<R>(&store, &planes, Some(&mut dtc), &|_| ()).expect("all it leads to is there");
        let dtc = Arc::new(dtc);
        let dtw = Arc::new(DtwDistances::unknown(&planes).expect("memory"));
        dtw_store.insert(dtw.clone());
        solve_dtw::<R>(&dtw_store, &planes, &dtw, &|_| ()).expect("all it leads to is there");
        Solution {
            values: SolvedSlice::new(planes.clone(), Some(dtc.clone()), Some(dtw.clone())),
            planes,
            dtc,
            dtw,
        }
    };
    slices.map(solve_one).collect()
}

/// What a slice has to say of all its positions with one side to move.
fn all_values(values: &impl SliceValues, side: Color) -> (Vec<Wdl>, Vec<u16>, Vec<u16>) {
    let len = values.positions() as usize;
    let (mut results, mut dtc, mut dtw) = (vec![Wdl::Draw; len], vec![0; len], vec![0; len]);
    values.results(side, 0, &mut results);
    values.distances(Metric::Dtc, side, 0, &mut dtc);
    values.distances(Metric::Dtw, side, 0, &mut dtw);
    (results, dtc, dtw)
}

/// Every value of every slice is that of the reference solver.
fn equals_reference<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(pieces: usize) {
    let reference = Solved::<R>::up_to(pieces, by_bitboards::<R>);
    for slice in solve_up_to::<R>(pieces) {
        let name = slice.values.slice();
        assert_eq!(slice.values.positions(), name.positions(R::Geometry::ID));
        for side in Color::BOTH {
            let expected = reference.slice(name).expect("as many pieces").with(side);
            let (results, dtc, dtw) = all_values(&slice.values, side);
            assert_eq!(results.len(), expected.len(), "{name}");
            for (i, expected) in expected.iter().enumerate() {
                let got = match results[i] {
                    Wdl::Draw => (Wdl::Draw, expected.dtc, expected.dtw),
                    result => (result, dtc[i], dtw[i]),
                };
                let expected = (expected.result, expected.dtc, expected.dtw);
                if got != expected {
                    let index = SliceIndex::<R::Geometry>::new(name);
                    let board = index.unrank(i as u64, side);
                    panic!("{} {name}: {got:?}, not {expected:?}\n{board}", R::ID);
                }
            }
        }
        reads_ranges(&slice.values);
        reads_back(&slice);
    }
}

/// Any range gives what the whole gives.
fn reads_ranges(values: &impl SliceValues) {
    let len = values.positions();
    for side in Color::BOTH {
        let (results, dtc, _) = all_values(values, side);
        for (first, count) in [
            (0, 1),
            (len / 3, 700),
            (len - 1, 1),
            (len * 2 / 3, len),
            (len, 0),
        ] {
            let count = count.min(len - first) as usize;
            let range = first as usize..first as usize + count;
            let mut some = vec![Wdl::Draw; count];
            values.results(side, first, &mut some);
            assert_eq!(some, results[range.clone()], "{} {range:?}", values.slice());
            let mut some = vec![0; count];
            values.distances(Metric::Dtc, side, first, &mut some);
            assert_eq!(some, dtc[range.clone()], "{} {range:?}", values.slice());
        }
    }
}

/// A slice read back from its values is the slice.
fn reads_back<G: Geometry<Word: PlaneWord>>(slice: &Solution<G>) {
    let read = PlaneSlice::<G>::from_values(&slice.values).expect("memory");
    for side in Color::BOTH {
        let same = words(&read, side) == words(&slice.planes, side);
        assert!(same, "{}, {side} to move", slice.planes.slice());
    }
}

/// Wins and losses of all words of a slice.
fn words<G: Geometry<Word: PlaneWord>>(planes: &PlaneSlice<G>, side: Color) -> Vec<(u128, u128)> {
    let words = planes.blocks().blocks() as usize * planes.block_words();
    let load = |word| planes.load(side, word);
    let words = (0..words).map(load);
    words.map(|p| (p.win.to_u128(), p.loss.to_u128())).collect()
}

macro_rules! equal_to_reference {
    ($($test:ident: $rules:ident;)*) => {
        mod equals_reference {
            $(#[test] fn $test() { super::equals_reference::<crownhead::rules::$rules>(3); })*
        }

        mod equals_reference_for_four_pieces {
            $(
                #[test]
                #[ignore = "takes a minute optimised, more on large boards, and gigabytes of memory"]
                fn $test() { super::equals_reference::<crownhead::rules::$rules>(4); }
            )*
        }

        #[test]
        fn every_rule_set_is_compared() {
            let compared = [$(RuleSetId::$rules),*];
            assert!(RuleSetId::ALL.iter().all(|id| compared.contains(id)));
        }
    };
}

equal_to_reference! {
    english: English;
    russian: Russian;
    brazilian: Brazilian;
    international: International;
    canadian: Canadian;
    italian: Italian;
    spanish: Spanish;
    czech: Czech;
    pool: Pool;
    thai: Thai;
    turkish: Turkish;
    frisian: Frisian;
    killer: Killer;
    breakthrough: Breakthrough;
    antidraughts: Antidraughts;
    poddavki: Poddavki;
    english_losing: EnglishLosing;
    spantsireti: Spantsireti;
}

/// The same words and distances for any number of threads, wherever the words are kept.
#[test]
fn threads_and_memory_change_nothing() {
    /// `memory`: bytes of words that are kept in memory, the rest in scratch files, as the driver
    /// does it.
    fn fingerprint<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
        threads: usize,
        mut memory: u64,
    ) -> u64 {
        let scratch = tempfile::tempdir().expect("a directory");
        let mut place = |slice| {
            let bytes = PlaneSlice::<R::Geometry>::bytes(slice);
            if bytes > memory {
                return PlaneSlice::new_in(slice, scratch.path()).expect("room on the disk");
            }
            memory -= bytes;
            PlaneSlice::new(slice).expect("memory")
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.expect("a few threads");
        let mut hasher = DefaultHasher::new();
        for slice in pool.install(|| solve_placed::<R>(3, &mut place)) {
            for side in Color::BOTH {
                words(&slice.planes, side).hash(&mut hasher);
                for number in 0..slice.values.positions() {
                    slice.dtc.get(side, number).hash(&mut hasher);
                    slice.dtw.get(side, number).hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }
    for id in [
        RuleSetId::English,
        RuleSetId::Brazilian,
        RuleSetId::Turkish,
        RuleSetId::Breakthrough,
    ] {
        with_rules!(id, R => {
            let one = fingerprint::<R>(1, u64::MAX);
            assert_eq!(fingerprint::<R>(2, 1 << 18), one, "{id}");
            assert_eq!(fingerprint::<R>(4, 0), one, "{id}");
        });
    }
}

/// Every position is counted once: the words of a slice, each king of the side that owns the fast
/// piece in turn, hold what the slice says of its positions, and those are as many as the closed
/// form has.
fn counts_add_up<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(pieces: usize) {
    for slice in solve_up_to::<R>(pieces) {
        let name = slice.values.slice();
        let turned = slice.planes.slice() != name;
        let fast = match slice.planes.fast() {
            Fast::King => slice.planes.slice().kings(Color::Black),
            Fast::Man => slice.planes.slice().men(Color::Black),
        };
        for side in Color::BOTH {
            let (results, ..) = all_values(&slice.values, side);
            let count = |result| results.iter().filter(|&&r| r == result).count();
            let counts = [Wdl::Win, Wdl::Draw, Wdl::Loss].map(count);
            let positions = name.positions(R::Geometry::ID) as usize;
            assert_eq!(counts.iter().sum::<usize>(), positions, "{name}");
            let words = words(&slice.planes, if turned { !side } else { side });
            let bits = |plane: fn(&(u128, u128)) -> u128| {
                let ones = words.iter().map(|word| plane(word).count_ones() as usize);
                ones.sum::<usize>()
            };
            assert!(words.iter().all(|(win, loss)| win & loss == 0), "{name}");
            assert_eq!(bits(|word| word.0), counts[0] * fast, "{name} {side}");
            assert_eq!(bits(|word| word.1), counts[2] * fast, "{name} {side}");
        }
    }
}

#[test]
fn counts_are_those_of_the_closed_form() {
    for &id in RuleSetId::ALL {
        with_rules!(id, R => counts_add_up::<R>(3));
    }
}

/// Distances to conversion in the memory of another slice's are those in memory of their own, draws
/// included, which have none.
fn renewed_distances_are_the_same<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(pieces: usize) {
    let mut store = Store::new();
    let mut spare: Option<DtcDistances<R::Geometry>> = None;
    let slices = (2..=pieces).flat_map(|n| Slice::all_canonical(n, R::SET.has_kings()));
    for slice in slices {
        let planes = Arc::new(PlaneSlice::new(slice).expect("memory"));
        store.insert(planes.clone());
        let mut fresh = DtcDistances::new(&planes).expect("memory");
        solve::<R>(&store, &planes, Some(&mut fresh), &|_| ()).expect("all it leads to is there");
        let renewed = match spare.take() {
            Some(spare) => spare.renewed(&planes),
            None => DtcDistances::new(&planes),
        };
        let mut renewed = renewed.expect("memory");
        solve::<R>(&store, &planes, Some(&mut renewed), &|_| ()).expect("all it leads to is there");
        for side in Color::BOTH {
            for number in 0..fresh.index().len() {
                let (fresh, renewed) = (fresh.get(side, number), renewed.get(side, number));
                assert_eq!(fresh, renewed, "{} {slice} {side:?} {number}", R::ID);
            }
        }
        spare = Some(renewed);
    }
}

#[test]
fn memory_of_distances_can_be_used_again() {
    for &id in RuleSetId::ALL {
        let pieces = if id.rules().geometry.squares() == 32 {
            3
        } else {
            2
        };
        with_rules!(id, R => renewed_distances_are_the_same::<R>(pieces));
    }
}

/// A slice that is solved too early is refused, whichever distances are asked for.
#[test]
fn a_missing_slice_is_named() {
    type R = crownhead::rules::English;
    let mut store = Store::new();
    let mut dtw_store = DtwStore::new();
    for slice in ["KvK", "KMvK"] {
        let planes = Arc::new(PlaneSlice::new(slice.parse().unwrap()).expect("memory"));
        let distances = Arc::new(DtwDistances::unknown(&planes).expect("memory"));
        store.insert(planes.clone());
        dtw_store.insert(distances.clone());
        let errors = [
            solve::<R>(&store, &planes, None, &|_| ()),
            solve_dtw::<R>(&dtw_store, &planes, &distances, &|_| ()),
        ];
        for error in errors {
            match (slice, error) {
                ("KvK", result) => assert!(result.is_ok()),
                (_, result) => assert_eq!(
                    result.unwrap_err().to_string(),
                    "cannot solve KMvK of english: it needs KvM, which must be solved or \
                     loaded first"
                ),
            }
        }
    }
    let planes = PlaneSlice::new("KvK".parse().unwrap()).expect("memory");
    let error = solve::<R>(&Store::new(), &planes, None, &|_| ()).unwrap_err();
    assert_eq!(error.slice, "KvK".parse().unwrap());
}

/// Distances made for one slice cannot be filled with those of another.
#[test]
fn distances_of_another_slice_are_refused() {
    type R = crownhead::rules::English;
    let mut store = Store::new();
    let planes = Arc::new(PlaneSlice::new("KvK".parse().unwrap()).expect("memory"));
    store.insert(planes.clone());
    let other = PlaneSlice::new("KKvK".parse().unwrap()).expect("memory");
    let mut distances = DtcDistances::new(&other).expect("memory");
    let error = solve::<R>(&store, &planes, Some(&mut distances), &|_| ()).unwrap_err();
    assert!(error.to_string().contains("those of KKvK"), "{error}");
    let mut distances = distances.renewed(&planes).expect("memory");
    assert!(solve::<R>(&store, &planes, Some(&mut distances), &|_| ()).is_ok());
}

/// While a slice is being solved it is told how many positions are done.
#[test]
fn progress_within_a_slice() {
    type R = crownhead::rules::English;
    let mut store = Store::new();
    for slice in Plan::closure(R::ID, &["KMvMM".parse().unwrap()]).slices() {
        let planes = Arc::new(PlaneSlice::new(*slice).expect("memory"));
        store.insert(planes.clone());
        let told = Mutex::new(Vec::new());
        let tell = |positions| told.lock().unwrap().push(positions);
        solve::<R>(&store, &planes, None, &tell).unwrap();
        let told = told.into_inner().unwrap();
        let positions: u64 = told.iter().sum();
        assert_eq!(positions, stored_positions(R::ID, *slice), "{slice}");
        let blocks = planes.blocks().blocks();
        assert!(told.len() > 4 || blocks < 10_000, "{slice}: {}", told.len());
    }
}

/// Draws have no distance to win, all others have one of the right parity.
#[test]
fn distances_are_known_where_there_is_something_to_win() {
    type R = crownhead::rules::English;
    for slice in solve_up_to::<R>(3) {
        for side in Color::BOTH {
            let (results, _, dtw) = all_values(&slice.values, side);
            for (result, dtw) in results.into_iter().zip(dtw) {
                let right = match result {
                    Wdl::Win => dtw % 2 == 1 && dtw <= 62,
                    Wdl::Draw => dtw == UNKNOWN,
                    Wdl::Loss => dtw % 2 == 0 && dtw <= 62,
                };
                assert!(right, "{} {result} in {dtw}", slice.values.slice());
            }
        }
    }
}

/// Random positions of all slices of five pieces: each value follows from those of its successors.
fn looks_ahead<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(pieces: usize, samples: u64) {
    let mut store = Store::<R::Geometry>::new();
    let mut random = 0x5eed_u64;
    for slice in (2..=pieces).flat_map(|n| Slice::all_canonical(n, R::SET.has_kings())) {
        let planes = Arc::new(PlaneSlice::new(slice).expect("memory"));
        store.insert(planes.clone());
        solve::<R>(&store, &planes, None, &|_| ()).expect("all it leads to is there");
        if slice.total() < pieces {
            continue;
        }
        let index = SliceIndex::<R::Geometry>::new(slice);
        for _ in 0..samples {
            // A linear congruential generator with the multiplier of Knuth's MMIX.
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let number = (u128::from(random) * u128::from(index.len())) >> 64;
            for side in Color::BOTH {
                let board = index.unrank(number as u64, side);
                let expected = best_of_successors::<R>(&store, &board);
                assert_eq!(planes.get(&board), expected, "{} {slice}\n{board}", R::ID);
            }
        }
    }
}

fn best_of_successors<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    store: &Store<R::Geometry>,
    board: &Board<R::Geometry>,
) -> Wdl {
    let no_move = match R::SET.goal {
        Goal::Normal => Wdl::Loss,
        Goal::Reversed => Wdl::Win,
    };
    let value = |board: &Board<R::Geometry>| {
        let arrived = !R::SET.has_kings() && board.kings != ByColor::default();
        match Slice::of(board) {
            Some(slice) if slice.is_contested() && !arrived => {
                let men = Color::BOTH.map(|c| slice.men(c) as u32);
                let kings = Color::BOTH.map(|c| slice.kings(c) as u32);
                store.get(men, kings).expect("solved before").0.get(board)
            }
            _ => no_move,
        }
    };
    let mut best = None;
    movegen::for_each_move::<R>(board, |m| {
        let after = value(&movegen::apply::<R>(board, &m)).reversed();
        best = best.max(Some(after));
    });
    best.unwrap_or(no_move)
}

#[test]
fn looks_ahead_from_four_pieces() {
    for &id in RuleSetId::ALL {
        // The larger boards take their time.
        if id.rules().geometry.squares() <= 40 {
            with_rules!(id, R => looks_ahead::<R>(4, 50));
        }
    }
}

#[test]
#[ignore = "solves all positions of five pieces, 3 GB of memory"]
fn looks_ahead_from_five_pieces() {
    for id in [
        RuleSetId::English,
        RuleSetId::Russian,
        RuleSetId::International,
    ] {
        with_rules!(id, R => looks_ahead::<R>(5, 5_000));
    }
}
