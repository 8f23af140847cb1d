/* SPDX-License-Identifier: MIT
 * The data of paired tensors: byte by byte where both files have it in the same form, element by element where they
 * have it in another dtype or order. What is not compared is counted by the reason. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/chars.h"
#include "base/real.h"
#include "diff/dequantised.h"
#include "diff/diff.h"
#include "diff/elements.h"
#include "diff/packed.h"
#include "diff/parametrised.h"
#include "diff/parts.h"
#include "diff/relations.h"
#include "model/bytes.h"
#include "model/values.h"
#include "names/components.h"
#include "shapeproof/inventory.h"

/* ---- data ---- */

struct comparison {
    struct shapeproof_diff *diff;
    struct shapeproof_data *a, *b;
    struct sp_data_progress progress;
    struct shapeproof_error *error;
    struct sp_relations *relations;
    size_t fused, dtypes, shapes, scaled; /* tensors of A that are not compared, by the reason */
    size_t unread;                        /* those for which a finding has the reason */
    uint64_t bytes_left;                  /* of all that are not compared */
    size_t put_together;                  /* the same, fused or split in one of them */
    size_t rounded, transposed, widened;  /* that are the same in another form */
    size_t forms[SP_FORM_MINUS_EXP + 1];  /* by the relation that makes them the same */
    size_t computed;                      /* that follow from their parts under a parametrisation */
    size_t restored;                      /* that are the same within the error of their quantisation */
    double relative_error;                /* the largest of these (sp_relative_error) */
};

static void add_data_finding(struct comparison *c, size_t a, enum shapeproof_diff_finding_kind kind,
                             const char *message, const char *detail)
{
    sp_diff_add_about(c->diff, a, c->diff->a.other[a],
                      (struct shapeproof_diff_finding){.kind = kind, .message = message, .detail = detail});
}

/* Where the first byte that differs is. */
static const char *where(struct comparison *c, const struct shapeproof_tensor *tensor, uint64_t byte)
{
    if (byte == tensor->bytes) return NULL;
    if (!tensor->dtype)
        return sp_arena_printf(&c->diff->arena, "first at byte %" PRIu64 " of %" PRIu64, byte, tensor->bytes);
    return sp_arena_printf(&c->diff->arena, "first at element %" PRIu64 " of %" PRIu64,
                           byte * 8 / shapeproof_dtype_bits(tensor->dtype), tensor->parameters);
}

/* Why their bytes cannot be compared, or NULL; `shaped`: both are in the same shape. In the arena, or static. */
static const char *obstacle_to_data(struct comparison *c, size_t a, size_t b, bool shaped)
{
    const struct shapeproof_tensor *in_a = sp_diff_a(c->diff, a), *in_b = sp_diff_b(c->diff, b);
    const char *why = shapeproof_data_obstacle(c->a, a), *side = "A";
    if (!why) {
        why = shapeproof_data_obstacle(c->b, b);
        side = "B";
    }
    if (why) return sp_arena_printf(&c->diff->arena, "data not compared: %s in %s", why, side);
    if ((in_a->flags ^ in_b->flags) & SHAPEPROOF_TENSOR_BIG_ENDIAN)
        return "data not compared: the bytes have another order";
    if (in_a->flags & SHAPEPROOF_TENSOR_BIG_ENDIAN && in_a->dtype != in_b->dtype)
        return "data not compared: big-endian numbers of two dtypes";
    const bool ordered = shaped ? sp_tensor_same_order(in_a, in_b) : sp_is_row_major(in_a) && sp_is_row_major(in_b);
    return ordered ? NULL : "data not compared: the elements have another order";
}

/* A tie on both sides: its first tensor stands for it. */
static bool is_compared_already(const struct shapeproof_diff *diff, size_t a, size_t b)
{
    const size_t first = sp_tie_group(diff->a.inventory, a);
    return first != a && diff->a.other[first] != SHAPEPROOF_NONE &&
           sp_tie_group(diff->b.inventory, b) == sp_tie_group(diff->b.inventory, diff->a.other[first]);
}

