/* SPDX-License-Identifier: MIT
 * The data of paired tensors: byte by byte where both files have it in the same form, element by element where they
 * have it in another dtype or order. What is not compared is counted by the reason. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/chars.h"
#include "base/watch.h"
#include "diff/diff.h"
#include "diff/values.h"
#include "model/bytes.h"
#include "names/components.h"
#include "shapeproof/inventory.h"

/* ---- elements ---- */

/* B is read row by row, and from A what is in its place: a row, or of a transposed matrix a column. */

/* Where an element of one tensor is in the other. */
enum sp_element_order {
    SP_ORDER_SAME,
    SP_ORDER_TRANSPOSED, /* of a matrix: element (i, k) of the one is (k, i) of the other */
    SP_ORDER_ROTARY      /* the rows of each head in pairs, as llama.cpp has them: row 2 r + s is row s d/2 + r of d */
};

struct sp_element_comparison {
    struct sp_bytes_of a, b;
    const struct shapeproof_tensor *in_a, *in_b; /* dense and row-major, without an obstacle */
    enum sp_element_order order;
    uint64_t heads; /* of SP_ORDER_ROTARY; B has the pairs */
    enum sp_elements result;
    uint64_t at;     /* the first element of B that differs; of those that overflow, the first of these */
    bool overflowed; /* a number of one dtype is infinite in the other, and so all that it was is lost */
};

enum {
    PART = 1 << 16,  /* elements of a row that are compared at once */
    BAND = 64 << 20, /* bytes of a transposed matrix that are in memory at once: of as many columns as fit */
    NARROWEST = 16   /* columns of a band: of fewer it would be read in too many pieces */
};

/* Whether values of both dtypes are numbers that can be compared: the same dtype, or two of F16, BF16, F32 and F64. */
static bool elements_are_comparable(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    return (a->dtype == b->dtype && shapeproof_dtype_bits(a->dtype) && shapeproof_dtype_bits(a->dtype) % 8 == 0) ||
           (sp_is_float(a->dtype) && sp_is_float(b->dtype));
}

/* ---- values ---- */

/* Whether one of them is a number that is infinite when it is rounded, and the other is that infinity. */
static bool is_overflow(enum shapeproof_dtype narrow, double a, double b)
{
    return isfinite(a) != isfinite(b) && sp_is_same_value(sp_rounded_to(narrow, a), sp_rounded_to(narrow, b));
}

/* ---- rows ---- */

struct rows {
    struct sp_element_comparison *comparison;
    uint64_t rows, columns; /* of B */
    size_t size_a, size_b;  /* of an element */
    unsigned char *a, *b;   /* a part of a row; of a transposed matrix a band of A: `width` columns from `band` on */
    uint64_t band, width;
    bool is_exact, is_rounded;
};

/* Whether a band of a transposed matrix would be too narrow: then it is not compared. */
static bool is_too_tall(const struct shapeproof_tensor *tensor)
{
    return tensor->bytes > BAND && tensor->shape[0] > BAND / NARROWEST / (shapeproof_dtype_bits(tensor->dtype) / 8);
}

/* Reads the next columns of A, which are rows of B. */
static bool read_band(struct rows *r, struct shapeproof_error *error)
{
    const struct sp_bytes_of *a = &r->comparison->a;
    const uint64_t all = r->comparison->in_a->bytes, most = all > BAND ? BAND / (r->columns * r->size_a) : r->rows;
    r->band += r->width;
    r->width = r->rows - r->band < most ? r->rows - r->band : most;
    if (r->width == r->rows) return shapeproof_data_read(a->data, a->tensor, 0, r->a, (size_t)all, error);
    const size_t piece = (size_t)r->width * r->size_a;
    for (uint64_t i = 0; i < r->columns; i++)
        if (!shapeproof_data_read(a->data, a->tensor, (i * r->rows + r->band) * r->size_a, r->a + i * piece, piece,
                                  error))
            return false;
    return true;
}

