/* SPDX-License-Identifier: MIT
 * A comparison of two checkpoints under way: pair the tensors, say how names were translated, read off the findings. */
#ifndef SP_DIFF_DIFF_H
#define SP_DIFF_DIFF_H

#include <string.h>

#include "base/text.h"
#include "model/format.h"
#include "model/layouts.h"
#include "model/parametrised.h"
#include "names/joints.h"
#include "names/spelling.h"
#include "shapeproof/diff.h"
#include "stored/unpack.h"

/* Something that is done to many names of A to make them those of B. */
struct sp_translation {
    const char *from, *to; /* as struct shapeproof_diff_mapping shows them */
    bool is_prefix;        /* all that it does is to add a prefix, or take it away */
};

/* One of the checkpoints; the arrays have an item for each of its tensors. */
struct sp_diff_half {
    enum shapeproof_diff_side side;
    const struct shapeproof_inventory *inventory;
    size_t *other;                /* its counterpart in the other checkpoint, or SHAPEPROOF_NONE */
    struct sp_spelling *spelling; /* of tensors without one of the same name; of others zero */
    bool *once;                   /* it is tied to a tensor that the other checkpoint has, which stores the two once */
    bool *joined; /* it is one of several that are one tensor in the other checkpoint, or that one: a single finding is
                   * about all of them */
    bool *incomplete; /* the other checkpoint stores it under a parametrisation, not all parts of which are there or fit
                       */
    bool *is_weight_of_parts; /* it is the part of a weight under a parametrisation that has the shape of the weight */
    bool *turned;             /* the rule that translates its name also puts its dimensions in opposite order */
    struct sp_parametrised *parametrised; /* weights that it stores under a parametrisation; in the arena */
    size_t parametrised_count;
};

/* A tensor that is one on one side and several on the other (names/joints.h). All arrays are in the arena. */
struct sp_diff_joint {
    const struct sp_diff_half *whole_side, *parts_side;
    size_t whole;        /* a tensor of its side */
    const size_t *parts; /* tensors of the other side: of each component those by index */
    size_t part_count;
    const size_t *order; /* the components in the order in which the name of the whole has them */
    size_t component_count;
    bool transposed, by_heads;
    const char *says;         /* "self_attn.qkv_proj = q_proj + k_proj + v_proj" */
    const char *head, *tail;  /* what it has before and behind the components */
    const char *const *names; /* of the components; NULL: there is only one */
    size_t finding;           /* the one that reports the joint */
    bool is_ordered;          /* a rule of transformers says that the components lie in `order`, one behind the other */
    bool is_misplaced;        /* but the data show that they do not: it is no conversion by that rule */
};

/* How the components lie in a whole. */
struct sp_joint_layout {
    const size_t *order; /* the components, the first one first */
    uint64_t groups;     /* all components have a piece in each group, in this order */
    bool transposed;
};

/* A weight that one of the files stores as several tensors, and the other as the matrix (quantised.c). */
struct sp_diff_packed {
    const struct sp_diff_half *packed_side, *full_side;
    const struct sp_packed_module *module; /* of packed_side; in the arena */
    struct shapeproof_value form;          /* of the quantisation of that file */
    size_t full;                           /* the matrix, a tensor of full_side */
    bool is_counted;                       /* packed.c has compared its data, or counted it as not compared */
};

/* A weight that one of the files stores under a parametrisation, and the other as it is (parametrised.c). */
struct sp_diff_parametrised {
    const struct sp_diff_half *side, *full_side;
    const struct sp_parametrised *stored; /* of `side`; in the arena */
    size_t full;                          /* the weight, a tensor of full_side */
    bool is_counted;                      /* its data are compared */
};

struct shapeproof_diff {
    struct sp_arena arena;
    struct sp_diff_half a, b;
    SP_ARRAY(struct sp_translation) translations;
    SP_ARRAY(struct sp_diff_joint) joints;
    SP_ARRAY(struct sp_diff_packed) packed;
    SP_ARRAY(struct sp_diff_parametrised) parametrised;
    size_t *translation_of; /* for each tensor of A, or SHAPEPROOF_NONE */
    /* One of them has the names of another program: "of Meta's own Llama", and the names that they are translated to,
     * "of transformers". NULL for none. */
    const char *scheme, *plain;
    struct shapeproof_diff_mapping *mappings;
    size_t mapping_count, mapping_capacity;
    struct shapeproof_diff_finding *findings;
    size_t finding_count, finding_capacity;
    struct shapeproof_diff_group *groups;
    size_t group_count;
    struct shapeproof_diff_totals totals;
    bool same;
    const char *summary;
    const char *data_note; /* what was compared in another form, and what was not; or NULL */
};

static inline const struct shapeproof_tensor *sp_diff_a(const struct shapeproof_diff *diff, size_t tensor)
{
    return shapeproof_inventory_tensor(diff->a.inventory, tensor);
}

