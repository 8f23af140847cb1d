/* SPDX-License-Identifier: MIT
 * Sums over the tensors of a checkpoint, or of two, by one key or two. The rows are a tree of two levels:
 *
 *     model.layers.0      F32 and I32 together
 *       F32
 *       I32
 *     model.layers.1 ...
 *
 * It is filled tensor by tensor, brought into order, and handed out as a list. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/call.h"
#include "base/error.h"
#include "base/map.h"
#include "base/natural.h"
#include "breakdown/keys.h"
#include "shapeproof/breakdown.h"
#include "shapeproof/verify.h"

enum { SIDES = 2, LEVELS = 2, PARTS = 6 };

/* A row that is being summed up. */
struct bin {
    const char *value; /* NULL: the tensors that have none */
    size_t parent;     /* index of a bin of level 0; NO_BIN for one of level 0 itself */
    size_t first;      /* how many bins there were before it */
    struct shapeproof_sums sides[SIDES];
};

struct bins {
    struct bin *items; /* heap */
    size_t count, capacity;
    struct sp_map known; /* by parent and value */
};

static const size_t NO_BIN = SIZE_MAX;

struct shapeproof_breakdown {
    struct sp_arena arena;                                 /* of the values and the rows */
    const struct shapeproof_inventory *inventories[SIDES]; /* the second NULL without a diff */
    const struct shapeproof_diff *diff;
    struct shapeproof_breakdown_options options;
    struct shapeproof_breakdown_row *rows; /* heap */
    size_t row_count, row_capacity;
    struct shapeproof_breakdown_part parts[PARTS];
    size_t part_count;
    struct shapeproof_breakdown_row total;
};

const char *shapeproof_by_name(enum shapeproof_by key)
{
    static const char *const names[] = {
        [SHAPEPROOF_BY_NONE] = "none",     [SHAPEPROOF_BY_LAYER] = "layer", [SHAPEPROOF_BY_GROUP] = "group",
        [SHAPEPROOF_BY_MODULE] = "module", [SHAPEPROOF_BY_DTYPE] = "dtype", [SHAPEPROOF_BY_SHARD] = "shard",
        [SHAPEPROOF_BY_EXPERT] = "expert"};
    return names[key];
}

/* ---- the value of a tensor ---- */

/* What the tensor is called: of one that is called otherwise in A, its name there. */
static const char *common_name(const struct shapeproof_breakdown *breakdown, size_t side, size_t tensor)
{
    const size_t other =
        side ? shapeproof_diff_counterpart(breakdown->diff, SHAPEPROOF_DIFF_B, tensor) : SHAPEPROOF_NONE;
    if (other != SHAPEPROOF_NONE) return shapeproof_inventory_tensor(breakdown->inventories[0], other)->name;
    return shapeproof_inventory_tensor(breakdown->inventories[side], tensor)->name;
}

/* The group of the predicted tensor of that name. A tied tensor counts in the group of the first of its tie.
 * SHAPEPROOF_NONE if no tensor of that name is predicted. */
static size_t predicted_group(const struct shapeproof_prediction *prediction, const char *name)
{
    const size_t index = shapeproof_prediction_find(prediction, name);
    if (index == SHAPEPROOF_NONE) return SHAPEPROOF_NONE;
    const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, index);
    while (tensor->same_as != SHAPEPROOF_NONE && !tensor->rows_only)
        tensor = shapeproof_prediction_tensor(prediction, tensor->same_as);
    return tensor->group;
}

/* The name of the group in which a tensor counts; NULL for one that is not predicted. */
static const char *group_of(const struct shapeproof_breakdown *breakdown, size_t side, size_t index)
{
    const struct shapeproof_breakdown_options *options = &breakdown->options;
    const struct shapeproof_check *check = side ? options->check_b : options->check;
    const struct shapeproof_prediction *prediction = side ? options->prediction_b : options->prediction;
    const char *name = shapeproof_inventory_tensor(breakdown->inventories[side], index)->name;
    const size_t group = check ? shapeproof_stored_group_of(check, index) : predicted_group(prediction, name);
    if (check) prediction = shapeproof_check_prediction(check);
    return group == SHAPEPROOF_NONE ? NULL : shapeproof_prediction_group(prediction, group)->name;
}

