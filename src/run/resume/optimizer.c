/* SPDX-License-Identifier: MIT
 * The state of an optimizer of torch against the parameters of the model.
 *
 *     {"state": {0: {"step": 4, "exp_avg": tensor, "exp_avg_sq": tensor}, ...},
 *      "param_groups": [{"lr": 0.1, "params": [0, 1, ...]}, ...]}
 *
 * Parameters are numbered in the order in which the groups list them, as Trainer does with those without weight decay
 * in a second group. Files of weights are often sorted by name, so that number and name cannot be paired. What can be
 * compared without the order is how many parameters have each shape: every moment needs a parameter of its shape. A
 * parameter without moments is no mistake: it is frozen, or never had a gradient. Where the groups have the names
 * (param_names, or names in place of the numbers), each shape is compared by name. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/map.h"
#include "base/names.h"
#include "base/order.h"
#include "base/real.h"
#include "model/bytes.h"
#include "model/embedding.h"
#include "model/layouts.h"
#include "model/values.h"
#include "run/resume/resume.h"
#include "shapeproof/data.h"

/* Of one parameter, as the optimizer has it. */
struct moments {
    const char *id;   /* "3", or its name */
    const char *name; /* as param_names has it, or NULL */
    bool is_number;   /* the groups list it by a number, and not by a name */
    size_t group;
    const struct sp_pickle_value *entry; /* of "state"; NULL: none */
    bool is_known;                       /* it has moments, whose shape is known */
    bool is_piece, is_empty;             /* which say that they are a rank's piece of that shape; without elements */
    uint32_t rank;
    uint64_t shape[SP_MAX_RANK];
};

/* What is wrong with single moments, whatever the model is. Each is said once, of the first moment that has it. */
enum defect {
    DEFECT_DTYPE,    /* a dtype of integers, booleans or complex numbers: torch converts it without a word */
    DEFECT_NO_DATA,  /* on the device meta */
    DEFECT_EXPANDED, /* several elements in one place: torch refuses to update them */
    DEFECT_SHARED,   /* in the bytes of another moment */
    DEFECTS
};

struct defect_note {
    size_t count;                /* of moments that have it */
    const struct moments *first; /* the parameter of the first */
    const char *kind, *found;    /* of the first: "exp_avg", "BOOL" */
};

/* Where the elements of a moment are in the file. */
struct place {
    uint32_t storage;
    uint64_t begin, end;
    size_t number; /* of the moment, in the order of the file */
    const struct moments *of;
    const char *kind;
};

struct optimizer {
    struct shapeproof_resume *resume;
    struct sp_contents *contents;
    const char *file;
    const struct sp_pickle_value *state, *groups;
    SP_ARRAY(struct moments) list;
    SP_ARRAY(struct place) places;
    struct defect_note defects[DEFECTS];
    bool has_complex;     /* the model has parameters that are complex numbers, and so may the moments be */
    size_t with;          /* parameters that have moments */
    struct sp_text kinds; /* "exp_avg, exp_avg_sq" */
    double last_step;
    bool has_step;
    const char *odd_step; /* the first that is no whole number, "4.5, of parameter 0"; or NULL */
    bool failed;          /* something wrong was said */
};

/* Looks: at most so many keys of one entry of "state", or of a group, are looked for; and for each byte of a copy. */
enum { LOOKUPS = 64, COPY = 4 };

static bool spend(struct optimizer *o, uint64_t looks)
{
    return sp_resume_spend(o->resume, "optimizer", o->file, looks);
}

/* ---- texts ---- */

/* A number or a text as it stands in "params" and as a key of "state"; NULL for anything else. */
static const char *spell_id(struct sp_arena *arena, const struct sp_pickle_value *id)
{
    if (sp_pickle_is(id, SP_PICKLE_INT)) return sp_arena_printf(arena, "%" PRId64, id->as.integer);
    return sp_pickle_is(id, SP_PICKLE_STR) ? sp_arena_copy(arena, id->as.text, id->length) : NULL;
}

__attribute__((format(printf, 4, 5))) static void say_wrong(struct optimizer *o, const char *expected,
                                                            const char *found, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = sp_arena_vprintf(&o->resume->arena, format, args);
    va_end(args);
    o->failed = true;
    sp_resume_wrong(o->resume, "optimizer", o->file, expected, found, "%s", text);
}

/* ---- the moments of one parameter ---- */

/* What optimizers call the tensors that have the shape of their parameter. */
static const char *const kinds[] = {
    "exp_avg", "exp_avg_sq", "max_exp_avg_sq", "momentum_buffer", "exp_inf", "square_avg", "acc_delta", "grad_avg",
    "sum",     "prev",       "exp_avg_diff",   "neg_pre_grad",    "hessian", "state1",     "state2",    "master_param",
    "z",       "ax",         "previous_grad",  "variance"};
enum { KINDS = sizeof kinds / sizeof *kinds };

bool sp_resume_is_moment(const char *kind) { return SP_IS_AMONG(kind, kinds); }

static void note_kind(struct optimizer *o, const char *kind)
{
    const size_t length = strlen(kind);
    for (const char *at = o->kinds.data; at && (at = strstr(at, kind)); at += length)
        if ((at == o->kinds.data || at[-1] == ' ') && (!at[length] || at[length] == ',')) return;
    sp_text_printf(&o->kinds, "%s%s", o->kinds.length ? ", " : "", kind);
}

/* Adafactor keeps the means of rows and columns of a matrix: (..., rows) and (..., columns) in transformers, (...,
 * rows, 1) and (..., 1, columns) in torch. */
static bool read_factors(struct optimizer *o, struct moments *m)
{
    struct sp_contents_tensor rows, columns;
    const bool flat = sp_contents_get(m->entry, "exp_avg_sq_row") != NULL;
    if (!sp_contents_tensor(o->contents, sp_contents_get(m->entry, flat ? "exp_avg_sq_row" : "row_var"), &rows) ||
        !sp_contents_tensor(o->contents, sp_contents_get(m->entry, flat ? "exp_avg_sq_col" : "col_var"), &columns) ||
        !rows.rank || rows.rank != columns.rank || rows.rank >= SP_MAX_RANK)
        return false;
    memcpy(m->shape, rows.shape, rows.rank * sizeof *rows.shape);
    m->rank = flat ? rows.rank + 1 : rows.rank;
    m->shape[m->rank - 1] = columns.shape[columns.rank - 1];
    note_kind(o, flat ? "exp_avg_sq_row, exp_avg_sq_col" : "row_var, col_var");
    return m->is_known = true;
}

static bool equals_shape(const struct moments *m, const struct sp_contents_tensor *tensor)
{
    return m->rank == tensor->rank && memcmp(m->shape, tensor->shape, m->rank * sizeof *m->shape) == 0;
}

/* Copies of the parameters in F32, which mixed precision adds to. */
static void check_master(struct optimizer *o, const struct moments *m, const struct sp_contents_tensor *master)
{
    if (strcmp(master->dtype, "F32") == 0) return;
    o->failed = true;
    sp_resume_wrong(o->resume, "master weights", o->file, "F32", master->dtype, "the master weights of parameter %s",
                    m->id);
}

/* Says that moments of a parameter have another shape than the first of them: in one statement, which has the shape of
 * the first that differs. `odd` names them all. */
static void say_odd_moments(struct optimizer *o, const struct moments *m, const char *first, const struct sp_text *odd,
                            const struct sp_contents_tensor *differs)
{
    const bool several = strchr(odd->data, ',') != NULL;
    say_wrong(o, sp_shape_text(&o->resume->arena, m->shape, m->rank),
              sp_shape_text(&o->resume->arena, differs->shape, differs->rank),
              "of parameter %s, %s %s another shape than %s", m->id, odd->data, several ? "have" : "has", first);
}

static void note_defect(struct optimizer *o, enum defect defect, const struct moments *m, const char *kind,
                        const char *found)
{
    struct defect_note *note = &o->defects[defect];
    if (note->count++) return;
    note->first = m;
    note->kind = kind;
    note->found = found;
}

