/* SPDX-License-Identifier: MIT
 * Which modules a configuration quantises, and how: quantization_config, in the dialects of the quantisers. The tensors
 * that take the place of a weight are a part of the table language, quantised_METHOD in
 * src/tables/layers/quantised.shapes. */
#ifndef SP_CONFIG_QUANTISED_H
#define SP_CONFIG_QUANTISED_H

#include "base/map.h"
#include "base/text.h"
#include "base/value.h"
#include "config/config.h"

struct sp_rule_dialect;

/* The rules that quantization_config has for single modules, "layers.3.mlp.gate": {"bits": 8}. Each quantiser writes
 * them in a dialect of its own, a row of `dialects` in quantised.c. */
struct sp_rules {
    const struct sp_rule_dialect *dialect; /* NULL: the quantiser has none, or the configuration has no rules in it */
    const char *path;                      /* of the object with the rules: "quantization_config.extra_config" */
    struct shapeproof_value object; /* a member for each; those of quantization_config itself may be something else */
    struct shapeproof_value whole;  /* the keys that hold for modules without a rule */
    const char *whole_path;         /* where these are: "quantization_config" */
    struct sp_map named;            /* names of modules, or of kinds of them -> index of the member */
    size_t patterns[512], count;    /* members whose keys are patterns */
};

/* What is said of one module. */
struct sp_module_rule {
    enum {
        SP_MODULE_NONE,    /* no rule: it is quantised as the whole is */
        SP_MODULE_OWN,     /* it has keys of its own */
        SP_MODULE_LEFT_OUT /* it is not quantised */
    } kind;
    struct shapeproof_value object; /* its keys, or those of the whole */
    const char *path;               /* of that object */
    bool inherits;                  /* what the rule does not say holds as for the whole */
};

/* Reads the rules of quantization_config, the object at `path`. `method` is the quantiser as part names have it,
 * "compressed_tensors". Close with sp_rules_close; the strings of the object must outlive the rules. */
void sp_rules_open(struct sp_rules *rules, struct sp_arena *arena, struct shapeproof_value object, const char *path,
                   const char *method);
void sp_rules_close(struct sp_rules *rules);

struct shapeproof_tables;
struct sp_unit;

/* How a module is stored in a file. */
enum sp_stored {
    SP_STORED_NOWHERE, /* the configuration decides */
    SP_STORED_PLAIN,
    SP_STORED_PACKED
};

/* What only a file can tell of a module: how much a quantiser made of it, as the text that bitsandbytes keeps beside a
 * weight, or the bits that another has chosen for this one. A part reads it as a key of its configuration. */
struct sp_told {
    const char *key, *member; /* the tensor; one that ends in a dot is what its name begins with */
    bool last;                /* its last dimension, not the first */
};
enum { SP_TOLD_COUNT = 9 };
extern const struct sp_told sp_told[SP_TOLD_COUNT];
/* Notes in `sizes` what a tensor called `member` tells. */
void sp_told_note(uint64_t sizes[SP_TOLD_COUNT], const char *member, const uint64_t *shape, uint32_t rank);

/* A file that a prediction of what is stored may ask: it knows best which modules are quantised. */
struct sp_storage {
    enum sp_stored (*ask)(const struct sp_storage *storage, const char *module); /* NULL: there is no file */
    /* Of the module, in the order of sp_told; 0 where the file tells nothing. NULL: it does of none. */
    const uint64_t *(*told)(const struct sp_storage *storage, const char *module);
};

enum sp_exemption {
    SP_QUANTISED,
    SP_EXEMPT_BY_NATURE, /* an embedding, a head or a router, which this method leaves alone */
    SP_EXEMPT_LISTED     /* the configuration says so */
};

struct sp_quantised {
    struct sp_overlay overlay; /* comes first: it is handed out in place of the whole */
    struct sp_arena arena;
    const struct sp_storage *storage;
    const char *method;           /* "gptq", or NULL: nothing is quantised */
    const struct sp_unit *part;   /* NULL: there is none for the method */
    const struct sp_unit *beside; /* that for experts in one tensor, quantised_METHOD_stacked, or NULL */
    const char *path;             /* "quantization_config" */
    struct shapeproof_value object;
    struct shapeproof_value groups;           /* its config_groups; absent when it has none */
    bool embeddings, heads, routers, stacked; /* as the part says of itself */
    bool typed;                               /* the part says in which dtype its scales are: */
    enum shapeproof_dtype scales;             /* UNKNOWN: in that of the model */
    struct sp_map exempt;                     /* module names and pieces of them */
    uint64_t exempt_sizes;                    /* as those of sp_module_pieces */
    struct sp_rules rules;                    /* about single modules */
    const char **globs;
    size_t glob_count, glob_capacity;
    size_t *budget;       /* for matching patterns */
    const char *list_key; /* in which key of the object those are, or NULL */
};

/* False when the configuration quantises nothing. Strings of the configuration must outlive it. */
bool sp_quantised_open(struct sp_quantised *quantised, const struct shapeproof_tables *tables,
                       const struct sp_hyper *hyper, const struct sp_storage *storage);
void sp_quantised_close(struct sp_quantised *quantised);
/* The part for experts in one tensor that stands beside that one, or NULL. */
const struct sp_unit *sp_part_beside(const struct shapeproof_tables *tables, const struct sp_unit *part);
/* Whether the table or part has the definition NAME = true. */
bool sp_unit_says(const struct sp_unit *unit, const char *name);
/* Whether that key of quantization_config says which modules are quantised, or by which method. */
bool sp_quantised_reads(const char *key);
/* The names that exempt a module if they are listed, one after the other: whole components of its name, "mlp.gate" of
 * "layers.3.mlp.gate".
 *
 *     struct sp_module_pieces piece = sp_module_pieces_of(module, sizes);
 *     while (sp_next_module_piece(&piece)) ... piece.text.data ...
 *     sp_text_free(&piece.text); */
struct sp_module_pieces {
    struct sp_text text;
    const char *from, *to;
    uint64_t sizes; /* of the listed names: bit n: there is one of n components */
    unsigned components;
};
uint64_t sp_size_of_name(const char *name); /* its bit */
struct sp_module_pieces sp_module_pieces_of(const char *module, uint64_t sizes);
bool sp_next_module_piece(struct sp_module_pieces *piece);
enum sp_exemption sp_quantised_exempts(const struct sp_quantised *quantised, const char *module);
/* Whether a module is called as the routers of experts are: "mlp.gate". */
bool sp_quantised_is_router(const char *module);
/* The module that a weight belongs to, "lm_head" of "lm_head.weight", in the arena; NULL when the method leaves a
 * tensor of such a name alone. */
const char *sp_quantised_module(const struct sp_quantised *quantised, struct sp_arena *arena, const char *weight);

#endif
