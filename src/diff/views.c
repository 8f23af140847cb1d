/* SPDX-License-Identifier: MIT
 * Views are compared tile by tile. A tile is one of these, and is read before it is compared:
 *
 *     what the last dimensions of a view index; it lies within one range of bytes of each tensor, which is read whole
 *     a part of the last dimension, whose elements follow one another in both tensors
 *     a block of the last two dimensions, of a large matrix that is transposed: rows of B and columns of A are read one
 *     by one, each in one piece, so that neither file is read in small pieces
 *
 * Within a tile, elements that follow one another in both tensors are compared many at once (sp_elements_run). Those of
 * a transposed matrix are first copied so that they do. Others are compared one by one. */
#include "diff/views.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/values.h"

enum {
    USUAL = 4 << 20,  /* bytes of a tile of either tensor, if a tile of this size wastes little */
    MOST = 64 << 20,  /* bytes of a tile of either tensor */
    WASTE = 4,        /* elements that are read for one that is compared, at most */
    CHUNK = 64 << 10, /* elements of a part of a dimension: both tensors' stay in the cache of a processor */
    SIDE = 4 << 10,   /* bytes of a row or a column of a block */
    TURNED_ROWS = 16, /* columns of A that are copied into rows together: of F32 one line of the cache */
    TURNED_WIDTH = SP_VALUES + 16, /* elements from one row of these to the next: no power of two, or rows would push
                                      each other out of the cache */
    MAX_ELEMENT = 16               /* bytes, of C128 */
};

struct tiles {
    const struct sp_view_pair *pair;
    uint32_t first;        /* the dimensions from this one on are in the tile */
    uint64_t chunk;        /* elements of the last dimension in a tile */
    uint64_t rows;         /* of the dimension before it, of a block; 0: tiles are no blocks */
    size_t size_a, size_b; /* bytes of an element */
    unsigned char *a, *b;
    unsigned char *turned;        /* TURNED_ROWS rows of SP_VALUES elements of A; NULL if A is not transposed */
    enum shapeproof_dtype narrow; /* to which elements may be rounded */
    bool is_exact, is_rounded;
    struct sp_view_differences *measured; /* or NULL */
    struct sp_data_progress *progress;    /* or NULL */
};

/* ---- values ---- */

static double cut_to_bf16(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    bits &= 0xffff0000U;
    memcpy(&single, &bits, sizeof single);
    return (double)single;
}

static double change_value(enum sp_change change, double value)
{
    switch (change) {
    case SP_CHANGE_PLUS_ONE:
        return value + 1;
    case SP_CHANGE_PLUS_TWO:
        return value + 2;
    case SP_CHANGE_MINUS_ONE:
        return value - 1;
    case SP_CHANGE_MINUS_EXP:
        return -exp(value);
    case SP_CHANGE_EXP:
        return exp(value);
    case SP_CHANGE_NEGATED:
        return -value;
    case SP_CHANGE_DOUBLED:
        return value * 2;
    case SP_CHANGE_HALVED:
        return value / 2;
    case SP_CHANGE_ZERO:
        return 0;
    case SP_CHANGE_ROUNDED_BF16:
        return sp_rounded_to(SHAPEPROOF_DTYPE_BF16, value);
    case SP_CHANGE_ROUNDED_F16:
        return sp_rounded_to(SHAPEPROOF_DTYPE_F16, value);
    case SP_CHANGE_CUT_BF16:
        return cut_to_bf16(value);
    case SP_CHANGE_NONE:
        break;
    }
    return value;
}

/* Whether a changed value of A is the one of B: frameworks compute the change in F32 at most, and their exp() may be
 * off by a few of its last bits. */
static bool is_changed_value(enum sp_change change, enum shapeproof_dtype dtype, double expected, double value)
{
    const double last_bits = ldexp(1, -21);
    const enum shapeproof_dtype stored = dtype == SHAPEPROOF_DTYPE_F64 ? SHAPEPROOF_DTYPE_F32 : dtype;
    const bool is_exp = change == SP_CHANGE_MINUS_EXP || change == SP_CHANGE_EXP;
    if (sp_is_same_value(sp_rounded_to(stored, expected), sp_rounded_to(stored, value))) return true;
    if (!is_exp || !isfinite(expected) || !isfinite(value)) return false;
    const double least = sp_rounded_to(stored, expected * (1 - last_bits)),
                 most = sp_rounded_to(stored, expected * (1 + last_bits));
    return fabs(value) >= fabs(least) && fabs(value) <= fabs(most) && !signbit(value) == !signbit(expected);
}

