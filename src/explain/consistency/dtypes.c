/* SPDX-License-Identifier: MIT
 * Dtypes that stand out. Tables seldom say a dtype, so the file is its own measure: tensors that differ in their
 * indices alone should have one dtype, and a single tensor should not differ from a file that is uniform otherwise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "lang/prediction.h"
#include "model/inventory.h"
#include "model/values.h"

/* How many tensors have which dtype. */
struct tally {
    size_t by_dtype[SP_DTYPE_COUNT], total;
};

/* What is counted. Tensors of one pattern, which differ in their indices alone, are a kind. */
struct dtypes {
    struct sp_patterns patterns;
    size_t *pattern_of;  /* for each tensor that counts */
    struct tally *kinds; /* for each pattern */
    struct tally whole;  /* of all tensors that count, without scales; of a file with one dtype, of one of them */
};

static bool is_floating(enum shapeproof_dtype dtype)
{
    return dtype == SHAPEPROOF_DTYPE_F64 || dtype == SHAPEPROOF_DTYPE_F32 || dtype == SHAPEPROOF_DTYPE_F16 ||
           dtype == SHAPEPROOF_DTYPE_BF16;
}

/* Those that need scales beside them. The quantised types of PyTorch have theirs with them. */
static const enum shapeproof_dtype integers[] = {SHAPEPROOF_DTYPE_BOOL, SHAPEPROOF_DTYPE_I8,  SHAPEPROOF_DTYPE_U8,
                                                 SHAPEPROOF_DTYPE_I16,  SHAPEPROOF_DTYPE_U16, SHAPEPROOF_DTYPE_I32,
                                                 SHAPEPROOF_DTYPE_U32,  SHAPEPROOF_DTYPE_I64, SHAPEPROOF_DTYPE_U64};
enum { INTEGERS = sizeof integers / sizeof *integers };

static bool is_integer(enum shapeproof_dtype dtype)
{
    for (size_t i = 0; i < INTEGERS; i++)
        if (dtype == integers[i]) return true;
    return false;
}

static enum shapeproof_dtype dtype_of(const struct shapeproof_check *check, size_t tensor)
{
    return shapeproof_inventory_tensor(check->inventory, tensor)->dtype;
}

/* Whether a tensor is a predicted parameter whose dtype the table leaves open, or one of the several that it gives. */
static bool counts(const struct shapeproof_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    if (predicted == SHAPEPROOF_NONE) return false;
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, predicted);
    return !expected->buffer && expected->dtype == SHAPEPROOF_DTYPE_UNKNOWN &&
           sp_prediction_allows_dtype(check->prediction, predicted, dtype_of(check, tensor));
}

/* Whether a tensor is stored in place of a quantised weight, so that its quantiser chose the dtype. */
static bool is_scale(const struct shapeproof_check *check, size_t tensor)
{
    const size_t predicted = check->match.predicted_of[tensor];
    return predicted != SHAPEPROOF_NONE &&
           shapeproof_prediction_tensor(check->prediction, predicted)->stands_for != NULL;
}

static void add_dtype(struct tally *tally, enum shapeproof_dtype dtype)
{
    tally->by_dtype[dtype]++;
    tally->total++;
}

/* The dtype that most tensors have, the first of several; SHAPEPROOF_DTYPE_UNKNOWN without any tensor. */
static enum shapeproof_dtype most_common(const struct tally *tally)
{
    enum shapeproof_dtype best = SHAPEPROOF_DTYPE_UNKNOWN;
    for (int i = 0; i < SP_DTYPE_COUNT; i++)
        if (tally->by_dtype[i] > tally->by_dtype[best]) best = (enum shapeproof_dtype)i;
    return best;
}

