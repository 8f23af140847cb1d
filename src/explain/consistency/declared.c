/* SPDX-License-Identifier: MIT
 * Sizes that a name or an index declares, held against what is there. A name's size is a rough one: only one that is
 * far from every count is a contradiction. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "explain/consistency/name_sizes.h"
#include "explain/gather.h"
#include "model/inventory.h"

static void declare(struct shapeproof_check *check, struct shapeproof_declared declared)
{
    SP_GROW(check->declared, check->declared_count, check->declared_capacity);
    check->declared[check->declared_count++] = declared;
}

static const char *grouped_number(struct shapeproof_check *check, uint64_t number)
{
    struct sp_text text = {0};
    sp_text_grouped(&text, number);
    return sp_text_keep(&text, &check->arena);
}

/* ---- names ---- */

/* The largest predicted tensor and those of its shape: embeddings, which some names do not count. */
static uint64_t in_embeddings(const struct shapeproof_check *check)
{
    uint64_t largest = 0, sum = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, i);
        if (tensor->optional || tensor->buffer || tensor->same_as != SHAPEPROOF_NONE) continue;
        if (tensor->parameters > largest) largest = tensor->parameters, sum = 0;
        if (tensor->parameters == largest) sum += largest; /* at most the prediction's total */
    }
    return sum;
}

/* Whether a size is within a factor of two of a count, with or without embeddings. */
static bool is_near(const struct shapeproof_check *check, uint64_t size)
{
    const struct shapeproof_counts *counts = &check->counts;
    const uint64_t predicted = shapeproof_prediction_totals(check->prediction)->parameters,
                   embeddings = in_embeddings(check);
    uint64_t most = counts->logical > predicted ? counts->logical : predicted;
    uint64_t least = counts->logical && counts->logical < counts->predicted ? counts->logical : counts->predicted;
    if (counts->stored > most) most = counts->stored;
    least = least > embeddings ? least - embeddings : 0;
    return size / 2 <= most && size >= least / 2;
}

/* Declares the sizes in a name below `limit`, one that agrees if there is one. Returns whether there are any. */
static bool declare_name(struct shapeproof_check *check, const char *name, size_t length, uint64_t limit,
                         const char *where)
{
    struct sp_name_size sizes[SP_NAME_SIZES];
    const size_t count = sp_sizes_in_name(name, length, sizes);
    size_t best = 0;
    for (size_t i = count; i-- > 0;)
        if (is_near(check, sizes[i].parameters)) best = i;
    if (!count || sizes[best].parameters > limit) return false;
    const char *text = sp_arena_copy(&check->arena, sizes[best].text, sizes[best].length);
    const bool agrees = is_near(check, sizes[best].parameters);
    declare(check, (struct shapeproof_declared){
                       .where = where, .text = text, .value = sizes[best].parameters, .agrees = agrees});
    if (!agrees)
        sp_blame(check, SP_CAUSE_DECLARED)->message =
            sp_arena_printf(&check->arena, "%s says %s, but the file holds %s parameters", where, text,
                            grouped_number(check, check->counts.logical));
    return true;
}

/* Directories of a download cache, which stand between a model's name and its files. */
static bool is_of_cache(const char *name, size_t length)
{
    if (length == strlen("snapshots") && strncmp(name, "snapshots", length) == 0) return true;
    return length >= 32 && strspn(name, "0123456789abcdef") >= length;
}

/* The last two components of the path: the file or directory, then the one around it. */
static bool declare_path(struct shapeproof_check *check)
{
    const char *path = shapeproof_inventory_path(check->inventory);
    size_t end = strlen(path);
    for (int left = 2; left && end;) {
        while (end && path[end - 1] == '/') end--;
        size_t begin = end;
        while (begin && path[begin - 1] != '/') begin--;
        const int length = end - begin < 256 ? (int)(end - begin) : 0;
        const char *where = sp_arena_printf(&check->arena, "the name %.*s", length, path + begin);
        if (!is_of_cache(path + begin, (size_t)length)) {
            if (declare_name(check, path + begin, (size_t)length, UINT64_MAX, where)) return true;
            left--;
        }
        end = begin;
    }
    return false;
}

/* What the configuration was made from: the last component alone. Checkpoints on the way are often called after the
 * number of tokens so far. */
static void declare_origin(struct shapeproof_check *check)
{
    const struct shapeproof_value name = sp_value_member(sp_config_hyper(check->config)->root, "_name_or_path");
    if (name.type != SHAPEPROOF_VALUE_STRING) return;
    const char *last = sp_base_name(name.string);
    declare_name(check, last, strlen(last), 150000000000, "_name_or_path");
}