/* Notes what is wrong with one moment, and where its elements are. bitsandbytes has bytes in state1 and state2. */
static void inspect_moment(struct optimizer *o, const struct moments *m, const char *kind,
                           const struct sp_contents_tensor *tensor)
{
    static const char *const quantised[] = {"state1", "state2"};
    const bool may_be_any = tensor->type == SHAPEPROOF_DTYPE_UNKNOWN || shapeproof_dtype_is_float(tensor->type) ||
                            (sp_is_complex(tensor->type) && o->has_complex) || SP_IS_AMONG(kind, quantised);
    if (!may_be_any) note_defect(o, DEFECT_DTYPE, m, kind, tensor->dtype);
    if (tensor->flags & SHAPEPROOF_TENSOR_NO_DATA) note_defect(o, DEFECT_NO_DATA, m, kind, "none");
    else if (tensor->flags & SHAPEPROOF_TENSOR_EXPANDED)
        note_defect(o, DEFECT_EXPANDED, m, kind, "several at one place");
    else if (tensor->storage)
        *SP_PUSH(&o->places) = (struct place){.storage = tensor->storage,
                                              .begin = tensor->begin,
                                              .end = tensor->end,
                                              .number = o->places.count - 1,
                                              .of = m,
                                              .kind = kind};
}

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->storage != b->storage) return sp_order(a->storage, b->storage);
    return a->begin != b->begin ? sp_order(a->begin, b->begin) : sp_order(a->number, b->number);
}

/* Notes the moments whose bytes are also those of another: among all of one storage, sorted by their first bytes, those
 * that begin before the end of an earlier one. */
static void find_shared(struct optimizer *o)
{
    const struct place *last = NULL;
    if (o->places.count) qsort(o->places.items, o->places.count, sizeof *o->places.items, compare_places);
    for (size_t i = 0; i < o->places.count; i++) {
        const struct place *one = &o->places.items[i];
        if (last && last->storage == one->storage && one->begin < last->end)
            note_defect(
                o, DEFECT_SHARED, one->of, one->kind,
                o->defects[DEFECT_SHARED].count
                    ? NULL
                    : sp_arena_printf(&o->resume->arena, "those of %s of parameter %s", last->kind, last->of->id));
        if (!last || last->storage != one->storage || one->end > last->end) last = one;
    }
}

/* Says each defect once: "exp_avg of parameter 0 and 11 other moments: expected a floating dtype, found BOOL". */
static void say_defects(struct optimizer *o)
{
    static const struct {
        const char *what, *expected;
    } texts[DEFECTS] = {[DEFECT_DTYPE] = {"the dtype of", "a floating-point dtype"},
                        [DEFECT_NO_DATA] = {"the data of", "elements: on the device meta there are none"},
                        [DEFECT_EXPANDED] = {"the elements of", "a place for each"},
                        [DEFECT_SHARED] = {"the bytes of", "bytes of its own"}};
    find_shared(o);
    for (size_t i = 0; i < DEFECTS; i++) {
        const struct defect_note *note = &o->defects[i];
        if (!note->count) continue;
        const char *others = note->count == 1 ? ""
                                              : sp_arena_printf(&o->resume->arena, " and %zu other moment%s",
                                                                note->count - 1, note->count == 2 ? "" : "s");
        say_wrong(o, texts[i].expected, note->found, "%s %s of parameter %s%s", texts[i].what, note->kind,
                  note->first->id, others);
    }
}

/* Reads the shape of the moments of a parameter, which all must have the same; and its step. */
static void read_moments(struct optimizer *o, struct moments *m)
{
    struct sp_contents_tensor tensor, differs = {0};
    struct sp_text odd = {0};
    double step;
    const char *first = NULL;
    for (size_t i = 0; i < KINDS; i++) {
        const char *kind = kinds[i];
        if (!sp_contents_tensor(o->contents, sp_contents_get(m->entry, kind), &tensor)) continue;
        note_kind(o, kind);
        inspect_moment(o, m, kind, &tensor);
        if (strcmp(kind, "master_param") == 0) check_master(o, m, &tensor);
        if (!m->is_known) {
            m->is_known = true;
            m->is_piece = tensor.is_piece;
            m->is_empty = tensor.is_empty;
            m->rank = tensor.rank;
            memcpy(m->shape, tensor.shape, tensor.rank * sizeof *tensor.shape);
            first = kind;
        } else if (!equals_shape(m, &tensor)) {
            if (!odd.length) differs = tensor;
            sp_text_printf(&odd, "%s%s", odd.length ? ", " : "", kind);
        }
    }
    if (odd.length) say_odd_moments(o, m, first, &odd, &differs);
    sp_text_free(&odd);
    if (!m->is_known) read_factors(o, m);
    o->with += m->is_known;
    if (!sp_contents_number(o->contents, sp_contents_get(m->entry, "step"), &step)) return;
    if (!(step >= 0) || step != floor(step)) {
        if (!o->odd_step)
            o->odd_step = sp_arena_printf(&o->resume->arena, "%s, of parameter %s", sp_real_text(step, 6).text, m->id);
        return;
    }
    o->last_step = !o->has_step || step > o->last_step ? step : o->last_step;
    o->has_step = true;
}

/* ---- the groups ---- */

/* An identifier is copied, and its text may be long. */
static uint64_t cost_of_id(const struct sp_pickle_value *id)
{
    return LOOKUPS + (sp_pickle_is(id, SP_PICKLE_STR) ? COPY * (uint64_t)id->length : 0);
}

/* Spends what it costs to read the optimizer; false when that is too much. */
static bool spend_looks(struct optimizer *o)
{
    const struct sp_pickle_value *pairs = sp_contents_pairs(o->state);
    bool ok = spend(o, LOOKUPS * (uint64_t)(o->resume->model ? o->resume->model->count : 0));
    for (uint32_t i = 0; ok && i < o->groups->length; i++) {
        const struct sp_pickle_value *group = o->groups->as.items[i];
        ok = spend(o, LOOKUPS * (1 + sp_resume_length(group)));
        if (!ok) break;
        const struct sp_pickle_value *params = sp_contents_get(group, "params");
        const struct sp_pickle_value *names = sp_contents_get(group, "param_names");
        for (uint32_t k = 0; ok && sp_pickle_is(params, SP_PICKLE_LIST) && k < params->length; k++)
            ok = spend(o, cost_of_id(params->as.items[k]) + cost_of_id(sp_pickle_item(names, k)));
    }
    for (uint32_t i = 0; ok && i + 1 < pairs->length; i += 2)
        ok = spend(o, cost_of_id(pairs->as.items[i]) + LOOKUPS * sp_resume_length(pairs->as.items[i + 1]));
    return ok;
}

static bool add_group(struct optimizer *o, size_t number, struct sp_map *ids)
{
    struct sp_arena *arena = &o->resume->arena;
    const struct sp_pickle_value *group = o->groups->as.items[number];
    const struct sp_pickle_value *params = sp_contents_get(group, "params");
    const struct sp_pickle_value *names = sp_contents_get(group, "param_names");
    if (!sp_pickle_is(params, SP_PICKLE_LIST)) {
        say_wrong(o, NULL, NULL, "group %zu of its parameters has no list of them", number);
        return false;
    }
    for (uint32_t i = 0; i < params->length; i++) {
        const char *id = spell_id(arena, params->as.items[i]);
        if (!id) {
            say_wrong(o, NULL, NULL, "group %zu lists what is neither a number nor a name", number);
            return false;
        }
        if (!sp_map_add(ids, id, o->list.count)) say_wrong(o, NULL, NULL, "its groups list parameter %s twice", id);
        else
            *SP_PUSH(&o->list) = (struct moments){.id = id,
                                                  .is_number = sp_pickle_is(params->as.items[i], SP_PICKLE_INT),
                                                  .group = number,
                                                  .name = spell_id(arena, sp_pickle_item(names, i))};
    }
    return true;
}

