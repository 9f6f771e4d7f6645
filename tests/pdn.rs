//! PDN games: real ones, hostile ones, and round trips of random ones.

mod common;

use common::{any_text, any_variant, positions};
use crownhead::board::Position;
use crownhead::notation::pdn::{Game, GameResult, Line, MAX_DEPTH, Ply, read, write};
use crownhead::notation::{fen, moves};
use crownhead::rules::{Variant, reference::legal_moves};
use proptest::prelude::*;

fn one(text: &str, variant: Option<Variant>) -> Game {
    let games = read(text, variant).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(games.len(), 1, "{text}");
    games.into_iter().next().expect("one game")
}

fn last_position(game: &Game) -> Position {
    let moves = game.line.moves.iter();
    moves.fold(game.start, |position, ply| position.after(&ply.mv))
}

fn texts(game: &Game) -> Vec<String> {
    let mut position = game.start;
    let mut texts = Vec::new();
    for ply in &game.line.moves {
        texts.push(moves::format(&position, &ply.mv, &legal_moves(&position)));
        position = position.after(&ply.mv);
    }
    texts
}

#[track_caller]
fn fails(text: &str, message: &str) {
    let error = read(text, Some(Variant::International)).expect_err(text);
    assert_eq!(error.to_string(), message, "{text}");
}

const LONG: &str = "1.c3-d4 d6-c5 2.b2-c3 e7-d6 3.a1-b2 d6-e5 4.g3-h4 c5-b4 5.a3:c5 e5-f4 \
    6.e3:e7 f8:b4 7.c3:a5 h6-g5 8.h4:f6 g7:a1";
const SHORT: &str = "1. cd4 dc5 2. bc3 ed6 3. ab2 de5 4. gh4 cb4 5. ac5 ef4 6. ee7 fb4 7. ca5 hg5 \
    8. hf6 ga1 *";

#[test]
fn a_russian_game_in_long_and_short_form() {
    let long = one(LONG, Some(Variant::Russian));
    assert_eq!(long, one(SHORT, Some(Variant::Russian)));
    assert_eq!(long.line.moves.len(), 16);
    let end = "W:Wc1,e1,g1,d2,f2,h2,a5:Bh8,d8,b8,c7,a7,b6,Ka1";
    let end = fen::parse(Variant::Russian, end).expect("a position");
    assert_eq!(last_position(&long), end);
    assert_eq!(
        write(&[long]),
        "[GameType \"25,W,8,8,A0,0\"]\n\
         \n\
         1. c3-d4 d6-c5 2. b2-c3 e7-d6 3. a1-b2 d6-e5 4. g3-h4 c5-b4 5. a3:c5 e5-f4 6.\n\
         e3:e7 f8:b4 7. c3:a5 h6-g5 8. h4:f6 g7:a1 *\n"
    );
}

