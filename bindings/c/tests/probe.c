/* Probes tables from four threads and compares every answer with a file of lines
 * `FEN;result;dtc;dtw` (-1 where there is no distance). Usage: probe DIRECTORIES VARIANT FILE */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crownhead.h"

enum { THREADS = 4, MOVES = 200 };

struct line {
    char fen[128];
    crownhead_outcome expected;
};

static struct line *lines;
static size_t line_count;
static crownhead_tablebase *tables;
static int32_t variant;

#define CHECK(condition, what)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            char error[300] = "";                                                                  \
            crownhead_last_error(tables, error, sizeof error);                                     \
            fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, what, #condition, error);  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static int same(crownhead_outcome a, crownhead_outcome b) {
    return a.result == b.result && a.dtc == b.dtc && a.dtw == b.dtw;
}

static void check_line(const struct line *line, crownhead_move *moves) {
    const char *fen = line->fen;
    crownhead_position position;
    crownhead_outcome outcome;
    int32_t result = -1;
    CHECK(crownhead_parse_fen(variant, fen, &position) == CROWNHEAD_OK, fen);
    CHECK(crownhead_probe_wdl(tables, &position, &result) == CROWNHEAD_OK, fen);
    CHECK(result == line->expected.result, fen);
    CHECK(crownhead_probe(tables, &position, &outcome) == CROWNHEAD_OK, fen);
    CHECK(same(outcome, line->expected), fen);
    CHECK(crownhead_probe_fen(tables, variant, fen, &outcome) == CROWNHEAD_OK, fen);
    CHECK(same(outcome, line->expected), fen);
    /* Another thread may be writing to the place in the cache, but it never holds anything else. */
    result = -1;
    crownhead_status cached = crownhead_probe_wdl_cached(tables, &position, &result);
    int32_t told = cached == CROWNHEAD_NOT_CACHED ? -1 : line->expected.result;
    CHECK(cached == CROWNHEAD_OK || cached == CROWNHEAD_NOT_CACHED, fen);
    CHECK(result == told, fen);

    size_t count = 0;
    CHECK(crownhead_rank_moves(tables, &position, moves, MOVES, &count) == CROWNHEAD_OK, fen);
    CHECK(count <= MOVES, fen);
    if (count == 0) {
        CHECK(line->expected.dtw == 0, fen);
        return;
    }
    /* The first move is the fastest to the end, maybe not to a conversion. */
    CHECK(moves[0].outcome.result == line->expected.result && moves[0].rank == 1, fen);
    CHECK(moves[0].outcome.dtw == line->expected.dtw, fen);
    for (size_t i = 0; i < count; i++) {
        CHECK(strlen(moves[i].text) >= 3, fen);
        CHECK(moves[i].after.black_to_move != position.black_to_move, fen);
        CHECK(crownhead_probe(tables, &moves[i].after, &outcome) == CROWNHEAD_OK, fen);
        CHECK(outcome.result == 2 - moves[i].outcome.result, fen);
    }
}

static void *check_all(void *first) {
    crownhead_move *moves = malloc(MOVES * sizeof *moves);
    for (size_t i = 0; i < line_count; i++)
        check_line(&lines[(i + (size_t)first) % line_count], moves);
    free(moves);
    return NULL;
}

static void check_lines_to_the_end(void) {
    crownhead_move *moves = malloc(MOVES * sizeof *moves);
    for (size_t i = 0; i < line_count; i += 20) {
        if (lines[i].expected.result == CROWNHEAD_DRAW)
            continue;
        crownhead_position position;
        size_t count = 0;
        int32_t over = 0;
        CHECK(crownhead_parse_fen(variant, lines[i].fen, &position) == CROWNHEAD_OK, lines[i].fen);
        CHECK(crownhead_line(tables, &position, moves, MOVES, &count, &over) == CROWNHEAD_OK,
              lines[i].fen);
        CHECK(over == 1 && (int32_t)count == lines[i].expected.dtw, lines[i].fen);
    }
    free(moves);
}

