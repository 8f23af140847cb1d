/* SPDX-License-Identifier: MIT
 * Both tensors are read in tiles: rectangles of B, and of A the rectangle that has the same elements. Of a tensor in
 * the same order a tile is a run of elements; of a transposed matrix it is a square, so that neither file is read in
 * small pieces. Within a tile, SP_VALUES elements are compared at once, and one by one only if these are not plainly
 * equal. */
#include "diff/elements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/values.h"

enum {
    RUN = 1 << 16,                 /* elements of a tile of one row: both parts stay in the cache of a processor */
    PIECE_BYTES = 4 << 10,         /* the sides of the square tiles of a transposed matrix: what is read at once */
    TURNED_ROWS = 16,              /* columns of A that are turned into rows together: of F32 one line of the cache */
    TURNED_WIDTH = SP_VALUES + 16, /* elements from one row of these to the next: no power of two, or rows would push
                                      each other out of the cache */
    MAX_ELEMENT = 16               /* bytes, of C128 */
};

struct walk {
    struct sp_element_comparison *comparison;
    uint64_t rows, columns;           /* of B */
    uint64_t tile_rows, tile_columns; /* of a tile of B, but the last ones are smaller */
    size_t size_a, size_b;            /* of an element */
    unsigned char *a, *b;             /* a tile of each; aligned for any element */
    unsigned char *turned;            /* TURNED_ROWS rows of SP_VALUES elements of A */
    struct sp_element_run run;
    uint64_t at; /* the first element of B that differs, or UINT64_MAX */
};

bool sp_elements_are_comparable(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    return (a->dtype == b->dtype && shapeproof_dtype_bits(a->dtype) && shapeproof_dtype_bits(a->dtype) % 8 == 0) ||
           (sp_is_float(a->dtype) && sp_is_float(b->dtype));
}

enum shapeproof_dtype sp_elements_narrow(enum shapeproof_dtype a, enum shapeproof_dtype b)
{
    return shapeproof_dtype_bits(a) < shapeproof_dtype_bits(b) ? a : b;
}

bool sp_elements_either_is_narrow(enum shapeproof_dtype a, enum shapeproof_dtype b)
{
    return a != b && shapeproof_dtype_bits(a) == shapeproof_dtype_bits(b);
}

/* ---- a run of elements ---- */

/* Whether two numbers are equal when they are rounded, and as finite. */
static bool is_rounded(enum shapeproof_dtype narrow, double a, double b)
{
    return !isfinite(a) == !isfinite(b) && sp_is_same_value(sp_rounded_to(narrow, a), sp_rounded_to(narrow, b));
}

/* Compares elements of two dtypes one by one, up to the first that differs. */
static size_t compare_each(struct sp_element_run *run, const unsigned char *a, const unsigned char *b, size_t count)
{
    const size_t size_a = shapeproof_dtype_bits(run->in_a) / 8, size_b = shapeproof_dtype_bits(run->in_b) / 8;
    for (size_t i = 0; i < count; i++) {
        const double in_one = sp_value_of(run->in_a, a + i * size_a), in_other = sp_value_of(run->in_b, b + i * size_b);
        if (sp_is_same_value(in_one, in_other)) continue;
        if (!is_rounded(run->narrow, in_one, in_other)) return i;
        run->is_exact = false;
    }
    return count;
}

/* Whether SP_VALUES elements of two dtypes are plainly equal; when some were not, whether they are plainly rounded.
 * False does not mean that they differ. */
static bool are_plainly_same(const struct sp_element_run *run, const unsigned char *a, const unsigned char *b)
{
    const bool a_is_narrow = run->narrow == run->in_a;
    const enum shapeproof_dtype dtype = a_is_narrow ? run->in_b : run->in_a;
    const unsigned char *narrow = a_is_narrow ? a : b;
    float wide[SP_VALUES];
    if (dtype == SHAPEPROOF_DTYPE_F64 || !sp_values_widen(dtype, a_is_narrow ? b : a, wide)) return false;
    return run->is_exact ? sp_values_are_equal(run->narrow, narrow, wide)
                         : sp_values_are_rounded(run->narrow, narrow, wide);
}

