/* SPDX-License-Identifier: MIT */
#include "prove/symbolic/count.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/map.h"
#include "lang/functions.h"
#include "lang/tables.h"
#include "lang/walk.h"
#include "prove/symbolic/atoms.h"
#include "prove/symbolic/meaning.h"
#include "prove/symbolic/operate.h"
#include "prove/symbolic/reduce.h"
#include "prove/symbolic/shard.h"
#include "prove/symbolic/sums.h"

enum {
    MAX_USES = 64,     /* parts used within one another */
    UNROLL = 256,      /* iterations of a loop over known numbers that are counted one by one: more than any published
                          model has layers, so that lists of layers are read item by item */
    MAX_NAME = 1024,   /* bytes that a hole of a name is filled with */
    MAX_ROUNDS = 8,    /* of counting again with another list given */
    SCRATCH_PARTS = 16 /* of the memory, of which a count takes one before it begins anew */
};

/* Which rows of a table count. */
enum counted {
    COUNTS_PARAMETERS,
    COUNTS_ACTIVE,   /* of the parameters only those in use */
    COUNTS_STATES,   /* the elements of the states */
    COUNTS_KEPT,     /* the bytes of activations */
    COUNTS_PRODUCTS, /* how often an element of a tensor is multiplied, and the work beside it */
    COUNTS_SHARD     /* of the parameters those of one rank */
};

/* One of several pipeline stages: which layers of the table it has. What the table has before its layers belongs to the
 * first stage, everything else that is in no layer to the last. */
struct stage {
    const char *index; /* of the loops over layers */
    int64_t begin, end;
    bool is_first, is_last;
    bool is_behind; /* what is counted now stands behind the layers: it has storage of its own, also if it is tied */
};

/* The walk through the sections and rows of a table, and of what it uses. */
struct walk {
    struct sp_symbolic *symbolic;
    unsigned uses;   /* parts and tables used within one another */
    unsigned shares; /* of them those of which only a share is in use */
    enum counted counted;
    const struct sp_row_measure *measure; /* what is counted of a tensor; NULL: its elements */
    struct sp_active_count *active;       /* of COUNTS_ACTIVE and COUNTS_PRODUCTS: where the shares are noted */
    const struct sp_sym_given *given;     /* what each table sees: of COUNTS_STATES and COUNTS_KEPT the arguments of
                                             the measure, of COUNTS_PRODUCTS those of flops and `causal` */
    size_t given_count;
    /* COUNTS_KEPT and COUNTS_PRODUCTS: */
    struct sp_count *count;             /* what is counted */
    const struct sp_values *known;      /* what `when` of a claim gives */
    const struct sp_open_formula *open; /* NULL: a formula whose conditions are open has no value */
    /* COUNTS_PRODUCTS: */
    const struct sp_flops *flops;
    const struct sp_poly *times; /* of what is used, where its rows do not say it */
    unsigned only_input;         /* what is counted is a pass over one image or sound (enum sp_input); 0: tokens */
    /* COUNTS_SHARD: */
    const struct sp_sizing *sizing;
    struct stage *stage; /* NULL: all layers are on one rank */
    /* COUNTS_STATES: */
    struct sp_sharding *states; /* among how many ranks each state is divided; NULL: it is whole */
};

/* Rows with the parameters that they have so far. Each use of a part, loop and condition fills a tally of its own,
 * which is then summed, or multiplied, into that around it. */
struct tally {
    struct sp_row_count *rows;
    size_t count, capacity;
    struct sp_map places; /* of the rows, by group and name, if they are many */
};

static void free_tally(struct tally *tally)
{
    sp_free(tally->rows);
    sp_map_free(&tally->places);
}

static bool count_unit(struct walk *walk, struct sp_sym_frame *frame, struct tally *tally);

static bool have_same_shape(const struct sp_row_count *a, const struct sp_row_count *b)
{
    bool same = a->shape && b->shape && a->rank == b->rank;
    for (size_t i = 0; same && i < a->rank; i++) same = sp_poly_equal(a->shape[i], b->shape[i]);
    return same;
}

/* The key of a row in the map of a tally: "4:norm/h.{i}.ln.weight". With the length no two rows have the same. */
static struct sp_text row_key(const struct sp_row_count *row)
{
    struct sp_text key = {0};
    sp_text_printf(&key, "%zu:%s/", strlen(row->group), row->group);
    sp_text_puts(&key, row->name);
    return key;
}

/* The row of the tally that has the name and group of `row`, or NULL. A few rows are searched one by one. */
static struct sp_row_count *find_row(const struct tally *tally, const struct sp_row_count *row)
{
    size_t i = 0;
    if (tally->places.count) {
        struct sp_text key = row_key(row);
        sp_budget_spend(1 + key.length / 16); /* a hash of 8 bytes at a time */
        i = sp_map_get(&tally->places, key.data);
        sp_text_free(&key);
        return i < tally->count ? &tally->rows[i] : NULL;
    }
    while (i < tally->count &&
           (strcmp(tally->rows[i].name, row->name) != 0 || strcmp(tally->rows[i].group, row->group) != 0))
        i++;
    sp_budget_spend(1 + i);
    return i < tally->count ? &tally->rows[i] : NULL;
}

/* Appends a row that the tally does not have. From FEW_ROWS on the rows are in the map. */
static void append_row(struct sp_arena *arena, struct tally *tally, struct sp_row_count row)
{
    enum { FEW_ROWS = 32 }; /* rows: as many comparisons of names cost as much as a key and its hash */
    SP_GROW(tally->rows, tally->count, tally->capacity);
    tally->rows[tally->count++] = row;
    if (tally->count < FEW_ROWS) return;
    for (size_t i = tally->places.count; i < tally->count; i++) {
        struct sp_text key = row_key(&tally->rows[i]);
        sp_map_add(&tally->places, sp_text_keep(&key, arena), i);
    }
}

/* Adds the tensors of a row, to those that the tally has of the row of that name and group. The shape is dropped when
 * another one was counted before. */
static void add_to(struct walk *walk, struct tally *tally, struct sp_row_count row)
{
    struct sp_row_count *known = find_row(tally, &row);
    if (!known) {
        append_row(&walk->symbolic->algebra.arena, tally, row);
        return;
    }
    if (sp_poly_is_zero(known->parameters)) known->shape = row.shape, known->rank = row.rank;
    else if (!sp_poly_is_zero(row.parameters) && !have_same_shape(known, &row)) known->shape = NULL;
    known->parameters = sp_poly_add(&walk->symbolic->algebra, known->parameters, row.parameters);
    known->tensors = sp_poly_add(&walk->symbolic->algebra, known->tensors, row.tensors);
}

/* Adds the rows of `inner`, each with its parameters and tensors times `by`. */
static void multiply_into(struct walk *walk, struct tally *tally, const struct tally *inner, const struct sp_poly *by)
{
    for (size_t i = 0; i < inner->count; i++) {
        struct sp_row_count row = inner->rows[i];
        row.parameters = sp_poly_mul(&walk->symbolic->algebra, by, row.parameters);
        row.tensors = sp_poly_mul(&walk->symbolic->algebra, by, row.tensors);
        add_to(walk, tally, row);
    }
}

/* ---- rows ---- */

/* The name of the rows that a template makes, and how much of it is a prefix: *prefix bytes, which a placeholder at its
 * beginning gave. A placeholder whose value is a known text is filled in, others stay as they are written:
 *
 *     {p}h.{i}.ln_1.weight, where p is "transformer."  ->  transformer.h.{i}.ln_1.weight, of which 12 are the prefix */
static const char *row_name(struct walk *walk, const struct sp_sym_env *env, const struct sp_template *name,
                            size_t *prefix)
{
    struct sp_text text = {0};
    bool is_prefix = env->frame->prefix_length == strlen(env->frame->prefix);
    sp_text_puts(&text, env->frame->prefix);
    *prefix = env->frame->prefix_length;
    for (size_t i = 0; i < name->count; i++) {
        const struct sp_expr *hole = name->pieces[i].hole;
        struct sp_sym sym = {.kind = SP_SYM_NUMBER};
        const bool text_known = hole && sp_sym_eval(walk->symbolic, env, hole, &sym) && sym.kind == SP_SYM_VALUE &&
                                sym.value.type == SHAPEPROOF_VALUE_STRING;
        if (!hole) sp_text_puts(&text, name->pieces[i].text);
        else if (text_known && strlen(sym.value.string) < MAX_NAME) sp_text_puts(&text, sym.value.string);
        else sp_text_printf(&text, "{%.*s}", (int)hole->span.length, hole->span.source->text + hole->span.offset);
        is_prefix = is_prefix && hole && sym.kind != SP_SYM_NUMBER;
        if (is_prefix) *prefix = text.length;
    }
    return sp_text_keep(&text, &walk->symbolic->algebra.arena);
}

static bool is_apart(const struct walk *walk, const struct sp_section *section);

/* Whether a row is written so: the first `length` bytes of `text`. */
static bool is_written(const struct sp_row *row, const char *text, size_t length)
{
    const struct sp_span name = row->name.span;
    return name.length == length && memcmp(name.source->text + name.offset, text, length) == 0;
}

/* Whether the row is written as the tie, or uses a part that has a row for it: "lm_head.*" has "lm_head.bias". */
static bool has_name(const struct sp_row *row, const struct sp_template *tie)
{
    const struct sp_span name = row->name.span;
    const char *text = tie->span.source->text + tie->span.offset;
    if (is_written(row, text, tie->span.length)) return true;
    if (row->kind != SP_ROW_USE || !row->unit || name.length < 2 || tie->span.length < name.length) return false;
    const size_t front = name.length - 1; /* without the asterisk */
    if (memcmp(name.source->text + name.offset, text, front) != 0) return false;
    for (size_t i = 0; i < row->unit->section_count; i++)
        for (size_t k = 0; k < row->unit->sections[i].row_count; k++)
            if (is_written(&row->unit->sections[i].rows[k], text + front, tie->span.length - front)) return true;
    return false;
}

