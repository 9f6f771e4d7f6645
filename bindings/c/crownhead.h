// Crownhead: endgame tablebases for draughts, see docs/engines.md.
//
// Every function may be called from any thread, with the same tablebase too. Arguments that are
// null without being allowed to, or impossible, give CROWNHEAD_INVALID_ARGUMENT; other pointers must
// be valid, texts end with a zero, and a tablebase be open.
//
// Made from bindings/c/src by cbindgen. Do not edit.

#ifndef CROWNHEAD_H
#define CROWNHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The side to move loses.
#define CROWNHEAD_LOSS 0

// Neither side can win.
#define CROWNHEAD_DRAW 1

// The side to move wins.
#define CROWNHEAD_WIN 2

// Bytes for the text of a move.
#define CROWNHEAD_MOVE_TEXT 96

// Results: win, draw or loss.
#define CROWNHEAD_METRIC_WDL 1

// Distances to conversion.
#define CROWNHEAD_METRIC_DTC 2

// Distances to the end of the game.
#define CROWNHEAD_METRIC_DTW 4

// What came of a call.
typedef enum {
  // Done.
  CROWNHEAD_OK = 0,
  // A table that is needed is not there, or its file is not used; the text tells. The result is
  // not known; it is no draw.
  CROWNHEAD_MISSING = 1,
  // More pieces than tables can have.
  CROWNHEAD_TOO_MANY_PIECES = 2,
  // The answer is not in the cache (crownhead_probe_wdl_cached only).
  CROWNHEAD_NOT_CACHED = 3,
  // A table is damaged.
  CROWNHEAD_DAMAGED = 4,
  // A table cannot be read, or was replaced since it was found: open the tables again.
  CROWNHEAD_IO = 5,
  // A null pointer, an unknown variant, a position that cannot be, a text that is no position.
  CROWNHEAD_INVALID_ARGUMENT = 6,
  // A mistake in crownhead itself.
  CROWNHEAD_INTERNAL = 7,
} crownhead_status;

// Opened tables. Made by crownhead_open, only pointers to it are passed around.
typedef struct crownhead_tablebase crownhead_tablebase;

// A set of squares: bit n - 1 is the square with number n, in the numbering of the variant. Bits
// from 64 on are in `high`.
typedef struct {
  uint64_t low;
  uint64_t high;
} crownhead_squares;

// A position: bitboards and the side to move. One side may have no piece, not both.
typedef struct {
  crownhead_squares white_men;
  crownhead_squares white_kings;
  crownhead_squares black_men;
  crownhead_squares black_kings;
  // From crownhead_variant.
  int32_t variant;
  // 0 if White is to move, 1 if Black is.
  int32_t black_to_move;
} crownhead_position;

// What is known of a position or a move. Distances are in plies, -1 where there is none: in draws,
// and where there is no table of them.
typedef struct {
  // CROWNHEAD_LOSS, CROWNHEAD_DRAW or CROWNHEAD_WIN.
  int32_t result;
  // Plies to the next conversion: a capture or a man's move.
  int32_t dtc;
  // Plies to the end of the game.
  int32_t dtw;
} crownhead_outcome;

// A legal move.
typedef struct {
  // The position after it.
  crownhead_position after;
  // The pieces it takes.
  crownhead_squares captured;
  // Numbers of squares, from 1.
  uint8_t from;
  uint8_t to;
  // A man becomes a king.
  bool promotes;
  // It is a capture or a man's move.
  bool conversion;
  // From 1, the best; equal for moves that are equally good.
  uint32_t rank;
  // What it is worth to the side that makes it.
  crownhead_outcome outcome;
  // In the notation of the variant, ended with a zero.
  char text[CROWNHEAD_MOVE_TEXT];
} crownhead_move;