/* Appends the value of a tensor; false when it has none. */
static bool put_value(const struct shapeproof_breakdown *breakdown, enum shapeproof_by key, size_t side, size_t index,
                      struct sp_text *value)
{
    const struct shapeproof_inventory *inventory = breakdown->inventories[side];
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, index);
    const char *word = NULL;
    switch (key) {
    case SHAPEPROOF_BY_LAYER:
        return sp_put_layer(value, common_name(breakdown, side, index));
    case SHAPEPROOF_BY_EXPERT:
        return sp_put_expert(value, common_name(breakdown, side, index));
    case SHAPEPROOF_BY_GROUP:
        word = group_of(breakdown, side, index);
        break;
    case SHAPEPROOF_BY_DTYPE:
        word = tensor->dtype_name;
        break;
    case SHAPEPROOF_BY_SHARD:
        word = shapeproof_inventory_file(inventory, tensor->file);
        break;
    case SHAPEPROOF_BY_NONE:
    case SHAPEPROOF_BY_MODULE:
        return sp_put_module(value, common_name(breakdown, side, index), breakdown->options.depth);
    }
    if (word) sp_text_puts(value, word);
    return word != NULL;
}

/* ---- summing up ---- */

/* The bin of a value below a parent, a known one or a new one. */
static size_t bin_of(struct shapeproof_breakdown *breakdown, struct bins *bins, size_t parent, const char *value)
{
    struct sp_text key = {0};
    sp_text_printf(&key, "%zx%c%s", parent, value ? '=' : '-', value ? value : "");
    size_t found = sp_map_get(&bins->known, key.data);
    if (found == SIZE_MAX) {
        const char *kept = sp_arena_copy(&breakdown->arena, key.data, key.length);
        found = bins->count;
        sp_map_add(&bins->known, kept, found);
        *SP_PUSH(bins) = (struct bin){.value = value ? strchr(kept, '=') + 1 : NULL, .parent = parent, .first = found};
    }
    sp_text_free(&key);
    return found;
}

static void add_sums(struct shapeproof_sums *sums, const struct shapeproof_sums *more)
{
    sums->tensors += more->tensors;
    sums->parameters += more->parameters;
    sums->bytes += more->bytes;
}

/* Adds a tensor to its bins. No sum overflows: that of all tensors does not. */
static void add_tensor(struct shapeproof_breakdown *breakdown, struct bins *bins, size_t side, size_t index)
{
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(breakdown->inventories[side], index);
    const bool counts = tensor->same_as == SHAPEPROOF_NONE;
    const struct shapeproof_sums sums = {1, counts ? tensor->parameters : 0, counts ? tensor->bytes : 0};
    struct sp_text value = {0};
    size_t parent = NO_BIN;
    for (size_t level = 0; level < LEVELS; level++) {
        if (level && breakdown->options.by[level] == SHAPEPROOF_BY_NONE) break;
        value.length = 0;
        sp_text_puts(&value, "");
        const bool has_value = put_value(breakdown, breakdown->options.by[level], side, index, &value);
        parent = bin_of(breakdown, bins, parent, has_value ? value.data : NULL);
        add_sums(&bins->items[parent].sides[side], &sums);
    }
    add_sums(side ? &breakdown->total.b : &breakdown->total.a, &sums);
    sp_text_free(&value);
}

/* ---- what the files have besides tensors ---- */

/* Adds the bytes of one side to a part, which both sides have in the same place. */
static void add_part(struct shapeproof_breakdown *breakdown, size_t place, const char *name, size_t side, int64_t bytes)
{
    struct shapeproof_breakdown_part *part = &breakdown->parts[place];
    part->name = name;
    *(side ? &part->b : &part->a) = bytes;
}

/* The bytes of the rows and of these parts are the size of the files. The data of the tensors take another number of
 * bytes in the file than their shapes say when they are compressed, overlap, or have a dtype of unknown size. */
