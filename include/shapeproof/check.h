/* SPDX-License-Identifier: MIT
 * Comparing a checkpoint with its prediction: findings, one for each tensor and kind, and the causes behind them. */
#ifndef SHAPEPROOF_CHECK_H
#define SHAPEPROOF_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/expect.h"
#include "shapeproof/inventory.h"
#include "shapeproof/prediction.h"
#include "shapeproof/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shapeproof_verdict {
    SHAPEPROOF_VERDICT_MATCH = 0,     /* every predicted tensor is there with its shape, and no other */
    SHAPEPROOF_VERDICT_EXPLAINED = 1, /* differences, each with a harmless cause */
    SHAPEPROOF_VERDICT_DIFFERS = 2,   /* something is wrong with the file, its configuration, or the table */
    SHAPEPROOF_VERDICT_UNKNOWN = 3    /* a part of the model could not be checked; the rest matches */
};

enum shapeproof_severity {
    SHAPEPROOF_SEVERITY_NOTE = 0,
    SHAPEPROOF_SEVERITY_WARNING = 1,
    SHAPEPROOF_SEVERITY_ERROR = 2
};

/* X(enumerator suffix, value, id, severity as it is found, what it says of a tensor or, the last two, of an
 * expectation). docs/exit-status.md has the same in the same order. */
/* clang-format off */
#define SHAPEPROOF_FINDINGS(X) \
    X(MISSING, 0, "missing", ERROR, "predicted, but not in the file") \
    X(UNEXPECTED, 1, "unexpected", ERROR, "in the file, but not predicted") \
    X(SHAPE, 2, "shape", ERROR, "has another shape than predicted") \
    X(DTYPE, 3, "dtype", ERROR, \
      "has a dtype of complex numbers; or has another dtype than the table gives, than other tensors of its kind " \
      "have, or than the rest of the file has") \
    X(QUANTISED, 4, "quantised", ERROR, \
      "the file quantises a weight that the configuration exempts, or does not quantise one that the configuration " \
      "quantises") \
    X(LACKING, 5, "lacking", ERROR, \
      "missing; the table does not require it, but other modules of the same kind have such a tensor, or an index or " \
      "the configuration announces it") \
    X(TIED_ABSENT, 6, "tied-absent", NOTE, "not stored, since it is tied to a tensor that is stored") \
    X(TIED_PRESENT, 7, "tied-present", NOTE, "stored, although it is tied to a tensor that is stored as well") \
    X(OPTIONAL, 8, "optional", NOTE, "an optional tensor that the file has") \
    X(STATE, 9, "state", NOTE, "part of the state of an optimizer or trainer") \
    X(UNUSED, 10, "unused", ERROR, \
      "an entry in the file of expected differences (`--expect`) that matches neither a finding nor a cause") \
    X(EXPIRED, 11, "expired", ERROR, \
      "an entry in the file of expected differences (`--expect`) whose last day is over")
/* clang-format on */

enum shapeproof_finding_kind {
#define SHAPEPROOF_FINDING_ENUM(name, value, id, severity, meaning) SHAPEPROOF_FINDING_##name = (value),
    SHAPEPROOF_FINDINGS(SHAPEPROOF_FINDING_ENUM)
#undef SHAPEPROOF_FINDING_ENUM
};

struct shapeproof_finding {
    enum shapeproof_finding_kind kind;
    const char *id; /* of its kind: "tied-absent" */
    enum shapeproof_severity severity;
    const char *name;     /* as in the file; as predicted when the file lacks it */
    const char *expected; /* "(50257, 768)", a dtype, or NULL */
    const char *found;    /* likewise */
    const char *message;  /* a whole sentence without its subject: "is missing" */
    size_t tensor;        /* index in the inventory, or SHAPEPROOF_NONE */
    size_t predicted;     /* index in the prediction, or SHAPEPROOF_NONE */
    size_t cause;         /* index of the cause that explains it, or SHAPEPROOF_NONE */
    const char *reason;   /* why it was expected to differ (see shapeproof_check_options), or NULL */
};