/* Lists the parameters of all groups, each with its entry in "state". */
static bool list_moments(struct optimizer *o)
{
    struct sp_map ids = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < o->groups->length; i++) ok = add_group(o, i, &ids);
    const struct sp_pickle_value *pairs = sp_contents_pairs(o->state);
    const char *stray = NULL, *spelt = NULL;
    for (uint32_t i = 0; ok && i + 1 < pairs->length; i += 2) {
        const char *id = spell_id(&o->resume->arena, pairs->as.items[i]);
        const size_t known = id ? sp_map_get(&ids, id) : SIZE_MAX;
        if (known != SIZE_MAX && sp_pickle_is(pairs->as.items[i], SP_PICKLE_STR) && o->list.items[known].is_number)
            spelt = spelt ? spelt : id;
        if (known != SIZE_MAX) o->list.items[known].entry = pairs->as.items[i + 1];
        else if (!stray && id) stray = id;
    }
    sp_map_free(&ids);
    if (spelt)
        say_wrong(o, sp_arena_printf(&o->resume->arena, "the number %s", spelt),
                  sp_arena_printf(&o->resume->arena, "the text '%s'", spelt),
                  "its state has texts for keys where its groups list numbers: torch does not find the moments");
    if (stray) say_wrong(o, NULL, NULL, "it has moments of parameter %s, which no group lists", stray);
    return ok;
}

/* Whether one has a kind of moments that the other lacks, which is then said. */
static bool say_lacking(struct optimizer *o, const struct moments *has, const struct moments *lacks)
{
    for (size_t i = 0; i < KINDS; i++) {
        const char *kind = kinds[i];
        if (!sp_contents_get(has->entry, kind) || sp_contents_get(lacks->entry, kind)) continue;
        if (strcmp(kind, "master_param") == 0) continue; /* F32 parameters need none */
        say_wrong(o, NULL, NULL, "parameter %s has no %s, and parameter %s has one", lacks->id, kind, has->id);
        return true;
    }
    return false;
}

/* Adam with amsgrad keeps the largest second moment as well, and its step fails without it. */
static void check_amsgrad(struct optimizer *o)
{
    const struct sp_pickle_value *set = NULL;
    size_t group = SIZE_MAX;
    for (size_t i = 0; i < o->list.count && !o->failed; i++) {
        const struct moments *one = &o->list.items[i];
        if (one->group != group) set = sp_contents_get(o->groups->as.items[group = one->group], "amsgrad");
        if (!sp_pickle_is(set, SP_PICKLE_BOOL) || !set->as.integer || !sp_contents_get(one->entry, "exp_avg_sq"))
            continue;
        if (!sp_contents_get(one->entry, "max_exp_avg_sq"))
            say_wrong(o, "max_exp_avg_sq", "none", "amsgrad is true in group %zu, but parameter %s", group, one->id);
    }
}

/* Adam of torch keeps two moments of each parameter that it has updated, and their step, and it fails without one of
 * them. Its groups have a key amsgrad; AdaBelief, which has one too, calls the second moment exp_avg_var. */
static void check_moments_of_adam(struct optimizer *o)
{
    const struct sp_pickle_value *amsgrad = NULL, *step = NULL;
    size_t group = SIZE_MAX;
    for (size_t i = 0; i < o->list.count && !o->failed; i++) {
        const struct moments *one = &o->list.items[i];
        if (one->group != group) {
            amsgrad = sp_contents_get(o->groups->as.items[group = one->group], "amsgrad");
            step = sp_contents_get(o->groups->as.items[group], "step");
        }
        if (!amsgrad || !one->is_known || sp_contents_get(one->entry, "exp_avg_var")) continue;
        const bool has_first = sp_contents_get(one->entry, "exp_avg"),
                   has_second = sp_contents_get(one->entry, "exp_avg_sq");
        if (has_first != has_second)
            say_wrong(o, has_first ? "exp_avg_sq" : "exp_avg", "none", "group %zu is of Adam, but parameter %s", group,
                      one->id);
        else if (has_first && !step && !sp_contents_get(one->entry, "step"))
            say_wrong(o, "a step", "none", "group %zu is of Adam, but parameter %s", group, one->id);
    }
}

/* Whether a value is NaN, or is a tuple or list with one. */
static bool has_nan(const struct sp_pickle_value *value)
{
    if (sp_pickle_is(value, SP_PICKLE_FLOAT)) return isnan(value->as.real);
    enum { MOST = 16 }; /* items that are looked at: Adam has two betas */
    if (!sp_pickle_is(value, SP_PICKLE_TUPLE) && !sp_pickle_is(value, SP_PICKLE_LIST)) return false;
    for (uint32_t i = 0; i < value->length && i < MOST; i++)
        if (sp_pickle_is(value->as.items[i], SP_PICKLE_FLOAT) && isnan(value->as.items[i]->as.real)) return true;
    return false;
}

/* After a step with a setting that is NaN, or an infinite learning rate, all weights of the group are NaN. */
static void check_numbers_of_groups(struct optimizer *o)
{
    static const char *const settings[] = {"lr",       "initial_lr", "betas", "eps",     "weight_decay",
                                           "momentum", "dampening",  "alpha", "lr_decay"};
    enum { SETTINGS = sizeof settings / sizeof *settings };
    double rate;
    for (uint32_t i = 0; i < o->groups->length; i++) {
        const struct sp_pickle_value *group = o->groups->as.items[i];
        const char *odd = NULL, *found = "nan";
        if (sp_contents_number(o->contents, sp_contents_get(group, "lr"), &rate) && !isfinite(rate)) {
            odd = "lr";
            found = isnan(rate) ? "nan" : rate > 0 ? "inf" : "-inf";
        }
        for (size_t k = 0; k < SETTINGS && !odd; k++)
            if (has_nan(sp_contents_get(group, settings[k]))) odd = settings[k];
        if (!odd) continue;
        say_wrong(o, "a finite number", found, "the %s of group %" PRIu32, odd, i);
        return;
    }
}

/* Each group of Adam of torch, which alone has a key amsgrad, has these settings as well: its step fails without them.
 */
static void check_settings(struct optimizer *o)
{
    static const char *const settings[] = {"lr", "betas", "eps", "weight_decay"};
    enum { SETTINGS = sizeof settings / sizeof *settings };
    for (uint32_t i = 0; i < o->groups->length && !o->failed; i++) {
        const struct sp_pickle_value *group = o->groups->as.items[i];
        if (!sp_contents_get(group, "amsgrad")) continue;
        for (size_t k = 0; k < SETTINGS && !o->failed; k++)
            if (!sp_contents_get(group, settings[k]))
                say_wrong(o, NULL, NULL, "group %" PRIu32 " of Adam has no %s", i, settings[k]);
    }
}

/* Parameters of one group are updated alike: what one has, the next with as many dimensions has, too (Adafactor keeps
 * factors of matrices alone). */
static void compare_kinds(struct optimizer *o)
{
    const struct moments *last[2] = {NULL, NULL}; /* of vectors, of matrices */
    for (size_t i = 0; i < o->list.count; i++) {
        const struct moments *one = &o->list.items[i];
        if (!one->is_known) continue;
        const struct moments **other = &last[one->rank >= 2];
        if (*other && (*other)->group == one->group && (say_lacking(o, *other, one) || say_lacking(o, one, *other)))
            return;
        *other = one;
    }
}

/* ---- against the model ---- */

/* How many parameters and moments have one shape. */
struct shape_count {
    const char *shape;
    uint32_t rank;
    size_t parameters, moments;
    size_t layered;                /* of the parameters those with the number of a layer in their names */
    const char *parameter;         /* the first of that shape */
    const struct moments *surplus; /* the first of the moments that no parameter is left for */
};

struct census {
    struct sp_map shapes; /* "(16, 4)" -> index in the list */
    SP_ARRAY(struct shape_count) list;
};