static size_t first_other(const unsigned char *a, const unsigned char *b, size_t size, size_t count)
{
    size_t i = 0;
    if (memcmp(a, b, count * size) == 0) return count;
    while (memcmp(a + i * size, b + i * size, size) == 0) i++;
    return i;
}

size_t sp_elements_run(struct sp_element_run *run, const unsigned char *a, const unsigned char *b, size_t count)
{
    const size_t size_a = shapeproof_dtype_bits(run->in_a) / 8, size_b = shapeproof_dtype_bits(run->in_b) / 8;
    if (run->in_a == run->in_b) return first_other(a, b, size_a, count);
    for (size_t done = 0, part; done < count; done += part, a += part * size_a, b += part * size_b) {
        part = count - done < SP_VALUES ? count - done : SP_VALUES;
        if (part == SP_VALUES && are_plainly_same(run, a, b)) continue;
        const size_t same = compare_each(run, a, b, part);
        if (same < part) return done + same;
    }
    return count;
}

/* ---- tiles ---- */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

struct tile {
    uint64_t row, column; /* of B */
    uint64_t rows, columns;
};

/* Compares elements that follow one another in both. `first` is the place in B. */
static void compare_run(struct walk *w, uint64_t first, size_t count, const unsigned char *a, const unsigned char *b)
{
    if (first >= w->at) return; /* the difference that is known comes before them */
    const size_t same = sp_elements_run(&w->run, a, b, count);
    if (same < count && first + same < w->at) w->at = first + same;
}

/* Copies `columns` elements of each of `rows` rows, which are `width` bytes apart, so that each column becomes a row of
 * `turned`. The compiler makes one function for each constant size of an element. */
static inline void turn(unsigned char *turned, const unsigned char *from, size_t width, size_t rows, size_t columns,
                        size_t size)
{
    for (size_t i = 0; i < rows; i++, from += width)
        for (size_t k = 0; k < columns; k++) memcpy(turned + (k * TURNED_WIDTH + i) * size, from + k * size, size);
}

static void turn_columns(const struct walk *w, const unsigned char *from, size_t width, size_t rows, size_t columns)
{
    if (w->size_a == 2) turn(w->turned, from, width, rows, columns, 2);
    else if (w->size_a == 4) turn(w->turned, from, width, rows, columns, 4);
    else turn(w->turned, from, width, rows, columns, w->size_a);
}

/* Compares the tiles of a transposed matrix: of TURNED_ROWS rows of B at once SP_VALUES elements. */
static void compare_turned_tile(struct walk *w, const struct tile *tile)
{
    const size_t width_a = (size_t)tile->rows * w->size_a, width_b = (size_t)tile->columns * w->size_b;
    for (uint64_t column = 0; column < tile->columns; column += SP_VALUES)
        for (uint64_t row = 0; row < tile->rows; row += TURNED_ROWS) {
            const size_t rows = (size_t)least(tile->rows - row, TURNED_ROWS);
            const size_t columns = (size_t)least(tile->columns - column, SP_VALUES);
            const uint64_t first = (tile->row + row) * w->columns + tile->column + column;
            const unsigned char *b = w->b + row * width_b + column * w->size_b;
            turn_columns(w, w->a + column * width_a + row * w->size_a, width_a, columns, rows);
            for (size_t i = 0; i < rows; i++)
                compare_run(w, first + i * w->columns, columns, w->turned + i * TURNED_WIDTH * w->size_a,
                            b + i * width_b);
        }
}

/* Reads a tile of a matrix whose rows have `width` elements. */
static bool read_tile(struct sp_bytes_of of, const struct tile *tile, uint64_t width, size_t size, unsigned char *into,
                      struct shapeproof_error *error)
{
    const bool is_whole = tile->columns == width;
    const uint64_t reads = is_whole ? 1 : tile->rows;
    const size_t piece = (size_t)(is_whole ? tile->rows * tile->columns : tile->columns) * size;
    for (uint64_t i = 0; i < reads; i++)
        if (!shapeproof_data_read(of.data, of.tensor, ((tile->row + i) * width + tile->column) * size, into + i * piece,
                                  piece, error))
            return false;
    return true;
}