static void find_parts(struct shapeproof_breakdown *breakdown, size_t side)
{
    const struct shapeproof_file_bytes *bytes = shapeproof_inventory_file_bytes(breakdown->inventories[side]);
    struct shapeproof_sums *total = side ? &breakdown->total.b : &breakdown->total.a;
    if (!bytes->size) return;
    const int64_t held = (int64_t)(total->bytes - bytes->absent);
    add_part(breakdown, 0, "absent", side, -(int64_t)bytes->absent);
    add_part(breakdown, 1, "encoding", side, (int64_t)bytes->tensors - held);
    add_part(breakdown, 2, "unused", side, (int64_t)bytes->unused);
    add_part(breakdown, 3, "padding", side, (int64_t)bytes->padding);
    add_part(breakdown, 4, "structure", side, (int64_t)bytes->structure);
    add_part(breakdown, 5, "unaccounted", side, (int64_t)bytes->unaccounted);
    total->bytes = bytes->size;
}

/* Without those that are empty. */
static void keep_filled_parts(struct shapeproof_breakdown *breakdown)
{
    for (size_t i = 0; i < PARTS; i++)
        if (breakdown->parts[i].a || breakdown->parts[i].b)
            breakdown->parts[breakdown->part_count++] = breakdown->parts[i];
}

/* ---- order ---- */

static uint64_t distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

/* As the first tensor of each stands in the file. */
static int by_first(const void *left, const void *right)
{
    const struct bin *a = *(const struct bin *const *)left, *b = *(const struct bin *const *)right;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* The most bytes first, then the most parameters. Of a single checkpoint the other side is 0, so that the distance is
 * the size itself. */
static int by_size(const void *left, const void *right)
{
    const struct bin *a = *(const struct bin *const *)left, *b = *(const struct bin *const *)right;
    const uint64_t bytes_a = distance(a->sides[0].bytes, a->sides[1].bytes);
    const uint64_t bytes_b = distance(b->sides[0].bytes, b->sides[1].bytes);
    if (bytes_a != bytes_b) return bytes_a > bytes_b ? -1 : 1;
    const uint64_t parameters_a = distance(a->sides[0].parameters, a->sides[1].parameters);
    const uint64_t parameters_b = distance(b->sides[0].parameters, b->sides[1].parameters);
    if (parameters_a != parameters_b) return parameters_a > parameters_b ? -1 : 1;
    return by_first(left, right);
}

/* By value; what has none comes last. */
static int by_value(const void *left, const void *right)
{
    const struct bin *a = *(const struct bin *const *)left, *b = *(const struct bin *const *)right;
    if (!a->value || !b->value) return !a->value - !b->value;
    return sp_compare_natural(a->value, b->value);
}

static bool is_unchanged(const struct bin *bin)
{
    const struct shapeproof_sums *a = &bin->sides[0], *b = &bin->sides[1];
    return a->tensors == b->tensors && a->parameters == b->parameters && a->bytes == b->bytes;
}

/* ---- rows ---- */

static void add_row(struct shapeproof_breakdown *breakdown, struct shapeproof_breakdown_row row)
{
    SP_GROW(breakdown->rows, breakdown->row_count, breakdown->row_capacity);
    breakdown->rows[breakdown->row_count++] = row;
}

/* One row for several bins. */
static void add_row_of_others(struct shapeproof_breakdown *breakdown, struct bin *const *bins, size_t count,
                              unsigned level, bool unchanged)
{
    struct shapeproof_breakdown_row row = {.level = level, .others = count, .unchanged = unchanged};
    for (size_t i = 0; i < count; i++) {
        add_sums(&row.a, &bins[i]->sides[0]);
        add_sums(&row.b, &bins[i]->sides[1]);
    }
    if (count) add_row(breakdown, row);
}

/* Moves the bins that are equal in both checkpoints behind the others, which keep their order; returns how many others
 * there are. Without a second checkpoint no bin is moved. */
static size_t put_unchanged_last(const struct shapeproof_breakdown *breakdown, struct bin **bins, size_t count)
{
    if (!breakdown->diff) return count;
    struct bin **unchanged = sp_realloc(NULL, count, sizeof(struct bin *));
    size_t moved = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_unchanged(bins[i])) unchanged[moved++] = bins[i];
        else bins[kept++] = bins[i];
    }
    for (size_t i = 0; i < moved; i++) bins[kept + i] = unchanged[i];
    sp_free(unchanged);
    return kept;
}

