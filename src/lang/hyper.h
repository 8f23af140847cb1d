/* SPDX-License-Identifier: MIT
 * Hyper-parameters as the language sees them: one object of values, and where each came from. */
#ifndef SP_LANG_HYPER_H
#define SP_LANG_HYPER_H

#include "base/value.h"
#include "shapeproof/prediction.h"

struct sp_unit;
struct sp_given;

/* Neither the configuration nor its table: a file beside it, the file of weights, an object of the configuration. */
static inline struct shapeproof_provenance sp_provenance_other(const char *name)
{
    return (struct shapeproof_provenance){.source = SHAPEPROOF_SOURCE_OTHER, .name = name};
}

/* A value that was set from outside the file, by its dotted path: "text_config.vocab_size". */
struct sp_override {
    const char *path;
    struct shapeproof_provenance from;
};

/* How much of a table a "what if" question expands. A tie to a tensor that is not expanded is left out. */
struct sp_scope {
    const int64_t *indices; /* ascending: loops over ranges visit these indices alone; NULL: all */
    size_t index_count;
    size_t most; /* tensors; more are an error */
};

/* What is known so far of hyper-parameters that are being inferred. It is asked in place of the configuration. All that
 * the evaluation does for inference alone hangs on it: without it no value is SHAPEPROOF_VALUE_UNKNOWN, no sp_given is
 * `open`, and nothing has the path of an item of a list (sp_eval_item_path). */
struct sp_knowledge {
    struct shapeproof_value (*ask)(void *context,
                                   const char *path); /* SHAPEPROOF_VALUE_UNKNOWN, naming the path, when it is not */
    /* The same of an item of a list of which it is not known how long it is. */
    struct shapeproof_value (*ask_item)(void *context, const char *path, size_t index);
    void *context;
    const size_t *changes; /* counts up when anything may be answered otherwise than before */
    size_t *touched;       /* the last guess that an answer follows from */
    uint64_t *asked;       /* the keys that were asked for, as a set of hash values (sp_known.asked) */
};

/* What is stored in place of a tensor: those of a part, which reads an object of the configuration. */
struct sp_replacement {
    const struct sp_unit *part; /* its first parameters are the last two dimensions of the tensor, then its module */
    struct shapeproof_value object;
    const char *path;             /* of the object: "quantization_config" */
    const struct sp_given *given; /* what is known of the module besides */
    size_t given_count;
    const char *module; /* that the tensor belongs to: "lm_head" */
    const char *prefix; /* in front of the names of the part: "lm_head." */
};

/* The table says which tensors a model has, an overlay how some of them are stored. */
struct sp_overlay {
    /* False when the tensor is stored as the table says. What it returns is in the arena, or lives as long. */
    bool (*replace)(const struct sp_overlay *overlay, struct sp_arena *arena, const char *name, size_t rank,
                    struct sp_replacement *replacement);
};

struct sp_hyper {
    struct shapeproof_value root; /* an object */
    const char *file;             /* "config.json", where all else comes from; "" when there is none */
    const struct sp_override *overrides;
    size_t override_count;
    const char *const *other_keys; /* for others than the table: it need not read them when they are overridden */
    size_t other_key_count;
    const struct sp_scope *scope;         /* NULL: the whole table */
    uint64_t most;                        /* tensors; 0: SP_MAX_PREDICTED */
    const struct sp_knowledge *knowledge; /* NULL: `root` is all there is */
    const struct sp_overlay *overlay;     /* NULL: everything is stored as the table says */
    bool loose; /* tensors that are tied and of different shapes are no mistake; they are left untied */
};

/* Who says the value of a key that is set, by its dotted path. */
struct shapeproof_provenance sp_hyper_provenance(const struct sp_hyper *hyper, const char *path);

#endif