#[test]
fn everything_a_game_can_hold() {
    let text = "\u{feff}% written by hand\r\n\
        [Event \"A \\\"great\\\" game \\\\ C:\\x\"]\r\n\
        [GameType \"20\"]\r\n\
        [Result \"2-0\"]\r\n\
        \r\n\
        {Before\r\n all} 1. 32-28! $14 {good} ; and well known\r\n\
        ({or} 1.31-27 (1. 31-26 17-22) 17-21 {sharp}) {between} (1. 34-29?!)\r\n\
        {back} 1... 19-23(!?) 2.28x19 14x23 {the end} 2-0 {White resigned?}\r\n";
    let game = one(text, None);
    assert_eq!(game.variant, Variant::International);
    assert_eq!(
        game.tags,
        [("Event".to_owned(), "A \"great\" game \\ C:\\x".to_owned())]
    );
    assert_eq!(game.result, GameResult::WhiteWins);
    assert_eq!(texts(&game), ["32-28", "19-23", "28x19", "14x23"]);
    let first = &game.line.moves[0];
    assert_eq!(first.comments_before, ["Before all"]);
    assert_eq!(first.nags, [1, 14]);
    assert_eq!(first.comments_after, ["good", "and well known", "between"]);
    assert_eq!(first.variations.len(), 2);
    let variation = &first.variations[0].moves;
    assert_eq!(variation.len(), 2);
    assert_eq!(variation[0].comments_before, ["or"]);
    assert_eq!(variation[0].variations[0].moves.len(), 2);
    assert_eq!(variation[1].comments_after, ["sharp"]);
    assert_eq!(first.variations[1].moves[0].nags, [6]);
    assert_eq!(game.line.moves[1].comments_before, ["back"]);
    assert_eq!(game.line.moves[1].nags, [5]);
    assert_eq!(game.line.closing, ["White resigned?"]);
    assert_eq!(
        write(&[game]),
        "[Event \"A \\\"great\\\" game \\\\ C:\\\\x\"]\n\
         [GameType \"20,W,10,10,N2,0\"]\n\
         [Result \"2-0\"]\n\
         \n\
         {Before all} 1. 32-28! $14 {good} {and well known} {between} ({or} 1. 31-27 (1.\n\
         31-26 17-22) 1... 17-21 {sharp}) (1. 34-29?!) {back} 1... 19-23!? 2. 28x19 14x23\n\
         {the end} 2-0 {White resigned?}\n"
    );
}

#[test]
fn set_ups() {
    let start = "B:W14,15,22,23:B10,11";
    for text in [
        format!("[GameType \"21\"]\n[SetUp \"1\"]\n[FEN \"{start}\"]\n1. 10x19x26 1/2-1/2"),
        format!("[FEN \"{start}.\"]\n[Variant \"english\"] 1.10x19x26 1/2-1/2"),
        format!("[GameType \"21,B,8,8,N1,0\"]\n/FEN \"{start}\"/ 10x19x26 1-1"),
    ] {
        let game = one(&text, None);
        assert_eq!(fen::format(&game.start), start);
        assert_eq!(texts(&game), ["10x19x26"]);
        assert_eq!(game.result, GameResult::Draw);
        assert_eq!(
            game.to_string(),
            format!(
                "[GameType \"21,B,8,8,N1,0\"]\n[SetUp \"1\"]\n[FEN \"{start}\"]\n\
                 [Result \"1/2-1/2\"]\n\n1. 10x19x26 1/2-1/2\n"
            )
        );
    }
    // The second side to move: the first number has three dots.
    let game = one(
        "[FEN \"B:W31:B20\"] 20-24 31-27",
        Some(Variant::International),
    );
    assert!(
        game.to_string().contains("\n1... 20-24 2. 31-27 *\n"),
        "{game}"
    );
}

#[test]
fn several_games() {
    let text = "[Event \"1\"]\n1. 32-28 *\n\n[Event \"2\"]\n1. 31-27\n[Event \"3\"]\n0-0\n1. 34-30";
    let games = read(text, Some(Variant::International)).expect("four games");
    let shapes: Vec<_> = games
        .iter()
        .map(|g| (g.tags.len(), g.line.moves.len(), g.result))
        .collect();
    let unknown = GameResult::Unknown;
    let expected = [
        (1, 1, unknown),
        (1, 1, unknown),
        (1, 0, GameResult::Neither),
        (0, 1, unknown),
    ];
    assert_eq!(shapes, expected);
    assert_eq!(read(&write(&games), None).as_ref(), Ok(&games));
    assert_eq!(read("", None), Ok(vec![]));
    assert_eq!(read(" \r\n{nothing}\n% at all", None), Ok(vec![]));
}