static struct shape_count *count_of_shape(struct optimizer *o, struct census *census, const uint64_t *shape,
                                          uint32_t rank)
{
    const char *text = sp_shape_text(&o->resume->arena, shape, rank);
    const size_t known = sp_map_get(&census->shapes, text);
    if (known != SIZE_MAX) return &census->list.items[known];
    sp_map_add(&census->shapes, text, census->list.count);
    struct shape_count *added = SP_PUSH(&census->list);
    *added = (struct shape_count){.shape = text, .rank = rank};
    return added;
}

/* The shape that a foreign moment should have had: the only one with as many dimensions that some parameter has and no
 * moments; NULL when there are none or several. */
static const struct shape_count *find_counterpart(const struct census *census, uint32_t rank)
{
    const struct shape_count *found = NULL;
    for (size_t i = 0; i < census->list.count; i++) {
        const struct shape_count *one = &census->list.items[i];
        if (one->rank != rank || one->moments >= one->parameters) continue;
        if (found) return NULL;
        found = one;
    }
    return found;
}

/* Says that moments fit no parameter. */
static void say_foreign(struct optimizer *o, const struct census *census, size_t foreign)
{
    struct sp_arena *arena = &o->resume->arena;
    const struct shape_count *worst = NULL;
    for (size_t i = 0; i < census->list.count && !worst; i++)
        if (census->list.items[i].surplus) worst = &census->list.items[i];
    const struct shape_count *counterpart = find_counterpart(census, worst->rank);
    const char *expected =
        counterpart ? sp_arena_printf(arena, "%s as %s", counterpart->shape, sp_quote(counterpart->parameter).text)
        : worst->parameters
            ? sp_arena_printf(arena, "%zu of shape %s, the parameters of the model", worst->parameters, worst->shape)
            : "the shape of a parameter of the model";
    const char *found =
        worst->parameters && !counterpart ? sp_arena_printf(arena, "%zu", worst->moments) : worst->shape;
    say_wrong(o, expected, found,
              "the moments of %zu of %zu parameters fit no parameter of the model, the first those of parameter %s",
              foreign, o->with, worst->surplus->id);
}

/* The first number in a name, "model.layers.3.norm.weight" -> 3; false for a name without one. */
static bool read_layer(const char *name, size_t *layer)
{
    for (const char *at = name; *at; at += *at == '.') {
        const size_t length = strcspn(at, "."), digits = strspn(at, "0123456789");
        if (digits && digits == length && digits < 7) {
            *layer = (size_t)strtoul(at, NULL, 10);
            return true;
        }
        at += length;
    }
    return false;
}

/* How many layers have no moments, if everything else has: of each shape, the moments that are missing are those of the
 * same number of layers. This is how the optimizer of a smaller model looks. 0 for any other pattern. */
static size_t count_missing_layers(const struct optimizer *o, const struct census *census, size_t *layers)
{
    size_t missing = 0, layer;
    *layers = 0;
    for (size_t i = 0; i < o->resume->model->count; i++)
        if (sp_resume_is_parameter(&o->resume->model->tensors[i]) &&
            read_layer(o->resume->model->tensors[i].name, &layer) && layer + 1 > *layers)
            *layers = layer + 1;
    for (size_t i = 0; i < census->list.count; i++) {
        const struct shape_count *one = &census->list.items[i];
        const size_t lack = one->parameters - one->moments;
        if (!one->layered && lack) return 0;
        if (!one->layered) continue;
        if (lack * *layers % one->layered) return 0;
        const size_t of_shape = lack * *layers / one->layered;
        if (!of_shape || of_shape >= *layers || (missing && of_shape != missing)) return 0;
        missing = of_shape;
    }
    return missing;
}

/* Names parameters that have no moments, as far as their shapes tell which these are. */
static void say_without_moments(struct optimizer *o, const struct census *census, size_t parameters)
{
    struct sp_names names = {0};
    size_t without = parameters - o->with, layers;
    const size_t missing = count_missing_layers(o, census, &layers);
    if (missing) {
        sp_resume_untold(
            o->resume, true, "optimizer", o->file,
            "it has moments of %zu of %zu layers: it is of a smaller model, or the other layers are frozen",
            layers - missing, layers);
        return;
    }
    for (size_t i = 0; i < o->resume->model->count; i++) {
        const struct shapeproof_tensor *tensor = &o->resume->model->tensors[i];
        if (!sp_resume_is_parameter(tensor)) continue;
        const size_t known = sp_map_get(&census->shapes, sp_shape_text(&o->resume->arena, tensor->shape, tensor->rank));
        if (!census->list.items[known].moments) sp_names_add(&names, tensor->name);
    }
    sp_resume_untold(o->resume, false, "optimizer", o->file,
                     "%zu of %zu tensors of the model have no moments%s%s: frozen, without a gradient, or buffers",
                     without, parameters, names.count ? ", among them " : "", names.count ? sp_names_text(&names) : "");
    sp_names_free(&names);
}

/* By name where the names are those of the model; false where they are not. */
static bool compare_by_name(struct optimizer *o)
{
    const struct shapeproof_inventory *model = o->resume->model;
    for (size_t i = 0; i < o->list.count; i++) {
        const struct moments *m = &o->list.items[i];
        const char *name = m->name ? m->name : m->id;
        if (shapeproof_inventory_find(model, name) == SHAPEPROOF_NONE) return false;
    }
    for (size_t i = 0; i < o->list.count; i++) {
        const struct moments *m = &o->list.items[i];
        const char *name = m->name ? m->name : m->id;
        const struct shapeproof_tensor *tensor = &model->tensors[shapeproof_inventory_find(model, name)];
        const char *expected = sp_shape_text(&o->resume->arena, tensor->shape, tensor->rank);
        const char *found = sp_shape_text(&o->resume->arena, m->shape, m->rank);
        if (!m->is_known || strcmp(expected, found) == 0) continue;
        say_wrong(o, expected, found, "the moments of %s have another shape", sp_quote(name).text);
        return true;
    }
    return o->list.count > 0;
}

/* transformers 5 has the experts of a layer in one tensor (experts, rows, columns), and saves each by itself. */
static bool has_experts(const struct shapeproof_inventory *model)
{
    for (size_t i = 0; i < model->count; i++)
        if (strstr(model->tensors[i].name, ".experts.")) return true;
    return false;
}

/* The elements of a shape, from its text; 0 when they overflow. */
static uint64_t count_elements(const char *shape)
{
    uint64_t elements = 1;
    for (const char *at = shape; *at; at++) {
        if (!sp_is_digit(*at)) continue;
        char *end;
        if (!sp_mul_u64(elements, strtoull(at, &end, 10), &elements)) return 0;
        at = end - 1;
    }
    return elements;
}

/* Whether what is left on both sides is one thing in two forms: moments of fused tensors, whose parts are parameters
 * that have no moments. They have the same number of elements together, and are fewer or more tensors. */
static bool is_fused(const struct census *census)
{
    uint64_t moments = 0, parameters = 0, product;
    size_t more = 0, fewer = 0;
    for (size_t i = 0; i < census->list.count; i++) {
        const struct shape_count *one = &census->list.items[i];
        const size_t surplus = one->moments > one->parameters ? one->moments - one->parameters : 0;
        const size_t lack = one->parameters > one->moments ? one->parameters - one->moments : 0;
        const uint64_t elements = count_elements(one->shape);
        if (!sp_mul_u64(elements, surplus, &product) || !sp_add_u64(moments, product, &moments) ||
            !sp_mul_u64(elements, lack, &product) || !sp_add_u64(parameters, product, &parameters))
            return false;
        more += surplus;
        fewer += lack;
    }
    return moments == parameters && more != fewer;
}

/* Whether every moment that fits no parameter has three dimensions. */
static bool are_stacks(const struct census *census)
{
    for (size_t i = 0; i < census->list.count; i++)
        if (census->list.items[i].surplus && census->list.items[i].rank != 3) return false;
    return true;
}

