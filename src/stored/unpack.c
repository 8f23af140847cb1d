/* SPDX-License-Identifier: MIT
 * Finds how a file is quantised by trying every method and form: the tensors of the file are gathered into modules by
 * the method's suffixes, and the matrix of each is solved (matrix.h). Modules with the same suffixes, dtypes and shapes
 * are one kind, of which the matrix is solved once. The form that explains the most tensors is the likeliest. */
#include "stored/unpack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "config/quantised.h"
#include "stored/schemes.h"
#include "stored/suffixes.h"

enum {
    MAX_KINDS = 1000,     /* modules of further kinds are not unpacked */
    MAX_DIMENSIONS = 256, /* different ones of a file that are compared */
    MAX_FOUND = 64        /* forms that are kept: every number of bits with every size of groups may fit */
};

struct module {
    const char *name;               /* without the suffixes: "lm_head" */
    size_t tensors[SP_MAX_MEMBERS]; /* of the file */
    size_t tails[SP_MAX_MEMBERS];   /* the suffix of each, as an index of method->tails */
    size_t count;                   /* of the tensors */
    size_t kind;                    /* SIZE_MAX: none of the first MAX_KINDS */
};

/* The modules of the file by the suffixes of a method; they serve all forms of it. */
struct modules {
    struct sp_arena *arena;
    const struct shapeproof_inventory *file;
    struct sp_method method; /* in one of its forms */
    bool stacked;            /* a suffix follows the module's name without a dot: "experts.gate_up_proj" + "_blocks" */
    bool is_beside;          /* these are of experts in one tensor, of a method that also quantises single matrices */
    struct sp_map names;     /* -> index of list */
    SP_ARRAY(struct module) list;
    struct sp_map kinds;        /* suffixes, dtypes and shapes -> number of the kind */
    size_t examples[MAX_KINDS]; /* the first module of each kind, as an index of list */
};

/* ---- the modules of a file ---- */

/* Experts in one tensor have no suffix. */
static bool is_weight(const char *tail) { return strcmp(tail, "weight") == 0 || !*tail; }

enum if_new { ADD_NEW, ONLY_KNOWN };

/* The module with that name. A new one is added; ONLY_KNOWN: it is NULL. */
static struct module *module_named(struct modules *modules, const struct sp_text *name, enum if_new if_new)
{
    size_t place = sp_map_get(&modules->names, name->data);
    if (place == SIZE_MAX && if_new == ONLY_KNOWN) return NULL;
    if (place == SIZE_MAX) {
        place = modules->list.count;
        const char *own = sp_arena_copy(modules->arena, name->data, name->length);
        *SP_PUSH(&modules->list) = (struct module){.name = own};
        sp_map_add(&modules->names, own, place);
    }
    return &modules->list.items[place];
}

/* Adds the tensor to the module that it is of by its suffix; of the suffixes only "weight" if `weights`, otherwise only
 * the others. `name` is scratch memory. */
static void add_member(struct modules *modules, size_t tensor, bool weights, struct sp_text *name)
{
    const struct shapeproof_tensor *stored = shapeproof_inventory_tensor(modules->file, tensor);
    for (size_t i = 0; i < sp_method_tails(&modules->method); i++) {
        const char *tail = modules->method.tails[i];
        if (is_weight(tail) != weights || !sp_strip_suffix(name, stored->name, modules->stacked ? "" : ".", tail))
            continue;
        const bool is_sign_of_quantisation = !weights || sp_looks_packed(stored);
        const bool is_new = is_sign_of_quantisation && *tail; /* every tensor has the suffix "" */
        struct module *module = module_named(modules, name, is_new ? ADD_NEW : ONLY_KNOWN);
        if (!module || module->count == SP_MAX_MEMBERS) return;
        module->tensors[module->count] = tensor;
        module->tails[module->count++] = i;
        return;
    }
}

/* Gathers the modules. In a second pass their weights: every layer has a tensor "weight", which only makes a module if
 * other tensors of it are there, or if it is of a dtype that plain weights do not have. */
static void collect_modules(struct modules *modules)
{
    struct sp_text name = {0};
    for (int weights = 0; weights < 2; weights++)
        for (size_t i = 0; i < shapeproof_inventory_count(modules->file); i++)
            if (!(shapeproof_inventory_tensor(modules->file, i)->flags & SHAPEPROOF_TENSOR_STATE))
                add_member(modules, i, weights, &name);
    sp_text_free(&name);
}

