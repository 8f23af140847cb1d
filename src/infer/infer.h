/* SPDX-License-Identifier: MIT */
#ifndef SP_INFER_INFER_H
#define SP_INFER_INFER_H

#include "config/config.h"
#include "infer/deduce.h"
#include "infer/tables/candidates.h"
#include "match/match.h"
#include "shapeproof/infer.h"
#include "solve/literals.h"

/* ---- tables/rank.c: which tables are worth a closer look ---- */

/* How the names of a table compare with those of a file, whatever prefix either has. First an estimate by the endings
 * of its names (tables/prefilter.h), then exactly. */
struct sp_ranked {
    size_t place; /* lang/tables.h */
    const char *name;
    const struct sp_unit *table; /* NULL in an estimate: it is not parsed yet */
    size_t covered;              /* patterns of the file that the table can make */
    size_t likely;      /* of an estimate: `covered`, and one pattern for each name whose ending is not known, as far as
                           there are more patterns */
    size_t uncovered;   /* unconditional names of the table that the file does not have */
    size_t conditional; /* conditional ones that it does not have */
    size_t depth;       /* tables that it builds on */
    size_t heads;       /* classes with a head; 0 for a part of other models. Only counted where it decides an order */
};

/* Which tables are worth a place among the ranked ones. */
struct sp_rank_wanted {
    size_t fewest_covered; /* least `covered` */
    size_t most_others;    /* most `uncovered` and `conditional` together */
};

/* Ranks the tables: estimates all of them, and compares the best ones exactly, somewhat more than `most`. Returns of
 * these the wanted ones (NULL: those that cover anything), best first; the array is on the heap. */
struct sp_ranked *sp_rank_tables(const struct sp_tables_searched *searched, const struct sp_shapes *shapes, size_t most,
                                 const struct sp_rank_wanted *wanted, size_t *count);
/* How many tensors of the inventory are buffers that loaders compute. */
size_t sp_count_computed(const struct shapeproof_inventory *inventory);

/* ---- attempt.c: one table, explained as well as can be ---- */

/* One tensor of the view that holds several predicted ones: qkv with q, k and v as its parts. */
struct sp_fused {
    size_t seen;         /* in the inventory of the view */
    const size_t *parts; /* in the prediction */
    size_t count;        /* of the parts */
};

/* A table with values for its hyper-parameters, what it predicts under them, and how far that explains the file. "Seen"
 * are the tensors of the view, which may be other ones than the file's (view.h). */
struct sp_attempt {
    const struct shapeproof_tables *tables;
    const struct sp_unit *table;
    const char *class;                        /* "" when the table does not depend on it */
    const char *name;                         /* of the model, such as "resnet50"; or NULL */
    struct shapeproof_prediction *by_name;    /* what the table predicts under that name alone; or NULL */
    struct sp_fit fit;                        /* how the names of the table fitted, before any value was inferred */
    const struct sp_infer_view *view;         /* borrowed: must live as long */
    struct sp_outline outline;                /* the table laid out; its solver has what is known of the values */
    struct shapeproof_config *config;         /* the known values as a configuration */
    struct shapeproof_prediction *prediction; /* under `config`; NULL when the table predicts nothing under it */

    /* ---- the comparison; not set when there is no prediction ---- */

    struct sp_naming naming;         /* under which names of the view are predicted ones */
    struct sp_match match;           /* of the view's inventory and the prediction */
    bool *is_excused;                /* for each tensor of the view: not predicted, and computed by every loader */
    bool *is_beside;                 /* for each tensor of the view: of a copy of the model, or of a trainer */
    bool *is_recomputed;             /* for each predicted tensor: not there, and a buffer that every loader computes */
    bool *is_joined;                 /* for each predicted tensor, then for each of the view: see joined.c */
    SP_ARRAY(struct sp_fused) fused; /* tensors that are one in the file and several in the prediction */
    size_t joints;                   /* how many there are, with those that are several in the file and one predicted */
    const char *joint;               /* the first of the joints: "attention.qkv = query + key + value"; or NULL */
    size_t explained, unexplained;   /* tensors of the file; the excused ones are neither */
    size_t reshaped;                 /* unexplained tensors that are predicted, with another shape */
    size_t missing;                  /* predicted tensors that should be in the file and are not */
    size_t missing_in_present_layers; /* missing tensors in layers of which the file has others */
    size_t recomputed;                /* how many are is_recomputed; they are not missing */
    size_t settings;                  /* sp_attempt_settings, if the attempt explains all; otherwise 0 */
    bool has_unnamed_text;            /* a hyper-parameter, or an item of one, is a text that the table does not name */
    bool lacks_layers;                /* there are layers of which the file has nothing */
    struct sp_map present_layers;     /* the names of the others; only filled when something is missing */