/* Whether an element is equal, rounded or different. */
static enum sp_elements compare_element(const struct tiles *tiles, const unsigned char *a, const unsigned char *b)
{
    const enum sp_change change = tiles->pair->change;
    const enum shapeproof_dtype in_a = tiles->pair->a.tensor->dtype, in_b = tiles->pair->b.tensor->dtype;
    if (change == SP_CHANGE_NONE) {
        struct sp_element_run run = {in_a, in_b, tiles->narrow, true};
        if (!sp_elements_run(&run, a, b, 1)) return SP_ELEMENTS_DIFFERENT;
        return run.is_exact ? SP_ELEMENTS_EQUAL : SP_ELEMENTS_ROUNDED;
    }
    const double one = sp_value_of(in_a, a), other = sp_value_of(in_b, b), expected = change_value(change, one);
    if (change == SP_CHANGE_ZERO) return one != 0 && other == 0 ? SP_ELEMENTS_EQUAL : SP_ELEMENTS_DIFFERENT;
    if (isfinite(one) && !isfinite(expected)) return SP_ELEMENTS_DIFFERENT; /* what a change must not do */
    if (is_changed_value(change, in_b, expected, other)) return SP_ELEMENTS_EQUAL;
    return sp_is_same_value(sp_rounded_to(in_a, expected), other) ? SP_ELEMENTS_ROUNDED : SP_ELEMENTS_DIFFERENT;
}

/* `index` is that of the element, counted along the view. */
static void measure_element(struct sp_view_differences *measured, const struct sp_view_pair *pair, uint64_t index,
                            const unsigned char *a, const unsigned char *b, bool differs)
{
    if (differs && (!measured->different++ || index < measured->first)) measured->first = index;
    measured->all++;
    if (!sp_is_float(pair->a.tensor->dtype) || !sp_is_float(pair->b.tensor->dtype)) return;
    const double one = change_value(pair->change, sp_value_of(pair->a.tensor->dtype, a));
    const double other = sp_value_of(pair->b.tensor->dtype, b);
    measured->not_finite_a += !isfinite(one) && isfinite(other);
    measured->not_finite_b += isfinite(one) && !isfinite(other);
    if (!isfinite(one) || !isfinite(other)) return;
    measured->squares_a += one * one;
    if (!differs) return;
    measured->squares += (other - one) * (other - one);
    if (fabs(other - one) > measured->most) measured->most = fabs(other - one);
}

/* ---- elements of a tile ---- */

/* Some elements of the last two dimensions, or of the last one, that are in memory. */
struct plane {
    const unsigned char *a, *b;
    uint64_t rows, columns;
    size_t row_a, row_b, column_a, column_b; /* bytes from one to the next */
    uint64_t index;                          /* of the first element, counted along the view */
};

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Compares elements that follow one another in both. */
static void compare_run(struct tiles *tiles, const unsigned char *a, const unsigned char *b, size_t count)
{
    const enum shapeproof_dtype in_a = tiles->pair->a.tensor->dtype, in_b = tiles->pair->b.tensor->dtype;
    struct sp_element_run run = {in_a, in_b, tiles->narrow, tiles->is_exact};
    if (!tiles->is_rounded) return;
    tiles->is_rounded = sp_elements_run(&run, a, b, count) == count;
    tiles->is_exact = tiles->is_exact && tiles->is_rounded && run.is_exact;
}

static void compare_runs(struct tiles *tiles, const struct plane *plane)
{
    for (uint64_t i = 0; i < plane->rows; i++)
        compare_run(tiles, plane->a + i * plane->row_a, plane->b + i * plane->row_b, (size_t)plane->columns);
}

/* Copies `columns` elements of each of `rows` rows, which are `width` bytes apart, so that each column becomes a row of
 * `turned`. The compiler makes one function for each constant size of an element. */
static inline void turn(unsigned char *turned, const unsigned char *from, size_t width, size_t rows, size_t columns,
                        size_t size)
{
    for (size_t i = 0; i < rows; i++, from += width)
        for (size_t k = 0; k < columns; k++) memcpy(turned + (k * TURNED_WIDTH + i) * size, from + k * size, size);
}