/* Reads a tile of B and that of A, and compares them. */
static bool visit_tile(struct walk *w, const struct tile *tile, struct shapeproof_error *error)
{
    const struct sp_element_comparison *c = w->comparison;
    const bool turned = c->order == SP_ORDER_TRANSPOSED;
    struct tile in_a = *tile;
    if (turned) in_a = (struct tile){tile->column, tile->row, tile->columns, tile->rows};
    if (!read_tile(c->b, tile, w->columns, w->size_b, w->b, error) ||
        !read_tile(c->a, &in_a, turned ? w->rows : w->columns, w->size_a, w->a, error))
        return false;
    if (turned) compare_turned_tile(w, tile);
    else compare_run(w, tile->column, (size_t)tile->columns, w->a, w->b);
    return !c->progress || sp_data_goes_on(c->progress, tile->rows * tile->columns * w->size_a, error);
}

/* The rows and columns of B, and of its tiles: of a tensor in the same order, which is one row, a run of its elements;
 * of a transposed matrix a square, or what is as large and spans all rows or all columns, where these are few. */
static void find_tiles(struct walk *w)
{
    const struct shapeproof_tensor *b = w->comparison->in_b;
    const bool flat = w->comparison->order == SP_ORDER_SAME;
    const size_t size = w->size_a > w->size_b ? w->size_a : w->size_b;
    const uint64_t side = PIECE_BYTES / size, most = side * side;
    w->columns = flat ? b->parameters : b->shape[1];
    w->rows = flat ? 1 : b->shape[0];
    w->tile_columns = least(flat ? RUN : w->rows < side ? most / w->rows : side, w->columns);
    w->tile_rows = least(w->columns < side ? most / w->columns : side, w->rows);
}

/* Compares tile by tile. After the first difference the other tiles of the same rows follow: one of them may have an
 * earlier element that differs. */
static bool walk_tiles(struct walk *w, struct shapeproof_error *error)
{
    for (uint64_t row = 0; row < w->rows && w->at == UINT64_MAX; row += w->tile_rows)
        for (uint64_t column = 0; column < w->columns; column += w->tile_columns) {
            const struct tile tile = {row, column, least(w->tile_rows, w->rows - row),
                                      least(w->tile_columns, w->columns - column)};
            if (row * w->columns + column < w->at && !visit_tile(w, &tile, error)) return false;
        }
    return true;
}

/* Compares with `narrow` as the dtype to which elements may be rounded. */
static bool compare_as(struct sp_element_comparison *c, enum shapeproof_dtype narrow, struct shapeproof_error *error)
{
    struct walk w = {.comparison = c, .run = {c->in_a->dtype, c->in_b->dtype, narrow, true}, .at = UINT64_MAX};
    w.size_a = shapeproof_dtype_bits(c->in_a->dtype) / 8;
    w.size_b = shapeproof_dtype_bits(c->in_b->dtype) / 8;
    if (!c->in_b->parameters) {
        c->result = SP_ELEMENTS_EQUAL;
        return true;
    }
    find_tiles(&w);
    w.a = sp_realloc(NULL, (size_t)(w.tile_rows * w.tile_columns), w.size_a);
    w.b = sp_realloc(NULL, (size_t)(w.tile_rows * w.tile_columns), w.size_b);
    w.turned = c->order == SP_ORDER_TRANSPOSED ? sp_realloc(NULL, TURNED_ROWS * TURNED_WIDTH, MAX_ELEMENT) : NULL;
    const bool ok = walk_tiles(&w, error);
    free(w.a);
    free(w.b);
    free(w.turned);
    c->result = w.at != UINT64_MAX ? SP_ELEMENTS_DIFFERENT : w.run.is_exact ? SP_ELEMENTS_EQUAL : SP_ELEMENTS_ROUNDED;
    c->at = w.at;
    return ok;
}

bool sp_elements_compare(struct sp_element_comparison *c, struct shapeproof_error *error)
{
    const enum shapeproof_dtype a = c->in_a->dtype, b = c->in_b->dtype;
    struct sp_element_comparison other = *c;
    if (!compare_as(c, sp_elements_narrow(a, b), error)) return false;
    if (c->result != SP_ELEMENTS_DIFFERENT || !sp_elements_either_is_narrow(a, b)) return true;
    if (!compare_as(&other, a, error)) return false;
    if (other.result != SP_ELEMENTS_DIFFERENT) *c = other;
    return true;
}