    /* ---- what kind of attempt it is ---- */

    bool is_part;          /* the table is a part of other models */
    bool is_stated;        /* the file's metadata name the table */
    bool is_further;       /* was only made to be named beside another that explains everything */
    bool is_second_choice; /* was only made to be transposed: never named as an equal of the best one */
    bool has_stages;       /* sp_has_stages; false if the attempt was made by stages (sp_attempt_by_stages) */
    bool without_layers;   /* the table has loops, and the file no tensor of any */
    bool is_beyond_repair; /* a repair has tried all of its values in vain: another one would try the same */
};

/* joined.c: what is one in the file and several in the table, or the other way round. */
void sp_attempt_join(struct sp_attempt *attempt);
/* Makes a view of the file in which the attempt's fused tensors, and the biases beside them, are replaced by their
 * parts: qkv.weight (2304, 768) -> q.weight, k.weight, v.weight, each (768, 768). False, and no view, when nothing is
 * fused, the attempt's own view is not the plain file, or the parts have a name twice. */
bool sp_infer_view_split(struct sp_infer_view *view, const struct sp_attempt *attempt);
bool sp_attempt_is_joined(const struct sp_attempt *attempt, size_t seen);
/* Sizes that only fused tensors show: gives hyper-parameters that nothing told the dimensions of tensors that have no
 * place in the table, and halves of them, as long as more of these are fused tensors then. `left`: tensors that may be
 * compared for it. */
void sp_attempt_size_fused(struct sp_attempt *attempt, size_t *left);
/* A predicted tensor that should be there, and is not, nor in parts. */
bool sp_attempt_lacks(const struct sp_attempt *attempt, size_t predicted);
/* A weight that is stored as quantised ones are, without all that belongs to it. */
bool sp_attempt_is_incomplete(const struct sp_attempt *attempt, size_t seen);
/* Infers the hyper-parameters of the fit's table and class from what is looked at, and verifies them. When the effort
 * is used up nothing more is tried out. The view must live as long. */
struct sp_attempt *sp_attempt_new(const struct shapeproof_tables *tables, struct sp_fit fit,
                                  const struct sp_candidate_tables *candidates, const char *name,
                                  struct sp_effort *effort);
/* The same with the hyper-parameters that the file states for that table. */
struct sp_stated;
struct sp_attempt *sp_attempt_as_stated(const struct shapeproof_tables *tables, struct sp_fit fit,
                                        const struct sp_candidate_tables *candidates, const struct sp_stated *stated,
                                        struct sp_effort *effort);
/* The same of a table whose names number modules through all stages: a stage ends where these look otherwise. */
struct sp_attempt *sp_attempt_by_stages(const struct shapeproof_tables *tables, struct sp_fit fit,
                                        const struct sp_candidate_tables *candidates, struct sp_effort *effort);
/* wrapped.c: what a table makes of the inner model that is nothing but a name, and what is in front of that one's names
 * (sp_unit_chooses). */
struct sp_attempt *sp_attempt_wrapped(const struct sp_attempt *inner, const struct sp_unit *wrapper, const char *class);
/* What its table predicts under another configuration; NULL when that fails. */
struct shapeproof_prediction *sp_attempt_predict(const struct sp_attempt *attempt, struct shapeproof_config *config);
/* The same, but that not many more tensors are predicted than the file has. */
struct shapeproof_prediction *sp_attempt_predict_within(const struct sp_attempt *attempt,
                                                        struct shapeproof_config *config);