static void turn_columns(const struct tiles *tiles, const unsigned char *from, size_t width, size_t rows,
                         size_t columns)
{
    if (tiles->size_a == 2) turn(tiles->turned, from, width, rows, columns, 2);
    else if (tiles->size_a == 4) turn(tiles->turned, from, width, rows, columns, 4);
    else turn(tiles->turned, from, width, rows, columns, tiles->size_a);
}

/* Compares a plane of which columns of A and rows of B follow one another: of TURNED_ROWS rows of B at once SP_VALUES
 * elements. */
static void compare_turned(struct tiles *tiles, const struct plane *plane)
{
    for (uint64_t column = 0; column < plane->columns; column += SP_VALUES)
        for (uint64_t row = 0; row < plane->rows && tiles->is_rounded; row += TURNED_ROWS) {
            const size_t rows = (size_t)least(plane->rows - row, TURNED_ROWS);
            const size_t columns = (size_t)least(plane->columns - column, SP_VALUES);
            turn_columns(tiles, plane->a + column * plane->column_a + row * plane->row_a, plane->column_a, columns,
                         rows);
            for (size_t i = 0; i < rows; i++)
                compare_run(tiles, tiles->turned + i * TURNED_WIDTH * tiles->size_a,
                            plane->b + (row + i) * plane->row_b + column * plane->column_b, columns);
        }
}

static void compare_each(struct tiles *tiles, const struct plane *plane)
{
    for (uint64_t i = 0; i < plane->rows; i++)
        for (uint64_t k = 0; k < plane->columns && (tiles->is_rounded || tiles->measured); k++) {
            const unsigned char *a = plane->a + i * plane->row_a + k * plane->column_a;
            const unsigned char *b = plane->b + i * plane->row_b + k * plane->column_b;
            const enum sp_elements same = compare_element(tiles, a, b);
            const uint64_t index = plane->index + i * tiles->pair->size[tiles->pair->rank - 1] + k;
            if (tiles->measured)
                measure_element(tiles->measured, tiles->pair, index, a, b, same == SP_ELEMENTS_DIFFERENT);
            tiles->is_exact = tiles->is_exact && same == SP_ELEMENTS_EQUAL;
            tiles->is_rounded = tiles->is_rounded && same != SP_ELEMENTS_DIFFERENT;
        }
}

static void compare_plane(struct tiles *tiles, const struct plane *plane)
{
    const bool is_plain = tiles->pair->change == SP_CHANGE_NONE && !tiles->measured;
    if (is_plain && plane->column_a == tiles->size_a && plane->column_b == tiles->size_b) compare_runs(tiles, plane);
    else if (is_plain && tiles->turned) compare_turned(tiles, plane);
    else compare_each(tiles, plane);
}

/* ---- tiles ---- */

/* How many elements of the tensor there are from the first to the last of the view's dimensions from `first` on. */
static uint64_t span_of(const struct sp_view_pair *pair, const struct sp_element_view *view, uint32_t first)
{
    uint64_t span = 1;
    for (uint32_t i = first; i < pair->rank; i++) span += (pair->size[i] - 1) * view->step[i];
    return span;
}

static uint64_t elements_from(const struct sp_view_pair *pair, uint32_t first)
{
    uint64_t count = 1;
    for (uint32_t i = first; i < pair->rank; i++) count *= pair->size[i]; /* at most the elements of a tensor */
    return count;
}

static bool is_good_tile(const struct tiles *tiles, uint32_t first, uint64_t most)
{
    const struct sp_view_pair *pair = tiles->pair;
    const uint64_t a = span_of(pair, &pair->a, first), b = span_of(pair, &pair->b, first);
    const uint64_t count = elements_from(pair, first);
    return a <= most / tiles->size_a && b <= most / tiles->size_b && a / WASTE <= count && b / WASTE <= count;
}

/* Whether in the last two dimensions the columns of A follow one another, and the rows of B. */
static bool is_turned(const struct sp_view_pair *pair)
{
    const uint32_t last = pair->rank - 1;
    return last && pair->a.step[last - 1] == 1 && pair->b.step[last] == 1 && pair->a.step[last] != 1;
}

static bool reads_in_order(const struct sp_element_view *view)
{
    return shapeproof_data_in_order(view->bytes.data, view->bytes.tensor);
}