/* Bins by their parent, and those of a parent in the order of the rows: children[begin[p] .. begin[p + 1]) are those of
 * bin p, and those of level 0 come last. */
struct family {
    struct bin **children; /* heap */
    size_t *begin;         /* heap */
};

static void add_rows_of(struct shapeproof_breakdown *breakdown, const struct bins *bins, const struct family *family,
                        size_t parent, unsigned level)
{
    struct bin **children = family->children + family->begin[parent];
    const size_t count = family->begin[parent + 1] - family->begin[parent];
    const size_t changed = put_unchanged_last(breakdown, children, count), most = breakdown->options.most;
    const size_t shown = most && changed > most + 1 ? most : changed;
    for (size_t i = 0; i < shown; i++) {
        const struct bin *bin = children[i];
        const size_t index = (size_t)(bin - bins->items);
        add_row(breakdown, (struct shapeproof_breakdown_row){
                               .value = bin->value, .level = level, .a = bin->sides[0], .b = bin->sides[1]});
        add_rows_of(breakdown, bins, family, index, level + 1);
    }
    add_row_of_others(breakdown, children + shown, changed - shown, level, false);
    add_row_of_others(breakdown, children + changed, count - changed, level, true);
}

/* Sorts the bins into families by counting, and makes the rows of the tree from the top. */
static void make_rows(struct shapeproof_breakdown *breakdown, const struct bins *bins)
{
    const size_t top = bins->count;
    struct family family = {sp_realloc(NULL, bins->count + 1, sizeof(struct bin *)),
                            sp_realloc(NULL, bins->count + 2, sizeof(size_t))};
    size_t *next = sp_realloc(NULL, bins->count + 1, sizeof *next);
    const enum shapeproof_breakdown_order order = breakdown->options.order;
    memset(family.begin, 0, (bins->count + 2) * sizeof *family.begin);
    for (size_t i = 0; i < bins->count; i++)
        family.begin[(bins->items[i].parent == NO_BIN ? top : bins->items[i].parent) + 1]++;
    for (size_t i = 0; i <= top; i++) family.begin[i + 1] += family.begin[i];
    memcpy(next, family.begin, (bins->count + 1) * sizeof *next);
    for (size_t i = 0; i < bins->count; i++)
        family.children[next[bins->items[i].parent == NO_BIN ? top : bins->items[i].parent]++] = &bins->items[i];
    for (size_t i = 0; i <= top; i++)
        qsort(family.children + family.begin[i], family.begin[i + 1] - family.begin[i], sizeof(struct bin *),
              order == SHAPEPROOF_BREAKDOWN_BY_NAME   ? by_value
              : order == SHAPEPROOF_BREAKDOWN_AS_FILE ? by_first
                                                      : by_size);
    add_rows_of(breakdown, bins, &family, top, 0);
    sp_free(next);
    sp_free(family.children);
    sp_free(family.begin);
}

/* ---- the whole ---- */

/* Whether the keys can be told, and differ. */
static bool keys_are_right(const struct shapeproof_breakdown_options *options, bool is_diff,
                           struct shapeproof_error *error)
{
    const bool groups = options->by[0] == SHAPEPROOF_BY_GROUP || options->by[1] == SHAPEPROOF_BY_GROUP;
    if (options->by[0] == options->by[1] && options->by[0] != SHAPEPROOF_BY_NONE)
        return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "'%s' is given twice",
                       shapeproof_by_name(options->by[0]));
    const bool has_a = options->check || options->prediction, has_b = options->check_b || options->prediction_b;
    if (groups && (!has_a || (is_diff && !has_b)))
        return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                       is_diff ? "groups need a check or a prediction of each checkpoint"
                               : "groups need a check or a prediction");
    return true;
}