/* Whether the tensor to which a row behind the layers is tied stands behind the layers, too. Both are then on the last
 * stage, which needs no copy. A tie within a part says nothing of layers. */
static bool ties_behind_layers(const struct walk *walk, const struct sp_unit *unit, const struct sp_template *tie)
{
    bool met_layers = false, found = false;
    for (size_t i = 0; i < unit->section_count && !walk->uses && !found; i++) {
        const struct sp_section *section = &unit->sections[i];
        const bool apart = is_apart(walk, section);
        met_layers = met_layers || !apart;
        for (size_t k = 0; k < section->row_count && apart && met_layers && !found; k++)
            found = has_name(&section->rows[k], tie);
    }
    return found;
}

/* How often the row counts, in *out: 1 where its condition holds and it is not tied to another tensor, else 0. */
static bool presence(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row,
                     const struct sp_poly **out)
{
    struct sp_algebra *algebra = &walk->symbolic->algebra;
    const struct sp_poly *tied = sp_poly_int(algebra, 1);
    *out = sp_poly_int(algebra, 1);
    if (row->condition && !sp_sym_condition(walk->symbolic, env, row->condition, out)) return false;
    if (!row->has_tie || walk->counted == COUNTS_PRODUCTS) return true; /* a matrix multiplies in all its places */
    if (walk->measure && walk->measure->counts_tied_layers && !row->lookup) return true;
    if (walk->stage && walk->stage->is_behind && !walk->stage->is_first &&
        !ties_behind_layers(walk, env->frame->unit, &row->tie))
        return true;
    if (row->tie_condition && !sp_sym_condition(walk->symbolic, env, row->tie_condition, &tied)) return false;
    *out = sp_poly_mul(algebra, *out, sp_poly_sub(algebra, sp_poly_int(algebra, 1), tied));
    return true;
}

static const char *group_of_section(struct walk *walk, const struct sp_sym_env *env);

/* Keeps a share for the words about what is in use. */
static void note_share(struct walk *walk, struct sp_share_count share)
{
    struct sp_active_count *active = walk->active;
    for (size_t i = 0; i < active->share_count; i++)
        if (strcmp(active->shares[i].group, share.group) == 0 && sp_poly_equal(active->shares[i].part, share.part) &&
            sp_poly_equal(active->shares[i].whole, share.whole))
            return;
    SP_GROW(active->shares, active->share_count, active->share_capacity);
    active->shares[active->share_count++] = share;
}

/* Whether the row or its section says that only a share is in use. */
static bool has_share(const struct sp_sym_env *env, const struct sp_row *row)
{
    return row->share.part || env->section->share.part;
}

/* Multiplies *size, the parameters of a row or the number of its uses, by the shares of the row and of its section. */
static bool take_shares(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row,
                        const struct sp_poly **size)
{
    const struct sp_row_share *const shares[] = {&row->share, &env->section->share};
    for (size_t i = 0; walk->active && i < sizeof shares / sizeof *shares; i++) {
        struct sp_share_count share = {.group = group_of_section(walk, env)};
        if (!shares[i]->part) continue;
        if (!sp_sym_number(walk->symbolic, env, shares[i]->part, &share.part) ||
            !sp_sym_number(walk->symbolic, env, shares[i]->whole, &share.whole))
            return false;
        const struct sp_poly *part = sp_poly_divide(&walk->symbolic->algebra, share.part, share.whole);
        struct sp_rational portion;
        const bool is_known = part && sp_poly_is_constant(part, &portion);
        if (!part) return sp_sym_fail(walk->symbolic, shares[i]->whole->span, "nothing can be a share of this number");
        if (is_known && (portion.num < 0 || portion.num > portion.den))
            return sp_sym_fail(walk->symbolic, shares[i]->part->span, "more is in use of [%s] than there is: %s of %s",
                               share.group, sp_sym_text(walk->symbolic, share.part),
                               sp_sym_text(walk->symbolic, share.whole));
        *size = sp_poly_mul(&walk->symbolic->algebra, *size, part);
        note_share(walk, share);
    }
    return true;
}

/* Whether it is a number below 0. */
static bool is_negative(const struct sp_poly *poly)
{
    struct sp_rational number;
    return sp_poly_is_constant(poly, &number) && number.num < 0;
}

/* Multiplies *size, the elements of a row, by how often each multiplies. What is no matrix does not: a bias is added,
 * of an embedding a row is picked. */
static bool take_times(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row,
                       const struct sp_poly **size)
{
    const struct sp_expr *expr = row->times ? row->times : env->section->times;
    const struct sp_poly *times = walk->times;
    if (row->rank < 2 || row->lookup) times = sp_poly_int(&walk->symbolic->algebra, 0);
    else if (expr && !sp_sym_number(walk->symbolic, env, expr, &times)) return false;
    if (is_negative(times)) return sp_sym_fail(walk->symbolic, row->span, "a matrix multiplies less than 0 times");
    *size = sp_poly_mul(&walk->symbolic->algebra, *size, times);
    return true;
}

/* Whether the walk is for such rows: tensors, or states, or activations, or work. */
static bool is_counted(const struct walk *walk, const struct sp_row *row)
{
    if (row->state) return walk->counted == COUNTS_STATES;
    if (row->activation) return walk->counted == COUNTS_KEPT;
    const bool has_attention = walk->flops && !(walk->flops->how & SP_FLOPS_WEIGHTS_ALONE);
    if (row->work) return walk->counted == COUNTS_PRODUCTS && (row->is_recurrent || has_attention);
    return walk->counted != COUNTS_STATES && walk->counted != COUNTS_KEPT;
}

static const char *group_of_section(struct walk *walk, const struct sp_sym_env *env)
{
    return sp_group_name(&walk->symbolic->algebra.arena, env->frame->unit, env->section, env->frame->group);
}

/* Whether `times 0` stands behind the row. That of a section is about layers that are not used, but are layers. */
static bool has_times_0(const struct sp_row *row)
{
    const struct sp_expr *times = row->times;
    return times && times->kind == SP_EXPR_LITERAL && times->value.type == SHAPEPROOF_VALUE_INT &&
           times->value.integer == 0;
}

/* Replaces *size, the elements of a row, by what the measure says of one tensor, where it is there. */
static bool measure_tensor(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row,
                           const struct sp_poly *const *shape, const struct sp_poly *present,
                           const struct sp_poly **size)
{
    struct sp_arena *arena = &walk->symbolic->algebra.arena;
    const char **sources = sp_arena_array(arena, row->rank, sizeof *sources);
    struct sp_rational known;
    size_t prefix;
    for (size_t i = 0; i < row->rank; i++) sources[i] = sp_sym_source(walk->symbolic, env, row->shape[i]);
    const struct sp_measured_tensor one = {.name = row_name(walk, env, &row->name, &prefix),
                                           .group = group_of_section(walk, env),
                                           .shape = shape,
                                           .sources = sources,
                                           .rank = row->rank,
                                           .is_lookup = row->lookup,
                                           .is_added = has_times_0(row),
                                           .is_shared = walk->shares || has_share(env, row),
                                           .is_certain = sp_poly_is_constant(present, &known),
                                           .span = row->span};
    const struct sp_poly *value = walk->measure->of(walk->measure->context, walk->symbolic, &one);
    *size = sp_poly_mul(&walk->symbolic->algebra, present, value);
    return value != NULL;
}

/* Whether an argument of the measure is 0, such as the number of tokens; that of images says nothing about tokens. */
static bool is_of_nothing(const struct walk *walk)
{
    bool is = false;
    for (size_t i = 0; i < walk->given_count && !is; i++)
        is = walk->given[i].sym.kind == SP_SYM_NUMBER && strcmp(walk->given[i].key, "images") != 0 &&
             sp_poly_is_zero(walk->given[i].sym.poly);
    return is;
}

/* Whether `by` divides the expression, or a part of it. */
static bool is_divided(const struct sp_expr *expr)
{
    bool divided = expr->division != NULL;
    for (size_t i = 0; i < expr->count && !divided; i++) divided = is_divided(expr->args[i]);
    return divided;
}

/* Whether the expression has the name in it. */
static bool mentions(const struct sp_expr *expr, const char *name)
{
    bool found = expr->name && strcmp(expr->name, name) == 0;
    for (size_t i = 0; i < expr->count && !found; i++) found = mentions(expr->args[i], name);
    return found;
}

/* Whether the expression is a number of tokens, or of pairs of them as the tables call it: pairs(kept(i)). */
static bool is_of_tokens(const struct sp_expr *expr) { return mentions(expr, "tokens") || mentions(expr, "pairs"); }

/* The dimension of a row; of a state that part which the largest rank has. */
static bool dimension_of(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row, size_t index,
                         const struct sp_poly **dimension)
{
    if (!row->state || !walk->states) return sp_sym_number(walk->symbolic, env, row->shape[index], dimension);
    walk->symbolic->sharding = walk->states;
    const bool good = sp_sym_number(walk->symbolic, env, row->shape[index], dimension);
    walk->symbolic->sharding = NULL;
    return good;
}

/* Whether the table says how ranks divide a state, if they are to: that one of its dimensions is divided, or that it is
 * replicated. */
static bool says_division(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row)
{
    bool says = !row->state || !walk->states;
    for (size_t i = 0; i < row->rank && !says; i++) says = is_divided(row->shape[i]);
    if (says) return true;
    walk->states->is_undivided = true;
    return sp_sym_fail(walk->symbolic, row->span, "the table '%s' does not say how ranks divide its cache",
                       env->frame->unit->name);
}