/// The tag counts where the moves end in `*`, and is kept where it tells no result.
#[test]
fn results_of_tags() {
    let game = |tag: &str, end: &str| {
        let text = format!("[Result \"{tag}\"]\n[GameType \"25\"]\n\n1. c3-d4 {end}");
        let game = one(&text, None);
        assert_eq!(one(&game.to_string(), None), game, "{text}");
        (game.result, game.tag("result").map(str::to_owned))
    };
    assert_eq!(game("1-0", "*"), (GameResult::WhiteWins, None));
    assert_eq!(game("0-2", ""), (GameResult::BlackWins, None));
    assert_eq!(game("0-1", "1-0"), (GameResult::WhiteWins, None));
    assert_eq!(game("*", "*"), (GameResult::Unknown, None));
    let told = Some("White on time".to_owned());
    assert_eq!(game("White on time", "*"), (GameResult::Unknown, told));
    assert_eq!(game("White on time", "1-0"), (GameResult::WhiteWins, None));
}

/// Who names the variant is believed where the tags name none that is known.
#[test]
fn a_variant_given_takes_the_place_of_unknown_tags() {
    let russian = Some(Variant::Russian);
    for tag in ["GameType \"99\"", "Variant \"shashki!\""] {
        let text = format!("[{tag}]\n\n1. c3-d4 *");
        assert_eq!(one(&text, russian).variant, Variant::Russian, "{tag}");
        assert!(read(&text, None).is_err(), "{tag}");
    }
    // With another first side the same moves mean others.
    let black_first = "[GameType \"25,B,8,8,A0,0\"]\n\n1. c3-d4 *";
    assert!(read(black_first, russian).is_err());
    let other = one("[GameType \"20\"]\n\n1. 32-28 *", russian);
    assert_eq!(
        other.variant,
        Variant::International,
        "a tag that is known counts"
    );
}

#[test]
fn variants_without_a_number_go_by_name() {
    let game = one("1. 32-28", Some(Variant::Killer));
    assert!(
        game.to_string().starts_with("[Variant \"killer\"]\n"),
        "{game}"
    );
    assert_eq!(one(&game.to_string(), None), game);
    // With a game type it is a tag like any other.
    let game = one("[Variant \"Standard\"][GameType \"20\"]", None);
    assert_eq!(game.tags, [("Variant".to_owned(), "Standard".to_owned())]);
}