/* The row of A whose elements are those of a row of B. */
static uint64_t row_in_a(const struct rows *r, uint64_t row)
{
    if (r->comparison->order != SP_ORDER_ROTARY) return row;
    const uint64_t size = r->rows / r->comparison->heads, own = row % size;
    return row - own + own % 2 * (size / 2) + own / 2;
}

/* Compares `count` elements of B, of which `first` is the index of the first, with those in `a`, which are `step` bytes
 * apart. */
static void compare_elements(struct rows *r, uint64_t first, size_t count, const unsigned char *a, size_t step)
{
    const enum shapeproof_dtype in_a = r->comparison->in_a->dtype, in_b = r->comparison->in_b->dtype;
    const enum shapeproof_dtype narrow = shapeproof_dtype_bits(in_a) < shapeproof_dtype_bits(in_b) ? in_a : in_b;
    for (size_t i = 0; i < count && (r->is_exact || r->is_rounded); i++, a += step) {
        const unsigned char *b = r->b + i * r->size_b;
        if (in_a == in_b ? memcmp(a, b, r->size_b) == 0 : sp_is_same_value(sp_value_of(in_a, a), sp_value_of(in_b, b))) continue;
        const double in_one = sp_value_of(in_a, a), in_other = sp_value_of(in_b, b);
        r->comparison->overflowed = in_a != in_b && is_overflow(narrow, in_one, in_other);
        if (r->is_exact || r->comparison->overflowed) r->comparison->at = first + i;
        r->is_exact = false;
        r->is_rounded = in_a != in_b && !r->comparison->overflowed &&
                        sp_is_same_value(sp_rounded_to(narrow, in_one), sp_rounded_to(narrow, in_other));
    }
}

/* Compares a row of B with its elements in A. False with an error when a file cannot be read. */
static bool compare_row(struct rows *r, uint64_t row, struct shapeproof_error *error)
{
    const struct sp_element_comparison *c = r->comparison;
    if (c->order == SP_ORDER_TRANSPOSED && row == r->band + r->width && !read_band(r, error)) return false;
    for (uint64_t done = 0; done < r->columns && (r->is_exact || r->is_rounded); done += PART) {
        const size_t count = r->columns - done < PART ? (size_t)(r->columns - done) : PART;
        const uint64_t at_a = row_in_a(r, row) * r->columns + done, at_b = row * r->columns + done;
        if (!shapeproof_data_read(c->b.data, c->b.tensor, at_b * r->size_b, r->b, count * r->size_b, error))
            return false;
        if (c->order == SP_ORDER_TRANSPOSED) {
            compare_elements(r, at_b, count, r->a + (done * r->width + row - r->band) * r->size_a,
                             (size_t)(r->width * r->size_a));
            continue;
        }
        if (!shapeproof_data_read(c->a.data, c->a.tensor, at_a * r->size_a, r->a, count * r->size_a, error))
            return false;
        compare_elements(r, at_b, count, r->a, r->size_a);
    }
    return true;
}

/* The rows and columns of B that are compared; where the order is the same, one row of all elements. */
static void find_rows(struct rows *r)
{
    const struct shapeproof_tensor *b = r->comparison->in_b;
    const bool whole = r->comparison->order == SP_ORDER_SAME;
    r->columns = whole ? b->parameters : b->rank > 1 ? b->shape[1] : 1;
    r->rows = whole ? 1 : b->shape[0];
}

/* Compares two tensors element by element in the order that the comparison has, up to the first element that is neither
 * equal nor rounded. Fills in `result`, and `at` if they are not equal. False with an error when a file cannot be read.
 */
static bool elements_compare(struct sp_element_comparison *c, struct shapeproof_error *error)
{
    struct rows r = {.comparison = c, .is_exact = true, .is_rounded = true};
    const size_t band = c->in_a->bytes < BAND ? (size_t)c->in_a->bytes : BAND;
    bool ok = true;
    r.size_a = shapeproof_dtype_bits(c->in_a->dtype) / 8;
    r.size_b = shapeproof_dtype_bits(c->in_b->dtype) / 8;
    find_rows(&r);
    c->at = 0;
    r.a = sp_realloc(NULL, c->order == SP_ORDER_TRANSPOSED ? band + 1 : PART * sizeof(double) * 2, 1);
    r.b = sp_realloc(NULL, PART, sizeof(double) * 2);
    for (uint64_t row = 0; row < r.rows && ok && (r.is_exact || r.is_rounded); row++) ok = compare_row(&r, row, error);
    free(r.a);
    free(r.b);
    c->result = r.is_exact ? SP_ELEMENTS_EQUAL : r.is_rounded ? SP_ELEMENTS_ROUNDED : SP_ELEMENTS_DIFFERENT;
    return ok;
}