/* ---- one tensor ---- */

/* Compares as many bytes of a tensor of A and one of B; *at is the first that differs, or `length`. False with an error
 * when a file cannot be read, or when the caller wants the call to end. */
static bool compare_bytes(struct comparison *c, size_t a, size_t b, uint64_t length, uint64_t *at)
{
    enum { SLICE = 16 << 20 }; /* bytes from one report of the progress to the next */
    uint64_t end = 0;
    for (*at = 0; *at < length && *at == end;) {
        const uint64_t part = length - end < SLICE ? length - end : SLICE;
        end += part;
        if (!sp_bytes_compare((struct sp_bytes_of){c->a, a}, (struct sp_bytes_of){c->b, b}, end, at, c->error) ||
            !sp_data_goes_on(&c->progress, part, c->error))
            return false;
    }
    return true;
}

/* Counts a tensor that is the same in another form. */
static void count_form(struct comparison *c, size_t a, enum sp_elements result, enum sp_relation_form form)
{
    c->forms[form]++;
    if (form != SP_FORM_STORED && form != SP_FORM_TRANSPOSED) return;
    if (result == SP_ELEMENTS_ROUNDED) c->rounded++;
    else if (result == SP_ELEMENTS_EQUAL)
        c->widened += sp_diff_a(c->diff, a)->dtype != sp_diff_b(c->diff, c->diff->a.other[a])->dtype;
}

/* Reports and counts a tensor as the judgement says; `result` is that of the elements as they are stored. */
static void report_data(struct comparison *c, size_t a, const struct sp_judgement *judgement, enum sp_elements result,
                        const char *where)
{
    struct shapeproof_diff_totals *totals = &c->diff->totals;
    const struct shapeproof_tensor *tensor = sp_diff_a(c->diff, a);
    totals->data_compared++;
    totals->data_bytes += tensor->bytes; /* of ranges in files: no overflow */
    if (judgement->same) {
        count_form(c, a, result, judgement->form);
        if (judgement->form == SP_FORM_TRANSPOSED)
            add_data_finding(c, a, SHAPEPROOF_DIFF_FINDING_TRANSPOSED,
                             sp_arena_printf(&c->diff->arena, "%s in A, transposed in B, as its data show",
                                             sp_found_shape(&c->diff->arena, tensor)),
                             NULL);
        return;
    }
    totals->data_different++;
    add_data_finding(c, a, SHAPEPROOF_DIFF_FINDING_DATA, judgement->message ? judgement->message : SP_OTHER_DATA,
                     judgement->message ? NULL : where);
    if (!judgement->message && tensor->dtype) sp_relations_unexplained(c->relations); /* of blocks nothing is judged */
}

/* Compares the data of a tensor that can be read on both sides and is in the same form byte by byte: of one dtype or
 * one type of blocks, in one shape and order. */
static bool compare_as_bytes(struct comparison *c, size_t a)
{
    const struct shapeproof_tensor *tensor = sp_diff_a(c->diff, a);
    struct sp_judgement judgement = {0};
    uint64_t at;
    if (!compare_bytes(c, a, c->diff->a.other[a], tensor->bytes, &at)) return false;
    judgement.same = at == tensor->bytes;
    /* of blocks the elements are not looked at */
    if (tensor->dtype && !sp_relations_judge(c->relations, a, NULL, judgement.same, &judgement, c->error)) return false;
    report_data(c, a, &judgement, at == tensor->bytes ? SP_ELEMENTS_EQUAL : SP_ELEMENTS_DIFFERENT,
                where(c, tensor, at));
    return true;
}

/* Compares the data of two tensors value by value: of two dtypes, or (`reshaped`) of two shapes, as the pair has their
 * elements. What they show is then judged by the relations that the tensors may have (relations.h). */