#[test]
fn errors_name_line_column_and_token() {
    fails(
        "[Event \"é\"]\n\n1. 32-28 {é} 19-24 2. 28-24",
        "line 3, column 23, at `28-24`: `28-24` is not a legal move; legal: \
         28-22, 28-23, 31-26, 31-27, 33-29, 34-29, 34-30, 35-30, 37-32, 38-32",
    );
    fails(
        "[Event 1]",
        "line 1, column 1, at `[Event`: a tag is written `[Name \"value\"]`, on one line",
    );
    fails(
        "[Event \"1\n\"]",
        "line 1, column 1, at `[Event`: a tag is written `[Name \"value\"]`, on one line",
    );
    fails(
        "[A \"\"]\n [A \"\"]",
        "line 2, column 2, at `[A`: this tag is given twice",
    );
    let unknown = read("[GameType \"1\"]", None).unwrap_err().to_string();
    assert_eq!(
        unknown,
        "line 1, column 1, at `[GameType`: the game type is not the number of a variant, alone or as in `20,W,10,10,N2,0`",
    );
    fails(
        "[GameType \"24,W,8,8,N2,1\"]",
        "line 1, column 1, at `[GameType`: spanish is read as game type 24,W,8,8,N1,1",
    );
    fails(
        "[FEN \"W:W4:B49\"]",
        "line 1, column 1, at `[FEN`: men on their own promotion row: White `4`, Black `49`",
    );
    fails(
        "32-28 {",
        "line 1, column 7, at `{`: this comment has no end",
    );
    fails(
        "32-28 }",
        "line 1, column 7, at `}`: this does not belong here",
    );
    fails(
        "32-28 )",
        "line 1, column 7, at `)`: this does not belong here",
    );
    fails(
        "32-28 (31-27",
        "line 1, column 13, at `the end of the text`: this variation has no end",
    );
    fails(
        "32-28 (31-27 [A \"\"]",
        "line 1, column 14, at `[A`: this variation has no end",
    );
    fails(
        "32-28 (31-27 2-0)",
        "line 1, column 14, at `2-0`: a result inside a variation",
    );
    fails(
        "(31-27) 32-28",
        "line 1, column 1, at `(31-27`: there is no move before this for it to belong to",
    );
    fails(
        "$1 32-28",
        "line 1, column 1, at `$1`: there is no move before this for it to belong to",
    );
    let mark = "an annotation is one of !, ?, !!, ??, !?, ?! or `$` and a number up to 255";
    fails(
        "32-28 $256",
        &format!("line 1, column 7, at `$256`: {mark}"),
    );
    fails("32-28!!!", &format!("line 1, column 6, at `!`: {mark}"));
    fails(
        "32-28 /FEN \"W:W31:B1\"/",
        "line 1, column 7, at `/FEN`: a set-up can only stand before the first move of a game",
    );
    fails(
        "/W:W31:B1",
        "line 1, column 1, at `/W:W31:B1`: a set-up is written `/FEN \"...\"/`",
    );
    let error = read("[Variant \"kiler\"]", None)
        .expect_err("unknown")
        .to_string();
    let expected = "line 1, column 1, at `[Variant`: unknown variant `kiler`; did you mean killer,";
    assert!(error.starts_with(expected), "{error}");
    let error = read("1. 32-28", None).expect_err("no variant");
    assert_eq!(
        error.to_string(),
        "line 1, column 1, at `1.`: neither a GameType tag nor anything else says which variant is played"
    );
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let (open, close) = ("32-28 (".repeat(depth), ")".repeat(depth));
        read(&format!("{open}32-28{close}"), Some(Variant::International))
    };
    assert!(nested(MAX_DEPTH).is_ok());
    let error = nested(MAX_DEPTH + 1).expect_err("too deep").to_string();
    assert!(error.contains("deeper than 64"), "{error}");
    assert!(nested(100_000).is_err());
    read(&"(".repeat(1_000_000), Some(Variant::International)).expect_err("no move");
}

/// Grows random games from a list of decisions; when they run out, every decision is 0.
struct Grower<I> {
    decisions: I,
    comments: Vec<String>,
}

impl<I: Iterator<Item = usize>> Grower<I> {
    fn choose(&mut self, among: usize) -> usize {
        self.decisions.next().unwrap_or(0) % among
    }

    fn comments(&mut self) -> Vec<String> {
        let count = self.choose(12).saturating_sub(9);
        (0..count)
            .map(|_| {
                let i = self.choose(self.comments.len());
                self.comments[i].clone()
            })
            .collect()
    }

    /// With comments only where reading puts them.
    fn line(&mut self, start: Position, depth: usize) -> Line {
        let mut line = Line::default();
        let mut position = start;
        for _ in 0..self.choose(if depth == 0 { 40 } else { 8 }) {
            let moves = legal_moves(&position);
            if moves.is_empty() {
                break;
            }
            let mut ply = Ply::from(moves[self.choose(moves.len())].clone());
            if line
                .moves
                .last()
                .is_none_or(|last: &Ply| !last.variations.is_empty())
            {
                ply.comments_before = self.comments();
            }
            ply.nags = (0..self.choose(5).saturating_sub(2))
                .map(|_| self.choose(256) as u8)
                .collect();
            ply.comments_after = self.comments();
            if depth < 4 && self.choose(6) == 1 {
                ply.variations = (0..=self.choose(2))
                    .map(|_| self.line(position, depth + 1))
                    .collect();
            }
            position = position.after(&ply.mv);
            line.moves.push(ply);
        }
        if depth == 0
            || line
                .moves
                .last()
                .is_none_or(|last| !last.variations.is_empty())
        {
            line.closing = self.comments();
        }
        line
    }
}