/* Numbers the modules by their kind. */
static void find_kinds(struct modules *modules)
{
    struct sp_text key = {0};
    for (size_t i = 0; i < modules->list.count; i++) {
        struct module *module = &modules->list.items[i];
        key.length = 0;
        for (size_t k = 0; k < module->count; k++) {
            const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(modules->file, module->tensors[k]);
            sp_text_printf(&key, "%zu %d", module->tails[k], (int)tensor->dtype);
            for (uint32_t d = 0; d < tensor->rank; d++) sp_text_printf(&key, " %" PRIu64, tensor->shape[d]);
            sp_text_puts(&key, ";");
        }
        module->kind = sp_map_get(&modules->kinds, key.data); /* SIZE_MAX when it is new */
        if (module->kind != SIZE_MAX || modules->kinds.count == MAX_KINDS) continue;
        module->kind = modules->kinds.count;
        modules->examples[module->kind] = i;
        sp_map_add(&modules->kinds, sp_arena_copy(modules->arena, key.data, key.length), module->kind);
    }
    sp_text_free(&key);
}

static void free_modules(struct modules *modules)
{
    sp_map_free(&modules->names);
    sp_map_free(&modules->kinds);
    sp_free(modules->list.items);
}

/* ---- their matrices ---- */

static struct sp_matrix_members members_of(const struct modules *modules, const struct module *module)
{
    struct sp_matrix_members members = {.count = module->count, .module = module->name};
    for (size_t i = 0; i < module->count; i++) {
        members.tails[i] = modules->method.tails[module->tails[i]];
        members.tensors[i] = shapeproof_inventory_tensor(modules->file, module->tensors[i]);
    }
    return members;
}

static const char *name_of_matrix(const struct modules *modules, const struct module *module)
{
    return modules->stacked ? module->name : sp_arena_printf(modules->arena, "%s.weight", module->name);
}

static bool is_any_solved(const bool *solved, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (solved[i]) return true;
    return false;
}

/* Fills in what a form explains: the modules whose kinds are solved. */
static void take_modules(struct modules *modules, const struct sp_matrix *matrices, const bool *solved,
                         struct sp_unpacked *unpacked)
{
    const struct sp_packed_module *before = unpacked->modules; /* of single matrices */
    if (!is_any_solved(solved, modules->kinds.count)) return;
    unpacked->modules =
        sp_arena_array(modules->arena, unpacked->count + modules->list.count, sizeof *unpacked->modules);
    if (before) memcpy(unpacked->modules, before, unpacked->count * sizeof *before);
    for (size_t i = 0; i < modules->list.count; i++) {
        const struct module *module = &modules->list.items[i];
        if (module->kind == SIZE_MAX || !solved[module->kind]) continue;
        struct sp_packed_module *packed = &unpacked->modules[unpacked->count++];
        *packed = (struct sp_packed_module){
            .name = name_of_matrix(modules, module), .count = module->count, .matrix = matrices[module->kind]};
        packed->tensors = sp_arena_array(modules->arena, module->count, sizeof *packed->tensors);
        memcpy(packed->tensors, module->tensors, module->count * sizeof *packed->tensors);
        unpacked->tensors += module->count;
    }
}

/* Solves the matrix of each kind under modules->method. */
static void solve_kinds(struct modules *modules, struct sp_unpacked *unpacked)
{
    struct sp_matrix *matrices = sp_realloc(NULL, modules->kinds.count, sizeof *matrices);
    bool *solved = sp_realloc(NULL, modules->kinds.count, sizeof *solved);
    for (size_t i = 0; i < modules->kinds.count; i++) {
        const struct sp_matrix_members members = members_of(modules, &modules->list.items[modules->examples[i]]);
        solved[i] = sp_method_solve(&modules->method, &members, &matrices[i]) &&
                    (!modules->is_beside || (matrices[i].lead && members.count > 1));
    }
    take_modules(modules, matrices, solved, unpacked);
    sp_free(matrices);
    sp_free(solved);
}

/* ---- which of several forms ---- */

struct dimensions {
    uint64_t list[MAX_DIMENSIONS];
    size_t count;
};

static bool has_dimension(const struct dimensions *dimensions, uint64_t dimension)
{
    for (size_t i = 0; i < dimensions->count; i++)
        if (dimensions->list[i] == dimension) return true;
    return false;
}

/* The different dimensions of the tensors that are in no module. */
static void collect_dimensions(struct dimensions *dimensions, const struct shapeproof_inventory *file,
                               const struct sp_unpacked *unpacked)
{
    const size_t count = shapeproof_inventory_count(file);
    bool *packed = sp_realloc(NULL, count, sizeof *packed);
    memset(packed, 0, count * sizeof *packed);
    dimensions->count = 0;
    for (size_t i = 0; i < unpacked->count; i++)
        for (size_t k = 0; k < unpacked->modules[i].count; k++) packed[unpacked->modules[i].tensors[k]] = true;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(file, i);
        for (uint32_t d = 0; d < tensor->rank && !packed[i] && dimensions->count < MAX_DIMENSIONS; d++)
            if (!has_dimension(dimensions, tensor->shape[d])) dimensions->list[dimensions->count++] = tensor->shape[d];
    }
    sp_free(packed);
}