/* The sizes of a block: a square, or what is as large and spans all rows or all columns, where these are few. */
static void find_block(struct tiles *tiles)
{
    const struct sp_view_pair *pair = tiles->pair;
    const uint32_t last = pair->rank - 1;
    const uint64_t rows = pair->size[last - 1], columns = pair->size[last];
    const uint64_t side = SIDE / (tiles->size_a > tiles->size_b ? tiles->size_a : tiles->size_b), all = side * side;
    tiles->first = last - 1;
    tiles->chunk = least(rows < side ? all / rows : side, columns);
    tiles->rows = least(columns < side ? all / columns : side, rows);
}

/* Finds the tiles: the largest of the usual size that waste little; blocks; larger tiles; parts of the last dimension.
 * False when there are none, and for elements of less than a byte. What can only be read in order is cut into parts. */
static bool find_tile(struct tiles *tiles)
{
    const struct sp_view_pair *pair = tiles->pair;
    const uint32_t last = pair->rank - 1;
    const bool is_run = pair->a.step[last] == 1 && pair->b.step[last] == 1;
    tiles->size_a = shapeproof_dtype_bits(pair->a.tensor->dtype) / 8;
    tiles->size_b = shapeproof_dtype_bits(pair->b.tensor->dtype) / 8;
    tiles->chunk = pair->size[last];
    if (!tiles->size_a || !tiles->size_b) return false;
    if (reads_in_order(&pair->a) || reads_in_order(&pair->b)) {
        tiles->chunk = CHUNK;
        return is_run && pair->rank == 1;
    }
    for (uint64_t most = USUAL; most <= MOST; most *= MOST / USUAL) {
        for (tiles->first = 0; tiles->first < pair->rank; tiles->first++)
            if (is_good_tile(tiles, tiles->first, most)) {
                if (is_run && tiles->first == last) tiles->chunk = CHUNK; /* which reads nothing more */
                return true;
            }
        if (is_turned(pair)) {
            find_block(tiles);
            return true;
        }
    }
    tiles->first = last;
    tiles->chunk = CHUNK;
    return is_run;
}

/* Compares a tile whose elements begin at the buffers' beginning; `length` of them along the last dimension. */
static void compare_tile(struct tiles *tiles, uint64_t length, uint64_t start)
{
    const struct sp_view_pair *pair = tiles->pair;
    const uint32_t last = pair->rank - 1, planes = last > tiles->first ? last - 1 : last;
    struct plane plane = {.rows = planes < last ? pair->size[planes] : 1,
                          .columns = length,
                          .row_a = planes < last ? (size_t)pair->a.step[planes] * tiles->size_a : 0,
                          .row_b = planes < last ? (size_t)pair->b.step[planes] * tiles->size_b : 0,
                          .column_a = (size_t)pair->a.step[last] * tiles->size_a,
                          .column_b = (size_t)pair->b.step[last] * tiles->size_b,
                          .index = start};
    uint64_t index[SP_VIEW_RANK] = {0};
    for (;;) {
        uint64_t at_a = 0, at_b = 0;
        for (uint32_t i = tiles->first; i < planes; i++) {
            at_a += index[i] * pair->a.step[i];
            at_b += index[i] * pair->b.step[i];
        }
        plane.a = tiles->a + at_a * tiles->size_a;
        plane.b = tiles->b + at_b * tiles->size_b;
        compare_plane(tiles, &plane);
        plane.index += plane.rows * plane.columns;
        uint32_t next = planes;
        while (next > tiles->first && ++index[next - 1] == pair->size[next - 1]) index[--next] = 0;
        if (next == tiles->first || (!tiles->is_rounded && !tiles->measured)) return;
    }
}

/* ---- reading tiles ---- */

static bool read_elements(const struct sp_element_view *view, uint64_t at, size_t size, uint64_t count,
                          unsigned char *into, struct shapeproof_error *error)
{
    return shapeproof_data_read(view->bytes.data, view->bytes.tensor, at * size, into, (size_t)count * size, error);
}

/* Reads `lines` times `length` elements; a line begins `step` elements behind the one before. */
static bool read_lines(const struct sp_element_view *view, uint64_t at, uint64_t step, size_t size, uint64_t lines,
                       uint64_t length, unsigned char *into, struct shapeproof_error *error)
{
    if (step == length) return read_elements(view, at, size, lines * length, into, error);
    for (uint64_t i = 0; i < lines; i++)
        if (!read_elements(view, at + i * step, size, length, into + i * length * size, error)) return false;
    return true;
}