/* Counts a row that is a tensor: the product of its dimensions, where it is there. The dimensions are noted to be
 * sizes. An optional tensor is read, for its keys, but not counted; nor is a buffer, unless products are counted and it
 * says how often it multiplies. False after a mistake; so are all below. */
static bool count_tensor(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row, struct tally *tally)
{
    const struct sp_poly *present, **shape = sp_arena_array(&walk->symbolic->algebra.arena, row->rank, sizeof *shape);
    const struct sp_sharding *sharding = walk->symbolic->sharding;
    if (!is_counted(walk, row)) return true;
    if (!sp_sym_spend(walk->symbolic, row->span, 1) || !presence(walk, env, row, &present)) return false;
    const struct sp_poly *size = present;
    for (size_t i = 0; i < row->rank && !sp_poly_is_zero(size); i++) {
        if (!dimension_of(walk, env, row, i, &shape[i])) return false;
        /* that of a tensor is refused when it is predicted */
        if (!sp_row_is_tensor(row) && is_negative(shape[i]))
            return sp_sym_fail(walk->symbolic, row->shape[i]->span, "a dimension is negative");
        const bool is_window = row->state ? !mentions(row->shape[i], "images")
                                          : row->work && !row->is_recurrent && is_of_tokens(row->shape[i]);
        if (is_window && sp_poly_is_zero(shape[i]) && !is_of_nothing(walk))
            return sp_sym_fail(walk->symbolic, row->shape[i]->span,
                               "a dimension of %s is 0, such as a sliding window: what %s is not known",
                               row->state ? "the cache" : "attention", row->state ? "is kept" : "it takes");
        sp_poly_mark_sizes(walk->symbolic, shape[i]);
        size = sp_poly_mul(&walk->symbolic->algebra, size, shape[i]);
    }
    if (!sp_poly_is_zero(size) && !says_division(walk, env, row)) return false;
    const bool is_left_out = row->optional || (row->buffer && !(walk->counted == COUNTS_PRODUCTS && row->times));
    const bool counts = !is_left_out && !sp_poly_is_zero(size);
    if (counts && walk->counted == COUNTS_PRODUCTS && !row->work && !take_times(walk, env, row, &size)) return false;
    if (counts && !sp_poly_is_zero(size) && !take_shares(walk, env, row, &size)) return false;
    if (counts && walk->measure && !measure_tensor(walk, env, row, shape, present, &size)) return false;
    if (sharding && sharding->skips_experts && sharding->in_experts) size = sp_poly_int(&walk->symbolic->algebra, 0);
    if (counts && row->lookup && walk->active) walk->active->has_lookup = true;
    if (counts && row->work && !row->is_recurrent && walk->active) walk->active->has_attention = true;
    size_t prefix;
    const char *name = row_name(walk, env, &row->name, &prefix);
    const struct sp_row_count count = {.group = group_of_section(walk, env),
                                       .name = name,
                                       .prefix = prefix,
                                       .parameters = size,
                                       .tensors = present,
                                       .shape = sp_poly_is_zero(size) ? NULL : shape,
                                       .rank = row->rank};
    if (is_left_out) return true; /* but its hyper-parameters are known now */
    add_to(walk, tally, count);
    return true;
}

/* A frame for one use of a table or part, which reads the whole configuration. */
static struct sp_sym_frame *new_count_frame(struct walk *walk, const struct sp_unit *unit)
{
    struct sp_arena *arena = &walk->symbolic->algebra.arena;
    struct sp_sym_frame *frame = sp_arena_alloc(arena, sizeof *frame);
    *frame = (struct sp_sym_frame){.unit = unit, .path = "", .prefix = ""};
    if (walk->symbolic->fixed.settings) frame->object = walk->symbolic->fixed.settings->root;
    frame->cache = sp_arena_array(arena, unit->definition_count, sizeof *frame->cache);
    frame->cached = sp_arena_array(arena, unit->definition_count, 1);
    return frame;
}

/* Evaluates the arguments of a use, `given` (or NULL) in the environment of the use, and the defaults of the others in
 * the frame of the unit itself. */
static bool count_arguments(struct walk *walk, const struct sp_sym_env *env, struct sp_expr **given,
                            struct sp_sym_frame *frame)
{
    struct sp_arena *arena = &walk->symbolic->algebra.arena;
    struct sp_sym *params = sp_arena_array(arena, frame->unit->param_count, sizeof *params);
    const char **sources = sp_arena_array(arena, frame->unit->param_count, sizeof *sources);
    frame->params = params;
    frame->param_sources = sources;
    for (size_t i = 0; i < frame->unit->param_count; i++) {
        const struct sp_expr *expr = given ? given[i] : NULL;
        const struct sp_sym_env own = {.frame = frame};
        if (!expr && !frame->unit->params[i].fallback)
            return sp_sym_fail(walk->symbolic, frame->unit->params[i].span, "the table needs the argument '%s'",
                               frame->unit->params[i].name);
        if (expr ? !sp_sym_eval(walk->symbolic, env, expr, &params[i])
                 : !sp_sym_eval(walk->symbolic, &own, frame->unit->params[i].fallback, &params[i]))
            return false;
        if (walk->measure || !given)
            sources[i] = expr ? sp_sym_source(walk->symbolic, env, expr)
                              : sp_sym_source(walk->symbolic, &own, frame->unit->params[i].fallback);
    }
    return true;
}

/* Opens what `from` and `with` of a use say: the sub-configuration that the frame reads, and the keys that it is given.
 * Without `from` the keys that are given around it are so in it, too. */
static bool count_view(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row,
                       struct sp_sym_frame *frame)
{
    struct sp_arena *arena = &walk->symbolic->algebra.arena;
    struct sp_sym_given *given =
        sp_arena_array(arena, row->with_count + walk->given_count + env->frame->given_count, sizeof *given);
    if (row->has_from && !sp_sym_open_view(walk->symbolic, env, row->from, frame)) return false;
    for (size_t i = 0; i < row->with_count; i++) {
        given[frame->given_count].key = row->with[i].name;
        given[frame->given_count].is_read = NULL;
        if (!sp_sym_eval(walk->symbolic, env, row->with[i].expr, &given[frame->given_count++].sym)) return false;
    }
    for (size_t i = 0; !row->has_from && i < env->frame->given_count; i++)
        given[frame->given_count++] = env->frame->given[i];
    for (size_t i = 0; row->has_from && i < walk->given_count; i++) given[frame->given_count++] = walk->given[i];
    frame->given = given;
    return true;
}

/* The table that a row names by what is in its brackets: a text that the configuration gives, or its default. NULL
 * after a message when that is not known, or there is none of that name. */
static const struct sp_unit *chosen_table(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row)
{
    struct sp_sym name;
    if (!sp_sym_eval(walk->symbolic, env, row->args[0].expr, &name)) return NULL;
    if (name.kind != SP_SYM_VALUE || name.value.type != SHAPEPROOF_VALUE_STRING) {
        sp_sym_fail(walk->symbolic, row->unit_span, "which table this is depends on '%s': give it with --set",
                    name.name ? name.name : "the configuration");
        return NULL;
    }
    const size_t place = sp_tables_of_class(row->choice, name.value.string);
    const struct sp_unit *table = place == SIZE_MAX ? NULL : sp_tables_at(row->choice, place);
    if (table && !sp_unit_needs_arguments(table)) return table;
    walk->symbolic->report.unknown = true;
    sp_sym_fail(walk->symbolic, row->unit_span, "there is no table for the architecture '%s'", name.value.string);
    return NULL;
}

static enum sp_flops_argument argument_of_input(unsigned input)
{
    return input == SP_INPUT_IMAGE ? SP_FLOPS_IMAGES : SP_FLOPS_SOUNDS;
}

/* What a pass is over, by enum sp_input; 0: tokens. */
static const char *words_of_input(unsigned input)
{
    return !input ? "tokens" : input == SP_INPUT_IMAGE ? "images" : "sounds";
}

/* Opens for a count of products what a use says of them: how often the elements multiply. A table of images that a
 * table of tokens with images uses is run once for each image, or as often as `times` behind the use says: its *passes.
 * Any other table of tokens cannot use it, since it does not say how many images there are. The same is true of sounds.
 */
static bool open_products(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row,
                          struct sp_sym_frame *frame, const struct sp_poly **passes)
{
    const struct sp_unit *unit = frame->unit;
    const struct sp_expr *expr = row->times ? row->times : env->section->times;
    if (walk->counted != COUNTS_PRODUCTS) return true;
    if (expr && !sp_sym_number(walk->symbolic, env, expr, &walk->times)) return false;
    if (unit->is_table && expr && sp_poly_is_zero(walk->times)) { /* `times 0`: no pass runs it */
        *passes = walk->times;
        return true;
    }
    if (!unit->is_table || unit->only_input == walk->only_input) return true;
    const struct sp_poly *inputs = unit->only_input ? walk->flops->numbers[argument_of_input(unit->only_input)] : NULL;
    if (walk->only_input || !inputs)
        return sp_sym_fail(walk->symbolic, row->unit_span, "the table '%s' is about %s, and what uses it about %s",
                           unit->name, words_of_input(unit->only_input), words_of_input(walk->only_input));
    *passes = expr ? walk->times : inputs;
    if (is_negative(*passes)) return sp_sym_fail(walk->symbolic, row->span, "a table multiplies less than 0 times");
    walk->times = sp_poly_int(&walk->symbolic->algebra, 1);
    walk->only_input = unit->only_input;
    return true;
}

/* Adds the rows of a part, or of another table, that a row of this one uses: opens a frame with the prefix, the
 * group and the keys that the use gives, counts the unit in it, and multiplies the counts by the condition of the
 * use. An optional use is read, for its keys, but not counted. */