static bool compare_values(struct comparison *c, size_t a, const struct sp_view_pair *pair, bool reshaped)
{
    struct sp_judgement judgement;
    enum sp_elements result;
    c->progress.element = shapeproof_dtype_bits(sp_diff_a(c->diff, a)->dtype) / 8;
    if (!sp_views_compare(pair, &c->progress, &result, c->error)) return false;
    const bool same = result != SP_ELEMENTS_DIFFERENT;
    if (!sp_relations_judge(c->relations, a, reshaped ? pair : NULL, same, &judgement, c->error)) return false;
    c->transposed += same && reshaped && pair->rank > 1;
    report_data(c, a, &judgement, result, NULL);
    return true;
}

/* Counts a tensor that cannot be compared, by the reason. */
static void count_left(struct comparison *c, size_t a, size_t *reason)
{
    ++*reason;
    c->bytes_left += sp_diff_a(c->diff, a)->bytes;
}

/* ---- blocks of ggml ---- */

/* Fills in the pair if one of the tensors has blocks of ggml that can be restored, and the other the same matrix in
 * full precision. */
static bool pair_blocks(struct comparison *c, size_t a, struct sp_dequantised_pair *pair)
{
    const size_t b = c->diff->a.other[a];
    const struct shapeproof_tensor *in_a = sp_diff_a(c->diff, a), *in_b = sp_diff_b(c->diff, b);
    const struct sp_ggml_block *block_a = in_a->dtype ? NULL : sp_ggml_block(in_a->dtype_name);
    const struct sp_ggml_block *block_b = in_b->dtype ? NULL : sp_ggml_block(in_b->dtype_name);
    if (!block_a == !block_b || !sp_is_float((block_a ? in_b : in_a)->dtype)) return false;
    *pair = (struct sp_dequantised_pair){.packed = {c->a, a},
                                         .full = {c->b, b},
                                         .in_packed = in_a,
                                         .in_full = in_b,
                                         .block = block_a,
                                         .progress = &c->progress};
    if (block_b) {
        pair->packed = (struct sp_bytes_of){c->b, b};
        pair->full = (struct sp_bytes_of){c->a, a};
        pair->in_packed = in_b;
        pair->in_full = in_a;
        pair->block = block_b;
        pair->full_is_a = true;
    }
    return sp_tensor_same_shape(in_a, in_b) && sp_is_row_major(in_a) && sp_is_row_major(in_b);
}

/* Whether the tensor in full precision is within the error of the quantisation, with the rows of its heads in pairs or
 * as they are stored. False with an error when a file cannot be read. */
static bool is_within_error(struct comparison *c, struct sp_dequantised_pair *pair, uint64_t heads,
                            struct sp_quantisation_error *found, bool *is_within)
{
    pair->heads = heads;
    pair->only_whether = true;
    if (!sp_dequantised_compare(pair, found, c->error)) return false;
    *is_within = !found->outside;
    return true;
}

/* Compares a tensor of blocks with the same one in full precision, in the order of rows that llama.cpp expects, then in
 * the other one. What is outside in both is measured in the first. Tensors that llama.cpp expects in a form that is
 * more than an order of rows are not compared. */
