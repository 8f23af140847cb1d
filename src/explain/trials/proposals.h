/* SPDX-License-Identifier: MIT
 * What could be set otherwise so that findings vanish: changes of hyper-parameters that are worth a trial. A finding
 * points to rows of the table; the expressions there are inverted for one key at a time, all others as configured,
 * by the solver that infers hyper-parameters (solve/key.h). Nothing here is sure: trial.h decides. */
#ifndef SP_EXPLAIN_TRIALS_PROPOSALS_H
#define SP_EXPLAIN_TRIALS_PROPOSALS_H

#include "explain/what_if.h"
#include "solve/key.h"
#include "solve/lines.h"

/* Stands for any text that a table does not mention. */
#define SP_OTHER_TEXT "other"

enum { SP_MOST_PROPOSALS = 128, SP_MOST_LINES = 8 };

/* A hyper-parameter that may be changed. */
struct sp_changeable {
    struct shapeproof_hyperparameter hyper;
    struct sp_unknown unknown;
};

/* An index in the name of an open finding that a tensor is missing or unexpected; a name without any has one 0 at
 * position 0. A number within a word is one as well: that of "weight_ih_l1". */
struct sp_named_index {
    size_t pattern, position; /* of the name, and of the index among those of the name */
    size_t finding;
    uint64_t index;
    bool missing; /* false: unexpected */
    bool in_word;
};

/* The changes that are proposed, each once. When SP_MOST_PROPOSALS are there, further ones are dropped. */
struct sp_proposals {
    struct sp_change items[SP_MOST_PROPOSALS];
    size_t count;
    struct shapeproof_check *check;
    struct sp_outline outline; /* of the check's table, under its configuration and the changes accepted so far */
    struct sp_line_map lines;
    struct sp_changeable *keys;
    size_t *key_of; /* for each hyper-parameter of the prediction its key, or SHAPEPROOF_NONE */
    size_t key_count;
    struct sp_map key_places;       /* the index of a key by its path */
    struct sp_lookups lookups;      /* scratch */
    bool *is_listed;                /* scratch: of each key */
    struct sp_named_index *indices; /* sorted: the same pattern, position and `missing` are together, ascending */
    size_t index_count;
    struct sp_patterns word_patterns; /* SP_INDEX_ANYWHERE */
    struct sp_place *word_places;     /* of each finding with a number within a word */
};

void sp_proposals_init(struct sp_proposals *proposals, struct shapeproof_check *check);
void sp_proposals_free(struct sp_proposals *proposals);
/* From now on the other keys are as in that configuration, which must live as long, and findings may be explained. */
void sp_proposals_renew(struct sp_proposals *proposals, const struct shapeproof_config *config);

/* For each dimension that differs what the keys in it would have to be (sizes.c). */
void sp_propose_sizes(struct sp_proposals *proposals);
/* For heads with another number of labels than id2label lists (labels.c). */
void sp_propose_labels(struct sp_proposals *proposals);
/* For loops that are shorter or longer in the file, and conditions that change with the iteration (lengths.c). */
void sp_propose_lengths(struct sp_proposals *proposals);
/* For conditions of what is missing or unexpected: truth values, and all else (conditions.c). */
void sp_propose_flags(struct sp_proposals *proposals);
void sp_propose_conditions(struct sp_proposals *proposals);
/* The usual numbers of quantisations (proposals.c). */
void sp_propose_quantisations(struct sp_proposals *proposals);
/* Whether a finding is open and not about a shape: something is missing or unexpected. */
bool sp_is_structural(const struct shapeproof_finding *finding);

/* ---- what these share (proposals.c) ---- */

/* Adds a change, unless it is there already or its key is one whose value the tensors show (sp_is_shown). */
void sp_propose_change(struct sp_proposals *proposals, struct sp_change change);
/* Adds the change of a key to that value; of a flag that programs compute from a string, the change of that string. */
void sp_propose(struct sp_proposals *proposals, const struct sp_changeable *key, struct shapeproof_value value);
/* Adds the values that the key must have for the expression to have the wanted value, all other keys as they are. */
void sp_propose_for(struct sp_proposals *proposals, const struct sp_changeable *key, const struct sp_env *env,
                    const struct sp_expr *expr, struct shapeproof_value wanted);
/* The keys on which what follows depends, up to the call of sp_proposal_keys, are noted. */
void sp_proposal_keys_note(struct sp_proposals *proposals);
/* The indices of the keys that were looked up since then, ascending: what the evaluations came to depends on no other.
 * To be freed (`items`). */
struct sp_key_list {
    size_t *items;
    size_t count;
};
struct sp_key_list sp_proposal_keys(struct sp_proposals *proposals);
/* Those on which the value of the expression depends; all where an index is unknown, and so the value. */
struct sp_key_list sp_proposal_keys_of(struct sp_proposals *proposals, const struct sp_env *env,
                                       const struct sp_expr *expr);
/* The lines of the outline that could have the tensor of the finding; of their loops all are out of any iteration.
 * Returns how many. */
size_t sp_proposal_lines(struct sp_proposals *proposals, const struct shapeproof_finding *finding,
                         struct sp_indices *indices, const struct sp_line *lines[SP_MOST_LINES]);
/* All indices of the name that this one is of. */
const struct sp_indices *sp_named_indices(const struct sp_proposals *proposals, const struct sp_named_index *at);
/* The text of its pattern. */
const char *sp_named_pattern(const struct sp_proposals *proposals, const struct sp_named_index *at);
/* Whether both are about one index of one pattern. */
bool sp_same_loop(const struct sp_named_index *a, const struct sp_named_index *b);

#endif