/* Says of moments that fit no parameter that they are of another model, unless the model may be stored otherwise than
 * it is in memory. */
static void judge_foreign(struct optimizer *o, const struct census *census, size_t foreign)
{
    const bool stacks = are_stacks(census) && has_experts(o->resume->model);
    if (stacks && is_fused(census)) {
        sp_resume_right(o->resume, "optimizer", o->file,
                        "%zu of its moments are of fused experts, as large as those in the model together", foreign);
        return;
    }
    if (!o->resume->partial && !stacks && !is_fused(census)) {
        say_foreign(o, census, foreign);
        return;
    }
    o->failed = true;
    sp_resume_untold(o->resume, true, "optimizer", o->file,
                     "the moments of %zu of %zu parameters fit no tensor of the model, which may be right: %s", foreign,
                     o->with, o->resume->partial ? o->resume->partial : "its tensors may be fused in memory");
}

/* How many of the tensors of an adapter have a part of their names that begins with one of the prefixes, as "lora_A" in
 * "layers.0.q_proj.lora_A.weight". */
static size_t count_named(const struct shapeproof_inventory *model, const char *const *prefixes, size_t count)
{
    size_t named = 0;
    for (size_t i = 0; i < model->count; i++) {
        bool found = false;
        for (const char *at = model->tensors[i].name; at && !found; at = strchr(at, '.')) {
            at += *at == '.';
            for (size_t k = 0; k < count; k++) found = found || strncmp(at, prefixes[k], strlen(prefixes[k])) == 0;
        }
        named += found;
    }
    return named;
}

/* The optimizer lists all matrices of an adapter, or under LoRA-FA all but lora_A, which that does not train. */
static void compare_with_adapter(struct optimizer *o)
{
    static const char *const trained[] = {"lora_", "ia3_", "hada_", "lokr_"}, *const frozen[] = {"lora_A"};
    if (!o->resume->trains_adapter) return;
    const size_t all = count_named(o->resume->model, trained, sizeof trained / sizeof *trained);
    if (o->list.count >= all || o->list.count == all - count_named(o->resume->model, frozen, 1)) return;
    say_wrong(o, sp_arena_printf(&o->resume->arena, "at least %zu, the matrices of the adapter", all),
              sp_arena_printf(&o->resume->arena, "%zu", o->list.count),
              "its groups list fewer parameters than the adapter has");
}

/* Every moment needs a parameter of its shape, and the groups cannot list more parameters than there are. */
static void compare_with_model(struct optimizer *o)
{
    const struct shapeproof_inventory *model = o->resume->model;
    struct sp_arena *arena = &o->resume->arena;
    struct census census = {0};
    size_t parameters = 0, foreign = 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct shapeproof_tensor *tensor = &model->tensors[i];
        if (!sp_resume_is_parameter(tensor)) continue;
        struct shape_count *count = count_of_shape(o, &census, tensor->shape, tensor->rank);
        size_t layer;
        if (!count->parameters++) count->parameter = tensor->name;
        count->layered += read_layer(tensor->name, &layer);
        parameters++;
    }
    for (size_t i = 0; i < o->list.count; i++) {
        const struct moments *m = &o->list.items[i];
        if (!m->is_known) continue;
        struct shape_count *count = count_of_shape(o, &census, m->shape, m->rank);
        if (++count->moments <= count->parameters) continue;
        if (!count->surplus) count->surplus = m;
        foreign++;
    }
    if (o->list.count > parameters && !o->resume->partial)
        say_wrong(o, sp_arena_printf(arena, "at most %zu, the tensors of the model", parameters),
                  sp_arena_printf(arena, "%zu", o->list.count), "its groups list more parameters than the model has");
    compare_with_adapter(o);
    if (foreign) judge_foreign(o, &census, foreign);
    else if (!o->failed && !compare_by_name(o) && o->with < parameters && o->with)
        say_without_moments(o, &census, parameters);
    sp_map_free(&census.shapes);
    sp_free(census.list.items);
}

/* ---- the two groups of Trainer ---- */

/* Whether the group has parameters, and all of them are known to be vectors or single numbers. */
static bool has_only_vectors(const struct optimizer *o, size_t group)
{
    size_t vectors = 0;
    for (size_t i = 0; i < o->list.count; i++) {
        const struct moments *m = &o->list.items[i];
        if (m->group != group) continue;
        if (!m->is_known || m->rank >= 2) return false;
        vectors++;
    }
    return vectors > 0;
}

static bool has_matrices(const struct optimizer *o, size_t group)
{
    for (size_t i = 0; i < o->list.count; i++)
        if (o->list.items[i].group == group && o->list.items[i].is_known && o->list.items[i].rank >= 2) return true;
    return false;
}

static double weight_decay_of(struct optimizer *o, uint32_t group)
{
    double decay;
    return sp_contents_number(o->contents, sp_contents_get(o->groups->as.items[group], "weight_decay"), &decay) ? decay
                                                                                                                : 0;
}

/* Trainer has two groups: first the weights, which decay, then norms and biases, which do not. A script that makes its
 * optimizer itself may have another order. When no matrix is in the first group, and some are in the second, the values
 * of weight_decay decide:
 *
 *     vectors (0.1), matrices (0)    wrong: the groups are exchanged
 *     vectors (0), matrices (0)      unknown: exchanged, or of such a script
 *     vectors (0), matrices (0.1)    right: of such a script */
static void judge_groups_of_trainer(struct optimizer *o)
{
    if (strcmp(o->resume->layout, "Trainer") != 0 || o->groups->length != 2) return;
    if (!has_only_vectors(o, 0) || !has_matrices(o, 1)) return;
    const double first = weight_decay_of(o, 0), second = weight_decay_of(o, 1);
    if (first > second)
        say_wrong(o, "the matrices in the first of its two groups", "them in the second",
                  "the groups are exchanged: norms and biases decay, and no matrix does");
    if (first != second) return;
    o->failed = true;
    sp_resume_untold(o->resume, true, "optimizer", o->file,
                     "no matrix is in the first of its two groups: they are exchanged, or not made by Trainer");
}

/* ---- all of it ---- */

bool sp_resume_is_optimizer(const struct sp_pickle_value *value)
{
    return sp_contents_pairs(sp_contents_get(value, "state")) &&
           sp_pickle_is(sp_contents_get(value, "param_groups"), SP_PICKLE_LIST);
}

/* Whether the optimizer keeps moments of each parameter once it has made a step: Adam does, SGD without momentum
 * does not. */
static bool keeps_moments(const struct optimizer *o)
{
    const struct sp_pickle_value *group = sp_pickle_item(o->groups, 0), *momentum = sp_contents_get(group, "momentum");
    if (sp_contents_get(group, "betas")) return true;
    return (sp_pickle_is(momentum, SP_PICKLE_FLOAT) && momentum->as.real != 0) ||
           (sp_pickle_is(momentum, SP_PICKLE_INT) && momentum->as.integer != 0);
}

static void note_facts(struct optimizer *o)
{
    size_t pieces = 0, empty = 0;
    for (size_t i = 0; i < o->list.count; i++) {
        pieces += o->list.items[i].is_piece;
        empty += o->list.items[i].is_empty;
    }
    o->resume->facts = (struct sp_optimizer_facts){
        .is_read = true,
        .parameters = o->list.count,
        .with = o->with,
        .pieces = pieces,
        .empty = empty,
        .groups = o->groups->length,
        .kinds = sp_arena_string(&o->resume->arena, o->kinds.data ? o->kinds.data : ""),
        .step = o->has_step ? sp_resume_steps(o->last_step) : sp_resume_step_of_groups(o->contents, o->groups),
    };
    if (o->resume->facts.step == SP_RESUME_NO_STEP) return;
    o->resume->optimizer_step = o->resume->facts.step;
    o->resume->optimizer_file = o->file;
}

