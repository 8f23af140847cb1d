/* SPDX-License-Identifier: MIT */
#include "stored/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/order.h"
#include "config/quantised.h"
#include "solve/invert.h"
#include "solve/lines.h"

/* Keys of a matrix by itself; the others are those of quantization_config. */
enum { ROWS, COLUMNS, TOLD, OWN_KEYS = TOLD + SP_TOLD_COUNT };

static const char *own_key(int key)
{
    return key == ROWS ? "matrix_rows" : key == COLUMNS ? "matrix_columns" : sp_told[key - TOLD].key;
}

static const char prefix[] = "matrix.";

/* ---- a table of one matrix, stored as the part says ---- */

static struct sp_expr *new_expr(struct sp_arena *arena, struct sp_expr expr)
{
    struct sp_expr *own = sp_arena_alloc(arena, sizeof *own);
    *own = expr;
    return own;
}

/* matrix.* part(matrix_rows, matrix_columns, "module") */
static struct sp_row *new_row(struct sp_arena *arena, const struct sp_unit *part)
{
    struct sp_row *row = sp_arena_alloc(arena, sizeof *row);
    struct sp_piece *piece = sp_arena_alloc(arena, sizeof *piece);
    struct sp_expr **given = sp_arena_array(arena, part->param_count, sizeof *given);
    for (size_t i = 0; i < part->param_count; i++)
        given[i] = i < 2    ? new_expr(arena, (struct sp_expr){.kind = SP_EXPR_NAME, .name = own_key((int)i)})
                   : i == 2 ? new_expr(arena, (struct sp_expr){.kind = SP_EXPR_LITERAL})
                            : NULL;
    *piece = (struct sp_piece){.text = prefix};
    *row = (struct sp_row){.kind = SP_ROW_USE,
                           .name = {.pieces = piece, .count = 1},
                           .unit = part,
                           .unit_name = part->name,
                           .given = given};
    return row;
}

static struct sp_unit *new_unit(struct sp_arena *arena, const struct sp_unit *part)
{
    struct sp_unit *unit = sp_arena_alloc(arena, sizeof *unit);
    struct sp_section *section = sp_arena_alloc(arena, sizeof *section);
    struct sp_name_slot *slot = sp_arena_alloc(arena, sizeof *slot);
    *slot = (struct sp_name_slot){NULL, {.kind = SP_MEANS_KEY}};
    *section = (struct sp_section){.name = "", .rows = new_row(arena, part), .row_count = 1};
    *unit = (struct sp_unit){.is_table = true,
                             .name = "matrix",
                             .title = "",
                             .names = slot,
                             .name_count = 1,
                             .sections = section,
                             .section_count = 1};
    return unit;
}

/* What the part reads of the form: some methods have it further within. */
static struct shapeproof_value read_part_of(struct sp_arena *arena, struct shapeproof_value form)
{
    const struct shapeproof_value method = sp_value_member(form, "quant_method");
    struct sp_rules rules;
    if (method.type != SHAPEPROOF_VALUE_STRING) return form;
    sp_rules_open(&rules, arena, form, "", method.string);
    sp_rules_close(&rules);
    return rules.whole;
}

/* The members of the form, those of its only group too, as the part reads them. */
static void add_form(struct sp_method *method, struct shapeproof_value form, size_t from)
{
    form = read_part_of(method->arena, form);
    const struct shapeproof_value groups = sp_value_member(form, "config_groups");
    const struct shapeproof_value group = groups.type == SHAPEPROOF_VALUE_OBJECT ? groups.members[0].value : groups;
    const size_t own = form.count, grouped = group.type == SHAPEPROOF_VALUE_OBJECT ? group.count : 0;
    memcpy(method->members + from, form.members, own * sizeof *method->members);
    if (grouped) memcpy(method->members + from + own, group.members, grouped * sizeof *method->members);
    method->root = (struct shapeproof_value){
        .type = SHAPEPROOF_VALUE_OBJECT, .count = from + own + grouped, .members = method->members};
}

void sp_method_open(struct sp_method *method, const struct sp_unit *part, struct shapeproof_value form)
{
    enum { MOST = 64 }; /* members; the forms of schemes.c have fewer */
    *method = (struct sp_method){.unit = NULL};
    method->members = sp_realloc(NULL, MOST, sizeof *method->members);
    for (int i = 0; i < OWN_KEYS; i++)
        method->members[i] = (struct shapeproof_member){own_key(i), sp_value_absent(own_key(i))};
    struct sp_arena *arena = sp_realloc(NULL, 1, sizeof *arena);
    *arena = (struct sp_arena){0};
    method->arena = arena;
    add_form(method, form, OWN_KEYS);
    method->unit = new_unit(arena, part);
    sp_outline_configure(&method->outline, method->unit, &method->root);
    method->tails = sp_arena_array(arena, method->outline.count, sizeof *method->tails);
    for (size_t i = 0; i < method->outline.count; i++)
        method->tails[i] =
            sp_arena_string(arena, sp_line_shown(&method->outline, &method->outline.lines[i]) + strlen(prefix));
}