/* Adds a finding about the dtype of a tensor; `expected` is the right one, or NULL where no single dtype is. */
static void add_finding(struct shapeproof_check *check, size_t tensor, const char *expected, const char *message)
{
    const struct shapeproof_tensor *found = shapeproof_inventory_tensor(check->inventory, tensor);
    sp_check_add_finding(check, (struct shapeproof_finding){.kind = SHAPEPROOF_FINDING_DTYPE,
                                                            .name = found->name,
                                                            .expected = expected,
                                                            .found = found->dtype_name,
                                                            .tensor = tensor,
                                                            .predicted = check->match.predicted_of[tensor],
                                                            .message = message});
}

/* Adds the finding "has dtype F32 where others of its kind have BF16"; `who` is "others of its kind have". */
static void dtype_finding(struct shapeproof_check *check, size_t tensor, enum shapeproof_dtype expected,
                          const char *who)
{
    const char *found = shapeproof_inventory_tensor(check->inventory, tensor)->dtype_name;
    const char *right = shapeproof_dtype_name(expected);
    add_finding(check, tensor, right, sp_arena_printf(&check->arena, "has dtype %s where %s %s", found, who, right));
}

/* "where the table has I16 or I64", or of a tensor that stands in for a quantised weight, whose row has no dtype,
 * "where a quantised weight has F16, BF16, F32 or F64"; in the arena of the check. */
static const char *say_allowed(struct shapeproof_check *check, size_t predicted)
{
    const uint64_t allowed = sp_prediction_dtypes(check->prediction, predicted);
    struct sp_text text = {0};
    sp_text_puts(&text, check->prediction->origins[predicted].row->dtypes ? "where the table has"
                                                                          : "where a quantised weight has");
    for (int i = 0; i < SP_DTYPE_COUNT; i++) {
        if (!(allowed >> i & 1)) continue;
        const uint64_t before = allowed & ((UINT64_C(1) << i) - 1), after = allowed >> i >> 1;
        sp_text_printf(&text, "%s%s",
                       !before ? " "
                       : after ? ", "
                               : " or ",
                       shapeproof_dtype_name((enum shapeproof_dtype)i));
    }
    return sp_text_keep(&text, &check->arena);
}

/* A parameter is a real number, unless the table says otherwise. */
static void add_complex_finding(struct shapeproof_check *check, size_t tensor)
{
    const char *dtype = shapeproof_inventory_tensor(check->inventory, tensor)->dtype_name;
    add_finding(check, tensor, NULL,
                sp_arena_printf(&check->arena, "has dtype %s, but weights are real numbers", dtype));
}

/* Finds tensors of another dtype than the table allows. */
static void judge_declared(struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const enum shapeproof_dtype declared = shapeproof_prediction_tensor(check->prediction, i)->dtype;
        const size_t tensor = check->match.tensor_of[i];
        if (tensor == SHAPEPROOF_NONE || sp_prediction_allows_dtype(check->prediction, i, dtype_of(check, tensor)))
            continue;
        if (declared != SHAPEPROOF_DTYPE_UNKNOWN) dtype_finding(check, tensor, declared, "the table has");
        else
            add_finding(check, tensor, NULL,
                        sp_arena_printf(&check->arena, "has dtype %s %s",
                                        shapeproof_inventory_tensor(check->inventory, tensor)->dtype_name,
                                        say_allowed(check, i)));
    }
}

/* Finds buffers whose dtype the table leaves open and that hold no real numbers. Booleans and integers may be right:
 * masks, flags of one element, indices; but not booleans in a vector, which has frequencies or statistics. */
static void judge_buffers(struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const size_t tensor = check->match.tensor_of[i];
        if (tensor == SHAPEPROOF_NONE || !shapeproof_prediction_tensor(check->prediction, i)->buffer) continue;
        if (check->prediction->origins[i].row->dtypes) continue;
        const struct shapeproof_tensor *found = shapeproof_inventory_tensor(check->inventory, tensor);
        const bool is_flags = found->dtype == SHAPEPROOF_DTYPE_BOOL && found->rank == 1 && found->parameters > 1;
        if (is_flags || sp_is_complex(found->dtype))
            add_finding(
                check, tensor, NULL,
                sp_arena_printf(&check->arena, "has dtype %s, but this buffer has real numbers", found->dtype_name));
    }
}