/* How far a walk over tiles is: where the elements of the dimensions before `first` begin. */
struct position {
    uint64_t at_a, at_b;
    uint64_t index; /* counted along the view */
};

/* Reads and compares the part of the tile that begins at element `done` of the last dimension. */
static bool visit_part(struct tiles *tiles, const struct position *position, uint64_t done, uint64_t length,
                       struct shapeproof_error *error)
{
    const struct sp_view_pair *pair = tiles->pair;
    const uint64_t step_a = pair->a.step[pair->rank - 1], step_b = pair->b.step[pair->rank - 1];
    const uint64_t cut = pair->size[pair->rank - 1] - length;
    const uint64_t a = span_of(pair, &pair->a, tiles->first) - cut * step_a;
    const uint64_t b = span_of(pair, &pair->b, tiles->first) - cut * step_b;
    if (!read_elements(&pair->a, position->at_a + done * step_a, tiles->size_a, a, tiles->a, error) ||
        !read_elements(&pair->b, position->at_b + done * step_b, tiles->size_b, b, tiles->b, error))
        return false;
    compare_tile(tiles, length, position->index + done);
    return true;
}

/* Reads and compares a block: rows of B, columns of A. */
static bool visit_block(struct tiles *tiles, const struct position *position, uint64_t row, uint64_t column,
                        struct shapeproof_error *error)
{
    const struct sp_view_pair *pair = tiles->pair;
    const uint32_t last = pair->rank - 1;
    const uint64_t rows = least(tiles->rows, pair->size[last - 1] - row),
                   columns = least(tiles->chunk, pair->size[last] - column);
    const uint64_t step_a = pair->a.step[last], step_b = pair->b.step[last - 1];
    const struct plane plane = {.a = tiles->a,
                                .b = tiles->b,
                                .rows = rows,
                                .columns = columns,
                                .row_a = tiles->size_a,
                                .row_b = (size_t)columns * tiles->size_b,
                                .column_a = (size_t)rows * tiles->size_a,
                                .column_b = tiles->size_b,
                                .index = position->index + row * pair->size[last] + column};
    if (!read_lines(&pair->a, position->at_a + row + column * step_a, step_a, tiles->size_a, columns, rows, tiles->a,
                    error) ||
        !read_lines(&pair->b, position->at_b + row * step_b + column, step_b, tiles->size_b, rows, columns, tiles->b,
                    error))
        return false;
    compare_plane(tiles, &plane);
    return true;
}

/* Whether the walk goes on behind a tile of so many elements; *ended is set when what was looked for is found. */
static bool goes_on(struct tiles *tiles, uint64_t elements, bool *ended, struct shapeproof_error *error)
{
    *ended = !tiles->is_rounded && !tiles->measured;
    return !tiles->progress || sp_data_goes_on(tiles->progress, elements * tiles->progress->element, error);
}

static bool walk_parts(struct tiles *tiles, const struct position *position, bool *ended,
                       struct shapeproof_error *error)
{
    const uint64_t row = tiles->pair->size[tiles->pair->rank - 1];
    const uint64_t others = elements_from(tiles->pair, tiles->first) / row;
    for (uint64_t done = 0; done < row && !*ended; done += tiles->chunk) {
        const uint64_t length = least(row - done, tiles->chunk);
        if (!visit_part(tiles, position, done, length, error) || !goes_on(tiles, others * length, ended, error))
            return false;
    }
    return true;
}

static bool walk_blocks(struct tiles *tiles, const struct position *position, bool *ended,
                        struct shapeproof_error *error)
{
    const uint64_t rows = tiles->pair->size[tiles->pair->rank - 2], columns = tiles->pair->size[tiles->pair->rank - 1];
    for (uint64_t row = 0; row < rows; row += tiles->rows)
        for (uint64_t column = 0; column < columns && !*ended; column += tiles->chunk) {
            const uint64_t elements = least(tiles->rows, rows - row) * least(tiles->chunk, columns - column);
            if (!visit_block(tiles, position, row, column, error) || !goes_on(tiles, elements, ended, error))
                return false;
        }
    return true;
}