/* Of one checkpoint, or of the two of a diff; NULL with the error. `options` may be NULL. */
static struct shapeproof_breakdown *sum_up(const struct shapeproof_inventory *a, const struct shapeproof_inventory *b,
                                           const struct shapeproof_diff *diff,
                                           const struct shapeproof_breakdown_options *options,
                                           struct shapeproof_error *error)
{
    static const struct shapeproof_breakdown_options defaults = {0};
    if (!options) options = &defaults;
    if (!sp_options_are_known(options->reserved, error) || !keys_are_right(options, diff != NULL, error)) return NULL;
    struct shapeproof_breakdown *breakdown = sp_realloc(NULL, 1, sizeof *breakdown);
    struct bins bins = {0};
    *breakdown = (struct shapeproof_breakdown){.inventories = {a, b}, .diff = diff, .options = *options};
    if (options->by[0] == SHAPEPROOF_BY_NONE) breakdown->options.by[0] = SHAPEPROOF_BY_MODULE;
    for (size_t side = 0; side < SIDES; side++) {
        if (!breakdown->inventories[side]) continue;
        for (size_t i = 0; i < shapeproof_inventory_count(breakdown->inventories[side]); i++)
            add_tensor(breakdown, &bins, side, i);
        find_parts(breakdown, side);
    }
    keep_filled_parts(breakdown);
    make_rows(breakdown, &bins);
    sp_map_free(&bins.known);
    sp_free(bins.items);
    return breakdown;
}

struct shapeproof_breakdown *shapeproof_breakdown_new(const struct shapeproof_inventory *inventory,
                                                      const struct shapeproof_breakdown_options *options,
                                                      struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("adding up the tensors");
    SP_BUDGET_REUSE(inventory);
    sp_error_reset(error);
    return sum_up(inventory, NULL, NULL, options, error);
}

struct shapeproof_breakdown *shapeproof_breakdown_of_diff(const struct shapeproof_diff *diff,
                                                          const struct shapeproof_breakdown_options *options,
                                                          struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("adding up the tensors");
    SP_BUDGET_REUSE(shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A));
    SP_BUDGET_REUSE(shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_B));
    sp_error_reset(error);
    return sum_up(shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A),
                  shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_B), diff, options, error);
}

void shapeproof_breakdown_free(struct shapeproof_breakdown *breakdown)
{
    if (!breakdown) return;
    sp_arena_free(&breakdown->arena);
    sp_free(breakdown->rows);
    sp_free(breakdown);
}

const struct shapeproof_inventory *shapeproof_breakdown_inventory(const struct shapeproof_breakdown *breakdown)
{
    return breakdown->inventories[0];
}

const struct shapeproof_diff *shapeproof_breakdown_diff(const struct shapeproof_breakdown *breakdown)
{
    return breakdown->diff;
}

enum shapeproof_by shapeproof_breakdown_key(const struct shapeproof_breakdown *breakdown, unsigned level)
{
    return level < LEVELS ? breakdown->options.by[level] : SHAPEPROOF_BY_NONE;
}

size_t shapeproof_breakdown_row_count(const struct shapeproof_breakdown *breakdown) { return breakdown->row_count; }

const struct shapeproof_breakdown_row *shapeproof_breakdown_row(const struct shapeproof_breakdown *breakdown,
                                                                size_t index)
{
    return &breakdown->rows[index];
}

size_t shapeproof_breakdown_part_count(const struct shapeproof_breakdown *breakdown) { return breakdown->part_count; }

const struct shapeproof_breakdown_part *shapeproof_breakdown_part(const struct shapeproof_breakdown *breakdown,
                                                                  size_t index)
{
    return &breakdown->parts[index];
}

const struct shapeproof_breakdown_row *shapeproof_breakdown_total(const struct shapeproof_breakdown *breakdown)
{
    return &breakdown->total;
}