/* Fills dtypes->whole. In a file with one dtype, as nearly all are, one tensor tells as much as all of them. */
static void tally_whole(const struct shapeproof_check *check, struct tally *whole)
{
    const uint64_t dtypes = check->inventory->dtypes;
    const bool uniform = !(dtypes & (dtypes - 1));
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory) && !(uniform && whole->total); i++)
        if (counts(check, i) && !is_scale(check, i)) add_dtype(whole, dtype_of(check, i));
}

/* Fills the other fields of `dtypes`. */
static void tally_kinds(const struct shapeproof_check *check, struct dtypes *dtypes)
{
    const size_t count = shapeproof_inventory_count(check->inventory);
    dtypes->pattern_of = sp_realloc(NULL, count, sizeof *dtypes->pattern_of);
    for (size_t i = 0; i < count; i++)
        if (counts(check, i))
            dtypes->pattern_of[i] =
                sp_pattern_of(&dtypes->patterns, shapeproof_inventory_tensor(check->inventory, i)->name, NULL);
    dtypes->kinds = sp_realloc(NULL, dtypes->patterns.count, sizeof *dtypes->kinds);
    memset(dtypes->kinds, 0, dtypes->patterns.count * sizeof *dtypes->kinds);
    for (size_t i = 0; i < count; i++)
        if (counts(check, i)) add_dtype(&dtypes->kinds[dtypes->pattern_of[i]], dtype_of(check, i));
}

/* Whether a dtype is full precision where most of the file has half of it: norms and routers are often kept so. */
static bool is_kept_precise(enum shapeproof_dtype dtype, enum shapeproof_dtype everywhere)
{
    return dtype == SHAPEPROOF_DTYPE_F32 && (everywhere == SHAPEPROOF_DTYPE_BF16 || everywhere == SHAPEPROOF_DTYPE_F16);
}

/* Whether a tensor is a single number in double precision, such as a temperature, in a file of a shorter dtype. One
 * that was made of a NumPy number is double whatever the model is; nothing is lost, and saving it again gives the same
 * file. */
static bool is_made_of_double(const struct shapeproof_check *check, size_t tensor, enum shapeproof_dtype everywhere)
{
    const struct shapeproof_tensor *found = shapeproof_inventory_tensor(check->inventory, tensor);
    const bool shorter =
        everywhere == SHAPEPROOF_DTYPE_F32 || everywhere == SHAPEPROOF_DTYPE_BF16 || everywhere == SHAPEPROOF_DTYPE_F16;
    return found->rank == 0 && found->dtype == SHAPEPROOF_DTYPE_F64 && shorter;
}

static bool is_gguf(const struct shapeproof_check *check) { return sp_format_has(check->inventory, SP_BY_LLAMA_CPP); }

/* Whether a tensor of GGUF may have any dtype. Its writers choose one for each tensor, and its readers take any:
 * quantisers keep single matrices more precise, so a matrix may vary in a quantised file, and a tensor of a kind of
 * which some are quantised. (Quantised types of GGUF are no dtypes here: SHAPEPROOF_DTYPE_UNKNOWN.) */
static bool may_vary(const struct shapeproof_check *check, const struct dtypes *dtypes, size_t tensor)
{
    const struct tally *kind = &dtypes->kinds[dtypes->pattern_of[tensor]];
    const bool is_matrix = shapeproof_inventory_tensor(check->inventory, tensor)->rank > 1;
    const bool quantised = dtypes->whole.by_dtype[SHAPEPROOF_DTYPE_UNKNOWN] > 0;
    return is_gguf(check) && (kind->by_dtype[SHAPEPROOF_DTYPE_UNKNOWN] > 0 || (is_matrix && quantised));
}

/* Whether as many tensors of a kind have that dtype as have its most common one. */
static bool is_most_common(const struct tally *kind, enum shapeproof_dtype dtype)
{
    return dtype != SHAPEPROOF_DTYPE_UNKNOWN && kind->by_dtype[dtype] == kind->by_dtype[most_common(kind)];
}