struct shapeproof_cause {
    const char *id;                     /* "hyperparameter", "prefix", "layers-missing", "renamed", "transposed", ... */
    enum shapeproof_severity severity;  /* an error makes the verdict "differs" */
    const char *message;                /* one line */
    const char *hint;                   /* the next thing to do, or NULL */
    const char *hyperparameter;         /* the key that it is about, or NULL; then, if there are such: */
    struct shapeproof_value configured; /* the value that it has */
    struct shapeproof_value found;      /* the value that the file suggests */
    size_t explains;                    /* findings; without findings, the tensors, modules or files it is about */
    /* What to write into the configuration for this cause: an object, of which null takes a key out; or absent. Causes
     * may need each other's: the hint of all that have one is one patch for them all. */
    struct shapeproof_value patch;
    bool untold;   /* whether anything is wrong with what it explains cannot be told */
    bool expected; /* an expectation is about it: it is a note */
};

/* What a check can report: the kinds of findings, then the causes. */
struct shapeproof_rule {
    const char *id; /* of shapeproof_finding and shapeproof_cause; a few causes are called as a kind of findings is */
    enum shapeproof_severity severity; /* the usual one */
    const char *meaning;               /* as docs/causes.md has it; `...` is code */
};
SHAPEPROOF_API size_t shapeproof_rule_count(void);
SHAPEPROOF_API const struct shapeproof_rule *shapeproof_rule(size_t index); /* static */

/* Findings that differ in nothing but their indices: "model.layers.{0-4,20-31}.mlp.up_proj.weight". */
struct shapeproof_finding_group {
    const char *name;
    size_t count;
    const struct shapeproof_finding *first; /* stands for all of them */
};

/* How much there is, counted in several ways. */
struct shapeproof_counts {
    uint64_t predicted_tensors, predicted; /* of the model, ties once and without buffers */
    uint64_t stored_tensors, stored;       /* all in the file; elements */
    uint64_t unique_tensors, unique;       /* each storage once */
    /* The model in the file: without copies of tied tensors, buffers and trainer state, packed weights as unpacked. */
    uint64_t logical_tensors, logical;
    uint64_t copies, buffers, state; /* elements that are unique and not logical */
};

/* A size that others declare: the name of the directory, the index. */
struct shapeproof_declared {
    const char *where; /* "the name of the directory" */
    const char *text;  /* as it stands there: "7B" */
    uint64_t value;    /* parameters, or bytes */
    bool exact;        /* not a rough size such as "7B" */
    bool bytes;
    bool agrees;      /* with one of the counts, roughly if it is a rough size */
    const char *note; /* what it counts, if that is odd, or NULL */
};

struct shapeproof_check; /* opaque; owns its prediction */

struct shapeproof_check_options {
    const char
        *table; /* the name of the table; NULL: the one that the configuration chooses (see shapeproof_predict) */
    /* Findings that one knows of become notes, and so do the causes that explain no others; each expectation that is
     * expired, or that nothing fulfilled, becomes a finding. Must outlive the check. NULL for none. */
    const struct shapeproof_expectations *expectations;
    /* Read the data of tensors that are tied, or could be, and are stored apart, to say whether it is equal. Otherwise
     * no tensor data are read. */
    bool data;
    const struct shapeproof_watch *watch; /* for progress, the end before its time, and a trace; NULL: none */
    uint64_t reserved[3];                 /* zero: room for later versions */
};

/* Predicts from `config` (see shapeproof_predict) and compares. `options` may be NULL. NULL with an error when no
 * prediction can be made, and with SHAPEPROOF_ERR_FILE when data are asked for and cannot be read. The inventory,
 * tables and config must outlive the check. Deterministic. */