// What the cache of a tablebase has done so far.
typedef struct {
  // Values asked for and found.
  uint64_t hits;
  // Values asked for and not found.
  uint64_t misses;
  // Blocks that were decoded.
  uint64_t decodes;
  // Bytes in use, and the most bytes to use: 0 if the system did not give the memory, so that
  // nothing is kept.
  uint64_t bytes;
  uint64_t budget;
  // Tables that were found.
  uint64_t tables;
} crownhead_statistics;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Writes why the last call of this thread with a tablebase that failed did (null: the last call
// without a tablebase that failed), cut to `size` bytes with the zero at the end. Returns the bytes
// the whole text needs with that zero; 0 if none has failed.
size_t crownhead_last_error(const crownhead_tablebase *tables, char *buffer, size_t size);

// The version of the library.
const char *crownhead_version(void);

// The number of a variant ("english", "russian", "international", aliases too), or -1 if there is
// none of this name. Ask once: numbers may differ in another version of the library.
int32_t crownhead_variant(const char *name);

// Reads a position from FEN ("W:W31,K40:B1,K2") or from a letter for each square (Hub).
crownhead_status crownhead_parse_fen(int32_t variant,
                                     const char *fen,
                                     crownhead_position *position);

// Writes a position as FEN, cut to `size` bytes with the zero at the end. Returns the bytes the
// whole text needs with that zero; 0 if this is no position.
size_t crownhead_format_fen(const crownhead_position *position, char *buffer, size_t size);

// The result of a position for its side to move, for a search.
crownhead_status crownhead_probe_wdl(const crownhead_tablebase *tables,
                                     const crownhead_position *position,
                                     int32_t *result);

// The same, but only if it follows from what is decoded already; no file is touched. Else
// CROWNHEAD_NOT_CACHED, which leaves no error text.
crownhead_status crownhead_probe_wdl_cached(const crownhead_tablebase *tables,
                                            const crownhead_position *position,
                                            int32_t *result);

// The result of a position with what distances the tables have.
crownhead_status crownhead_probe(const crownhead_tablebase *tables,
                                 const crownhead_position *position,
                                 crownhead_outcome *outcome);

// The same for a position given as FEN.
crownhead_status crownhead_probe_fen(const crownhead_tablebase *tables,
                                     int32_t variant,
                                     const char *fen,
                                     crownhead_outcome *outcome);

// Every legal move, best first. Writes as many as there is room for, and to `count` how many there
// are. With a capacity of 0 `moves` may be null.
crownhead_status crownhead_rank_moves(const crownhead_tablebase *tables,
                                      const crownhead_position *position,
                                      crownhead_move *moves,
                                      size_t capacity,
                                      size_t *count);

// Best play until the game ends, or until the draw is plain. Writes as many moves as there is room
// for, and to `count` how many there are; also if the line cannot go on for want of a table
// (CROWNHEAD_MISSING), as far as it goes. `over`: 1 if the game is over at the end, else 0.
crownhead_status crownhead_line(const crownhead_tablebase *tables,
                                const crownhead_position *position,
                                crownhead_move *moves,
                                size_t capacity,
                                size_t *count,
                                int32_t *over);

// Decodes what positions will ask for, so that later probes find it in the cache; for a thread
// that has nothing better to do. Positions that cannot be answered are passed over.
crownhead_status crownhead_prefetch(const crownhead_tablebase *tables,
                                    const crownhead_position *positions,
                                    size_t count);

// Opens the tables in a list of directories (separated by `:`, on Windows by `;`) and all below
// them. Null stands for those of the environment variable CROWNHEAD_TABLES, else `tables`. The
// cache of decoded values takes up to `cache_bytes`; 0 stands for 256 MiB. Files are mapped when
// they are first needed. A directory that is not there is no error: ask what is available.
//
// Returns null only if crownhead itself fails. To be closed with crownhead_close.
crownhead_tablebase *crownhead_open(const char *directories, uint64_t cache_bytes);

// Closes a tablebase, which no thread may be using. Null is allowed.
void crownhead_close(crownhead_tablebase *tables);

// Which metrics a slice has, as a sum of CROWNHEAD_METRIC_ constants; 0 also for what cannot be.
// Colours may be exchanged, tables serve both.
int32_t crownhead_available(const crownhead_tablebase *tables,
                            int32_t variant,
                            uint8_t white_men,
                            uint8_t white_kings,
                            uint8_t black_men,
                            uint8_t black_kings);

// The most pieces up to which every slice has a metric (one CROWNHEAD_METRIC_ constant); 0 if
// not even those of two have it.
int32_t crownhead_complete(const crownhead_tablebase *tables, int32_t variant, int32_t metric);

// Tells what the cache has done so far.
crownhead_status crownhead_cache_statistics(const crownhead_tablebase *tables,
                                            crownhead_statistics *statistics);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CROWNHEAD_H */