static bool count_use(struct walk *walk, const struct sp_sym_env *env, const struct sp_row *row, struct tally *tally)
{
    struct sp_algebra *algebra = &walk->symbolic->algebra;
    struct tally inner = {0};
    const struct sp_poly *wanted = sp_poly_int(algebra, 1);
    if (!sp_sym_spend(walk->symbolic, row->span, 1)) return false;
    if (row->condition && !sp_sym_condition(walk->symbolic, env, row->condition, &wanted)) return false;
    if (sp_poly_is_zero(wanted)) return true;
    const struct sp_unit *unit = row->choice ? chosen_table(walk, env, row) : row->unit;
    if (!unit) return false;
    struct sp_sym_frame *frame = new_count_frame(walk, unit);
    if (walk->uses >= MAX_USES)
        return sp_sym_fail(walk->symbolic, row->unit_span, "parts used more than %d deep", MAX_USES);
    frame->group = group_of_section(walk, env);
    frame->prefix = row_name(walk, env, &row->name, &frame->prefix_length);
    frame->path = env->frame->path;
    frame->object = env->frame->object;
    frame->depends = env->frame->depends;
    frame->given = env->frame->given;
    frame->given_count = env->frame->given_count;
    const bool has_own_keys = unit->is_table || row->has_from || row->with_count;
    if (has_own_keys) {
        frame->given_count = 0; /* count_view collects them anew */
        if (!count_view(walk, env, row, frame)) return false;
    }
    const struct sp_poly *times = walk->times, *passes = NULL;
    const unsigned outer_input = walk->only_input;
    sp_sym_note_keys(walk->symbolic, &(struct sp_sym_env){.frame = frame});
    const bool is_shared = has_share(env, row);
    walk->uses++;
    walk->shares += is_shared;
    bool good = open_products(walk, env, row, frame, &passes);
    const bool is_run = !passes || !sp_poly_is_zero(passes); /* what no image runs need not be known */
    if (good && is_run)
        good = count_arguments(walk, env, row->choice ? NULL : row->given, frame) && count_unit(walk, frame, &inner);
    if (passes) wanted = sp_poly_mul(algebra, wanted, passes);
    walk->uses--;
    walk->shares -= is_shared;
    walk->times = times;
    walk->only_input = outer_input;
    if (good && !row->optional && !take_shares(walk, env, row, &wanted)) good = false;
    if (!row->optional) multiply_into(walk, tally, &inner, wanted);
    free_tally(&inner);
    return good;
}

/* From here on until it is taken back, what is counted belongs to experts. False where it did so before. */
static bool enter_experts(struct walk *walk)
{
    struct sp_sharding *sharding = walk->symbolic->sharding;
    if (!sharding || sharding->in_experts) return false;
    return sharding->in_experts = true;
}

/* ---- loops ---- */

/* What sp_walk hands to the functions below, for the clauses and rows of a section: where the count is. */
struct place {
    struct walk *walk;
    const struct sp_sym_env *env;
    struct tally *tally;
};

static const struct sp_walker counting;

/* Counts what is behind the first `clause` clauses of the section: its other loops and conditions, and its rows. */
static bool count_behind(struct walk *walk, const struct sp_sym_env *env, size_t clause, struct tally *tally)
{
    return sp_walk(&counting, env->section, clause, &(struct place){walk, env, tally});
}

/* Counts the inside of a loop with `sym` as its index: one iteration, or all of them when the index is a symbol. */
static bool with_index(struct walk *walk, const struct sp_sym_env *env, size_t clause, struct sp_sym sym,
                       struct tally *tally)
{
    const struct sp_clause *loop = &env->section->clauses[clause];
    const struct sp_sym_binding binding = {sym, env->loops, env->loops ? env->loops->number + 1 : 0};
    struct sp_sym_env inner = *env;
    inner.loops = &binding;
    return sp_sym_spend(walk->symbolic, loop->first->span, 1) && count_behind(walk, &inner, clause + 1, tally);
}

/* The item of a list at the index that *item is, in the place of the index. */
static bool item_of(struct walk *walk, struct sp_span span, const struct sp_sym *list, struct sp_sym *item)
{
    const struct sp_operation operation = {.kind = SP_DO_INDEX, .span = span};
    const struct sp_sym args[] = {*list, *item};
    return sp_sym_operate(walk->symbolic, &operation, args, 2, item);
}

/* Whether a dimension of the row depends on the index. */
static bool varies_with(struct sp_symbolic *symbolic, const struct sp_row_count *row, size_t index)
{
    bool varies = false;
    for (size_t i = 0; row->shape && i < row->rank && !varies; i++)
        varies = sp_poly_involves(symbolic, row->shape[i], index);
    return varies;
}

/* Counts the inside of a loop once, with its index as a symbol, and sums each row over the index from `first` to
 * `last`. For a loop over a list (else NULL) the symbol stands for an item of it. A shape that depends on the index is
 * dropped: the rows of the loop are not alike then. */
static bool sum_loop(struct walk *walk, const struct sp_sym_env *env, size_t clause, const struct sp_poly *first,
                     const struct sp_poly *last, const struct sp_sym *list, struct tally *tally)
{
    struct sp_symbolic *symbolic = walk->symbolic;
    const struct sp_clause *loop = &env->section->clauses[clause];
    const struct sp_span span = loop->first->span;
    struct tally inner = {0};
    const size_t room = sizeof symbolic->loops.items / sizeof *symbolic->loops.items;
    const size_t index = symbolic->loops.count < room ? sp_atom_new_index(symbolic, loop->name) : SIZE_MAX;
    if (index == SIZE_MAX) return sp_sym_fail(symbolic, span, "more than %zu loops", room);
    struct sp_sym sym = sp_sym_of_poly(sp_poly_atom(&symbolic->algebra, index));
    symbolic->loops.items[symbolic->loops.count++] = (struct sp_open_loop){index, first, last};
    const bool good = (!list || item_of(walk, span, list, &sym)) && with_index(walk, env, clause, sym, &inner);
    symbolic->loops.count--;
    for (size_t i = 0; good && i < inner.count; i++) {
        struct sp_row_count row = inner.rows[i];
        if (varies_with(symbolic, &row, index)) row.shape = NULL;
        row.parameters = sp_sym_sum(symbolic, span, index, row.parameters, first, last);
        row.tensors = sp_sym_sum(symbolic, span, index, row.tensors, first, last);
        add_to(walk, tally, row);
    }
    free_tally(&inner);
    return good;
}

/* Counts the inside of a loop over a list whose items are known one by one, if only as formulas: once for each. */
static bool each_item(struct walk *walk, const struct sp_sym_env *env, size_t clause, struct sp_sym list,
                      struct tally *tally)
{
    const size_t count = list.kind == SP_SYM_VALUE ? list.value.count : list.count;
    for (size_t i = 0; i < count; i++) {
        const struct sp_sym item =
            list.kind == SP_SYM_VALUE ? sp_sym_of_value(walk->symbolic, list.value.items[i]) : list.items[i];
        if (!with_index(walk, env, clause, item, tally)) return false;
    }
    return true;
}

static bool each_of(struct walk *walk, const struct sp_sym_env *env, size_t clause, struct sp_sym list,
                    struct tally *tally);

/* Counts the inside of a loop over either of two lists: over both, each multiplied by the condition of its case. */
static bool each_of_both(struct walk *walk, const struct sp_sym_env *env, size_t clause, struct sp_sym list,
                         struct tally *tally)
{
    bool good = true;
    for (size_t i = 0; i < 2 && good; i++) {
        struct tally inner = {0};
        good = each_of(walk, env, clause, list.either[i], &inner);
        multiply_into(walk, tally, &inner, i ? sp_sym_not(walk->symbolic, list.poly) : list.poly);
        free_tally(&inner);
    }
    return good;
}

/* Counts the inside of a loop over a list: by its items, or, for a hyper-parameter that is a list, by the index from 0
 * to len(list) - 1. */
static bool each_of(struct walk *walk, const struct sp_sym_env *env, size_t clause, struct sp_sym list,
                    struct tally *tally)
{
    struct sp_algebra *algebra = &walk->symbolic->algebra;
    const struct sp_span span = env->section->clauses[clause].first->span;
    const struct sp_operation length = {.kind = SP_DO_CALL, .function = sp_function_find("len"), .span = span};
    struct sp_sym count;
    if (list.kind == SP_SYM_EITHER) return each_of_both(walk, env, clause, list, tally);
    if ((list.kind == SP_SYM_VALUE && list.value.type == SHAPEPROOF_VALUE_LIST) ||
        (list.kind == SP_SYM_OPAQUE && list.items))
        return each_item(walk, env, clause, list, tally);
    if (list.kind != SP_SYM_NUMBER || sp_atom_alone(list.poly) == SIZE_MAX)
        return sp_sym_fail(walk->symbolic, span, "expected a list or first..last");
    if (!sp_sym_operate(walk->symbolic, &length, &list, 1, &count)) return false;
    const struct sp_poly *last = sp_poly_sub(algebra, count.poly, sp_poly_int(algebra, 1));
    return sum_loop(walk, env, clause, sp_poly_int(algebra, 0), last, &list, tally);
}

/* Whether the loop is over the layers that pipeline stages divide. */
static bool is_over_layers(const struct walk *walk, const struct sp_clause *clause)
{
    return walk->stage && !walk->uses && clause->kind != SP_CLAUSE_IF && clause->name == walk->stage->index;
}

static bool count_each(const void *at, size_t clause)
{
    const struct place *place = at;
    const struct sp_expr *items = place->env->section->clauses[clause].first;
    struct sp_sym list;
    if (is_over_layers(place->walk, &place->env->section->clauses[clause]))
        return sp_sym_fail(place->walk->symbolic, items->span, "which of these layers a stage has is not known");
    return sp_sym_eval(place->walk->symbolic, place->env, items, &list) &&
           each_of(place->walk, place->env, clause, list, place->tally);
}

/* The part of a loop over layers that the stage has. The last stage also has what is counted on behind the last layer.
 */