/* The dtype that tensors of a kind should have: the most common one of the kind; of several equally common ones that of
 * the configuration, or else that of most of the file, or else a floating one. */
static enum shapeproof_dtype usual_dtype(const struct shapeproof_check *check, const struct tally *kind,
                                         const struct tally *whole)
{
    const char *key;
    const enum shapeproof_dtype configured = sp_configured_dtype(sp_config_hyper(check->config), &key);
    if (is_most_common(kind, configured)) return configured;
    if (is_most_common(kind, most_common(whole))) return most_common(whole);
    for (int i = 0; i < SP_DTYPE_COUNT; i++)
        if (is_floating((enum shapeproof_dtype)i) && is_most_common(kind, (enum shapeproof_dtype)i))
            return (enum shapeproof_dtype)i;
    return most_common(kind);
}

/* Adds a finding about a tensor that counts, if it has another dtype than most of its kind, than all of the file, or
 * than one half of its kind. */
static void judge_dtypes(struct shapeproof_check *check, const struct dtypes *dtypes, size_t tensor)
{
    const struct tally *kind = &dtypes->kinds[dtypes->pattern_of[tensor]], *whole = &dtypes->whole;
    const enum shapeproof_dtype dtype = dtype_of(check, tensor), usual = usual_dtype(check, kind, whole),
                                everywhere = most_common(whole);
    if (may_vary(check, dtypes, tensor)) return;
    if (kind->by_dtype[usual] > kind->by_dtype[dtype]) dtype_finding(check, tensor, usual, "others of its kind have");
    else if (!is_scale(check, tensor) && whole->total >= 3 && dtype != everywhere &&
             whole->by_dtype[everywhere] == whole->total - 1 && !is_gguf(check) &&
             !is_kept_precise(dtype, everywhere) && !is_made_of_double(check, tensor, everywhere))
        dtype_finding(check, tensor, everywhere, "all others have");
    else if (dtype != usual && (is_floating(dtype) || is_integer(dtype)) && is_floating(usual))
        dtype_finding(check, tensor, usual, "half of its kind have");
    else if (sp_is_complex(dtype)) add_complex_finding(check, tensor);
    else if (is_integer(dtype) && is_floating(everywhere) && !is_scale(check, tensor) &&
             shapeproof_inventory_tensor(check->inventory, tensor)->rank == 1)
        dtype_finding(check, tensor, everywhere, "most of the file has"); /* matrices: find_integers */
}

/* ---- mixed precision ---- */

/* Lists the names of the tensors that have the dtype together with all of their kind, without scales; returns how many.
 */
static size_t collect_kinds_of(const struct shapeproof_check *check, const struct dtypes *dtypes,
                               enum shapeproof_dtype dtype, const char **names)
{
    size_t found = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        if (!counts(check, i) || is_scale(check, i) || dtype_of(check, i) != dtype) continue;
        const struct tally *kind = &dtypes->kinds[dtypes->pattern_of[i]];
        if (kind->by_dtype[dtype] == kind->total)
            names[found++] = shapeproof_inventory_tensor(check->inventory, i)->name;
    }
    return found;
}

/* Whether whole kinds of tensors may have that dtype while most of the file has `everywhere`, which is no fault: F32
 * beside F16 or BF16; in GGUF any of the three beside another. */
static bool may_be_mixed(const struct shapeproof_check *check, enum shapeproof_dtype dtype,
                         enum shapeproof_dtype everywhere)
{
    const bool is_plain =
        everywhere == SHAPEPROOF_DTYPE_F32 || everywhere == SHAPEPROOF_DTYPE_F16 || everywhere == SHAPEPROOF_DTYPE_BF16;
    return dtype != everywhere && (is_kept_precise(dtype, everywhere) || (is_plain && is_gguf(check)));
}

/* A note about whole kinds of tensors of another dtype than most of the file:
 * "mixed precision: BF16, but F32 in layers.{0-3}.norm.weight (4 tensors)". */