/* ---- data ---- */

struct comparison {
    struct shapeproof_diff *diff;
    struct shapeproof_data *a, *b;
    const struct shapeproof_watch *watch;
    struct shapeproof_error *error;
    size_t fused, dtypes, shapes;                  /* tensors of A that are not compared, by the reason */
    size_t rounded, permuted, transposed, widened; /* that are the same in another form */
};

static void add_data_finding(struct comparison *c, size_t a, enum shapeproof_diff_finding_kind kind,
                             const char *message, const char *detail)
{
    sp_diff_add_about(c->diff, a, c->diff->a.other[a],
                      (struct shapeproof_diff_finding){.kind = kind, .message = message, .detail = detail});
}

static const char *where(struct comparison *c, const struct shapeproof_tensor *tensor, uint64_t byte)
{
    return sp_arena_printf(&c->diff->arena, "first at element %" PRIu64 " of %" PRIu64,
                           byte * 8 / shapeproof_dtype_bits(tensor->dtype), tensor->parameters);
}

/* Why their bytes cannot be compared, or NULL. In the arena, or static. */
static const char *obstacle_to_data(struct comparison *c, size_t a, size_t b, bool transposed)
{
    const struct shapeproof_tensor *in_a = sp_diff_a(c->diff, a), *in_b = sp_diff_b(c->diff, b);
    const char *why = shapeproof_data_obstacle(c->a, a), *side = "A";
    if (!why) {
        why = shapeproof_data_obstacle(c->b, b);
        side = "B";
    }
    if (why) return sp_arena_printf(&c->diff->arena, "data not compared: %s in %s", why, side);
    if (shapeproof_diff_is_converted(c->diff, a)) return "data not compared: transposed";
    if (transposed && is_too_tall(in_a)) return "data not compared: transposed, with too many rows";
    if ((in_a->flags ^ in_b->flags) & SHAPEPROOF_TENSOR_BIG_ENDIAN)
        return "data not compared: the bytes have another order";
    return transposed || sp_tensor_same_order(in_a, in_b) ? NULL : "data not compared: the elements have another order";
}

/* A tie on both sides: its first tensor stands for it. */
static bool is_compared_already(const struct shapeproof_diff *diff, size_t a, size_t b)
{
    const size_t first = sp_tie_group(diff->a.inventory, a);
    return first != a && diff->a.other[first] != SHAPEPROOF_NONE &&
           sp_tie_group(diff->b.inventory, b) == sp_tie_group(diff->b.inventory, diff->a.other[first]);
}

/* Whether the one is the other, transposed, and both are plain matrices whose elements can be compared. */
static bool is_transposed(const struct shapeproof_diff *diff, size_t a)
{
    const struct shapeproof_tensor *in_a = sp_diff_a(diff, a), *in_b = sp_diff_b(diff, diff->a.other[a]);
    return !shapeproof_diff_is_converted(diff, a) && elements_are_comparable(in_a, in_b) && in_a->rank == 2 &&
           in_b->rank == 2 && in_a->shape[0] == in_b->shape[1] && in_a->shape[1] == in_b->shape[0] &&
           sp_is_row_major(in_a) && sp_is_row_major(in_b);
}

/* ---- rows of queries and keys ---- */

static const char *metadata_of(const struct shapeproof_inventory *inventory, const char *key)
{
    for (size_t i = 0; i < shapeproof_inventory_metadata_count(inventory); i++)
        if (strcmp(shapeproof_inventory_metadata(inventory, i)->key, key) == 0)
            return shapeproof_inventory_metadata(inventory, i)->value;
    return NULL;
}