/* Says that an optimizer has no moments, and needs none: SGD without momentum. */
static void say_none_kept(struct shapeproof_resume *resume, const char *file, size_t parameters, size_t groups)
{
    sp_resume_right(resume, "optimizer", file, "%s in %s, without moments of a known kind",
                    sp_count_of(&resume->arena, parameters, "parameter"), sp_count_of(&resume->arena, groups, "group"));
}

int64_t sp_resume_step_of_groups(struct sp_contents *contents, const struct sp_pickle_value *groups)
{
    enum { MOST = 16 }; /* groups that are read: all make the same steps */
    int64_t last = SP_RESUME_NO_STEP;
    double step;
    if (!sp_pickle_is(groups, SP_PICKLE_LIST)) return last;
    for (uint32_t i = 0; i < groups->length && i < MOST; i++)
        if (sp_contents_number(contents, sp_contents_get(groups->as.items[i], "step"), &step) &&
            sp_resume_steps(step) > last)
            last = sp_resume_steps(step);
    return last;
}

/* Notes the step, and says what is right about the moments. */
static void conclude_optimizer(struct optimizer *o)
{
    struct shapeproof_resume *resume = o->resume;
    note_facts(o);
    resume->optimizers++;
    resume->groups = o->groups->length;
    if (o->failed) return;
    const char *groups = sp_count_of(&resume->arena, o->groups->length, "group");
    if (!o->with && keeps_moments(o))
        say_wrong(o, "moments of each", "none", "no parameter has moments: they would begin anew");
    else if (!o->with) say_none_kept(resume, o->file, o->list.count, o->groups->length);
    else if (resume->model)
        sp_resume_right(resume, "optimizer", o->file,
                        "moments (%s) of %s in %s; their shapes are those of parameters of the model", o->kinds.data,
                        sp_count_of(&resume->arena, o->with, "parameter"), groups);
    else
        sp_resume_untold(resume, true, "optimizer", o->file,
                         "moments (%s) of %zu parameters, but there is no model to compare them with", o->kinds.data,
                         o->with);
}

enum sp_moment_form sp_resume_moment_form(struct shapeproof_resume *resume, struct sp_contents *contents,
                                          const struct sp_pickle_value *value, const char *file)
{
    static const char *const factors[] = {"exp_avg_sq_row", "row_var"};
    const struct sp_pickle_value *pairs = sp_contents_pairs(sp_contents_get(value, "state"));
    enum sp_moment_form form = SP_MOMENTS_NONE;
    struct sp_contents_tensor tensor;
    for (uint32_t i = 0; pairs && i + 1 < pairs->length; i += 2) {
        const struct sp_pickle_value *entry = pairs->as.items[i + 1];
        if (!sp_resume_spend(resume, "optimizer", file, LOOKUPS * (1 + sp_resume_length(entry)))) break;
        for (size_t k = 0; k < sizeof factors / sizeof *factors; k++)
            if (sp_contents_get(entry, factors[k])) return SP_MOMENTS_SHAPED;
        for (size_t k = 0; k < KINDS; k++) {
            if (!sp_contents_tensor(contents, sp_contents_get(entry, kinds[k]), &tensor)) continue;
            if (tensor.rank > 1 || tensor.is_piece) return SP_MOMENTS_SHAPED;
            form = SP_MOMENTS_FLAT;
        }
    }
    return form;
}

/* Reads the moments of all parameters. False after a statement that this cannot be done. The caller frees. */
static bool read_optimizer(struct optimizer *o, const struct sp_pickle_value *value)
{
    o->resume->facts = (struct sp_optimizer_facts){.kinds = "", .step = SP_RESUME_NO_STEP}; /* until note_facts */
    if (!spend(o, SP_STATEMENT_LOOKS + LOOKUPS * sp_resume_length(value))) return false;
    o->state = sp_contents_get(value, "state");
    o->groups = sp_contents_get(value, "param_groups");
    if (!sp_resume_is_optimizer(value)) {
        sp_resume_wrong(o->resume, "optimizer", o->file, NULL, NULL, "it is not the state of an optimizer of torch");
        return false;
    }
    if (!o->groups->length) {
        say_wrong(o, "at least one group of parameters", "none", "its groups: torch refuses a state without them");
        return false;
    }
    if (!spend_looks(o) || !list_moments(o)) return false;
    for (size_t i = 0; o->resume->model && i < o->resume->model->count; i++)
        o->has_complex = o->has_complex || (sp_is_complex(o->resume->model->tensors[i].dtype) &&
                                            sp_resume_is_parameter(&o->resume->model->tensors[i]));
    for (size_t i = 0; i < o->list.count; i++) read_moments(o, &o->list.items[i]);
    say_defects(o);
    if (o->odd_step) say_wrong(o, "a whole number from 0 on", o->odd_step, "the step of its moments");
    if (!o->failed) compare_kinds(o);
    if (!o->failed) check_amsgrad(o);
    check_settings(o);
    check_numbers_of_groups(o);
    check_moments_of_adam(o);
    return true;
}

static void free_optimizer(struct optimizer *o)
{
    sp_free(o->list.items);
    sp_free(o->places.items);
    sp_text_free(&o->kinds);
}

void sp_resume_optimizer(struct shapeproof_resume *resume, struct sp_contents *contents,
                         const struct sp_pickle_value *value, const char *file)
{
    struct optimizer o = {.resume = resume, .contents = contents, .file = file};
    if (read_optimizer(&o, value)) {
        if (resume->model) compare_with_model(&o);
        if (!o.failed) judge_groups_of_trainer(&o);
        conclude_optimizer(&o);
    }
    free_optimizer(&o);
}

/* ---- master weights ---- */

/* The shapes of the parameters of the model, "(16, 4)"; *singles: how many parameters are F32, which need no copy. */
static struct sp_map list_shapes(struct shapeproof_resume *resume, size_t *singles)
{
    const struct shapeproof_inventory *model = resume->model;
    struct sp_map shapes = {0};
    *singles = 0;
    for (size_t i = 0; model && i < model->count; i++) {
        const struct shapeproof_tensor *tensor = &model->tensors[i];
        if (!sp_resume_is_parameter(tensor)) continue;
        sp_map_add(&shapes, sp_shape_text(&resume->arena, tensor->shape, tensor->rank), i);
        *singles += tensor->dtype == SHAPEPROOF_DTYPE_F32;
    }
    return shapes;
}

/* Compares one master weight, "number 3 of group 1"; false after a statement that it is wrong. */
static bool check_master_weight(struct shapeproof_resume *resume, const struct sp_map *shapes,
                                const struct sp_contents_tensor *master, uint32_t number, uint32_t group,
                                const char *file)
{
    const char *shape = sp_shape_text(&resume->arena, master->shape, master->rank);
    if (strcmp(master->dtype, "F32") != 0)
        sp_resume_wrong(resume, "master weights", file, "F32", master->dtype, "group %" PRIu32, group);
    else if (resume->model && sp_map_get(shapes, shape) == SIZE_MAX)
        sp_resume_wrong(resume, "master weights", file, "the shape of a parameter of the model", shape,
                        "number %" PRIu32 " of group %" PRIu32, number, group);
    else return true;
    return false;
}

/* Compares all of them; false after a statement that one is wrong, or that they are too many. */
static bool check_master_weights(struct shapeproof_resume *resume, struct sp_contents *contents,
                                 const struct sp_pickle_value *groups, const struct sp_map *shapes, const char *file,
                                 size_t *count)
{
    enum { LOOKS = 64 }; /* at a tensor, and at the text of its shape */
    struct sp_contents_tensor master;
    for (uint32_t g = 0; sp_pickle_is(groups, SP_PICKLE_LIST) && g < groups->length; g++) {
        const struct sp_pickle_value *group = groups->as.items[g];
        const uint32_t length = sp_pickle_is(group, SP_PICKLE_LIST) ? group->length : 0;
        if (!sp_resume_spend(resume, "master weights", file, LOOKS * (1 + (uint64_t)length))) return false;
        for (uint32_t i = 0; i < length; i++) {
            if (!sp_contents_tensor(contents, group->as.items[i], &master)) continue;
            ++*count;
            if (!check_master_weight(resume, shapes, &master, i, g, file)) return false;
        }
    }
    return true;
}