void sp_method_close(struct sp_method *method)
{
    sp_outline_free(&method->outline);
    sp_arena_free(method->arena);
    sp_free(method->arena);
    sp_free(method->members);
}

size_t sp_method_tails(const struct sp_method *method) { return method->outline.count; }

/* ---- inverted ---- */

static const struct shapeproof_tensor *member_called(const struct sp_matrix_members *members, const char *tail)
{
    for (size_t i = 0; i < members->count; i++)
        if (strcmp(members->tails[i], tail) == 0) return members->tensors[i];
    return NULL;
}

/* The dimensions in front of those that the row has: of experts. False when there are more than one. */
static bool lead_of(const struct sp_line *line, const struct shapeproof_tensor *tensor, uint64_t *lead)
{
    const size_t rank = line->row->rank;
    *lead = tensor->rank == rank + 1 ? tensor->shape[0] : 0;
    return tensor->rank == rank || tensor->rank == rank + 1;
}

static const uint64_t *own_shape(const struct sp_line *line, const struct shapeproof_tensor *tensor)
{
    return tensor->shape + (tensor->rank - line->row->rank);
}

static void set_dimension(struct sp_method *method, int key, uint64_t value)
{
    method->members[key].value =
        value && value <= INT64_MAX ? sp_value_int((int64_t)value) : sp_value_absent(own_key(key));
    sp_solver_ask_anew(&method->outline.solver);
}

/* The value of an expression for a value of the key; -1 when it has none. */
static int64_t value_for(struct sp_method *method, const struct sp_line *line, size_t d, int key, uint64_t value)
{
    set_dimension(method, key, value);
    const struct shapeproof_value found = sp_solver_value(&method->outline.solver, line->env, line->row->shape[d]);
    set_dimension(method, key, 0);
    return found.type == SHAPEPROOF_VALUE_INT ? found.integer : -1;
}

/* The largest value of the key for which the dimension, which grows with it, is as large as it is: what was rounded up
 * was most often not rounded at all. 0 when there is none, or it does not depend on the key. */
static uint64_t approach_dimension(struct sp_method *method, const struct sp_line *line, size_t d, int key,
                                   int64_t wanted)
{
    const struct shapeproof_value without = sp_solver_value(&method->outline.solver, line->env, line->row->shape[d]);
    uint64_t low = 1, high = UINT64_C(1) << 40;
    if (without.type == SHAPEPROOF_VALUE_INT || value_for(method, line, d, key, low) < 0) return 0;
    while (low + 1 < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (value_for(method, line, d, key, middle) <= wanted) low = middle;
        else high = middle;
    }
    return value_for(method, line, d, key, low) == wanted ? low : 0;
}

/* What one dimension of the matrix must be for the tensors to be as large as they are; 0 when nothing tells. */
static uint64_t find_dimension(struct sp_method *method, const struct sp_matrix_members *members, int key)
{
    struct sp_solver *solver = &method->outline.solver;
    sp_solver_open(solver, own_key(key));
    for (size_t i = 0; i < method->outline.count; i++) {
        const struct sp_line *line = &method->outline.lines[i];
        const struct shapeproof_tensor *tensor = member_called(members, method->tails[i]);
        uint64_t lead;
        if (!tensor || line->optional || !lead_of(line, tensor, &lead) || !sp_line_is_met(solver, line)) continue;
        for (size_t d = 0; d < line->row->rank; d++) {
            const struct sp_want want = sp_want_value(sp_value_int((int64_t)own_shape(line, tensor)[d]));
            sp_invert(solver, line->env, line->row->shape[d], &want);
        }
    }
    const struct shapeproof_value value = sp_known_value(&solver->known, own_key(key));
    sp_solver_open(solver, NULL);
    return sp_value_count(value);
}

/* The same where the part rounds: each tensor tells the most that it may be. */
static uint64_t find_rounded(struct sp_method *method, const struct sp_matrix_members *members, int key)
{
    uint64_t least = 0, lead;
    for (size_t i = 0; i < method->outline.count; i++) {
        const struct sp_line *line = &method->outline.lines[i];
        const struct shapeproof_tensor *tensor = member_called(members, method->tails[i]);
        if (!tensor || !lead_of(line, tensor, &lead) || !sp_line_is_met(&method->outline.solver, line)) continue;
        for (size_t d = 0; d < line->row->rank; d++) {
            const uint64_t most = approach_dimension(method, line, d, key, (int64_t)own_shape(line, tensor)[d]);
            if (most && (!least || most < least)) least = most;
        }
    }
    return least;
}

static void find_and_set(struct sp_method *method, const struct sp_matrix_members *members, int key, uint64_t *found)
{
    *found = find_dimension(method, members, key);
    if (!*found) *found = find_rounded(method, members, key);
    set_dimension(method, key, *found);
}

/* ---- and forth ---- */