/* ---- the index ---- */

/* "1234", or "1234.0" as some writers have it. */
static bool read_declared_number(const char *text, uint64_t *value)
{
    const char *p = text;
    for (*value = 0; *p >= '0' && *p <= '9'; p++)
        if (!sp_mul_u64(*value, 10, value) || !sp_add_u64(*value, (uint64_t)(*p - '0'), value)) return false;
    if (p == text) return false;
    if (*p == '.') p += 1 + strspn(p + 1, "0");
    return !*p;
}

static const char *total_of_index(const struct shapeproof_check *check, const char *key, uint64_t *value)
{
    const char *text = sp_inventory_metadata_value(check->inventory, key);
    return text && strlen(text) < 40 && read_declared_number(text, value) ? text : NULL;
}

/* Within one in a hundred: writers do not agree on what is a parameter. */
static bool is_roughly_equal(uint64_t value, uint64_t count)
{
    const uint64_t difference = value > count ? value - count : count - value;
    return difference <= count / 100;
}

static void declare_total_parameters(struct shapeproof_check *check)
{
    const struct shapeproof_counts *counts = &check->counts;
    const struct shapeproof_predicted_totals *predicted = shapeproof_prediction_totals(check->prediction);
    uint64_t value;
    const char *text = total_of_index(check, "index.total_parameters", &value);
    if (!text) return;
    struct shapeproof_declared declared = {
        .where = "total_parameters of the index", .text = text, .value = value, .exact = true};
    const bool once = is_roughly_equal(value, counts->unique) || is_roughly_equal(value, counts->logical) ||
                      is_roughly_equal(value, predicted->unique_parameters);
    declared.agrees = once || is_roughly_equal(value, counts->stored) || is_roughly_equal(value, predicted->parameters);
    if (value == predicted->parameters && value != predicted->unique_parameters) declared.note = "with ties twice";
    declare(check, declared);
    if (!declared.agrees)
        sp_blame(check, SP_CAUSE_DECLARED)->message =
            sp_arena_printf(&check->arena, "the index says total_parameters %s, but the file holds %s parameters", text,
                            grouped_number(check, counts->logical));
}

/* Bytes of all tensors, those of one storage counted each; 0 when they do not fit in 64 bits. */
static uint64_t bytes_with_ties(const struct shapeproof_inventory *inventory)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        if (!sp_add_u64(sum, shapeproof_inventory_tensor(inventory, i)->bytes, &sum)) return 0;
    return sum;
}

/* What a wrong total_size may have counted; NULL when nothing fits. */
static const char *what_it_counts(const struct shapeproof_check *check, uint64_t value)
{
    const struct shapeproof_counts *counts = &check->counts;
    if (value == bytes_with_ties(check->inventory)) return "with ties twice";
    for (uint64_t width = 1; width <= 8; width *= 2)
        if (value % width == 0 && (value / width == counts->unique || value / width == counts->logical))
            return width == 1   ? "the number of parameters"
                   : width == 2 ? "two bytes for each parameter"
                   : width == 4 ? "four bytes for each parameter"
                                : "eight bytes for each parameter";
    return NULL;
}

/* A file that lacks tensors cannot have the size; that they are missing is said already. */
static bool lacks_tensors(const struct shapeproof_check *check)
{
    if (check->inventory->promise_count) return true;
    for (size_t i = 0; i < check->finding_count; i++)
        if (check->findings[i].kind == SHAPEPROOF_FINDING_MISSING) return true;
    return false;
}

static void declare_total_size(struct shapeproof_check *check)
{
    const uint64_t bytes = shapeproof_inventory_totals(check->inventory)->bytes;
    uint64_t value;
    const char *text = total_of_index(check, "index.total_size", &value);
    if (!text) return;
    struct shapeproof_declared declared = {
        .where = "total_size of the index", .text = text, .value = value, .exact = true, .bytes = true};
    declared.agrees = value == bytes;
    if (!declared.agrees) declared.note = what_it_counts(check, value);
    declare(check, declared);
    if (declared.agrees || lacks_tensors(check)) return;
    sp_blame(check, SP_CAUSE_DECLARED)->message =
        sp_arena_printf(&check->arena, "the index says total_size %s%s%s, but the tensors take %" PRIu64 " bytes", text,
                        declared.note ? ": " : "", declared.note ? declared.note : "", bytes);
}

void sp_explain_declared(struct shapeproof_check *check)
{
    if (!declare_path(check)) declare_origin(check);
    declare_total_parameters(check);
    declare_total_size(check);
}