/* The architecture of a GGUF file; NULL of any other. */
static const char *gguf_architecture(const struct shapeproof_inventory *inventory)
{
    return sp_format_has(inventory, SP_BY_LLAMA_CPP) ? metadata_of(inventory, "general.architecture") : NULL;
}

/* Whether llama.cpp's converter puts rotary positions in pairs, row 1 behind row 0 and not half a head behind it. */
static bool pairs_rows(const char *architecture)
{
    static const char *const list[] = {"llama",    "deci",      "granite", "granitemoe", "arcee",   "xverse",
                                       "baichuan", "internlm2", "minicpm", "olmo",       "smollm3", "deepseek"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(architecture, list[i]) == 0) return true;
    return false;
}

/* The number of heads of a tensor of queries or keys in a GGUF file; 0 of any other tensor, and when it is not known.
 */
static uint64_t heads_of(struct comparison *c, const struct shapeproof_inventory *file,
                         const struct shapeproof_tensor *tensor)
{
    static const char *const ends[] = {".attn_q.weight", ".attn_q.bias", ".attn_k.weight", ".attn_k.bias"};
    const char *architecture = gguf_architecture(file), *heads = NULL;
    size_t which = 0;
    while (which < 4 && !sp_ends_with(tensor->name, ends[which])) which++;
    if (!architecture || which == 4 || !tensor->rank || tensor->rank > 2) return 0;
    if (which >= 2)
        heads = metadata_of(file, sp_arena_printf(&c->diff->arena, "%s.attention.head_count_kv", architecture));
    if (!heads) heads = metadata_of(file, sp_arena_printf(&c->diff->arena, "%s.attention.head_count", architecture));
    const uint64_t count = heads && sp_is_digit(*heads) ? strtoull(heads, NULL, 10) : 0;
    return count && tensor->shape[0] % count == 0 && tensor->shape[0] / count % 2 == 0 ? count : 0;
}

/* ---- one tensor ---- */

/* Compares a tensor of A with its counterpart in that order, of rotary halves with the llama.cpp file as B. False with
 * an error when a file cannot be read. */
static bool compare_in_order(struct comparison *c, size_t a, enum sp_element_order order, uint64_t heads,
                             struct sp_element_comparison *result)
{
    const size_t b = c->diff->a.other[a];
    const bool swapped = order == SP_ORDER_ROTARY && gguf_architecture(c->diff->a.inventory);
    *result = (struct sp_element_comparison){.a = {c->a, a}, .b = {c->b, b}, .order = order, .heads = heads};
    if (swapped) {
        result->a = (struct sp_bytes_of){c->b, b};
        result->b = (struct sp_bytes_of){c->a, a};
    }
    result->in_a = swapped ? sp_diff_b(c->diff, b) : sp_diff_a(c->diff, a);
    result->in_b = swapped ? sp_diff_a(c->diff, a) : sp_diff_b(c->diff, b);
    return elements_compare(result, c->error);
}

/* Compares queries and keys, where one of the files is for llama.cpp, in the order of rotary halves that it expects: if
 * they are equal so, *same becomes true. If they are equal only as they are stored (`same_as_stored`), the file for
 * llama.cpp is wrong: a finding, and *same becomes false. Any other tensor leaves *same as it is. */