static inline const struct shapeproof_tensor *sp_diff_b(const struct shapeproof_diff *diff, size_t tensor)
{
    return shapeproof_inventory_tensor(diff->b.inventory, tensor);
}

/* Whether it has Keras' names, whatever its version. */
static inline bool sp_is_from_keras(const struct shapeproof_inventory *inventory)
{
    return sp_format_has(inventory, SP_BY_KERAS);
}

/* "A" or "B", for messages. */
static inline const char *sp_half_name(const struct sp_diff_half *half)
{
    return half->side == SHAPEPROOF_DIFF_A ? "A" : "B";
}

/* Called otherwise in B, that is. */
static inline bool sp_diff_is_renamed(const struct shapeproof_diff *diff, size_t a)
{
    return diff->a.other[a] != SHAPEPROOF_NONE && diff->a.spelling[a].text;
}

/* The first of the tensors that are the same. */
static inline size_t sp_tie_group(const struct shapeproof_inventory *inventory, size_t tensor)
{
    const size_t first = shapeproof_inventory_tensor(inventory, tensor)->same_as;
    return first == SHAPEPROOF_NONE ? tensor : first;
}

/* ---- the steps ---- */

/* Notes that two tensors are counterparts; `translation` is the one that makes their names equal, or SHAPEPROOF_NONE.
 */
void sp_diff_pair_tensors(struct shapeproof_diff *diff, size_t a, size_t b, size_t translation);
void sp_diff_pair_counters(struct shapeproof_diff *diff); /* counters.c: before all others */
void sp_diff_pair_order(struct shapeproof_diff *diff);    /* likewise: after all others */
void sp_diff_pair_known(struct shapeproof_diff *diff, const char *const *names_a,
                        const char *const *names_b); /* pair.c */
void sp_diff_pair(struct shapeproof_diff *diff);     /* pair.c */
/* parametrised.c: the names by which the parts of weights are paired, while tensors are; then what is paired so. */
void sp_diff_spell_parametrised(struct shapeproof_diff *diff);
void sp_diff_parametrised(struct shapeproof_diff *diff);
void sp_diff_map(struct shapeproof_diff *diff);  /* map.c */
void sp_diff_find(struct shapeproof_diff *diff); /* findings.c */
void sp_diff_join(struct shapeproof_diff *diff); /* joints.c: between the ties and the findings */
/* Reports a tensor of `whole` that is several of `parts`, and marks all of them. Items are the tensors of A, and behind
 * them those of B. */
void sp_diff_add_joint(struct shapeproof_diff *diff, const struct sp_joint *joint, const struct sp_diff_half *whole,
                       const struct sp_diff_half *parts);
/* Puts the layout that the data show into the finding of a joint; NULL: they do not show it. */
void sp_diff_show_layout(struct shapeproof_diff *diff, struct sp_diff_joint *joint,
                         const struct sp_joint_layout *layout);
void sp_diff_quantised(struct shapeproof_diff *diff); /* quantised.c: likewise */
/* ties.c: before the others, which need to know what is stored once. */
void sp_diff_ties(struct shapeproof_diff *diff);
bool sp_diff_data(struct shapeproof_diff *diff, const struct shapeproof_watch *watch,
                  struct shapeproof_error *error);   /* data.c */
void sp_diff_metadata(struct shapeproof_diff *diff); /* metadata.c: of two files of GGUF */
/* conversion.c: whether one of the two is GGUF and the other is not. */
bool sp_diff_is_conversion(const struct shapeproof_diff *diff);
/* Whether a conversion to GGUF left a matrix of A and its partner in the same order, although it transposes it in each
 * model: the shapes are equal, and no square. */
bool sp_diff_lacks_transposing(const struct shapeproof_diff *diff, size_t a);
/* Turns the findings that every conversion to GGUF, or to the names of another program, has into notes. */
void sp_diff_judge_conversion(struct shapeproof_diff *diff);
void sp_diff_conclude(struct shapeproof_diff *diff); /* summary.c: groups and summary */
/* sizes.c: how many layers, and how wide; NULL when they do not differ much. In the arena. */
const char *sp_diff_sizes(struct shapeproof_diff *diff);

/* The message of tensors with other data that no relation explains. */
#define SP_OTHER_DATA "has other data"

/* Its kind says which id and severity it has; strings are in the arena or the inventories. */
void sp_diff_add(struct shapeproof_diff *diff, struct shapeproof_diff_finding finding);
/* Adds one about a tensor of A and its counterpart in B, of which one may be SHAPEPROOF_NONE: sets its names and
 * tensors. */
void sp_diff_add_about(struct shapeproof_diff *diff, size_t a, size_t b, struct shapeproof_diff_finding finding);

#endif