static bool compare_with_blocks(struct comparison *c, size_t a, struct sp_dequantised_pair *pair)
{
    enum sp_row_order expected;
    struct sp_quantisation_error found;
    bool is_within = false;
    const char *message = NULL, *detail = NULL;
    const uint64_t heads = sp_relations_heads(c->relations, a, &expected);
    const uint64_t first = expected == SP_ROWS_PAIRED ? heads : 0, other = heads - first;
    if (expected == SP_ROWS_OTHER) {
        count_left(c, a, &c->dtypes);
        return true;
    }
    if (!is_within_error(c, pair, first, &found, &is_within)) return false;
    if (!is_within && heads) {
        if (!is_within_error(c, pair, other, &found, &is_within)) return false;
        if (is_within && expected == SP_ROWS_PAIRED)
            message = "has its rows in the order of the original, where llama.cpp expects them permuted";
        if (is_within && expected == SP_ROWS_STORED) message = "has its rows permuted for rotary positions";
    }
    c->diff->totals.data_compared++;
    c->diff->totals.data_bytes += sp_diff_a(c->diff, a)->bytes;
    if (is_within && !message) {
        const double relative = sp_relative_error(&found);
        c->restored++;
        c->relative_error = relative > c->relative_error ? relative : c->relative_error;
        c->forms[SP_FORM_PERMUTED] += pair->heads != 0;
        return true;
    }
    if (!message) {
        pair->heads = first;
        pair->only_whether = false;
        if (!sp_dequantised_compare(pair, &found, c->error)) return false;
        message =
            sp_arena_printf(&c->diff->arena, "differs by more than the quantisation error of %s", pair->block->name);
        detail =
            sp_arena_printf(&c->diff->arena,
                            "in %" PRIu64 " of %" PRIu64 " elements, the first in the block that begins at %" PRIu64
                            "; greatest difference %s, relative error %s",
                            found.outside, found.elements, found.first, sp_real_text(found.most, 3).text,
                            sp_real_text(sp_relative_error(&found), 2).text);
    }
    c->diff->totals.data_different++;
    add_data_finding(c, a, SHAPEPROOF_DIFF_FINDING_DATA, message, detail);
    return true;
}

/* ---- which way of comparing ---- */

/* Why the elements of two tensors that are not in one order cannot be compared; NULL when they can. */
static const char *obstacle_to_order(const struct comparison *c, size_t a, const struct sp_view_pair *pair)
{
    if (sp_views_fit(pair)) return NULL;
    if (shapeproof_data_in_order(c->a, a) || shapeproof_data_in_order(c->b, c->diff->a.other[a]))
        return "data not compared: compressed, with its elements in another order";
    return "data not compared: transposed, with too many rows";
}

/* Compares a tensor that has a counterpart, or counts why it cannot be compared. */
static bool compare_tensor(struct comparison *c, size_t a)
{
    const size_t b = c->diff->a.other[a];
    const struct shapeproof_tensor *in_a = sp_diff_a(c->diff, a), *in_b = sp_diff_b(c->diff, b);
    const bool turned = c->diff->a.turned[a] || c->diff->b.turned[b]; /* a square one, too */
    const bool shaped = sp_tensor_same_shape(in_a, in_b) && !shapeproof_diff_is_converted(c->diff, a) && !turned;
    const bool comparable = sp_elements_are_comparable(in_a, in_b);
    struct sp_view_pair pair = sp_relations_stored(c->relations, a);
    if (is_compared_already(c->diff, a, b)) return true;
    struct sp_dequantised_pair blocks;
    const bool is_restored = pair_blocks(c, a, &blocks);
    const bool same_dtype = in_a->dtype == in_b->dtype && strcmp(in_a->dtype_name, in_b->dtype_name) == 0;
    if (!is_restored && !same_dtype && !comparable) {
        count_left(c, a, &c->dtypes);
        return true;
    }
    if (!in_a->parameters && !in_b->parameters) {
        c->diff->totals.data_compared++;
        return true;
    }
    if (!shaped && !(comparable && sp_relations_reshaped(c->relations, a, &pair))) {
        count_left(c, a, &c->shapes);
        return true;
    }
    const char *why = obstacle_to_data(c, a, b, shaped);
    if (!why && !shaped) why = obstacle_to_order(c, a, &pair);
    if (!why && is_restored) return compare_with_blocks(c, a, &blocks);
    if (!why && shaped && same_dtype) return compare_as_bytes(c, a);
    if (!why) return compare_values(c, a, &pair, !shaped);
    count_left(c, a, &c->unread);
    add_data_finding(c, a, SHAPEPROOF_DIFF_FINDING_NOT_COMPARED, why, NULL);
    return true;
}

/* ---- all of them ---- */

static void put_reason(struct sp_text *text, size_t count, const char *what)
{
    if (count) sp_text_printf(text, "%s%zu %s", text->length ? ", " : "", count, what);
}

static size_t count_not_compared(const struct comparison *c)
{
    return c->fused + c->scaled + c->dtypes + c->shapes + c->unread;
}