static void note_precise(struct shapeproof_check *check, const struct dtypes *dtypes)
{
    static const enum shapeproof_dtype others[] = {SHAPEPROOF_DTYPE_F32, SHAPEPROOF_DTYPE_F16, SHAPEPROOF_DTYPE_BF16};
    const enum shapeproof_dtype everywhere = most_common(&dtypes->whole);
    const char **names = sp_realloc(NULL, shapeproof_inventory_count(check->inventory), sizeof *names);
    struct sp_text text = {0};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!may_be_mixed(check, others[i], everywhere)) continue;
        const size_t found = collect_kinds_of(check, dtypes, others[i], names);
        if (!found) continue;
        if (text.length) sp_text_puts(&text, "; ");
        else sp_text_printf(&text, "mixed precision: %s, but ", shapeproof_dtype_name(everywhere));
        sp_text_printf(&text, "%s in %s (%s)", shapeproof_dtype_name(others[i]),
                       sp_some_names(&check->arena, names, found), sp_count_of(&check->arena, found, "tensor"));
    }
    if (text.length) sp_blame(check, SP_CAUSE_MIXED_PRECISION)->message = sp_text_keep(&text, &check->arena);
    sp_text_free(&text);
    sp_free(names);
}

/* ---- integers ---- */

static bool is_text(struct shapeproof_value value, const char *text)
{
    return value.type == SHAPEPROOF_VALUE_STRING && strcmp(value.string, text) == 0;
}

/* Whether the configuration says that matrices are integers: Sockeye does, and has a scale for each. */
static bool may_be_integers(const struct shapeproof_check *check)
{
    const size_t key = sp_find_hyperparameter(check->prediction, "dtype");
    return key != SHAPEPROOF_NONE &&
           is_text(shapeproof_prediction_hyperparameter(check->prediction, key)->value, "int8");
}

/* Whether the file has a tensor of that name that is not predicted. */
static bool is_unpredicted(const struct shapeproof_check *check, const char *name)
{
    const size_t tensor = shapeproof_inventory_find(check->inventory, name);
    return tensor != SHAPEPROOF_NONE && check->match.predicted_of[tensor] == SHAPEPROOF_NONE;
}

/* Whether an unpredicted variable of Keras beside that one may scale it: "dense/kernel_scale" for "dense/kernel", or
 * one with a number, "dense/1". */
static bool has_unpredicted_beside(const struct shapeproof_check *check, const char *name)
{
    enum { MOST_NUMBERED = 7 };
    char beside[1024];
    const char *own = strrchr(name, '/');
    if (!own || (size_t)(own - name) + sizeof "/1" > sizeof beside) return false;
    for (int i = 1; i <= MOST_NUMBERED; i++) {
        snprintf(beside, sizeof beside, "%.*s/%d", (int)(own - name), name, i);
        if (is_unpredicted(check, beside)) return true;
    }
    const int length = snprintf(beside, sizeof beside, "%s_scale", name);
    return length > 0 && (size_t)length < sizeof beside && is_unpredicted(check, beside);
}

/* Whether a tensor is a matrix of integers that counts, without anything that scales it. */
static bool is_of_integers(const struct shapeproof_check *check, size_t tensor)
{
    const struct shapeproof_tensor *found = shapeproof_inventory_tensor(check->inventory, tensor);
    return is_integer(found->dtype) && found->rank > 1 && counts(check, tensor) && !is_scale(check, tensor) &&
           !has_unpredicted_beside(check, found->name);
}

/* One cause for matrices of integers without scales, and a finding for each, which only this explainer makes. False
 * when there are none, where the configuration says that they are integers, and for a single one among floating
 * numbers: that stands out from the others as any other dtype would (judge_dtypes), but for GGUF, where dtypes may
 * vary and those that are quantised are no integers here. */