fn any_game() -> impl Strategy<Value = Game> {
    let comment = prop_oneof![
        "[a-z0-9;%(){!$\\[\\]\"é]{1,12}( [a-z0-9;%(){!$\\[\\]\"é-]{1,30}){0,12}",
        "[a-z}]{1,5}( [a-z}%;]{1,5}){0,4}",
    ];
    let results = [
        GameResult::WhiteWins,
        GameResult::BlackWins,
        GameResult::Draw,
        GameResult::Neither,
        GameResult::Unknown,
    ];
    let from_start = any_variant().prop_map(Position::start);
    let from_anywhere = any_variant().prop_flat_map(|v| positions(v, 12));
    (
        prop_oneof![from_start, from_anywhere],
        prop::collection::btree_map("[B-D][A-Za-z_]{0,9}", "[^\n\r]{0,20}", 0..4),
        prop::collection::vec(any::<usize>(), 0..400),
        prop::collection::vec(comment, 1..6),
        prop::sample::select(results.to_vec()),
    )
        .prop_map(|(start, tags, decisions, comments, result)| Game {
            tags: tags.into_iter().collect(),
            variant: start.variant(),
            start,
            line: Grower {
                decisions: decisions.into_iter(),
                comments,
            }
            .line(start, 0),
            result,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn games_round_trip(games in prop::collection::vec(any_game(), 0..3)) {
        let text = write(&games);
        prop_assert_eq!(read(&text, None), Ok(games), "{}", text);
        for line in text.lines().filter(|l| !l.starts_with(['[', ';'])) {
            prop_assert!(line.chars().count() <= 80, "{}", line);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(
        variant in any_variant(),
        text in any_text("0-9a-hx:(){};%$!?*\\[\\]\"/. \n-"),
    ) {
        if let Ok(games) = read(&text, Some(variant)) {
            prop_assert_eq!(read(&write(&games), None), Ok(games));
        }
    }

    /// Games with a character changed or the end cut off.
    #[test]
    fn damaged_games(game in any_game(), at: prop::sample::Index, with in any::<Option<char>>()) {
        let mut text: Vec<char> = game.to_string().chars().collect();
        let at = at.index(text.len());
        match with {
            Some(c) => text[at] = c,
            None => text.truncate(at),
        }
        let text: String = text.into_iter().collect();
        if let Ok(games) = read(&text, Some(game.variant)) {
            prop_assert_eq!(read(&write(&games), None), Ok(games), "{}", text);
        }
    }
}

/// The standard has Black start in Thai draughts; here White does. The board is turned: every
/// square `n` is `33 - n`, and colours stay what they are.
#[test]
fn a_thai_game_that_black_starts() {
    let text = "[White \"A\"]\n[GameType \"31,B,8,8,N2,0\"]\n1. 28-24 5-9 2. 24-19 *";
    let game = one(text, None);
    assert_eq!(
        game.start,
        fen::parse(Variant::Thai, "B:W25-32:B1-8").unwrap()
    );
    assert_eq!(texts(&game), ["5-9", "28-24", "9-14"]);
    assert_eq!(one(&write(std::slice::from_ref(&game)), None), game);
    // With a position: Black's men move towards the top as Black sees it.
    let text = "[GameType \"31,B,8,8,N2,0\"]\n[FEN \"B:W6:B15,10\"]\n1. 10x1 *";
    let game = one(text, None);
    assert_eq!(
        game.start,
        fen::parse(Variant::Thai, "B:W27:B18,23").unwrap()
    );
    assert_eq!(texts(&game), ["23x32"]);
    assert!(game.line.moves[0].mv.promotes);
    assert_eq!(one(&write(std::slice::from_ref(&game)), None), game);
    fails_in_thai("[GameType \"31,B,8,8,N2,0\"]\n1. 5-9 *", "28-24");
}

/// The message lists the legal moves as the game numbers its squares.
fn fails_in_thai(text: &str, legal: &str) {
    let error = read(text, None).unwrap_err().to_string();
    assert!(error.contains(legal), "{error}");
}
