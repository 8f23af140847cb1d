/* SPDX-License-Identifier: MIT
 * What adapters are made of besides the pairs of LoRA: magnitudes of DoRA, vectors of IA3, prompts, modules that were
 * trained as a whole. Told by a component of the name, as PEFT has it: "ia3_l" of "layers.0.mlp.down_proj.ia3_l". */
#ifndef SP_CHECK_ADAPTER_PARTS_H
#define SP_CHECK_ADAPTER_PARTS_H

#include "base/arena.h"
#include "base/value.h"
#include "shapeproof/inventory.h"

/* How the shape of a part follows from that of the weight, (out, in). */
enum sp_part_rule {
    SP_PART_ANY,       /* not at all */
    SP_PART_OUT,       /* `out` elements */
    SP_PART_OUT_OR_IN, /* `out` elements, or `in` */
    SP_PART_IA3,       /* (out, 1) or (1, in); of a convolution (1, out or in, 1, ...) */
    SP_PART_BOFT,      /* (out, 1); of a convolution (1, out) */
    SP_PART_ROWS,      /* (out, ...) */
    SP_PART_COLUMNS,   /* (..., in) */
    SP_PART_SAME,      /* that of the tensor whose name lacks the component: x.weight for x.modules_to_save.weight */
    SP_PART_WEIGHT,    /* that of the weight, where a module has one */
    SP_PART_BIAS,      /* `out` elements, where a module has it */
    SP_PART_KRONECKER, /* that of a factor of the weight, together with the other one */
    SP_PART_RANK,      /* (rank, 1), the rank being that of the pair beside it */
    SP_PART_SCALAR,    /* one element */
    SP_PART_BLOCKS,    /* (any number, blocks, size, size), and blocks * size is `in` */
    SP_PART_OF_ALL,    /* of no module: of the adapter as a whole */
    SP_PART_PROMPT     /* likewise, and adapter_config.json has its sizes */
};

/* Where a component stands for a part. */
enum sp_part_where {
    SP_PART_ANYWHERE,
    SP_PART_WITH_PAIRS, /* beside a pair of LoRA: a module with one needs the other. None in a file without pairs */
    SP_PART_BEHIND_FLAT /* behind a flat module alone (SP_FRONT_FLAT): the word is too common elsewhere */
};

struct sp_part_kind {
    const char *component; /* "ia3_l" */
    const char *method;    /* "IA3"; NULL of what stands beside the parts of any method */
    enum sp_part_rule rule;
    enum sp_part_where where;
};

static inline bool sp_part_is_of_all(const struct sp_part_kind *kind) { return kind->rule >= SP_PART_OF_ALL; }

/* The method that such a part belongs to, by peft_type of adapter_config.json where several have parts of that name;
 * NULL of what stands beside the parts of any method. */
const char *sp_part_method(const struct sp_part_kind *kind, struct shapeproof_value config);

struct sp_part {
    const struct sp_part_kind *kind;
    const char *module; /* in front of the component: "base_model.model.lm_head" */
    const char *label;  /* the adapter's name behind it: "default", or "" */
    const char *rest;   /* behind that: "weight", "dense.weight"; "" for nothing */
};

/* "an adapter (IA3) for 12 modules", of a file that has such parts and no pairs; NULL for any other. In the arena. */
const char *sp_parts_describe(struct sp_arena *arena, const struct shapeproof_inventory *inventory);

/* Whether the name is one of a part. Strings are in the arena. */
bool sp_part_read(struct sp_arena *arena, const char *name, struct sp_part *part);

/* Whether a part of that kind may be other than floating-point numbers: indices, counts, switches, and modules of a
 * quantised base. */
bool sp_part_may_be_integers(const struct sp_part_kind *kind);

#endif