static bool find_integers(struct shapeproof_check *check, const struct tally *whole)
{
    size_t count = 0, any = 0;
    for (size_t i = 0; i < INTEGERS; i++) any += whole->by_dtype[integers[i]];
    if (!any) return false;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) count += is_of_integers(check, i);
    const bool stands_out = count == 1 && any < whole->total && !is_gguf(check);
    if (!count || stands_out || may_be_integers(check)) return false;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_INTEGERS);
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++) {
        if (!is_of_integers(check, i)) continue;
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, i);
        add_finding(
            check, i, NULL,
            sp_arena_printf(&check->arena, "has dtype %s, but the file has no scales for it", tensor->dtype_name));
        sp_attribute_finding(check, check->finding_count - 1, cause);
    }
    sp_cause_set_message(check, cause, "matrices are stored as integers, but the file has no scales for them");
    return true;
}

/* ---- complex numbers ---- */

/* Where most weights are complex numbers, the others stand out from nothing: each complex one has a finding, and this
 * returns true. Elsewhere judge_dtypes finds them. */
static bool find_complex(struct shapeproof_check *check, const struct tally *whole)
{
    if (!sp_is_complex(most_common(whole))) return false;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        if (sp_is_complex(dtype_of(check, i)) && counts(check, i)) add_complex_finding(check, i);
    return true;
}

/* ---- what the configuration says ---- */

/* A note that more than half of the tensors have another floating dtype than the configuration says: a program that
 * reads it converts them. Nothing is said of quantised models. */
static void note_configured(struct shapeproof_check *check, const struct tally *whole)
{
    const struct sp_hyper *hyper = sp_config_hyper(check->config);
    const char *key;
    const enum shapeproof_dtype configured = sp_configured_dtype(hyper, &key), everywhere = most_common(whole);
    if (configured == SHAPEPROOF_DTYPE_UNKNOWN || configured == everywhere || !shapeproof_dtype_is_float(everywhere))
        return;
    if (check->quantisation.configured || check->quantisation.method || whole->by_dtype[everywhere] * 2 <= whole->total)
        return;
    const char *which = whole->by_dtype[everywhere] == whole->total ? "all" : "most",
               *found = shapeproof_dtype_name(everywhere);
    const char *said = sp_value_member(hyper->root, key).string;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_DTYPE_CONFIGURED);
    cause->message =
        sp_arena_printf(&check->arena, "the configuration says %s %s, but %s tensors are %s", key, said, which, found);
    cause->hyperparameter = key;
    cause->configured = sp_value_string(said);
    cause->found = sp_value_string(found);
}

/* ---- the whole ---- */

/* Whether all scales whose dtype the quantiser's part leaves open have one dtype, so that none stands out. */
static bool are_scales_alike(const struct shapeproof_check *check)
{
    uint64_t dtypes = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        if (counts(check, i) && is_scale(check, i)) dtypes |= UINT64_C(1) << dtype_of(check, i);
    return !(dtypes & (dtypes - 1));
}

/* Whether the tensors whose dtype is for the file to say have one dtype, as in nearly all files, and the scales, too.
 */
static bool is_uniform(const struct shapeproof_check *check, const struct tally *whole)
{
    return whole->by_dtype[most_common(whole)] == whole->total && are_scales_alike(check);
}

void sp_explain_dtypes(struct shapeproof_check *check)
{
    struct dtypes dtypes = {0};
    const size_t count = shapeproof_inventory_count(check->inventory);
    judge_declared(check);
    judge_buffers(check);
    tally_whole(check, &dtypes.whole);
    const bool any_integers = find_integers(check, &dtypes.whole);
    note_configured(check, &dtypes.whole);
    if (find_complex(check, &dtypes.whole)) return; /* what is common in this file is no measure */
    if (is_uniform(check, &dtypes.whole)) return;
    tally_kinds(check, &dtypes);
    for (size_t i = 0; i < count; i++)
        if (counts(check, i) && !(any_integers && is_of_integers(check, i))) judge_dtypes(check, &dtypes, i);
    note_precise(check, &dtypes);
    sp_patterns_free(&dtypes.patterns);
    sp_free(dtypes.pattern_of);
    sp_free(dtypes.kinds);
}