/* Once more, with what is known by now. */
void sp_attempt_verify_anew(struct sp_attempt *attempt);
void sp_attempt_free(struct sp_attempt *attempt);
/* What differs about a tensor of the file; SP_STATE as well for what is excused. */
enum sp_difference sp_attempt_tensor(const struct sp_attempt *attempt, size_t tensor);
/* Nothing is unexplained, nothing missing. */
bool sp_attempt_explains_all(const struct sp_attempt *attempt);
/* The table has all names of the file, and lacks none that it should have. */
static inline bool sp_attempt_sees_all_names(const struct sp_attempt *attempt)
{
    return attempt->fit.seen == shapeproof_inventory_count(attempt->view->inventory) && !attempt->fit.missing;
}
/* The file is a part of a model: nothing of some layers is there, or of what is outside of them. */
static inline bool sp_attempt_is_piece(const struct sp_attempt *attempt)
{
    return attempt->lacks_layers || attempt->missing > attempt->missing_in_present_layers;
}
/* What attempts are ordered by: the first field that differs decides, and the smaller number is better. */
enum sp_score_field {
    SP_SCORE_UNPREDICTED,  /* 1: there is no prediction */
    SP_SCORE_INCOMPLETE,   /* 1: a tensor is unexplained or missing, and the metadata do not decide for the table */
    SP_SCORE_UNSTATED,     /* 1: the metadata do not name the table, or most of the file's tensors disagree with it */
    SP_SCORE_WRONG,        /* tensors that are unexplained, or missing in layers that the file has something of */
    SP_SCORE_UNEXPLAINED,  /* of these the unexplained ones */
    SP_SCORE_LACKS_LAYERS, /* 1: the file has nothing of some layers */
    SP_SCORE_MISSING,    /* missing tensors; 0 when layers are absent: what else a part of a model lacks is by chance */
    SP_SCORE_EXPLAINED,  /* SIZE_MAX less the explained tensors; the other tensors of the file are excused */
    SP_SCORE_RECOMPUTED, /* buffers that are not there, and that every loader computes */
    SP_SCORE_JOINTS,     /* fused tensors */
    SP_SCORE_NO_MODEL_TYPE, /* 1: no configuration names the table */
    SP_SCORE_PART,          /* 1: the table is a part of other models */
    SP_SCORE_TRANSPOSED,    /* 1: matrices were transposed */
    SP_SCORE_UNNAMED,       /* 1: it is no model with a name */
    SP_SCORE_UNNAMED_TEXT,  /* 1: a value is a text that the table does not name */
    SP_SCORE_RARE,          /* 1: the table says that it is rare, and the file has other sizes than its defaults */
    SP_SCORE_SETTINGS,      /* hyper-parameters that are not the defaults */
    SP_SCORE_DEPTH,         /* tables that the table builds on */
    SP_SCORE_GUESSES, /* hyper-parameters that were guessed; before it the number of tables that build on the table
                         decides, more being better: counting them takes all tables, and is left to ties */
    SP_SCORE_FIELDS
};

struct sp_score {
    uint64_t of[SP_SCORE_FIELDS];
};

struct sp_score sp_attempt_score(const struct sp_attempt *attempt);
/* Below 0 when a is better than b, 0 when they are equal, for qsort. It is a strict weak order. */
int sp_attempt_compare(const struct sp_attempt *a, const struct sp_attempt *b);
/* Whether a comes closer to the file than b. */
bool sp_attempt_is_better(const struct sp_attempt *a, const struct sp_attempt *b);
/* A key that chooses a table or a class, and is no size. */
bool sp_is_choice_of_table(const char *path);
/* How many hyper-parameters differ from the table's defaults, without those that were guessed; 0 when the table
 * predicts nothing under its defaults. */
size_t sp_attempt_settings(struct sp_attempt *attempt);
/* How many flags have a value without which the prediction would be another. */
size_t sp_attempt_switches(const struct sp_attempt *attempt);
/* ---- named.c ---- */

/* The name of a model, of those that the table has, that alone predicts the file with the fewest errors; NULL when the
 * table has no such names, or there are errors for half of the tensors. `left`: tensors that may be compared for it. */
const char *sp_nearest_name(struct sp_attempt *attempt, const struct sp_naming *naming, size_t *left);

/* What the table predicts under that name alone; NULL when that fails. */
struct shapeproof_prediction *sp_predict_named(struct sp_attempt *attempt, const char *name);

/* ---- repair/repair.c ---- */

/* Gives hyper-parameters of an attempt other values until it explains all of the file; if that does not succeed, it is
 * left as it was. `left`: tensors that may be compared for it. */
void sp_attempt_repair(struct sp_attempt *attempt, size_t *left);

/* ---- evidence.c ---- */

/* Whether the file is evidence for the table: most of its tensors are explained, one of a layer among them, and of the
 * kinds of tensors that the table predicts it has no fewer than it lacks. If the user asked for the table only the
 * first is required. */
bool sp_attempt_is_plausible(const struct sp_attempt *attempt, bool asked_for);
/* Sets the error that no table explains the file, with the nearest of the attempts, or that the one called `table_name`
 * does not (NULL: none was asked for). Sorts the attempts. */
void sp_fail_unknown(struct shapeproof_error *error, const struct shapeproof_inventory *inventory,
                     const char *table_name, struct sp_attempt **attempts, size_t count);

/* ---- agree.c ---- */

