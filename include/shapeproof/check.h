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

#ifdef __cplusplus
extern "C" {
#endif

enum sp_verdict {
    SP_VERDICT_MATCH,     /* every predicted tensor is there with its shape, and no other */
    SP_VERDICT_EXPLAINED, /* differences, each with a harmless cause */
    SP_VERDICT_DIFFERS,   /* something is wrong with the file, its configuration, or the table */
    SP_VERDICT_UNKNOWN    /* what can be told is as it should be, and of a part of the model it cannot be told */
};

enum sp_severity { SP_SEVERITY_NOTE, SP_SEVERITY_WARNING, SP_SEVERITY_ERROR };

/* X(enumerator suffix, id, severity as it is found, what it says of a tensor or, the last two, of an expectation).
 * docs/exit-status.md has the same in the same order. */
/* clang-format off */
#define SP_FINDINGS(X) \
    X(MISSING, "missing", ERROR, "predicted, and not in the file") \
    X(UNEXPECTED, "unexpected", ERROR, "in the file, and not predicted") \
    X(SHAPE, "shape", ERROR, "has another shape than predicted") \
    X(DTYPE, "dtype", ERROR, "has another dtype than the table says, or than others have") \
    X(QUANTISED, "quantised", ERROR, "quantised in the file and exempt in the configuration, or the other way round") \
    X(LACKING, "lacking", ERROR, "optional or promised, and not there, though what it belongs to is") \
    X(TIED_ABSENT, "tied-absent", NOTE, "not stored, since it is the same as another") \
    X(TIED_PRESENT, "tied-present", NOTE, "stored, though it is the same as another") \
    X(OPTIONAL, "optional", NOTE, "in the file, which need not have it") \
    X(STATE, "state", NOTE, "of an optimizer or trainer") \
    X(UNUSED, "unused", ERROR, "an expectation that no finding fulfils") \
    X(EXPIRED, "expired", ERROR, "an expectation that is past its last day")
/* clang-format on */

enum sp_finding_kind {
#define SP_FINDING_ENUM(name, id, severity, meaning) SP_FINDING_##name,
    SP_FINDINGS(SP_FINDING_ENUM)
#undef SP_FINDING_ENUM
        SP_FINDING_COUNT
};

struct sp_finding {
    enum sp_finding_kind kind;
    const char *id; /* of its kind: "tied-absent" */
    enum sp_severity severity;
    const char *name;     /* as in the file; as predicted when the file lacks it */
    const char *expected; /* "(50257, 768)", a dtype, or NULL */
    const char *found;    /* likewise */
    const char *message;  /* a whole sentence without its subject: "is missing" */
    size_t tensor;        /* index in the inventory, or SP_NONE */
    size_t predicted;     /* index in the prediction, or SP_NONE */
    size_t cause;         /* index of the cause that explains it, or SP_NONE */
    const char *reason;   /* why it was expected to differ (see sp_check_options), or NULL */
};

struct sp_cause {
    const char *id;             /* "hyperparameter", "prefix", "layers-missing", "renamed", "transposed", ... */
    enum sp_severity severity;  /* an error makes the verdict "differs" */
    const char *message;        /* one line */
    const char *hint;           /* the next thing to do, or NULL */
    const char *hyperparameter; /* the key that it is about, or NULL; then, if there are such: */
    struct sp_value configured; /* the value that it has */
    struct sp_value found;      /* the value that the file suggests */
    size_t explains;            /* findings that vanish when it is taken into account */
    /* What to write into the configuration for this cause: an object, of which null takes a key out; or absent. Causes
     * may need each other's: the hint of all that have one is one patch for them all. */
    struct sp_value patch;
    bool untold;   /* whether anything is wrong with what it explains cannot be told */
    bool expected; /* an expectation is about it: it is a note */
};

/* Findings that differ in nothing but their indices: "model.layers.{0-4,20-31}.mlp.up_proj.weight". */
struct sp_finding_group {
    const char *name;
    size_t count;
    const struct sp_finding *first; /* stands for all of them */
};

/* How much there is, counted in several ways. */
struct sp_counts {
    uint64_t predicted_tensors, predicted; /* of the model, ties once and without buffers */
    uint64_t stored_tensors, stored;       /* all in the file; elements */
    uint64_t unique_tensors, unique;       /* each storage once */
    /* The model in the file: without copies of tied tensors, buffers and trainer state, packed weights as unpacked. */
    uint64_t logical_tensors, logical;
    uint64_t copies, buffers, state; /* elements that are unique and not logical */
};

/* A size that others declare: the name of the directory, the index. */
struct sp_declared {
    const char *where; /* "the name of the directory" */
    const char *text;  /* as it stands there: "7B" */
    uint64_t value;    /* parameters, or bytes */
    bool exact;        /* not a rough size such as "7B" */
    bool bytes;
    bool agrees;      /* with one of the counts, roughly if it is a rough size */
    const char *note; /* what it counts, if that is odd, or NULL */
};

struct sp_check; /* opaque; owns its prediction */

struct sp_check_options {
    const char *table; /* the name of the table; NULL: the one that the configuration chooses (see sp_predict) */
    /* Findings that one knows of become notes, and so do the causes that explain no others; each expectation that is
     * expired, or that nothing fulfilled, becomes a finding. Must outlive the check. NULL for none. */
    const struct sp_expectations *expectations;
    /* Read the data of tensors that are tied, or could be, and are stored apart, to say whether it is equal. Otherwise
     * no tensor data are read. */
    bool data;
    uint64_t reserved[4]; /* zero: room for later versions */
};

/* Predicts from `config` (see sp_predict) and compares. `options` may be NULL. NULL with an error when no prediction
 * can be made, and with SP_ERR_FILE when data are asked for and cannot be read. The inventory, tables and config must
 * outlive the check. Deterministic. */
SP_API struct sp_check *sp_check_new(const struct sp_inventory *inventory, const struct sp_tables *tables,
                                     const struct sp_config *config, const struct sp_check_options *options,
                                     struct sp_error *error);
SP_API void sp_check_free(struct sp_check *check);

/* All borrowed until sp_check_free. */
SP_API enum sp_verdict sp_check_verdict(const struct sp_check *check);
SP_API const char *sp_verdict_name(enum sp_verdict verdict);    /* "match", "explained", "differs", "unknown" */
SP_API const char *sp_severity_name(enum sp_severity severity); /* "note", "warning", "error" */
/* The verdict's reason, however long: "all 148 tensors", the most important cause, or the largest group of findings. */
SP_API const char *sp_check_summary(const struct sp_check *check);
/* The same in at most 148 bytes: what there is no room for is "...". */
SP_API const char *sp_check_headline(const struct sp_check *check);
/* What to do about the findings that no cause explains, or why that is not known; NULL when there are none. */
SP_API const char *sp_check_advice(const struct sp_check *check);
/* What was compared: both as they were given, and the prediction that was made, which the check owns. */
SP_API const struct sp_inventory *sp_check_inventory(const struct sp_check *check);
SP_API const struct sp_config *sp_check_config(const struct sp_check *check);
SP_API const struct sp_prediction *sp_check_prediction(const struct sp_check *check);
SP_API struct sp_counts sp_check_counts(const struct sp_check *check);
/* Sizes that others declare: what a directory or a file is called first, then what the index says. */
SP_API size_t sp_check_declared_count(const struct sp_check *check);
SP_API const struct sp_declared *sp_check_declared(const struct sp_check *check, size_t index);
/* The worst first; of those that are as bad, the one that explains the most. */
SP_API size_t sp_check_cause_count(const struct sp_check *check);
SP_API const struct sp_cause *sp_check_cause(const struct sp_check *check, size_t index);
SP_API size_t sp_check_finding_count(const struct sp_check *check);
SP_API const struct sp_finding *sp_check_finding(const struct sp_check *check, size_t index);
/* The findings collapsed over their indices; nothing of different shape or dtype is merged. Those without a cause come
 * first, then those with one, then the notes. */
SP_API size_t sp_check_group_count(const struct sp_check *check);
SP_API struct sp_finding_group sp_check_group(const struct sp_check *check, size_t index);

/* The model whose weights a file stores quantised, in packed words, codes and scales. */
struct sp_quantised_model {
    char *how;           /* "gptq, 4 bits, groups of 128" */
    uint64_t parameters; /* that the model has; 0 when that cannot be told */
};

/* Where a configuration lies beside the file, `parameters` are the `logical` of a check against it; otherwise names and
 * shapes tell them. NULL for a file whose weights are stored as they are. Free with sp_quantised_model_free. */
SP_API struct sp_quantised_model *sp_quantised_model_new(const struct sp_inventory *inventory);
SP_API void sp_quantised_model_free(struct sp_quantised_model *model);

/* Where sp_check_new knows the model_type of the configuration and not its class: which of the known classes the file
 * has whole, and what it has besides, "the file has all 20 tensors of LlamaModel, and besides 'value_head.weight (1,
 * 16)'". NULL when it has none of them, or more that is not of it. free() it with sp_free. */
SP_API char *sp_unknown_class_describe(const struct sp_inventory *inventory, const struct sp_tables *tables,
                                       const struct sp_config *config);
/* Without a configuration there is no check, but a low-rank adapter can be told by its names, and its matrices must fit
 * each other: one line that says which it is, or, when they do not (`*consistent` is false), where. NULL for any other
 * file. free() it with sp_free. */
SP_API char *sp_adapter_describe(const struct sp_inventory *inventory, bool *consistent);
/* The path of the configuration of its base, where adapter_config.json beside the adapter names a folder of this
 * machine that has one: relative to the working directory, as PEFT has it, or to the adapter. NULL where it does not.
 * free() it with sp_free. */
SP_API char *sp_adapter_base_config(const struct sp_inventory *inventory);
/* Whether the names of an adapter mean that component of a pipeline of diffusers: "unet", "text_encoder_2". */
SP_API bool sp_adapter_is_for(const struct sp_inventory *inventory, const char *component);

#ifdef __cplusplus
}
#endif
#endif