/* How tensors were compared, and why others were not, in the arena; NULL when there is nothing to say:
 *
 *     2 transposed; 3 not compared: of another shape          one reason: its number is that of the tensors
 *     5 not compared: 2 fused, split, quantised or parametrised in one of them, 3 of another shape
 *     1 not compared                                          the findings have the reason */
static const char *note_words(struct comparison *c)
{
    struct sp_text forms = {0}, reasons = {0};
    const size_t unread = c->unread, all = count_not_compared(c);
    put_reason(&forms, c->widened, "the same in another dtype");
    put_reason(&forms, c->rounded, "the same but rounded to another dtype");
    if (c->restored)
        sp_text_printf(&forms, "%s%zu the same within the error of quantisation, of at most %s %%",
                       forms.length ? ", " : "", c->restored, sp_real_text(c->relative_error * 100, 2).text);
    put_reason(&forms, c->forms[SP_FORM_PERMUTED], "permuted for rotary positions, as llama.cpp has them");
    put_reason(&forms, c->forms[SP_FORM_HEADS], "with the heads of queries, keys and values gathered");
    put_reason(&forms, c->forms[SP_FORM_PLUS_ONE], "with 1 added, as llama.cpp has norms");
    put_reason(&forms, c->forms[SP_FORM_MINUS_EXP], "as -exp(A_log)");
    put_reason(&forms, c->transposed + c->forms[SP_FORM_TRANSPOSED], "transposed");
    put_reason(&forms, c->put_together, "fused or split");
    put_reason(&forms, c->computed, "computed from their parts under a parametrisation");
    put_reason(&reasons, c->fused, "fused, split, quantised or parametrised in one of them");
    put_reason(&reasons, c->scaled, "quantised, with columns that seem to have been multiplied before");
    put_reason(&reasons, c->dtypes, "of dtypes that cannot be compared");
    put_reason(&reasons, c->shapes, "of another shape");
    put_reason(&reasons, unread, "for reasons in the findings");
    const bool one =
        all && (all == c->fused || all == c->scaled || all == c->dtypes || all == c->shapes || all == unread);
    if (all) {
        sp_text_printf(&forms, "%s%zu not compared, ", forms.length ? "; " : "", all);
        sp_text_grouped(&forms, c->bytes_left);
        sp_text_puts(&forms, c->bytes_left == 1 ? " byte" : " bytes");
    }
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
    const struct sp_diff_half *in_a = &c->diff->a;
    uint64_t done = 0; /* bytes of A; an overflow would only make the progress wrong */
    for (size_t i = 0; i < count; i++)
        if (in_a->other[i] != SHAPEPROOF_NONE || in_a->joined[i]) c->progress.total += sp_diff_a(c->diff, i)->bytes;
    for (size_t i = 0; i < count; i++) {
        if (in_a->other[i] == SHAPEPROOF_NONE || in_a->joined[i]) continue; /* joined ones are compared by themselves */
        c->progress.done = done; /* what was read twice, or not to its end, is counted once */
        if (!sp_data_goes_on(&c->progress, 0, c->error) || !compare_tensor(c, i)) return false;
        done += sp_diff_a(c->diff, i)->bytes;
    }
    c->progress.done = done; /* parts follow */
    return true;
}

/* Compares weights that one checkpoint stores as several tensors; marks in `is_counted` the tensors of A that are
 * compared or counted as not compared. */
static bool compare_packed(struct comparison *c, bool *is_counted)
{
    struct shapeproof_diff *diff = c->diff;
    struct sp_packed_totals totals;
    if (!sp_packed_compare(diff, c->a, c->b, &c->progress, &totals, c->error)) return false;
    for (size_t i = 0; i < diff->packed.count; i++) {
        const struct sp_diff_packed *packed = &diff->packed.items[i];
        const bool full_is_a = packed->full_side == &diff->a;
        if (packed->is_counted && full_is_a) is_counted[packed->full] = true;
        for (size_t k = 0; k < packed->module->count && packed->is_counted && !full_is_a; k++)
            is_counted[packed->module->tensors[k]] = true;
    }
    c->scaled = totals.scaled;
    c->bytes_left += totals.bytes_scaled;
    c->restored += totals.same;
    c->relative_error = totals.relative_error > c->relative_error ? totals.relative_error : c->relative_error;
    diff->totals.data_compared += totals.compared;
    diff->totals.data_different += totals.different;
    diff->totals.data_bytes += totals.bytes;
    return true;
}