static bool clip_to_stage(struct walk *walk, const struct sp_clause *loop, const struct sp_poly **first,
                          const struct sp_poly **last)
{
    struct sp_algebra *algebra = &walk->symbolic->algebra;
    const struct stage *stage = walk->stage;
    struct sp_rational from, to;
    if (!sp_poly_is_constant(*first, &from) || !sp_poly_is_constant(*last, &to) || from.den != 1 || to.den != 1)
        return sp_sym_fail(walk->symbolic, loop->first->span, "which layers a stage has is not known");
    if (from.num < stage->begin) *first = sp_poly_int(algebra, stage->begin);
    if (to.num >= stage->end && !stage->is_last) *last = sp_poly_int(algebra, stage->end - 1);
    return true;
}

/* The part of a loop over experts that a rank has. */
static bool clip_to_experts(struct walk *walk, const struct sp_clause *loop, const struct sp_poly *first,
                            const struct sp_poly **last)
{
    struct sp_algebra *algebra = &walk->symbolic->algebra;
    const struct sp_poly *one = sp_poly_int(algebra, 1);
    const struct sp_poly *experts = sp_poly_add(algebra, sp_poly_sub(algebra, *last, first), one);
    experts = sp_shard_experts(walk->symbolic, loop->first->span, experts);
    if (experts) *last = sp_poly_sub(algebra, sp_poly_add(algebra, first, experts), one);
    return experts != NULL;
}

/* Of a loop those items that one rank has. */
static bool clip_loop(struct walk *walk, const struct sp_clause *loop, const struct sp_poly **first,
                      const struct sp_poly **last)
{
    if (walk->counted != COUNTS_SHARD) return true;
    if (is_over_layers(walk, loop) && !clip_to_stage(walk, loop, first, last)) return false;
    return !loop->by_ep || clip_to_experts(walk, loop, *first, last);
}

/* The iterations of a loop `for i in first..last`. One over fewer than UNROLL known indices is unrolled, so that list
 * items in it are known too; one that is known to be empty counts nothing. Any other is summed with its index as a
 * symbol, also one whose iterations are alike, because only names depend on the index. */
static bool count_iterations(const struct place *place, size_t clause, const struct sp_poly *first,
                             const struct sp_poly *last)
{
    struct walk *walk = place->walk;
    struct sp_rational from, to;
    const bool known =
        sp_poly_is_constant(first, &from) && sp_poly_is_constant(last, &to) && from.den == 1 && to.den == 1;
    if (known && to.num < from.num) return true;
    const struct sp_clause *loop = &place->env->section->clauses[clause];
    if (!known || (uint64_t)to.num - (uint64_t)from.num >= UNROLL || !(loop->is_read || loop->is_measured))
        return sum_loop(walk, place->env, clause, first, last, NULL, place->tally);
    for (int64_t i = from.num; i <= to.num; i++)
        if (!with_index(walk, place->env, clause, sp_sym_of_poly(sp_poly_int(&walk->symbolic->algebra, i)),
                        place->tally))
            return false;
    return true;
}

/* Whether the loop is over a known number of modules that is negative, a mistake as in a prediction: `0..N-1` where the
 * hyper-parameter N is -1, or `0..depths[s]-1`. Only computed numbers may be less than 0. */
static bool count_is_negative(struct walk *walk, const struct sp_sym_env *env, const struct sp_clause *loop,
                              const struct sp_poly *last)
{
    struct sp_rational to;
    const struct sp_expr *count = sp_loop_count(loop);
    if (!count || !sp_poly_is_constant(last, &to) || to.num >= -1) return false;
    const bool is_item = count->kind == SP_EXPR_INDEX;
    const char *key = sp_sym_key_source(walk->symbolic, env, is_item ? count->args[0] : count);
    return key && !sp_sym_fail(walk->symbolic, loop->last->span,
                               "%s%s is %" PRId64 ", and a number of modules cannot be negative",
                               is_item ? "an item of " : "", key, to.num + 1);
}

/* Counts a loop `for i in first..last`. */
static bool count_range(const void *at, size_t clause)
{
    const struct place *place = at;
    struct walk *walk = place->walk;
    const struct sp_sym_env *env = place->env;
    const struct sp_clause *loop = &env->section->clauses[clause];
    const struct sp_poly *first, *last;
    if (!sp_sym_number(walk->symbolic, env, loop->first, &first) ||
        !sp_sym_number(walk->symbolic, env, loop->last, &last) || count_is_negative(walk, env, loop, last) ||
        !clip_loop(walk, loop, &first, &last))
        return false;
    const bool enters_experts = loop->by_ep && enter_experts(walk);
    const bool good = count_iterations(place, clause, first, last);
    if (enters_experts) walk->symbolic->sharding->in_experts = false;
    return good;
}

/* Counts what is behind a condition of the section, multiplied by it. */
static bool count_if(const void *at, size_t clause)
{
    const struct place *place = at;
    struct walk *walk = place->walk;
    struct tally inner = {0};
    const struct sp_poly *wanted;
    if (!sp_sym_condition(walk->symbolic, place->env, place->env->section->clauses[clause].first, &wanted))
        return false;
    if (sp_poly_is_zero(wanted)) return true;
    const bool good = count_behind(walk, place->env, clause + 1, &inner);
    multiply_into(walk, place->tally, &inner, wanted);
    free_tally(&inner);
    return good;
}

static bool count_row(const void *at, const struct sp_row *row)
{
    const struct place *place = at;
    struct walk *walk = place->walk;
    const bool enters_experts = walk->counted == COUNTS_SHARD && sp_shard_is_of_experts(row) && enter_experts(walk);
    const bool good = (row->kind == SP_ROW_USE ? count_use : count_tensor)(walk, place->env, row, place->tally);
    if (enters_experts) walk->symbolic->sharding->in_experts = false;
    return good;
}

static const struct sp_walker counting = {count_range, count_each, count_if, count_row};

/* Whether the table has the line `measures` of what is counted. Of a part the tables have it that use it. */
static bool says_measure(struct walk *walk, const struct sp_unit *unit)
{
    static const struct {
        unsigned measure; /* of enum sp_measure */
        const char *name, *what;
    } needed[] = {
        [COUNTS_PARAMETERS] = {0},
        [COUNTS_ACTIVE] = {SP_MEASURE_ACTIVE, "active", "how much of it a token uses"},
        [COUNTS_STATES] = {SP_MEASURE_CACHE, "cache", "what is kept of earlier tokens"},
        [COUNTS_KEPT] = {SP_MEASURE_ACTIVATIONS, "activations", "what training keeps for the backward pass"},
        [COUNTS_PRODUCTS] = {SP_MEASURE_FLOPS, "flops", "how often its weights multiply"},
        [COUNTS_SHARD] = {SP_MEASURE_SHARD, "shard", "how ranks divide its tensors"},
    };
    const unsigned measure = needed[walk->counted].measure;
    if (!unit->is_table || (unit->measures & measure) == measure) return true;
    return sp_sym_fail(walk->symbolic, unit->span, "the table '%s' does not say %s: it has no line 'measures %s'",
                       unit->name, needed[walk->counted].what, needed[walk->counted].name);
}

/* Whether a condition of a measure holds, under what is known. One whose truth is open is no better than a false one,
 * unless it is assumed: what the formula does not cover has no number, and above all not the number 0. */
static bool formula_holds(struct walk *walk, struct sp_sym_frame *frame, const struct sp_formula_condition *formula)
{
    const struct sp_sym_env env = {.frame = frame};
    const struct sp_poly *holds;
    struct sp_rational truth;
    if (!sp_sym_condition(walk->symbolic, &env, formula->condition, &holds)) return false;
    if (walk->known && !sp_poly_is_constant(holds, &truth)) holds = sp_reduce(walk->count, holds, walk->known);
    const bool is_known = holds && sp_poly_is_constant(holds, &truth);
    if (is_known && truth.num) return true;
    if (!is_known && holds && walk->open) {
        walk->open->assume(walk->open->context, &env, formula->condition);
        return true;
    }
    const char *table = frame->unit->name;
    if (is_known) return sp_sym_fail(walk->symbolic, formula->span, "the table '%s': %s", table, formula->reason);
    const struct sp_span span = formula->condition->span;
    const bool is_cache = walk->counted == COUNTS_STATES;
    const char *what = is_cache ? "cache" : walk->counted == COUNTS_KEPT ? "activations" : "operations";
    return sp_sym_fail(walk->symbolic, formula->span, "the %s of '%s' %s known only if %.*s", what, table,
                       is_cache ? "is" : "are", (int)span.length, span.source->text + span.offset);
}

/* Whether all conditions hold that the unit has for the measure. */
static bool formulas_hold(struct walk *walk, struct sp_sym_frame *frame)
{
    const unsigned measure = walk->counted == COUNTS_KEPT       ? SP_MEASURE_ACTIVATIONS
                             : walk->counted == COUNTS_PRODUCTS ? SP_MEASURE_FLOPS
                             : walk->counted == COUNTS_STATES   ? SP_MEASURE_CACHE
                                                                : 0;
    bool good = true;
    for (size_t i = 0; i < frame->unit->formula_condition_count && good; i++)
        if (frame->unit->formula_conditions[i].measure == measure)
            good = formula_holds(walk, frame, &frame->unit->formula_conditions[i]);
    return good;
}

/* Whether the group is in no layer. */
static bool is_apart(const struct walk *walk, const struct sp_section *section)
{
    for (size_t i = 0; i < section->clause_count; i++)
        if (is_over_layers(walk, &section->clauses[i])) return false;
    return true;
}

/* Whether the rank that is counted has something of the group of the whole table; notes whether that stands behind the
 * layers, of which *met_layers is the memory, and whether tensor parallelism leaves it whole. */