static bool is_as_stored(struct sp_method *method, const struct sp_line *line, const struct shapeproof_tensor *tensor)
{
    const uint64_t *shape = own_shape(line, tensor);
    const size_t rank = line->row->rank;
    if (line->row->dtype != SHAPEPROOF_DTYPE_UNKNOWN && line->row->dtype != tensor->dtype) return false;
    for (size_t d = 0; d < rank; d++) {
        const struct shapeproof_value value = sp_solver_value(&method->outline.solver, line->env, line->row->shape[d]);
        if (value.type != SHAPEPROOF_VALUE_INT || value.integer < 0 || (uint64_t)value.integer != shape[d])
            return false;
    }
    return true;
}

/* A scale of the whole is written as () and as (1). */
static bool is_one(struct sp_method *method, const struct sp_line *line, const struct shapeproof_tensor *tensor)
{
    if (tensor->parameters != 1 || tensor->rank > 1 || line->row->rank > 1) return false;
    const struct shapeproof_value value =
        line->row->rank ? sp_solver_value(&method->outline.solver, line->env, line->row->shape[0]) : sp_value_int(1);
    return value.type == SHAPEPROOF_VALUE_INT && value.integer == 1 &&
           (line->row->dtype == SHAPEPROOF_DTYPE_UNKNOWN || line->row->dtype == tensor->dtype);
}

/* Whether the tensors are exactly what the part makes of the matrix. */
static bool is_made_of(struct sp_method *method, const struct sp_matrix_members *members, uint64_t *lead)
{
    size_t explained = 0;
    bool any = false;
    for (size_t i = 0; i < method->outline.count; i++) {
        const struct sp_line *line = &method->outline.lines[i];
        const struct shapeproof_tensor *tensor = member_called(members, method->tails[i]);
        uint64_t own;
        if (!sp_line_is_met(&method->outline.solver, line)) continue;
        if (!tensor && line->optional) continue;
        if (!tensor) return false;
        explained++;
        if (is_one(method, line, tensor)) continue;
        if (!lead_of(line, tensor, &own) || !is_as_stored(method, line, tensor) || (any && own != *lead)) return false;
        *lead = own;
        any = true;
    }
    return explained == members->count;
}

/* ---- matrices of which only the size shows ---- */

/* Whether the tensors are those of a matrix of so many elements. */
static bool is_flat(struct sp_method *method, const struct sp_matrix_members *members, uint64_t elements)
{
    uint64_t lead;
    set_dimension(method, ROWS, elements);
    set_dimension(method, COLUMNS, 1);
    return is_made_of(method, members, &lead) && !lead;
}

/* HQQ with 3 bits: ten codes in a word, so that words may have more room than there are elements. The scales tell how
 * many groups there are; groups along columns have a power of two elements. */
static bool try_thirds(struct sp_method *method, const struct sp_matrix_members *members, uint64_t *elements)
{
    const struct shapeproof_tensor *packed = member_called(members, "W_q"), *scales = member_called(members, "scale");
    const uint64_t in_word = 10;
    uint64_t group = 1, most;
    if (!packed || !scales || packed->rank != 2 || scales->rank != 2) return false;
    if (scales->shape[1] == 1) group = packed->shape[1];
    else if (!sp_mul_u64(packed->shape[0], in_word, &most)) return false;
    else
        while (group <= most / 2) group *= 2;
    return sp_mul_u64(scales->parameters, group, elements) && is_flat(method, members, *elements);
}

static bool try_flat(struct sp_method *method, const struct sp_matrix_members *members, uint64_t *elements)
{
    static const uint64_t widths[] = {2, 4, 8, 1};
    const struct shapeproof_tensor *weight = member_called(members, "weight"), *groups = member_called(members, "W_q");
    if (!weight) weight = groups; /* HQQ: groups of the matrix as a whole */
    for (size_t i = 0; weight && i < sizeof widths / sizeof *widths; i++) {
        if (!sp_mul_u64(weight->parameters, widths[i], elements)) return false;
        if (is_flat(method, members, *elements)) return true;
    }
    return try_thirds(method, members, elements);
}

bool sp_method_solve(struct sp_method *method, const struct sp_matrix_members *members, struct sp_matrix *matrix)
{
    const struct sp_row *use = &method->unit->sections->rows[0];
    uint64_t told[SP_TOLD_COUNT] = {0};
    *matrix = (struct sp_matrix){.lead = 0};
    if (use->unit->param_count > 2) use->given[2]->value = sp_value_string(members->module);
    set_dimension(method, ROWS, 0);
    set_dimension(method, COLUMNS, 0);
    for (size_t i = 0; i < members->count; i++)
        sp_told_note(told, members->tails[i], members->tensors[i]->shape, members->tensors[i]->rank);
    for (int i = 0; i < SP_TOLD_COUNT; i++) set_dimension(method, TOLD + i, told[i]);
    find_and_set(method, members, ROWS, &matrix->rows);
    find_and_set(method, members, COLUMNS, &matrix->columns);
    const bool flat = member_called(members, "W_q") || (!matrix->rows && !matrix->columns);
    if (!flat) return matrix->rows && matrix->columns && is_made_of(method, members, &matrix->lead);
    matrix->rows = matrix->columns = 0;
    return try_flat(method, members, &matrix->elements);
}