void sp_resume_masters(struct shapeproof_resume *resume, struct sp_contents *contents,
                       const struct sp_pickle_value *groups, const char *file)
{
    size_t count = 0, singles;
    if (!resume->facts.is_read) return; /* how many there should be is not known */
    struct sp_map shapes = list_shapes(resume, &singles);
    const bool ok = check_master_weights(resume, contents, groups, &shapes, file, &count);
    sp_map_free(&shapes);
    resume->facts.masters = count;
    if (!ok || !count) return;
    /* Parameters of the optimizer in half precision have each a copy. */
    const size_t parameters = resume->facts.parameters;
    if (count > parameters || (resume->model && count + singles < parameters))
        sp_resume_wrong(resume, "master weights", file,
                        sp_arena_printf(&resume->arena, "%zu, the parameters of the optimizer", parameters),
                        sp_arena_printf(&resume->arena, "%zu", count), "their number");
    else sp_resume_right(resume, "master weights", file, "F32, of %s", sp_count_of(&resume->arena, count, "parameter"));
}

/* ---- moments of parameters that lie end to end ---- */

static void add_flat_moment(struct sp_flat_moments *flat, const struct moments *m)
{
    uint64_t length = 1;
    for (uint32_t i = 0; i < m->rank; i++)
        if (!sp_mul_u64(length, m->shape[i], &length)) length = UINT64_MAX;
    size_t known = sp_map_get(&flat->ids, m->id);
    if (known == SIZE_MAX) {
        known = flat->list.count;
        sp_map_add(&flat->ids, m->id, known);
        *SP_PUSH(&flat->list) = (struct sp_flat_moment){.id = m->id, .first = length};
    }
    struct sp_flat_moment *one = &flat->list.items[known];
    one->ranks++;
    if (length != one->first) {
        one->last = length;
        one->is_uneven = true;
    }
    if (!sp_add_u64(one->sum, length, &one->sum)) one->sum = UINT64_MAX;
}

void sp_resume_flat_optimizer(struct shapeproof_resume *resume, struct sp_contents *contents,
                              const struct sp_pickle_value *value, const char *file, struct sp_flat_moments *flat)
{
    struct optimizer o = {.resume = resume, .contents = contents, .file = file};
    if (read_optimizer(&o, value)) {
        for (size_t i = 0; i < o.list.count && !o.failed; i++) {
            const struct moments *m = &o.list.items[i];
            if (m->is_known && (m->rank > 1 || m->is_piece))
                say_wrong(&o, "a part of the parameters end to end, as in other ranks",
                          sp_shape_text(&resume->arena, m->shape, m->rank), "the moments of parameter %s", m->id);
            else if (m->is_known) add_flat_moment(flat, m);
        }
        note_facts(&o);
        flat->keeps_moments = flat->keeps_moments || keeps_moments(&o);
        flat->failed = flat->failed || o.failed;
    } else flat->failed = true;
    free_optimizer(&o);
}

static int compare_numbers(const void *left, const void *right)
{
    return sp_order(*(const uint64_t *)left, *(const uint64_t *)right);
}

/* The elements of each parameter of the model, ascending; *total of all together. */
static uint64_t *count_parameters(struct shapeproof_resume *resume, size_t *count, uint64_t *total)
{
    const struct shapeproof_inventory *model = resume->model;
    uint64_t *elements = sp_arena_array(&resume->arena, model->count, sizeof *elements);
    *count = 0;
    *total = 0;
    for (size_t i = 0; i < model->count; i++) {
        if (!sp_resume_is_parameter(&model->tensors[i])) continue;
        elements[(*count)++] = model->tensors[i].parameters;
        if (!sp_add_u64(*total, model->tensors[i].parameters, total)) *total = UINT64_MAX;
    }
    if (*count) qsort(elements, *count, sizeof *elements, compare_numbers);
    return elements;
}

/* Whether each of the sorted numbers `some` can be paired with an equal one of `all`. */
static bool are_among(const uint64_t *some, size_t some_count, const uint64_t *all, size_t all_count)
{
    size_t at = 0;
    for (size_t i = 0; i < some_count; i++) {
        while (at < all_count && all[at] < some[i]) at++;
        if (at == all_count || all[at++] != some[i]) return false;
    }
    return true;
}

/* The first moments whose lengths differ between the ranks, or that a rank has not; NULL when there are none. */
static const struct sp_flat_moment *find_uneven(const struct sp_flat_moments *flat, uint32_t world)
{
    for (size_t i = 0; i < flat->list.count; i++)
        if (flat->list.items[i].is_uneven || flat->list.items[i].ranks != world) return &flat->list.items[i];
    return NULL;
}

static const char *spell_elements(struct shapeproof_resume *resume, uint64_t elements)
{
    return sp_arena_printf(&resume->arena, "%" PRIu64 " elements", elements);
}

/* The matrix of the words that are written, if it may be tied to that of the words that are read: both have the same
 * shape. FSDP 1 saves tied parameters twice, and the optimizer has them once. NULL when there is none. */
static const struct shapeproof_tensor *find_tied_head(const struct shapeproof_inventory *model)
{
    const struct shapeproof_tensor *head = NULL, *rows = NULL;
    for (size_t i = 0; i < model->count; i++) {
        const struct shapeproof_tensor *tensor = &model->tensors[i];
        if (!sp_resume_is_parameter(tensor)) continue;
        if (!rows && sp_is_token_embedding(tensor->name)) rows = tensor;
        if (!head && sp_is_vocabulary_head(tensor->name)) head = tensor;
    }
    return head && rows && sp_same_dims(head->shape, head->rank, rows->shape, rows->rank) ? head : NULL;
}

/* How often the ranks together may have all parameters, if groups of them are replicas (HSDP): 2240 parameters and 4480
 * elements in 4 ranks -> 2. `padding`: elements of all ranks, at most. 0 when no number of groups fits. */
static uint32_t count_replicas(uint64_t total, uint64_t held, uint64_t padding, uint32_t world)
{
    const uint64_t replicas = total ? held / total : 0;
    if (replicas < 2 || replicas > world || world % replicas || held % total > padding) return 0;
    return (uint32_t)replicas;
}

/* What is compared of the moments of all ranks together, in elements. */
struct flat_census {
    struct shapeproof_resume *resume;
    const struct sp_flat_moments *flat;
    uint32_t world, replicas; /* replicas of the model: 1 when it has none, or they are not known */
    uint64_t held, total;     /* of the moments of one replica, and of the parameters */
    uint64_t padding;         /* at most, of all ranks */
    bool are_parameters;      /* the moments of each parameter, in all ranks, are as long as a parameter */
    const char *file;
};

/* Counts them. Where the model has replicas, each of which has all moments, those of one are counted. */
static struct flat_census count_flat(struct shapeproof_resume *resume, const struct sp_flat_moments *flat,
                                     uint32_t world, const char *file)
{
    enum { PADDING = 16 }; /* elements for each rank and moment, at most: FSDP aligns to 16 bytes */
    struct flat_census census = {.resume = resume, .flat = flat, .world = world, .replicas = 1, .file = file};
    size_t count;
    const uint64_t *elements = count_parameters(resume, &count, &census.total);
    uint64_t *sums = sp_arena_array(&resume->arena, flat->list.count, sizeof *sums);
    bool divides = resume->replicas > 1;
    for (size_t i = 0; i < flat->list.count && divides; i++) divides = flat->list.items[i].sum % resume->replicas == 0;
    if (divides) census.replicas = resume->replicas;
    for (size_t i = 0; i < flat->list.count; i++) {
        sums[i] = flat->list.items[i].sum / census.replicas;
        if (!sp_add_u64(census.held, sums[i], &census.held)) census.held = UINT64_MAX;
    }
    if (flat->list.count) qsort(sums, flat->list.count, sizeof *sums, compare_numbers);
    census.are_parameters = are_among(sums, flat->list.count, elements, count);
    if (!sp_mul_u64((uint64_t)world * PADDING, flat->list.count, &census.padding)) census.padding = UINT64_MAX;
    return census;
}

