/* SPDX-License-Identifier: MIT
 * The mapping between the names, said in as few lines as it takes: each change with the number of tensors that it was
 * made to, however many changes one name saw. */
#include <stdlib.h>
#include <string.h>

#include "diff/diff.h"
#include "names/collapse.h"
#include "names/wrappers.h"

/* What the spelling of one side has and that of the other has not. */
static const struct {
    enum sp_naming_habit habit;
    const char *with, *without;
} habits[] = {
    {SP_HABIT_SLASHES, "*/*", "*.*"},
    {SP_HABIT_TWICE, "x/x/*", "x/*"},
    {SP_HABIT_COLON, "*:0", "*"},
};

struct mapper {
    struct shapeproof_diff *diff;
    struct sp_kinds kinds; /* mappings are numbered by them */
    struct sp_text key;
};

/* Counts a tensor for a mapping, which is added when it is new. */
static void note_mapping(struct mapper *mapper, const char *from, const char *to, bool transposed)
{
    struct shapeproof_diff *diff = mapper->diff;
    mapper->key.length = 0;
    sp_text_printf(&mapper->key, "%s\n%s\n%d", from, to, transposed);
    const size_t kind = sp_kind_of(&mapper->kinds, &mapper->key);
    if (kind == diff->mapping_count) {
        SP_GROW(diff->mappings, diff->mapping_count, diff->mapping_capacity);
        diff->mappings[diff->mapping_count++] = (struct shapeproof_diff_mapping){
            sp_arena_string(&diff->arena, from), sp_arena_string(&diff->arena, to), transposed, 0};
    }
    diff->mappings[kind].tensors++;
}

/* The same of names alone. */
static void note_renaming(struct mapper *mapper, const char *from, const char *to)
{
    note_mapping(mapper, from, to, false);
}

/* What the last component of a name becomes. */
static void note_leaf(struct mapper *mapper, size_t tensor)
{
    struct shapeproof_diff *diff = mapper->diff;
    const char *from = diff->a.spelling[tensor].leaf, *to = diff->b.spelling[diff->a.other[tensor]].leaf;
    struct sp_arena scratch = {0};
    if (strcmp(from, to) != 0)
        note_mapping(mapper, sp_arena_printf(&scratch, "*%s", from), sp_arena_printf(&scratch, "*%s", to),
                     shapeproof_diff_is_converted(diff, tensor));
    sp_arena_free(&scratch);
}

/* The wrapper that the name of one side has in it. */
static void note_wrapper(struct mapper *mapper, size_t tensor, bool in_a)
{
    struct shapeproof_diff *diff = mapper->diff;
    const char *name = in_a ? shapeproof_inventory_tensor(diff->a.inventory, tensor)->name
                            : shapeproof_inventory_tensor(diff->b.inventory, diff->a.other[tensor])->name;
    const char *wrapper = sp_wrapper_in(name);
    struct sp_arena scratch = {0};
    const char *with = sp_arena_printf(&scratch, "%s.*", wrapper ? wrapper : "_orig_mod");
    note_renaming(mapper, in_a ? with : "*", in_a ? "*" : with);
    sp_arena_free(&scratch);
}

/* All that makes the name of a tensor in A that in B. */
static void note_tensor(struct mapper *mapper, size_t tensor)
{
    struct shapeproof_diff *diff = mapper->diff;
    const size_t translation = diff->translation_of[tensor];
    const unsigned in_a = diff->a.spelling[tensor].habits, in_b = diff->b.spelling[diff->a.other[tensor]].habits;
    if (translation != SHAPEPROOF_NONE)
        note_renaming(mapper, diff->translations.items[translation].from, diff->translations.items[translation].to);
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        if (!((in_a ^ in_b) & habits[i].habit)) continue;
        const bool with = in_a & habits[i].habit;
        note_renaming(mapper, with ? habits[i].with : habits[i].without, with ? habits[i].without : habits[i].with);
    }
    if ((in_a ^ in_b) & SP_HABIT_WRAPPER) note_wrapper(mapper, tensor, in_a & SP_HABIT_WRAPPER);
    note_leaf(mapper, tensor);
}

/* The names of another program on one side. */
static void note_scheme(struct mapper *mapper, size_t tensor)
{
    struct shapeproof_diff *diff = mapper->diff;
    const bool in_a = diff->a.spelling[tensor].habits & SP_HABIT_SCHEME;
    if (!in_a && !(diff->b.spelling[diff->a.other[tensor]].habits & SP_HABIT_SCHEME)) return;
    const char *theirs = sp_arena_printf(&diff->arena, "names %s", diff->scheme),
               *plain = sp_arena_printf(&diff->arena, "names %s", diff->plain);
    note_renaming(mapper, in_a ? theirs : plain, in_a ? plain : theirs);
}

void sp_diff_map(struct shapeproof_diff *diff)
{
    struct mapper mapper = {.diff = diff};
    for (size_t i = 0; i < shapeproof_inventory_count(diff->a.inventory); i++)
        if (sp_diff_is_renamed(diff, i)) {
            note_scheme(&mapper, i);
            note_tensor(&mapper, i);
        }
    sp_kinds_free(&mapper.kinds);
    sp_text_free(&mapper.key);
}