/* Walks over all tiles. */
static bool walk_tiles(struct tiles *tiles, struct shapeproof_error *error)
{
    const struct sp_view_pair *pair = tiles->pair;
    uint64_t index[SP_VIEW_RANK] = {0};
    bool ended = false;
    for (uint64_t tile = 0; !ended; tile++) {
        struct position position = {pair->a.start, pair->b.start, tile * elements_from(pair, tiles->first)};
        for (uint32_t i = 0; i < tiles->first; i++) {
            position.at_a += index[i] * pair->a.step[i];
            position.at_b += index[i] * pair->b.step[i];
        }
        if (!(tiles->rows ? walk_blocks : walk_parts)(tiles, &position, &ended, error)) return false;
        uint32_t next = tiles->first;
        while (next && ++index[next - 1] == pair->size[next - 1]) index[--next] = 0;
        if (!next) return true;
    }
    return true;
}

/* The elements of a tile of either tensor. */
static uint64_t room_for(const struct tiles *tiles, const struct sp_element_view *view)
{
    const struct sp_view_pair *pair = tiles->pair;
    if (tiles->rows) return tiles->rows * tiles->chunk;
    const uint64_t cut = pair->size[pair->rank - 1] - least(tiles->chunk, pair->size[pair->rank - 1]);
    return span_of(pair, view, tiles->first) - cut * view->step[pair->rank - 1];
}

static bool walk_views(struct tiles *tiles, struct shapeproof_error *error)
{
    const struct sp_view_pair *pair = tiles->pair;
    tiles->is_exact = tiles->is_rounded = !elements_from(pair, 0) || find_tile(tiles);
    if (!elements_from(pair, 0) || !tiles->is_exact) return true;
    tiles->a = sp_realloc(NULL, (size_t)room_for(tiles, &pair->a), tiles->size_a);
    tiles->b = sp_realloc(NULL, (size_t)room_for(tiles, &pair->b), tiles->size_b);
    if (is_turned(pair)) tiles->turned = sp_realloc(NULL, TURNED_ROWS * TURNED_WIDTH, MAX_ELEMENT);
    const bool ok = walk_tiles(tiles, error);
    sp_free(tiles->a);
    sp_free(tiles->b);
    sp_free(tiles->turned);
    return ok;
}

/* ---- for others ---- */

struct sp_view_pair sp_view_pair_flat(const struct sp_element_view *a, const struct sp_element_view *b)
{
    struct sp_view_pair pair = {.rank = 1, .size = {a->tensor->parameters}, .a = *a, .b = *b};
    pair.a.step[0] = pair.b.step[0] = 1;
    return pair;
}

void sp_view_pair_add(struct sp_view_pair *pair, uint64_t size, uint64_t step_a, uint64_t step_b)
{
    pair->size[pair->rank] = size;
    pair->a.step[pair->rank] = step_a;
    pair->b.step[pair->rank++] = step_b;
}

void sp_view_pair_add_rotary(struct sp_view_pair *pair, enum sp_rotary order, uint64_t rows, uint64_t step_a,
                             uint64_t step_b)
{
    if (order == SP_ROTARY_PAIRED) {
        sp_view_pair_add(pair, rows / 2, step_a, 2 * step_b);
        sp_view_pair_add(pair, 2, rows / 2 * step_a, step_b);
    } else if (order == SP_ROTARY_HALVED) {
        sp_view_pair_add(pair, rows / 2, 2 * step_a, step_b);
        sp_view_pair_add(pair, 2, step_a, rows / 2 * step_b);
    } else {
        sp_view_pair_add(pair, rows / 4, step_a, 4 * step_b);
        sp_view_pair_add(pair, 2, rows / 2 * step_a, 2 * step_b);
        sp_view_pair_add(pair, 2, rows / 4 * step_a, step_b);
    }
}

bool sp_views_fit(const struct sp_view_pair *pair)
{
    struct tiles tiles = {.pair = pair};
    return !elements_from(pair, 0) || find_tile(&tiles);
}

static enum shapeproof_dtype narrow_of(const struct sp_view_pair *pair)
{
    return sp_elements_narrow(pair->a.tensor->dtype, pair->b.tensor->dtype);
}

/* Compares with `narrow` as the dtype to which elements may be rounded. */
static bool compare_as(const struct sp_view_pair *pair, enum shapeproof_dtype narrow, struct sp_data_progress *progress,
                       enum sp_elements *result, struct shapeproof_error *error)
{
    struct tiles tiles = {.pair = pair, .narrow = narrow, .progress = progress};
    const bool ok = walk_views(&tiles, error);
    *result = tiles.is_exact ? SP_ELEMENTS_EQUAL : tiles.is_rounded ? SP_ELEMENTS_ROUNDED : SP_ELEMENTS_DIFFERENT;
    return ok;
}