/* Whether the moments are as many as without a parameter of so many elements. */
static bool lacks_one(const struct flat_census *c, uint64_t elements)
{
    return elements <= c->total && c->held >= c->total - elements && c->held - (c->total - elements) <= c->padding;
}

/* Whether the first `length` bytes of a tensor are one element again and again, as of a matrix of ones. */
static bool begins_constant(const struct shapeproof_tensor *tensor, const unsigned char *bytes, size_t length)
{
    const uint64_t width = tensor->parameters ? tensor->bytes / tensor->parameters : 0;
    const size_t step = width ? (size_t)width : 1; /* of packed elements one byte has several */
    return length <= step || memcmp(bytes, bytes + step, length - step) == 0;
}

enum { COPY_BYTES = 4096, MOST_COPIES = 64 }; /* read of each matrix first, and matrices that are read */

/* The matrices among which a copy is looked for. */
struct copies {
    const struct shapeproof_inventory *model;
    struct shapeproof_data *data;
    unsigned char *begins; /* of each COPY_BYTES */
    size_t seen[MOST_COPIES];
    size_t count;
    size_t compared; /* pairs, as a whole */
};

/* Whether a matrix of the model equals one that was seen before, all bytes of it; else it is seen now. Bytes are
 * compared as a whole once the beginnings agree. */
static bool is_copy(struct copies *c, size_t index)
{
    enum { MOST_WHOLE = 8 }; /* pairs that are compared as a whole: each may have gigabytes */
    const struct shapeproof_tensor *tensor = &c->model->tensors[index];
    const size_t length = tensor->bytes < COPY_BYTES ? (size_t)tensor->bytes : COPY_BYTES;
    unsigned char *begin = c->begins + c->count * COPY_BYTES;
    struct shapeproof_error ignored = {0};
    if (shapeproof_data_obstacle(c->data, index) || !shapeproof_data_read(c->data, index, 0, begin, length, &ignored) ||
        begins_constant(tensor, begin, length))
        return false;
    for (size_t k = 0; k < c->count && c->compared < MOST_WHOLE; k++) {
        const struct shapeproof_tensor *other = &c->model->tensors[c->seen[k]];
        uint64_t at = length;
        if (!sp_same_dims(other->shape, other->rank, tensor->shape, tensor->rank) || other->dtype != tensor->dtype ||
            other->bytes != tensor->bytes || memcmp(c->begins + k * COPY_BYTES, begin, length) != 0)
            continue;
        c->compared++;
        if (sp_bytes_compare((struct sp_bytes_of){c->data, c->seen[k]}, (struct sp_bytes_of){c->data, index},
                             tensor->bytes, &at, &ignored) &&
            at == tensor->bytes)
            return true;
    }
    c->seen[c->count++] = index;
    return false;
}

/* A matrix of which the model has a copy, and without which the parameters are as many as the moments: FSDP 1 saves
 * tied parameters twice, and the optimizer has them once. NULL when there is none, when it begins with one element
 * again and again, or when the data cannot be read. */
static const struct shapeproof_tensor *find_copy(const struct flat_census *census)
{
    const struct shapeproof_inventory *model = census->resume->model;
    const struct shapeproof_tensor *copy = NULL;
    struct shapeproof_error ignored = {0};
    struct copies c = {.model = model, .data = shapeproof_data_open(model, &ignored)};
    if (!c.data) return NULL;
    c.begins = sp_realloc(NULL, MOST_COPIES, COPY_BYTES);
    for (size_t i = 0; i < model->count && c.count < MOST_COPIES && !copy; i++) {
        const struct shapeproof_tensor *tensor = &model->tensors[i];
        if (sp_resume_is_parameter(tensor) && tensor->rank >= 2 && tensor->bytes &&
            lacks_one(census, tensor->parameters) && is_copy(&c, i))
            copy = tensor;
    }
    sp_free(c.begins);
    shapeproof_data_close(c.data);
    return copy;
}

/* Says that the moments are fewer than the parameters. */
static void say_fewer(const struct flat_census *c)
{
    const struct shapeproof_tensor *copy = find_copy(c), *head = find_tied_head(c->resume->model);
    if (copy)
        sp_resume_right(c->resume, "optimizer", c->file,
                        "moments of %" PRIu64 " elements for %" PRIu64 " of the parameters, of which %s is a copy of "
                        "another, tied",
                        c->held, c->total, sp_quote(copy->name).text);
    else if (head && lacks_one(c, head->parameters))
        sp_resume_untold(c->resume, false, "optimizer", c->file,
                         "moments of %" PRIu64 " of %" PRIu64 " elements, as many as without %s: it is tied to the "
                         "embedding, or frozen",
                         c->held, c->total, sp_quote(head->name).text);
    else
        sp_resume_untold(c->resume, !c->are_parameters, "optimizer", c->file,
                         "moments of %" PRIu64 " of %" PRIu64 " elements: the others are frozen, or had no gradient",
                         c->held, c->total);
}

/* The ranks have as many elements as whole parameters, or have each a part of the same length of all parameters end to
 * end, the last of them padded. */
void sp_resume_judge_flat(struct shapeproof_resume *resume, const struct sp_flat_moments *flat, uint32_t world,
                          const char *file)
{
    if (flat->failed || !resume->model) return;
    const struct flat_census c = count_flat(resume, flat, world, file);
    const struct sp_flat_moment *uneven = c.are_parameters ? NULL : find_uneven(flat, world);
    uint64_t most;
    if (!sp_add_u64(c.padding, c.total, &most)) most = UINT64_MAX;
    const uint32_t replicas = resume->replicas ? 0 : count_replicas(c.total, c.held, c.padding, world);
    if (!c.held && !flat->keeps_moments) say_none_kept(resume, file, resume->facts.parameters, resume->facts.groups);
    else if (!c.held)
        sp_resume_wrong(resume, "optimizer", file, spell_elements(resume, c.total), "none",
                        "no parameter has moments: they would begin anew");
    else if (replicas && (c.held > most || uneven))
        sp_resume_untold(resume, true, "optimizer", file,
                         "moments of %" PRIu64 " elements, %" PRIu32 " times those of the parameters: of %" PRIu32
                         " replicas of the model, or of another model",
                         c.held, replicas, replicas);
    else if (uneven)
        sp_resume_wrong(resume, "optimizer", file,
                        uneven->is_uneven ? spell_elements(resume, uneven->first)
                                          : sp_arena_printf(&resume->arena, "those of %" PRIu32 " ranks", world),
                        uneven->is_uneven ? spell_elements(resume, uneven->last)
                                          : sp_arena_printf(&resume->arena, "%" PRIu32, uneven->ranks),
                        "the moments of parameter %s fit together with those of the other ranks to no parameter",
                        uneven->id);
    else if (c.held > most)
        sp_resume_wrong(resume, "optimizer", file, spell_elements(resume, c.total), spell_elements(resume, c.held),
                        "the moments of all ranks are more than the parameters of the model");
    else if (c.held < c.total) say_fewer(&c);
    else if (c.replicas > 1)
        sp_resume_right(resume, "optimizer", file,
                        "moments of all %" PRIu32 " ranks, in each of %" PRIu32 " replicas %" PRIu64
                        " elements for %" PRIu64 " of the parameters",
                        world, c.replicas, c.held, c.total);
    else
        sp_resume_right(resume, "optimizer", file,
                        "moments of all %" PRIu32 " ranks, %" PRIu64 " elements for %" PRIu64 " of the parameters",
                        world, c.held, c.total);
}