static bool enter_section(struct walk *walk, const struct sp_section *section, bool *met_layers)
{
    if (walk->counted != COUNTS_SHARD || walk->uses) return true;
    struct stage *stage = walk->stage;
    struct sp_sharding *sharding = walk->symbolic->sharding;
    sharding->is_whole = false;
    sharding->in_vision = section->name && strcmp(section->name, "vision") == 0;
    for (size_t i = 0; i < walk->sizing->whole_count; i++)
        if (strcmp(walk->sizing->whole[i], section->name) == 0) sharding->is_whole = true;
    if (!stage) return true;
    const bool apart = is_apart(walk, section);
    *met_layers = *met_layers || !apart;
    stage->is_behind = apart && *met_layers;
    return !apart || (stage->is_behind ? stage->is_last : stage->is_first);
}

static bool has_counted(const struct walk *walk, const struct sp_section *section)
{
    bool found = false;
    for (size_t i = 0; i < section->row_count && !found; i++) found = is_counted(walk, &section->rows[i]);
    return found;
}

/* Counts the unit in its frame: of states, activations and products also what a table has beside its tensors. */
static bool count_unit(struct walk *walk, struct sp_sym_frame *frame, struct tally *tally)
{
    const struct sp_unit *unit = frame->unit;
    bool met_layers = false;
    const bool has_beside =
        walk->counted == COUNTS_STATES || walk->counted == COUNTS_KEPT || walk->counted == COUNTS_PRODUCTS;
    const size_t beside = has_beside ? unit->state_count : 0;
    if (!says_measure(walk, unit) || !formulas_hold(walk, frame)) return false;
    for (size_t i = 0; i < unit->section_count + beside; i++) {
        const struct sp_section *section =
            i < unit->section_count ? &unit->sections[i] : &unit->states[i - unit->section_count];
        if (i >= unit->section_count && !has_counted(walk, section)) continue; /* also its conditions are not for it */
        if (!enter_section(walk, section, &met_layers)) continue;
        if (!count_behind(walk, &(struct sp_sym_env){.frame = frame, .section = section}, 0, tally)) return false;
    }
    return true;
}

/* ---- the whole ---- */

/* Adds up the rows: for each group, in the order of their first rows, and in total. */
static void sum_groups(struct sp_count *count)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    count->total = sp_poly_int(algebra, 0);
    for (size_t i = 0; i < count->row_count; i++) {
        const struct sp_row_count *row = &count->rows[i];
        size_t group = 0;
        while (group < count->group_count && strcmp(count->groups[group].name, row->group) != 0) group++;
        if (group == count->group_count) {
            SP_GROW(count->groups, count->group_count, count->group_capacity);
            count->groups[count->group_count++] = (struct sp_group_count){row->group, sp_poly_int(algebra, 0)};
        }
        count->groups[group].parameters = sp_poly_add(algebra, count->groups[group].parameters, row->parameters);
        count->total = sp_poly_add(algebra, count->total, row->parameters);
    }
}

/* Counts the parameters of the table in terms of its hyper-parameters: rows, then groups. `how` says what is fixed.
 * False with a message when something has no value, or the algebra failed, such as by a formula that is too long. */
static bool count_once(struct sp_count *count, const struct sp_sym_fixed *how)
{
    struct walk walk = {.symbolic = &count->symbolic};
    struct tally tally = {0};
    count->symbolic = (struct sp_symbolic){.fixed = *how};
    count->symbolic.report.messages = &count->messages;
    count->symbolic.fixed.given = &count->given;
    count->symbolic.root = count->table;
    count->symbolic.is_counting = true;
    count->frame = new_count_frame(&walk, count->table);
    const struct sp_sym_env env = {.frame = count->frame};
    const bool has_arguments = count_arguments(&walk, &env, NULL, count->frame); /* all by default */
    if (has_arguments) sp_sym_name_symbols(walk.symbolic, &env);
    const bool good = has_arguments && count_unit(&walk, count->frame, &tally);
    sp_map_free(&tally.places);
    count->rows = tally.rows;
    count->row_count = tally.count;
    count->symbolic.is_counting = false;
    sum_groups(count);
    if (!count->symbolic.algebra.failed) return good;
    return sp_sym_fail(&count->symbolic, count->table->span, "%s", count->symbolic.algebra.failed);
}

/* Walks through the table once more, and counts of its rows what is in use. */
static bool count_active(struct sp_count *count)
{
    struct sp_active_count *active = &count->active;
    struct walk walk = {.symbolic = &count->symbolic, .counted = COUNTS_ACTIVE, .active = active};
    struct tally tally = {0};
    const bool was_counting = count->symbolic.is_counting;
    active->share_count = 0; /* of a count that failed */
    count->symbolic.is_counting = true;
    active->is_counted = count_unit(&walk, count->frame, &tally);
    count->symbolic.is_counting = was_counting;
    sp_free(active->rows);
    sp_map_free(&tally.places);
    active->rows = tally.rows;
    active->row_count = tally.count;
    return active->is_counted;
}

/* Whether, in one place, the default was taken for a list on which the total depends elsewhere: the two do not fit.
 * Adds such lists to count->given, so that they count as given everywhere the next time. */
static bool find_list_to_give(struct sp_count *count)
{
    bool found = false;
    for (size_t i = 0; i < count->symbolic.symbols.count; i++) {
        const struct sp_symbol_info *symbol = &count->symbolic.symbols.items[i];
        if (!symbol->was_left_out || !sp_poly_involves(&count->symbolic, count->total, symbol->atom)) continue;
        found = sp_map_add(&count->given, sp_arena_string(&count->keys, symbol->key), 0) || found;
    }
    return found;
}

/* Frees what was counted, but not which lists are given. */
static void forget(struct sp_count *count)
{
    sp_free(count->rows);
    sp_free(count->groups);
    sp_free(count->active.rows);
    sp_free(count->active.shares);
    sp_free(count->flops.shares);
    sp_free(count->shard.sharding.divisions);
    count->active = count->flops = (struct sp_active_count){0};
    count->shard = (struct sp_shard_count){.layers = 0};
    sp_text_free(&count->messages);
    sp_symbolic_free(&count->symbolic);
    count->rows = NULL;
    count->groups = NULL;
    count->row_count = count->group_count = count->group_capacity = 0;
}

/* Counts the table, and again for as long as that finds another list to be given. */
static bool count_how(struct sp_count *count, const struct shapeproof_tables *tables, const struct sp_unit *table,
                      const struct sp_sym_fixed *how)
{
    *count = (struct sp_count){.tables = tables, .table = table};
    sp_tables_reuse(tables);
    bool good = count_once(count, how);
    for (int round = 0; good && round < MAX_ROUNDS && find_list_to_give(count); round++) {
        forget(count);
        good = count_once(count, how);
    }
    return good;
}

bool sp_count_table(struct sp_count *count, const struct shapeproof_tables *tables, const struct sp_unit *table,
                    const struct sp_hyper *settings, enum sp_sides sides)
{
    const struct sp_sym_fixed how = {.settings = settings, .scalars = sides == SP_SIDES_ARE_EQUAL};
    return count_how(count, tables, table, &how);
}

bool sp_count_table_of_lists(struct sp_count *count, const struct shapeproof_tables *tables,
                             const struct sp_unit *table, const struct sp_hyper *settings, enum sp_sides sides)
{
    const struct sp_sym_fixed how = {.settings = settings, .scalars = sides == SP_SIDES_ARE_EQUAL, .opens_lists = true};
    return count_how(count, tables, table, &how);
}

bool sp_count_settled(struct sp_count *count, const struct shapeproof_tables *tables, const struct sp_unit *table,
                      const struct sp_hyper *settings)
{
    return sp_count_settled_but(count, tables, table, settings, NULL, 0, SP_SIDES_ARE_EQUAL);
}

bool sp_count_settled_but(struct sp_count *count, const struct shapeproof_tables *tables, const struct sp_unit *table,
                          const struct sp_hyper *settings, const char *const *open, size_t open_count,
                          enum sp_sides sides)
{
    const struct sp_sym_fixed how = {.settings = settings,
                                     .is_settled = true,
                                     .open = open,
                                     .open_count = open_count,
                                     .scalars = sides == SP_SIDES_ARE_EQUAL};
    return count_how(count, tables, table, &how);
}

void sp_count_free(struct sp_count *count)
{
    forget(count);
    sp_map_free(&count->given);
    sp_arena_free(&count->keys);
}

bool sp_count_is_large(const struct sp_count *count)
{
    return count->symbolic.algebra.arena.used > sp_budget_memory() / SCRATCH_PARTS;
}

bool sp_count_give_back(struct sp_count *count)
{
    const struct sp_sym_fixed how = count->symbolic.fixed;
    struct sp_text messages = count->messages;
    if (!sp_count_is_large(count)) return true;
    count->messages = (struct sp_text){0};
    sp_count_free(count);
    const bool good = count_how(count, count->tables, count->table, &how);
    if (count->messages.length) sp_text_puts(&messages, count->messages.data);
    sp_text_free(&count->messages);
    count->messages = messages;
    return good;
}

/* A group of the table without a single tensor has no parameters. */
static const struct sp_poly *empty_group(struct sp_count *count, const char *name)
{
    for (size_t i = 0; i < count->table->section_count; i++)
        if (strcmp(count->table->sections[i].name, name) == 0) return sp_poly_int(&count->symbolic.algebra, 0);
    return NULL;
}

const struct sp_poly *sp_count_group(void *context, const char *name)
{
    struct sp_count *count = context;
    if (!name || strcmp(name, "total") == 0) return count->total;
    const struct sp_poly *sum = NULL;
    for (size_t i = 0; i < count->group_count; i++) {
        const struct sp_group_count *group = &count->groups[i];
        if (!sp_group_is_in(count->table, group->name, name)) continue;
        sum = sum ? sp_poly_add(&count->symbolic.algebra, sum, group->parameters) : group->parameters;
    }
    return sum ? sum : empty_group(count, name);
}