SHAPEPROOF_API struct shapeproof_check *shapeproof_check_new(const struct shapeproof_inventory *inventory,
                                                             const struct shapeproof_tables *tables,
                                                             const struct shapeproof_config *config,
                                                             const struct shapeproof_check_options *options,
                                                             struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_check_free(struct shapeproof_check *check);

struct shapeproof_check_path_options {
    const char *config;          /* path of the configuration; NULL: that in the checkpoint or beside it */
    const char *const *settings; /* "key=value", of which each wins over the configuration; ends with NULL, or NULL */
    const char *const *table_files; /* tables of the caller's own; ends with NULL, or NULL */
    struct shapeproof_check_options check;
    uint64_t reserved[4]; /* zero: room for later versions */
};

/* Checks the file or directory at a path in one call: opens it, finds its configuration and its table, and compares.
 * The check owns all of them; shapeproof_check_inventory and its siblings lend them. `options` may be NULL. NULL with
 * an error: SHAPEPROOF_ERR_FILE when the checkpoint or a table file cannot be read, SHAPEPROOF_ERR_TABLE when a table
 * or the configuration is wrong, SHAPEPROOF_ERR_UNKNOWN when there is no configuration or no table for it. */
SHAPEPROOF_API struct shapeproof_check *shapeproof_check_path(const char *path,
                                                              const struct shapeproof_check_path_options *options,
                                                              struct shapeproof_error *error);

/* All borrowed until shapeproof_check_free. */
SHAPEPROOF_API enum shapeproof_verdict shapeproof_check_verdict(const struct shapeproof_check *check);
SHAPEPROOF_API const char *
shapeproof_verdict_name(enum shapeproof_verdict verdict); /* "match", "explained", "differs", "unknown" */
SHAPEPROOF_API const char *shapeproof_severity_name(enum shapeproof_severity severity); /* "note", "warning", "error" */
/* The verdict's reason, however long: "all 148 tensors", the most important cause, or the largest group of findings. */
SHAPEPROOF_API const char *shapeproof_check_summary(const struct shapeproof_check *check);
/* The same in at most 148 bytes: what there is no room for is "...". */
SHAPEPROOF_API const char *shapeproof_check_headline(const struct shapeproof_check *check);
/* What to do about the findings that no cause explains, or why that is not known. If there are none, that a trial took
 * too many steps, so that another cause may be better; otherwise NULL. */
SHAPEPROOF_API const char *shapeproof_check_advice(const struct shapeproof_check *check);
/* What was compared: both as they were given, and the prediction that was made, which the check owns. */
SHAPEPROOF_API const struct shapeproof_inventory *shapeproof_check_inventory(const struct shapeproof_check *check);
SHAPEPROOF_API const struct shapeproof_config *shapeproof_check_config(const struct shapeproof_check *check);
SHAPEPROOF_API const struct shapeproof_prediction *shapeproof_check_prediction(const struct shapeproof_check *check);
SHAPEPROOF_API const struct shapeproof_counts *shapeproof_check_counts(const struct shapeproof_check *check);
/* Sizes that others declare: what a directory or a file is called first, then what the index says. */
SHAPEPROOF_API size_t shapeproof_check_declared_count(const struct shapeproof_check *check);
SHAPEPROOF_API const struct shapeproof_declared *shapeproof_check_declared(const struct shapeproof_check *check,
                                                                           size_t index);
/* The worst first; of those that are as bad, the one that explains the most. */
SHAPEPROOF_API size_t shapeproof_check_cause_count(const struct shapeproof_check *check);
SHAPEPROOF_API const struct shapeproof_cause *shapeproof_check_cause(const struct shapeproof_check *check,
                                                                     size_t index);
/* The predicted tensor that this tensor of the inventory is, under whatever name, or SHAPEPROOF_NONE. */
SHAPEPROOF_API size_t shapeproof_check_counterpart(const struct shapeproof_check *check, size_t tensor);
SHAPEPROOF_API size_t shapeproof_check_finding_count(const struct shapeproof_check *check);
SHAPEPROOF_API const struct shapeproof_finding *shapeproof_check_finding(const struct shapeproof_check *check,
                                                                         size_t index);
/* The findings collapsed over their indices; nothing of different shape or dtype is merged. Those without a cause come
 * first, then those with one, then the notes. */
SHAPEPROOF_API size_t shapeproof_check_group_count(const struct shapeproof_check *check);
SHAPEPROOF_API const struct shapeproof_finding_group *shapeproof_check_group(const struct shapeproof_check *check,
                                                                             size_t index);

/* The model whose weights a file stores quantised, in packed words, codes and scales. */
struct shapeproof_quantised_model {
    char *how;           /* "gptq, 4 bits, groups of 128" */
    uint64_t parameters; /* that the model has; 0 when that cannot be told */
};

/* Where a configuration lies beside the file, `parameters` are the `logical` of a check against it; otherwise names and
 * shapes tell them. NULL for a file whose weights are stored as they are, and if a call of the system fails: then
 * `error` is not SHAPEPROOF_OK. Free with shapeproof_quantised_model_free. */
SHAPEPROOF_API struct shapeproof_quantised_model *
shapeproof_quantised_model_new(const struct shapeproof_inventory *inventory, struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_quantised_model_free(struct shapeproof_quantised_model *model);

/* Where shapeproof_check_new knows the model_type of the configuration and not its class: which of the known classes
 * the file has whole, and what it has besides, "the file has all 20 tensors of LlamaModel, and besides
 * 'value_head.weight (1, 16)'". NULL when it has none of them, or more that is not of it. free() it with
 * shapeproof_free. */
SHAPEPROOF_API char *shapeproof_unknown_class_describe(const struct shapeproof_inventory *inventory,
                                                       const struct shapeproof_tables *tables,
                                                       const struct shapeproof_config *config);
/* Without a configuration there is no check, but a low-rank adapter can be told by its names, and its matrices must fit
 * each other: one line that says which it is, or, when they do not (`*consistent` is false), where. NULL for any other
 * file. free() it with shapeproof_free. */
SHAPEPROOF_API char *shapeproof_adapter_describe(const struct shapeproof_inventory *inventory, bool *consistent);
/* The same of a static embedding, which sentence-transformers saves without a configuration: one line with the shape of
 * the matrix, and whether the tokenizer beside it has a token for each row. NULL for any other file. free() it with
 * shapeproof_free. */
SHAPEPROOF_API char *shapeproof_embedding_describe(const struct shapeproof_inventory *inventory);
/* The one search for the configuration of a checkpoint that was opened from `path`. The first of these that is there is
 * taken:
 *   1. what a GGUF file or a Keras model has in itself; the layers of a Keras model not for a named `table`;
 *   2. config.json, config or huggingface/config.json in its folder;
 *   3. of a step of a training, the config.json of the first folder above that has one; then the config.yaml of
 *      detectron2 in its folder;
 *   4. the arguments of the model that a program has saved in the checkpoint;
 *   5. of an adapter, the configuration of its base, which adapter_config.json beside it names: a folder of this
 *      machine, relative to the working directory, as PEFT has it, or to the folder of the adapter or one above; or a
 *      model in `hub`, the cache of the Hugging Face hub (~/.cache/huggingface/hub).
 * For 1 and 4, *inside is true and the result NULL: shapeproof_config_fit takes it. Otherwise it is the path for
 * shapeproof_config_load, or NULL when there is none; free() it with shapeproof_free. `table` and `hub` may be NULL. If
 * the search fails, the result is NULL and `error` is as from shapeproof_config_beside (config.h). */
SHAPEPROOF_API char *shapeproof_config_search(const struct shapeproof_inventory *inventory, const char *path,
                                              const char *table, const char *hub, bool *inside,
                                              struct shapeproof_error *error);
/* Whether the names of an adapter mean that component of a pipeline of diffusers: "unet", "text_encoder_2". */
SHAPEPROOF_API bool shapeproof_adapter_is_for(const struct shapeproof_inventory *inventory, const char *component);

#ifdef __cplusplus
}
#endif
#endif