static bool compare_rotary(struct comparison *c, size_t a, bool same_as_stored, bool *same)
{
    const size_t b = c->diff->a.other[a];
    const char *in_a = gguf_architecture(c->diff->a.inventory), *in_b = gguf_architecture(c->diff->b.inventory);
    struct sp_element_comparison result;
    if (!in_a == !in_b) return true; /* both are of llama.cpp, or neither is */
    const uint64_t heads = in_a ? heads_of(c, c->diff->a.inventory, sp_diff_a(c->diff, a))
                                : heads_of(c, c->diff->b.inventory, sp_diff_b(c->diff, b));
    if (!heads || (same_as_stored && !pairs_rows(in_a ? in_a : in_b))) return true;
    if (!elements_are_comparable(sp_diff_a(c->diff, a), sp_diff_b(c->diff, b))) return true;
    if (!sp_is_row_major(sp_diff_a(c->diff, a)) || !sp_is_row_major(sp_diff_b(c->diff, b))) return true;
    if (!compare_in_order(c, a, SP_ORDER_ROTARY, heads, &result)) return false;
    const bool paired = result.result != SP_ELEMENTS_DIFFERENT;
    if (paired) {
        c->permuted += !same_as_stored;
        *same = true;
    } else if (same_as_stored) {
        *same = false;
        c->diff->totals.data_different++;
        add_data_finding(c, a, SHAPEPROOF_DIFF_FINDING_DATA,
                         "has its rows in the order of the original, where llama.cpp expects them permuted", NULL);
    }
    return true;
}

/* Compares a square matrix, whose shape does not tell, as a transposed one, when other matrices of the file are
 * transposed. */
static bool compare_square(struct comparison *c, size_t a, bool *same)
{
    struct sp_element_comparison result;
    bool any = false;
    for (size_t i = 0; i < c->diff->finding_count && !any; i++)
        any = c->diff->findings[i].kind == SHAPEPROOF_DIFF_FINDING_TRANSPOSED;
    if (!any || !is_transposed(c->diff, a) || is_too_tall(sp_diff_a(c->diff, a))) return true;
    if (!compare_in_order(c, a, SP_ORDER_TRANSPOSED, 0, &result)) return false;
    *same = result.result != SP_ELEMENTS_DIFFERENT;
    c->transposed += *same;
    if (*same)
        add_data_finding(c, a, SHAPEPROOF_DIFF_FINDING_TRANSPOSED,
                         sp_arena_printf(&c->diff->arena, "%s in A, transposed in B, as its data show",
                                         sp_found_shape(&c->diff->arena, sp_diff_a(c->diff, a))),
                         NULL);
    return true;
}

/* Counts a tensor that is the same in another form. */
static void count_form(struct comparison *c, size_t a, enum sp_elements result, bool transposed)
{
    if (result == SP_ELEMENTS_DIFFERENT) return;
    c->transposed += transposed;
    if (result == SP_ELEMENTS_ROUNDED) c->rounded++;
    else c->widened += sp_diff_a(c->diff, a)->dtype != sp_diff_b(c->diff, c->diff->a.other[a])->dtype;
}

/* Compares the data of a tensor that can be read on both sides, in the same shape or (`transposed`) the transposed one.
 * Equal dtypes in the same order are compared byte by byte, all others value by value. Data that differ are then
 * compared again as if B had another order of rotary halves or a transposed square matrix; if that makes them equal,
 * the finding says so in place of "has other data". False when reading fails. */
static bool compare_data(struct comparison *c, size_t a, bool transposed)
{
    struct shapeproof_diff_totals *totals = &c->diff->totals;
    const size_t b = c->diff->a.other[a];
    const struct shapeproof_tensor *tensor = sp_diff_a(c->diff, a), *other = sp_diff_b(c->diff, b);
    struct sp_element_comparison result = {.result = SP_ELEMENTS_EQUAL};
    uint64_t at = 0;
    bool ok = true, same = true;
    if (transposed || tensor->dtype != other->dtype)
        ok = compare_in_order(c, a, transposed ? SP_ORDER_TRANSPOSED : SP_ORDER_SAME, 0, &result);
    else
        ok = sp_bytes_compare((struct sp_bytes_of){c->a, a}, (struct sp_bytes_of){c->b, b}, tensor->bytes, &at,
                              c->error);
    if (!ok) return false;
    const bool by_bytes = !transposed && tensor->dtype == other->dtype;
    if (by_bytes) result.result = at == tensor->bytes ? SP_ELEMENTS_EQUAL : SP_ELEMENTS_DIFFERENT;
    same = result.result != SP_ELEMENTS_DIFFERENT;
    totals->data_compared++;
    totals->data_bytes += tensor->bytes; /* of ranges in files: no overflow */
    count_form(c, a, result.result, transposed);
    if (!transposed && !compare_rotary(c, a, same, &same)) return false;
    if (!same && by_bytes && !compare_square(c, a, &same)) return false;
    const bool is_reported = c->diff->finding_count && c->diff->findings[c->diff->finding_count - 1].a == a &&
                             c->diff->findings[c->diff->finding_count - 1].kind == SHAPEPROOF_DIFF_FINDING_DATA;
    if (same || is_reported) return true;
    totals->data_different++;
    add_data_finding(c, a, SHAPEPROOF_DIFF_FINDING_DATA, "has other data",
                     by_bytes ? where(c, tensor, at)
                              : sp_arena_printf(&c->diff->arena, "%sfirst at element %" PRIu64 " of %" PRIu64 " in B",
                                                result.overflowed ? "infinite in one of them, " : "", result.at,
                                                tensor->parameters));
    return true;
}