const struct sp_poly *sp_count_active(struct sp_count *count, const char *group)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    const struct sp_poly *sum = sp_poly_int(algebra, 0);
    if (!count->active.is_counted && !count_active(count)) return NULL;
    for (size_t i = 0; i < count->active.row_count; i++) {
        const struct sp_row_count *row = &count->active.rows[i];
        if (!group || sp_group_is_in(count->table, row->group, group)) sum = sp_poly_add(algebra, sum, row->parameters);
    }
    return sum;
}

/* Walks through the table in the frame, and counts its rows. False after a mistake. */
static bool count_rows(struct walk *walk, struct sp_sym_frame *frame, struct tally *tally)
{
    const bool was_counting = walk->symbolic->is_counting;
    walk->symbolic->is_counting = true;
    const bool good = count_unit(walk, frame, tally);
    walk->symbolic->is_counting = was_counting;
    return good;
}

/* The sum of the rows of a group, or of all for NULL. */
static const struct sp_poly *sum_tally(struct sp_symbolic *symbolic, const struct tally *tally, const char *group)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *sum = sp_poly_int(algebra, 0);
    for (size_t i = 0; i < tally->count; i++)
        if (!group || sp_group_is_in(symbolic->root, tally->rows[i].group, group))
            sum = sp_poly_add(algebra, sum, tally->rows[i].parameters);
    return sum;
}

/* Walks through the table in the frame, and adds up what counts: of one group, or of all for NULL. NULL after a
 * mistake. */
static const struct sp_poly *sum_rows(struct walk *walk, struct sp_sym_frame *frame, const char *group)
{
    struct tally tally = {0};
    const bool good = count_rows(walk, frame, &tally);
    const struct sp_poly *sum = sum_tally(walk->symbolic, &tally, group);
    free_tally(&tally);
    return good ? sum : NULL;
}

/* A frame of the counted table for what is given to the walk, on which what the table defines may depend. */
static struct sp_sym_frame *new_given_frame(struct walk *walk, const struct sp_count *count)
{
    struct sp_sym_frame *frame = new_count_frame(walk, count->table);
    frame->params = count->frame->params;
    frame->param_sources = count->frame->param_sources;
    frame->given = walk->given;
    frame->given_count = walk->given_count;
    return frame;
}

const struct sp_poly *sp_count_measure(struct sp_count *count, const struct sp_row_measure *measure)
{
    struct walk walk = {.symbolic = &count->symbolic, .measure = measure};
    return sum_rows(&walk, count->frame, NULL);
}

/* A walk that counts a measure with these arguments, under what is known of its conditions. */
static struct walk walk_of_measure(struct sp_count *count, enum counted counted, const struct sp_values *known,
                                   const struct sp_sym_given *given, size_t given_count,
                                   const struct sp_open_formula *open)
{
    return (struct walk){.symbolic = &count->symbolic,
                         .counted = counted,
                         .count = count,
                         .known = known,
                         .open = open,
                         .given = given,
                         .given_count = given_count};
}

const struct sp_poly *sp_count_states(struct sp_count *count, const struct sp_values *known, unsigned tp,
                                      const struct sp_sym_given *given, size_t given_count,
                                      const struct sp_open_formula *open)
{
    struct walk walk = walk_of_measure(count, COUNTS_STATES, known, given, given_count, open);
    sp_free(count->shard.sharding.divisions);
    count->shard = (struct sp_shard_count){.sharding = {.ranks = {.tp = tp, .pp = 1, .ep = 1, .etp = tp}}};
    if (tp > 1) walk.states = &count->shard.sharding;
    return sum_rows(&walk, new_given_frame(&walk, count), NULL);
}

const struct sp_poly *sp_count_activations(struct sp_count *count, const struct sp_values *known,
                                           const struct sp_sym_given *given, size_t given_count,
                                           const struct sp_open_formula *open)
{
    struct walk walk = walk_of_measure(count, COUNTS_KEPT, known, given, given_count, open);
    return sum_rows(&walk, new_given_frame(&walk, count), NULL);
}

const struct sp_poly *sp_count_cache(struct sp_count *count, const struct sp_cache_asked *asked)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    const struct shapeproof_value is_expanded = sp_value_bool(asked->form == SP_CACHE_EXPANDED_FORM);
    const struct {
        const char *name;
        const struct sp_poly *number;
    } inputs[] = {{sp_flops_names[SP_FLOPS_SOURCE_TOKENS], asked->source_tokens},
                  {sp_flops_names[SP_FLOPS_IMAGES], asked->images}};
    struct sp_sym_given given[3 + sizeof inputs / sizeof *inputs] = {
        {"tokens", sp_sym_of_poly(asked->tokens), NULL},
        {"batch", sp_sym_of_poly(asked->batch), NULL},
        {"expanded", sp_sym_of_value(symbolic, is_expanded), NULL}};
    size_t given_count = 3;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        const char *name = inputs[i].name;
        if (inputs[i].number)
            given[given_count++] = (struct sp_sym_given){name, sp_sym_of_poly(inputs[i].number), NULL};
        else if (symbolic->fixed.is_settled) /* absent, whatever the configuration says */
            given[given_count++] = (struct sp_sym_given){name, sp_sym_of_value(symbolic, sp_value_absent(name)), NULL};
    }
    return sp_count_states(count, NULL, asked->tp, given, given_count, asked->open);
}

/* Whether those arguments are given that the table is about: tokens, tokens with images or sounds, or neither. */
static bool says_tokens(struct sp_count *count, const struct sp_flops *asked)
{
    static const char *const with[] = {
        [0] = "sequences of tokens: flops(tokens=...)",
        [SP_INPUT_IMAGE] = "sequences of tokens with images: flops(tokens=..., images=...)",
        [SP_INPUT_SOUND] = "sequences of tokens with sounds: flops(tokens=..., sounds=...)",
        [SP_INPUT_IMAGE | SP_INPUT_SOUND] =
            "sequences of tokens with images and sounds: flops(tokens=..., images=..., sounds=...)"};
    const struct sp_unit *table = count->table;
    const struct sp_poly *const *numbers = asked->numbers;
    const bool has_images = table->inputs & SP_INPUT_IMAGE, has_sounds = table->inputs & SP_INPUT_SOUND;
    const bool has_patches = numbers[SP_FLOPS_PATCHES] && !asked->has_every_argument;
    if (!(table->measures & SP_MEASURE_FLOPS)) return true; /* the count says so */
    if (table->only_input) {
        if (!numbers[SP_FLOPS_TOKENS]) return true;
        return sp_sym_fail(&count->symbolic, table->span, "the table '%s' is about %s: flops(batch=...)", table->name,
                           words_of_input(table->only_input));
    }
    if (numbers[SP_FLOPS_TOKENS] && has_images == (numbers[SP_FLOPS_IMAGES] != NULL) &&
        has_sounds == (numbers[SP_FLOPS_SOUNDS] != NULL) && (has_images || !has_patches))
        return true;
    return sp_sym_fail(&count->symbolic, table->span, "the table '%s' is about %s", table->name, with[table->inputs]);
}

/* The argument of flops(...), for the rows to read it. The number of patches and what an encoder reads need not be
 * given: then a row that reads it is not known, whatever the configuration says. Without images, the number of patches
 * may be any, such as 1. */
static struct sp_sym given_number(struct sp_count *count, const struct sp_flops *asked, enum sp_flops_argument argument)
{
    const struct sp_poly *const *numbers = asked->numbers;
    const struct sp_poly *images = numbers[SP_FLOPS_IMAGES];
    if (numbers[argument]) return sp_sym_of_poly(numbers[argument]);
    if (argument == SP_FLOPS_PATCHES && images && sp_poly_is_zero(images))
        return sp_sym_of_poly(sp_poly_int(&count->symbolic.algebra, 1));
    return sp_sym_of_value(&count->symbolic, sp_value_absent(sp_flops_names[argument]));
}

/* Walks through the table, with `causal` and the arguments given, and adds up what is multiplied in a forward pass over
 * one sequence or image: elements of matrices as often as they are, and the work. */
const struct sp_poly *sp_count_flops(struct sp_count *count, const struct sp_values *known,
                                     const struct sp_flops *asked, const struct sp_open_formula *open)
{
    enum {
        OPERATIONS = 2 /* a multiplication and an addition */,
        PASSES = 3 /* forward; backward takes two as long */
    };
    struct sp_algebra *algebra = &count->symbolic.algebra;
    const struct sp_poly *const *numbers = asked->numbers;
    struct sp_sym_given given[1 + SP_FLOPS_ARGUMENTS] = {
        {"causal", sp_sym_of_value(&count->symbolic, sp_value_bool(asked->how & SP_FLOPS_CAUSAL)), NULL}};
    size_t given_count = 1;
    bool is_read[SP_FLOPS_ARGUMENTS] = {false};
    for (enum sp_flops_argument i = SP_FLOPS_BATCH; i < SP_FLOPS_ARGUMENTS; i++)
        if (numbers[i] || i == SP_FLOPS_PATCHES || i == SP_FLOPS_SOURCE_TOKENS)
            given[given_count++] = (struct sp_sym_given){sp_flops_names[i], given_number(count, asked, i), &is_read[i]};
    struct walk walk = {.symbolic = &count->symbolic,
                        .counted = COUNTS_PRODUCTS,
                        .count = count,
                        .known = known,
                        .open = open,
                        .active = &count->flops,
                        .flops = asked,
                        .given = given,
                        .given_count = given_count,
                        .only_input = count->table->only_input,
                        .times = numbers[SP_FLOPS_TOKENS] ? numbers[SP_FLOPS_TOKENS] : sp_poly_int(algebra, 1)};
    if (!says_tokens(count, asked)) return NULL;
    count->flops.share_count = 0;
    count->flops.has_lookup = count->flops.has_attention = false;
    const struct sp_poly *sum = sum_rows(&walk, new_given_frame(&walk, count), asked->group);
    const bool has_images = !numbers[SP_FLOPS_IMAGES] || !sp_poly_is_zero(numbers[SP_FLOPS_IMAGES]);
    const enum sp_flops_argument optional[] = {SP_FLOPS_SOURCE_TOKENS, SP_FLOPS_PATCHES};
    for (size_t i = 0; sum && !asked->has_every_argument && i < sizeof optional / sizeof *optional; i++) {
        const enum sp_flops_argument argument = optional[i];
        if (!numbers[argument] || is_read[argument] || (argument == SP_FLOPS_PATCHES && !has_images)) continue;
        sp_sym_fail(&count->symbolic, count->table->span,
                    "no row of '%s' that is counted reads `%s`: leave out %s=", count->table->name,
                    sp_flops_names[argument], sp_flops_names[argument]);
        return NULL;
    }
    const int passes = asked->how & SP_FLOPS_TRAINING ? PASSES : 1;
    if (!sum) return NULL;
    return sp_poly_mul(algebra, numbers[SP_FLOPS_BATCH],
                       sp_poly_scale(algebra, sum, sp_rational_int(OPERATIONS * passes)));
}