static void count_familiar(struct sp_unpacked *unpacked, const struct shapeproof_inventory *file)
{
    struct dimensions dimensions;
    if (!unpacked->count) return;
    collect_dimensions(&dimensions, file, unpacked);
    for (size_t i = 0; i < unpacked->count; i++)
        unpacked->familiar += has_dimension(&dimensions, unpacked->modules[i].matrix.rows) +
                              has_dimension(&dimensions, unpacked->modules[i].matrix.columns);
}

struct unpacking {
    struct sp_arena *arena;
    const struct shapeproof_tables *tables;
    const struct shapeproof_inventory *file;
    const struct sp_unit *part, *beside; /* `beside`: that for experts in one tensor, or NULL */
    struct modules modules, stacks;      /* of the method that is tried; of `beside` */
    struct sp_unpacked found[MAX_FOUND]; /* best first */
    size_t count;
};

static bool is_likelier(const struct sp_unpacked *a, const struct sp_unpacked *b)
{
    return a->tensors != b->tensors ? a->tensors > b->tensors : a->familiar > b->familiar;
}

/* Inserts a form that explains anything into `found`, best first; behind its equals, which were tried before. */
static void keep_unpacked(struct unpacking *unpacking, struct sp_unpacked unpacked)
{
    size_t place = unpacking->count;
    if (!unpacked.count) return;
    while (place && is_likelier(&unpacked, &unpacking->found[place - 1])) place--;
    if (place == MAX_FOUND) return;
    if (unpacking->count < MAX_FOUND) unpacking->count++;
    memmove(&unpacking->found[place + 1], &unpacking->found[place],
            (unpacking->count - 1 - place) * sizeof *unpacking->found);
    unpacking->found[place] = unpacked;
}

/* Adds the modules that a part explains in this form. */
static void unpack_part(const struct sp_unit *part, struct modules *modules, struct sp_unpacked *unpacked)
{
    sp_method_open(&modules->method, part, unpacked->form);
    if (!modules->list.count) {
        collect_modules(modules);
        find_kinds(modules);
    }
    solve_kinds(modules, unpacked);
    sp_method_close(&modules->method);
}

static void unpack_form(void *context, struct shapeproof_value form)
{
    struct unpacking *unpacking = context;
    struct sp_unpacked unpacked = {.form = form};
    unpack_part(unpacking->part, &unpacking->modules, &unpacked);
    if (unpacking->beside) unpack_part(unpacking->beside, &unpacking->stacks, &unpacked);
    count_familiar(&unpacked, unpacking->file);
    keep_unpacked(unpacking, unpacked);
}

static void unpack_method(struct unpacking *unpacking, size_t method)
{
    struct sp_part_suffixes names;
    sp_part_suffixes_of(&names, unpacking->part);
    unpacking->modules = (struct modules){.arena = unpacking->arena, .file = unpacking->file, .stacked = names.stacked};
    unpacking->stacks =
        (struct modules){.arena = unpacking->arena, .file = unpacking->file, .stacked = true, .is_beside = true};
    sp_scheme_visit_all(unpacking->arena, method, unpack_form, unpacking);
    free_modules(&unpacking->modules);
    free_modules(&unpacking->stacks);
}

size_t sp_unpack(struct sp_arena *arena, const struct shapeproof_tables *tables,
                 const struct shapeproof_inventory *file, struct sp_unpacked *found, size_t most)
{
    struct unpacking unpacking = {.arena = arena, .tables = tables, .file = file};
    struct sp_map tails = {0};
    size_t count = 0;
    if (!sp_any_looks_packed(file)) return 0;
    sp_note_tails(file, &tails);
    for (size_t i = 0; i < sp_scheme_count(); i++) {
        unpacking.part = sp_scheme_part(tables, i);
        unpacking.beside = unpacking.part ? sp_part_beside(tables, unpacking.part) : NULL;
        if (unpacking.part && (unpacking.beside || sp_part_shows(unpacking.part, &tails))) unpack_method(&unpacking, i);
    }
    while (count < unpacking.count && count < most && unpacking.found[count].tensors == unpacking.found[0].tensors) {
        found[count] = unpacking.found[count];
        count++;
    }
    sp_map_free(&tails);
    return count;
}