/* Compares a tensor that has a counterpart, or counts why it cannot be compared. */
static bool compare_tensor(struct comparison *c, size_t a)
{
    const size_t b = c->diff->a.other[a];
    const struct shapeproof_tensor *in_a = sp_diff_a(c->diff, a), *in_b = sp_diff_b(c->diff, b);
    const bool shaped = sp_tensor_same_shape(in_a, in_b) || shapeproof_diff_is_converted(c->diff, a);
    const bool transposed = !shaped && is_transposed(c->diff, a);
    if (is_compared_already(c->diff, a, b)) return true;
    if (c->diff->a.joined[a]) return true; /* which is counted with those that are joined */
    if (!shaped && !transposed) c->shapes++;
    else if (!elements_are_comparable(in_a, in_b) && in_a->dtype != in_b->dtype) c->dtypes++;
    else {
        const char *why = in_a->parameters ? obstacle_to_data(c, a, b, transposed) : NULL;
        if (!why) return compare_data(c, a, transposed);
        c->diff->totals.data_unread++;
        add_data_finding(c, a, SHAPEPROOF_DIFF_FINDING_NOT_COMPARED, why, NULL);
    }
    return true;
}

/* ---- two that are exchanged ---- */

/* Whether both are of one module, and the one could be the other. */
static bool could_be_exchanged(const struct shapeproof_diff *diff, size_t a, size_t other)
{
    const struct shapeproof_tensor *one = sp_diff_a(diff, a), *two = sp_diff_a(diff, other);
    const size_t length = sp_last_component(one->name, strlen(one->name), ".");
    size_t module = length ? sp_last_component(one->name, length - 1, ".") : 0;
    return one->dtype == two->dtype && sp_tensor_same_shape(one, two) && strncmp(one->name, two->name, module) == 0 &&
           sp_diff_b(diff, diff->a.other[a])->dtype == one->dtype &&
           sp_diff_b(diff, diff->a.other[other])->dtype == one->dtype;
}

/* Whether a tensor of A has the bytes of one of B, of the same size. */
static bool is_same_data(struct comparison *c, size_t a, size_t b, bool *same)
{
    const uint64_t bytes = sp_diff_a(c->diff, a)->bytes;
    uint64_t at;
    if (!sp_bytes_compare((struct sp_bytes_of){c->a, a}, (struct sp_bytes_of){c->b, b}, bytes, &at, c->error))
        return false;
    *same = at == bytes;
    return true;
}

/* Changes the findings about two tensors of one module that have other data, if each has the data of the other, as a
 * gate and what it gates may: "the two are exchanged". False with an error when a file cannot be read. */