bool sp_views_compare(const struct sp_view_pair *pair, struct sp_data_progress *progress, enum sp_elements *result,
                      struct shapeproof_error *error)
{
    const enum shapeproof_dtype a = pair->a.tensor->dtype, b = pair->b.tensor->dtype;
    if (!compare_as(pair, narrow_of(pair), progress, result, error)) return false;
    if (*result != SP_ELEMENTS_DIFFERENT || pair->change != SP_CHANGE_NONE || !sp_elements_either_is_narrow(a, b))
        return true;
    return compare_as(pair, a, progress, result, error);
}

bool sp_views_measure(const struct sp_view_pair *pair, struct sp_data_progress *progress,
                      struct sp_view_differences *differences, struct shapeproof_error *error)
{
    struct tiles tiles = {.pair = pair, .narrow = narrow_of(pair), .measured = differences, .progress = progress};
    *differences = (struct sp_view_differences){0};
    return walk_views(&tiles, error);
}

/* The values of a view from one index on along its last dimension, which are read at once where they follow one
 * another. */
static size_t sample_view(const struct sp_view_pair *pair, const struct sp_element_view *view, const uint64_t *index,
                          double *values, size_t count)
{
    const uint32_t last = pair->rank - 1;
    const enum shapeproof_dtype dtype = view->tensor->dtype;
    const size_t size = shapeproof_dtype_bits(dtype) / 8;
    unsigned char bytes[SP_SAMPLES * MAX_ELEMENT];
    struct shapeproof_error error = {0};
    uint64_t at = view->start;
    for (uint32_t i = 0; i < pair->rank; i++) at += index[i] * view->step[i];
    count = (size_t)least(least(count, SP_SAMPLES), pair->size[last] - index[last]);
    const bool is_run = view->step[last] == 1;
    for (size_t i = 0; i < (is_run ? 1 : count); i++)
        if (!read_elements(view, at + i * view->step[last], size, is_run ? count : 1, bytes + i * size, &error))
            return 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, bytes + i * size, size < sizeof bits ? size : sizeof bits);
        values[i] = sp_is_float(dtype) ? sp_value_of(dtype, bytes + i * size) : (double)bits;
    }
    return count;
}

static size_t sample_a(const struct sp_view_pair *pair, const uint64_t *index, double *values, size_t count)
{
    count = sample_view(pair, &pair->a, index, values, count);
    for (size_t i = 0; i < count; i++) values[i] = change_value(pair->change, values[i]);
    return count;
}

static const uint64_t beginning[SP_VIEW_RANK]; /* zeros */

size_t sp_views_sample_a(const struct sp_view_pair *pair, double *values, size_t count)
{
    return sample_a(pair, beginning, values, count);
}

size_t sp_views_sample_b(const struct sp_view_pair *pair, double *values, size_t count)
{
    return sample_view(pair, &pair->b, beginning, values, count);
}

bool sp_is_near(double a, double b)
{
    const double rounding = ldexp(1, -7), least = ldexp(1, -25);
    if (!isfinite(a) || !isfinite(b)) return isfinite(a) == isfinite(b);
    return fabs(a - b) <= rounding * fabs(a) + least;
}

/* Whether a few elements from one index on are about the same. */
static bool are_alike_at(const struct sp_view_pair *pair, const uint64_t *index)
{
    enum { FEW = 4 }; /* elements: where they do not follow one another, each is a read of its own */
    double a[FEW], b[FEW];
    const size_t count = sample_a(pair, index, a, FEW);
    if (!count || sample_view(pair, &pair->b, index, b, FEW) != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!sp_is_near(a[i], b[i])) return false;
    return true;
}

bool sp_views_are_alike(const struct sp_view_pair *pair)
{
    uint64_t second[SP_VIEW_RANK] = {0};
    if (!elements_from(pair, 0)) return true;
    for (uint32_t i = 0; i + 1 < pair->rank; i++) second[i] = pair->size[i] > 1;
    return are_alike_at(pair, beginning) && (pair->rank == 1 || are_alike_at(pair, second));
}