/* Whether two predictions say the same of the file: they have the same tensors, except optional ones that it lacks. */
bool sp_predictions_agree(const struct shapeproof_prediction *a, const struct shapeproof_prediction *b,
                          const struct sp_attempt *attempt);
/* Whether `prediction` is as good as `than`: they agree; or, if the attempt does not explain the whole file,
 * `prediction` explains every tensor that `than` does, and lacks no more. */
bool sp_prediction_does_as_well(const struct shapeproof_prediction *prediction,
                                const struct shapeproof_prediction *than, const struct sp_attempt *attempt);
/* Whether the configuration, with that value for the key, explains the file as well as the attempt does. */
bool sp_attempt_allows(const struct sp_attempt *attempt, const struct shapeproof_config *config, const char *key,
                       struct shapeproof_value value);

/* ---- exempt.c ---- */

/* The list of modules that a quantiser left as they were, as a member of quantization_config; in the arena. The
 * configuration of the best attempt has quantization_config without a list. False when none is needed, or it is not
 * known how the method writes one. */
bool sp_infer_exemptions(struct shapeproof_inference *inference, struct shapeproof_member *list);

/* ---- config.c: what is known as a configuration ---- */

struct shapeproof_config *sp_known_config(struct sp_attempt *attempt);
/* As a config.json, and which of its keys the file does not decide: one line for each key, sub-configurations indented.
 */
struct shapeproof_inference;
void sp_write_config(struct shapeproof_inference *inference);

struct shapeproof_inference {
    struct sp_arena arena;
    const struct shapeproof_inventory *inventory;
    struct sp_infer_view **views; /* that the file was looked at in */
    size_t view_count;
    struct sp_attempt *best;
    struct shapeproof_config *stated;   /* what the file says of itself, whose values the attempts have; or NULL */
    const struct sp_unit *stated_table; /* the table that it leads to; or NULL */
    struct shapeproof_inferred *inferred;
    size_t inferred_count;
    size_t *unexplained, unexplained_count;
    size_t *missing, missing_count;
    struct shapeproof_inference_candidate *candidates;
    size_t candidate_count;
    SP_ARRAY(struct shapeproof_inference_note) notes;
    bool is_as_stored;                   /* what is explained needs no more than other names */
    bool lacks_shards;                   /* the file is an index, or a shard, of which others could not be read */
    bool is_contradicted;                /* the metadata of the file do not agree with its tensors */
    SP_ARRAY(const char *) undetermined; /* keys of the configuration */
    const char *config;
};

/* A limit for an inference that only needs a table which explains the whole file: tables that cannot are not attempted.
 */
struct sp_infer_budget {
    size_t most;   /* in: tensors of the file, counted once for each attempt */
    bool as_named; /* in: only tables are attempted that have every name of the file, and lack no weight for sure */
    bool spent;    /* out: it ended before everything was attempted */
};
/* shapeproof_infer within a budget; NULL: without one. */
struct shapeproof_inference *sp_infer_within(const struct shapeproof_inventory *inventory,
                                             const struct shapeproof_tables *tables,
                                             const struct shapeproof_infer_options *options,
                                             struct sp_infer_budget *budget, struct shapeproof_error *error);

/* ---- notes.c ---- */

/* That a table took too many steps. */
void sp_note_untried(struct shapeproof_inference *inference);
/* That the metadata do not agree with the tensors: a sentence without its end, and `brief` as in the public note. */
void sp_note_metadata(struct shapeproof_inference *inference, const char *message, const char *brief);
/* Says how the file stores what was found; `transposed`, which may be NULL, explains it as well with matrices the other
 * way round. */
void sp_note_storage(struct shapeproof_inference *inference, const struct sp_attempt *transposed);

/* ---- metadata.c ---- */

/* Says where the metadata of a GGUF file contradict its tensors. */
void sp_compare_metadata(struct shapeproof_inference *inference);

/* ---- determine.c ---- */

/* Why a value is not determined on which no tensor depends. */
#define SP_WITHOUT_EFFECT "no tensor of the file depends on it"

/* Fills in the hyper-parameters, and what determines each. */
void sp_determine(struct shapeproof_inference *inference);

/* ---- nulls.c ---- */

/* Writes numbers and null into the configuration as transformers does, where the table reads both alike. */
void sp_settle_nulls(struct shapeproof_inference *inference);

/* ---- heads.c ---- */

/* Adds the numbers of heads that no tensor depends on, and that transformers needs to build the model. */
void sp_add_head_counts(struct shapeproof_inference *inference);

#endif