/* ---- shards ---- */

/* What one rank of the stage has, row by row. */
static bool count_rank(struct sp_count *count, const struct sp_sizing *sizing, struct sp_sharding *sharding,
                       struct stage *stage, struct tally *tally)
{
    struct walk walk = {.symbolic = &count->symbolic, .counted = COUNTS_SHARD, .sizing = sizing, .stage = stage};
    count->symbolic.sharding = sharding;
    const bool good = count_rows(&walk, count->frame, tally);
    count->symbolic.sharding = NULL;
    return good;
}

/* Of the rows of a rank those that have as many parameters without tensor parallelism. Experts that it does not divide,
 * but expert parallelism does, are not on all of its ranks. */
static const struct sp_poly *count_replicated(struct sp_count *count, const struct sp_sizing *sizing,
                                              struct stage *stage, const struct tally *rank)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct sp_sharding sharding = {.ranks = {.tp = 1, .pp = sizing->ranks.pp, .ep = sizing->ranks.ep, .etp = 1},
                                   .skips_experts = sizing->ranks.etp == 1 && sizing->ranks.ep > 1};
    const struct sp_poly *sum = sp_poly_int(algebra, 0);
    struct tally whole = {0};
    const bool good = count_rank(count, sizing, &sharding, stage, &whole);
    for (size_t i = 0; good && i < rank->count; i++) {
        const struct sp_row_count *alone = find_row(&whole, &rank->rows[i]);
        if (alone && sp_poly_equal(alone->parameters, rank->rows[i].parameters))
            sum = sp_poly_add(algebra, sum, rank->rows[i].parameters);
    }
    free_tally(&whole);
    sp_free(sharding.divisions);
    return good ? sum : NULL;
}

/* The number of layers that pipeline stages divide. False with a message when it is not known, or too small. */
static bool find_layers(struct sp_count *count, const struct sp_expr *expr, int64_t *layers)
{
    const struct sp_pipeline *pipeline = &count->table->pipeline;
    const unsigned stages = expr->sizing->ranks.pp;
    const struct sp_sym_env env = {.frame = count->frame};
    const struct sp_poly *number;
    struct sp_rational known;
    *layers = 0;
    if (stages == 1) return true;
    if (!pipeline->count)
        return sp_sym_fail(&count->symbolic, count->table->span,
                           "the table '%s' does not say which layers pipeline stages divide: it has no line 'pipeline'",
                           count->table->name);
    if (!sp_sym_number(&count->symbolic, &env, pipeline->count, &number)) return false;
    if (!sp_poly_is_constant(number, &known) || known.den != 1)
        return sp_sym_fail(&count->symbolic, expr->span, "which stage is the largest depends on the number of layers");
    *layers = known.num;
    return known.num >= (int64_t)stages ||
           sp_sym_fail(&count->symbolic, expr->span, "%" PRId64 " layers are fewer than %u stages", known.num, stages);
}

/* Whether a group that is to be left whole is one of the table. */
static bool has_groups(struct sp_count *count, const struct sp_expr *expr)
{
    for (size_t i = 0; i < expr->sizing->whole_count; i++) {
        size_t k = 0;
        while (k < count->table->section_count && strcmp(count->table->sections[k].name, expr->sizing->whole[i]) != 0)
            k++;
        if (k == count->table->section_count)
            return sp_sym_fail(&count->symbolic, expr->span, "the table has no group [%s]", expr->sizing->whole[i]);
    }
    return true;
}

/* Counts each stage, and keeps the largest: its sum in *most, and what is replicated in it. */
static bool count_stage(struct sp_count *count, const struct sp_expr *expr, struct stage *stage, unsigned index,
                        const struct sp_poly **most)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct sp_shard_count *shard = &count->shard;
    struct tally tally = {0};
    struct sp_rational more;
    bool good = count_rank(count, expr->sizing, &shard->sharding, stage, &tally);
    const struct sp_poly *sum = good ? sum_tally(&count->symbolic, &tally, NULL) : NULL;
    if (good && *most && !sp_poly_is_constant(sp_poly_sub(algebra, sum, *most), &more))
        good = sp_sym_fail(&count->symbolic, expr->span, "which stage is the largest is not known");
    if (good && (!*most || more.num > 0)) {
        *most = sum;
        shard->stage = index;
        if (expr->sizing->ranks.tp > 1) {
            shard->replicated = count_replicated(count, expr->sizing, stage, &tally);
            good = shard->replicated != NULL;
        }
    }
    free_tally(&tally);
    return good;
}

/* Of so many layers those that the stage at `index` has. */
static struct stage stage_at(const struct sp_count *count, int64_t layers, unsigned stages, unsigned index)
{
    const int64_t more = layers % stages; /* the first stages have one more */
    const int64_t begin = layers / stages * index + (index < more ? index : more);
    return (struct stage){.index = count->table->pipeline.index,
                          .begin = begin,
                          .end = begin + sp_shard_layers(layers, stages, index),
                          .is_first = index == 0,
                          .is_last = index + 1 == stages};
}

/* Counts the stage in `scratch`, a count of the same table that is freed and begins anew when it has become large: the
 * memory does not grow with the number of stages. Notes the divisions in `count`. False when that is no number. */
static bool count_apart(struct sp_count *count, struct sp_count *scratch, const struct sp_expr *expr,
                        struct stage *stage, struct sp_rational *number)
{
    struct sp_sharding sharding = {.ranks = expr->sizing->ranks};
    struct sp_sym_fixed how = count->symbolic.fixed;
    struct tally tally = {0};
    how.named = NULL;
    how.tensors = NULL;
    if (sp_count_is_large(scratch)) {
        sp_count_free(scratch);
        *scratch = (struct sp_count){.table = NULL};
    }
    if (!scratch->table && !count_how(scratch, count->tables, count->table, &how)) return false;
    scratch->symbolic.steps = scratch->symbolic.algebra.work = 0;
    bool good = count_rank(scratch, expr->sizing, &sharding, stage, &tally);
    good = good && sp_poly_is_constant(sum_tally(&scratch->symbolic, &tally, NULL), number) &&
           !scratch->symbolic.algebra.failed;
    for (size_t i = 0; i < sharding.count && good; i++) {
        struct sp_partition_count seen = sharding.divisions[i];
        struct sp_rational pieces;
        good = sp_poly_is_constant(seen.pieces, &pieces);
        seen.pieces = sp_poly_rational(&count->symbolic.algebra, pieces);
        if (good) sp_shard_note(&count->shard.sharding, seen);
    }
    count->symbolic.fixed.settings_read |= scratch->symbolic.fixed.settings_read;
    free_tally(&tally);
    sp_free(sharding.divisions);
    return good && sp_sym_spend(&count->symbolic, expr->span, scratch->symbolic.steps);
}

/* Finds the largest stage of a settled count: the first of them. False when it is not found so. */
static bool find_largest(struct sp_count *count, const struct sp_expr *expr, unsigned *largest)
{
    const unsigned stages = expr->sizing->ranks.pp;
    struct sp_count scratch = {.table = NULL};
    struct sp_rational number, most = sp_rational_int(-1);
    bool good = count->symbolic.fixed.is_settled && !count->symbolic.fixed.open_count;
    for (unsigned i = 0; i < stages && good; i++) {
        struct stage stage = stage_at(count, count->shard.layers, stages, i);
        good = count_apart(count, &scratch, expr, &stage, &number);
        if (!good || sp_rational_compare(number, most) <= 0) continue;
        most = number;
        *largest = i;
    }
    sp_count_free(&scratch);
    return good;
}

const struct sp_poly *sp_count_shard(struct sp_count *count, const struct sp_expr *expr)
{
    const struct sp_parallelism ranks = expr->sizing->ranks;
    const struct sp_poly *most = NULL;
    int64_t layers;
    unsigned first = 0, behind = ranks.pp; /* the stages that are counted here */
    sp_free(count->shard.sharding.divisions);
    count->shard = (struct sp_shard_count){.sharding = {.ranks = ranks}};
    if (!has_groups(count, expr) || !find_layers(count, expr, &layers)) return NULL;
    count->shard.layers = layers;
    if (ranks.pp == 1) return count_stage(count, expr, NULL, 0, &most) ? most : NULL;
    if (find_largest(count, expr, &first)) behind = first + 1;
    else first = 0;
    for (unsigned i = first; i < behind; i++) {
        struct stage stage = stage_at(count, layers, ranks.pp, i);
        if (!count_stage(count, expr, &stage, i, &most)) return NULL;
    }
    return most;
}