/* Bad arguments give an error, and its text tells this thread which. */
static void check_errors(void) {
    char text[300];
    crownhead_position position, bad;
    crownhead_outcome outcome;
    int32_t result;
    CHECK(crownhead_variant("chess") == -1 && crownhead_variant(NULL) == -1, "variants");
    CHECK(crownhead_parse_fen(variant, "W:W99:B1", &position) == CROWNHEAD_INVALID_ARGUMENT, "fen");
    CHECK(crownhead_last_error(NULL, text, sizeof text) > 1 && strstr(text, "99"), text);
    CHECK(crownhead_parse_fen(99, "W:WK9:BK1", &position) == CROWNHEAD_INVALID_ARGUMENT, "variant");
    CHECK(crownhead_parse_fen(variant, NULL, &position) == CROWNHEAD_INVALID_ARGUMENT, "null");
    CHECK(crownhead_parse_fen(variant, "W:WK9:BK1", NULL) == CROWNHEAD_INVALID_ARGUMENT, "null");

    CHECK(crownhead_parse_fen(variant, "W:WK9,K10:BK1", &position) == CROWNHEAD_OK, "fen");
    CHECK(crownhead_format_fen(&position, text, sizeof text) == 14, "fen");
    CHECK(strcmp(text, "W:WK9,K10:BK1") == 0, text);
    CHECK(crownhead_format_fen(&position, text, 4) == 14 && strcmp(text, "W:W") == 0, text);
    CHECK(crownhead_probe(NULL, &position, &outcome) == CROWNHEAD_INVALID_ARGUMENT, "null");
    CHECK(crownhead_probe(tables, NULL, &outcome) == CROWNHEAD_INVALID_ARGUMENT, "null");
    CHECK(crownhead_last_error(tables, text, sizeof text) > 1 && strstr(text, "position"), text);
    CHECK(crownhead_probe_wdl(tables, &position, NULL) == CROWNHEAD_INVALID_ARGUMENT, "null");
    bad = position;
    bad.black_kings = bad.white_kings;
    CHECK(crownhead_probe(tables, &bad, &outcome) == CROWNHEAD_INVALID_ARGUMENT, "twice");
    bad = position;
    bad.black_men.high = 1;
    CHECK(crownhead_probe_wdl(tables, &bad, &result) == CROWNHEAD_INVALID_ARGUMENT, "off board");
    bad = position;
    bad.black_to_move = 2;
    CHECK(crownhead_probe_wdl(tables, &bad, &result) == CROWNHEAD_INVALID_ARGUMENT, "side");

    /* More pieces than anybody has solved. */
    const char *ten = "W:WK9,K10,K11,K12,K13,K14,K15,K16,K17:BK1";
    CHECK(crownhead_parse_fen(variant, ten, &bad) == CROWNHEAD_OK, "fen");
    CHECK(crownhead_probe_wdl(tables, &bad, &result) == CROWNHEAD_MISSING, "ten pieces");
    CHECK(crownhead_last_error(tables, text, sizeof text) > 1 && strstr(text, "KKKKKvK.wdl"), text);
    CHECK(crownhead_parse_fen(variant, "W:W21-32:B1-12", &bad) == CROWNHEAD_OK, "fen");
    CHECK(crownhead_probe_wdl(tables, &bad, &result) == CROWNHEAD_TOO_MANY_PIECES, "start");
}

static void check_inventory(const char *directories) {
    const int32_t all = CROWNHEAD_METRIC_WDL | CROWNHEAD_METRIC_DTC | CROWNHEAD_METRIC_DTW;
    CHECK(crownhead_available(tables, variant, 0, 2, 0, 1) == all, "KKvK");
    CHECK(crownhead_available(tables, variant, 0, 1, 0, 2) == all, "KvKK");
    CHECK(crownhead_available(tables, variant, 0, 9, 0, 1) == 0, "nine kings");
    CHECK(crownhead_available(NULL, variant, 0, 2, 0, 1) == 0, "null");
    CHECK(crownhead_complete(tables, variant, CROWNHEAD_METRIC_DTW) >= 4, "complete");
    CHECK(crownhead_complete(tables, variant, 3) == 0, "no metric");
    crownhead_statistics statistics;
    CHECK(crownhead_cache_statistics(tables, &statistics) == CROWNHEAD_OK, "statistics");
    CHECK(statistics.hits > line_count && statistics.decodes > 0, "statistics");
    CHECK(statistics.bytes > 0 && statistics.bytes <= statistics.budget, "statistics");

    /* A second handle knows nothing of the first one's cache until it is told. */
    crownhead_tablebase *other = crownhead_open(directories, 1 << 20);
    crownhead_position position;
    int32_t result = -1;
    CHECK(crownhead_parse_fen(variant, lines[0].fen, &position) == CROWNHEAD_OK, "fen");
    CHECK(crownhead_prefetch(other, &position, 1) == CROWNHEAD_OK, "prefetch");
    CHECK(crownhead_probe_wdl_cached(other, &position, &result) == CROWNHEAD_OK, "cached");
    CHECK(result == lines[0].expected.result, "cached");
    crownhead_close(other);
    crownhead_close(NULL);
}

static void read_lines(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    struct line line;
    while (fscanf(file, " %127[^;];%d;%d;%d", line.fen, &line.expected.result, &line.expected.dtc,
                  &line.expected.dtw) == 4) {
        lines = realloc(lines, (line_count + 1) * sizeof line);
        lines[line_count++] = line;
    }
    fclose(file);
}

int main(int count, char **arguments) {
    if (count != 4)
        return 2;
    tables = crownhead_open(arguments[1], 0);
    variant = crownhead_variant(arguments[2]);
    read_lines(arguments[3]);
    CHECK(tables && variant >= 0 && line_count > 0, "opened");

    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        void *first = (void *)(i * line_count / THREADS);
        CHECK(pthread_create(&threads[i], NULL, check_all, first) == 0, "thread");
    }
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0, "thread");
    check_lines_to_the_end();
    check_errors();
    check_inventory(arguments[1]);
    crownhead_close(tables);
    printf("%zu positions, version %s\n", line_count, crownhead_version());
    return 0;
}