/* Compares weights that one checkpoint stores under a parametrisation, as compare_packed does. */
static bool compare_parametrised(struct comparison *c, bool *is_counted)
{
    struct shapeproof_diff *diff = c->diff;
    struct sp_parametrised_totals totals;
    if (!sp_parametrised_compare(diff, c->a, c->b, &c->progress, &totals, c->error)) return false;
    for (size_t i = 0; i < diff->parametrised.count; i++) {
        const struct sp_diff_parametrised *pair = &diff->parametrised.items[i];
        const struct sp_parametrised *stored = pair->stored;
        if (pair->is_counted && pair->full_side == &diff->a) is_counted[pair->full] = true;
        for (size_t k = 0; k < stored->count && pair->is_counted && pair->side == &diff->a; k++)
            is_counted[stored->parts[k]] = true;
    }
    c->computed = totals.same;
    c->bytes_left += totals.bytes_unread;
    c->unread += totals.unread;
    diff->totals.data_compared += totals.compared;
    diff->totals.data_different += totals.different;
    diff->totals.data_bytes += totals.bytes;
    return true;
}

/* Compares tensors that are one in one checkpoint and several in the other, and counts those that are joined because
 * one of the files quantises them in a way that cannot be compared. */
static bool compare_parts(struct comparison *c)
{
    struct shapeproof_diff *diff = c->diff;
    const size_t count = shapeproof_inventory_count(diff->a.inventory);
    bool *is_fused = sp_arena_array(&diff->arena, count, sizeof *is_fused); /* or compared as a quantised one */
    struct sp_parts_totals totals;
    if (!compare_packed(c, is_fused) || !compare_parametrised(c, is_fused) ||
        !sp_parts_compare(diff, c->relations, c->a, c->b, &c->progress, &totals, c->error))
        return false;
    for (size_t i = 0; i < diff->joints.count; i++) {
        const struct sp_diff_joint *joint = &diff->joints.items[i];
        if (joint->whole_side == &diff->a) is_fused[joint->whole] = true;
        else
            for (size_t k = 0; k < joint->part_count; k++) is_fused[joint->parts[k]] = true;
    }
    for (size_t i = 0; i < count; i++)
        if (diff->a.joined[i] && !is_fused[i]) count_left(c, i, &c->fused);
    c->fused += totals.left;
    c->unread += totals.unread;
    c->bytes_left += totals.bytes_left;
    c->put_together = totals.compared - totals.different;
    c->restored += totals.restored;
    c->relative_error = totals.relative_error > c->relative_error ? totals.relative_error : c->relative_error;
    diff->totals.data_compared += totals.compared;
    diff->totals.data_different += totals.different;
    diff->totals.data_bytes += totals.bytes;
    return true;
}

bool sp_diff_data(struct shapeproof_diff *diff, const struct shapeproof_watch *watch, struct shapeproof_error *error)
{
    struct comparison c = {.diff = diff, .progress = {.watch = watch}, .error = error};
    c.a = shapeproof_data_open(diff->a.inventory, error);
    c.b = c.a ? shapeproof_data_open(diff->b.inventory, error) : NULL;
    c.relations = c.b ? sp_relations_new(diff, c.a, c.b, &c.progress) : NULL;
    const bool ok = c.b && compare_all(&c) && compare_parts(&c) && sp_relations_explain(c.relations, error);
    if (ok) diff->data_note = note_words(&c);
    diff->totals.data_unread = count_not_compared(&c);
    sp_relations_free(c.relations);
    shapeproof_data_close(c.a);
    shapeproof_data_close(c.b);
    return ok;
}