static bool find_exchanged(struct comparison *c)
{
    enum { MOST = 64 }; /* findings: as many pairs are looked at as their square */
    struct shapeproof_diff *diff = c->diff;
    struct shapeproof_diff_finding *list[MOST];
    size_t count = 0;
    for (size_t i = 0; i < diff->finding_count && count < MOST; i++)
        if (diff->findings[i].kind == SHAPEPROOF_DIFF_FINDING_DATA && diff->findings[i].detail) /* "first at ..." */
            list[count++] = &diff->findings[i];
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) {
            bool one = false, two = false;
            if (!could_be_exchanged(diff, list[i]->a, list[k]->a)) continue;
            if (!is_same_data(c, list[i]->a, list[k]->b, &one) ||
                (one && !is_same_data(c, list[k]->a, list[i]->b, &two)))
                return false;
            if (!two) continue;
            list[i]->message = list[k]->message = "has the data of the other one: the two are exchanged";
            list[i]->detail = sp_arena_printf(&diff->arena, "with %s", list[k]->name);
            list[k]->detail = sp_arena_printf(&diff->arena, "with %s", list[i]->name);
        }
    return true;
}

/* ---- all of them ---- */

static void put_reason(struct sp_text *text, size_t count, const char *what)
{
    if (count) sp_text_printf(text, "%s%zu %s", text->length ? ", " : "", count, what);
}

/* How tensors were compared, and why others were not, in the arena; NULL when there is nothing to say:
 *
 *     2 transposed; 3 not compared: of another shape          one reason: its number is that of the tensors
 *     5 not compared: 2 fused, split or quantised in one of them, 3 of another shape
 *     1 not compared                                          the findings have the reason */
static const char *note_words(struct comparison *c)
{
    struct sp_text forms = {0}, reasons = {0};
    const size_t unread = c->diff->totals.data_unread;
    put_reason(&forms, c->widened, "the same in another dtype");
    put_reason(&forms, c->rounded, "the same but rounded to another dtype");
    put_reason(&forms, c->permuted, "permuted for rotary positions, as llama.cpp has them");
    put_reason(&forms, c->transposed, "transposed");
    put_reason(&reasons, c->fused, "fused, split or quantised in one of them");
    put_reason(&reasons, c->dtypes, "of dtypes that cannot be compared");
    put_reason(&reasons, c->shapes, "of another shape");
    put_reason(&reasons, unread, "for reasons in the findings");
    const size_t all = c->fused + c->dtypes + c->shapes + unread;
    const bool one = all && (all == c->fused || all == c->dtypes || all == c->shapes || all == unread);
    if (all) sp_text_printf(&forms, "%s%zu not compared", forms.length ? "; " : "", all);
    const char *words = one ? strchr(reasons.data, ' ') + 1 : reasons.data; /* one reason goes without its number */
    if (all > unread) sp_text_printf(&forms, ": %s", words);
    const char *note = forms.length ? sp_arena_string(&c->diff->arena, forms.data) : NULL;
    sp_text_free(&forms);
    sp_text_free(&reasons);
    return note;
}

static bool compare_all(struct comparison *c)
{
    const size_t count = shapeproof_inventory_count(c->diff->a.inventory);
    uint64_t done = 0, total = 0; /* bytes of A; an overflow would only make the progress wrong */
    for (size_t i = 0; i < count; i++)
        if (c->diff->a.other[i] != SHAPEPROOF_NONE) total += sp_diff_a(c->diff, i)->bytes;
    for (size_t i = 0; i < count; i++) {
        if (c->diff->a.other[i] == SHAPEPROOF_NONE) continue;
        if (!sp_goes_on(c->watch, "bytes", done, total)) return sp_fail_cancelled(c->error);
        if (!compare_tensor(c, i)) return false;
        done += sp_diff_a(c->diff, i)->bytes;
    }
    return true;
}

bool sp_diff_data(struct shapeproof_diff *diff, const struct shapeproof_watch *watch, struct shapeproof_error *error)
{
    struct comparison c = {.diff = diff, .watch = watch, .error = error};
    c.a = shapeproof_data_open(diff->a.inventory, error);
    c.b = c.a ? shapeproof_data_open(diff->b.inventory, error) : NULL;
    const bool ok = c.b && compare_all(&c) && find_exchanged(&c);
    for (size_t i = 0; ok && i < shapeproof_inventory_count(diff->a.inventory); i++) c.fused += diff->a.joined[i];
    if (ok) diff->data_note = note_words(&c);
    shapeproof_data_close(c.a);
    shapeproof_data_close(c.b);
    return ok;
}
