/* SPDX-License-Identifier: MIT
 * What nearly every explainer does: of the findings that no cause explains yet it takes those that satisfy a condition,
 * makes a cause of them, and says it. */
#ifndef SP_EXPLAIN_GATHER_H
#define SP_EXPLAIN_GATHER_H

#include "explain/causes.h"

/* Whether an explainer wants a finding, which has no cause yet; `context` is its own. */
typedef bool sp_wanted(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                       const void *context);

/* Whether the finding is marked; for conditions that were worked out before. The context is a bool for each finding. */
bool sp_is_marked(const struct shapeproof_check *check, const struct shapeproof_finding *finding, const void *marks);
/* Whether the finding is open and of that kind; the context points to an enum shapeproof_finding_kind. */
bool sp_is_open_kind(const struct shapeproof_check *check, const struct shapeproof_finding *finding, const void *kind);

/* Whether the tensor of the finding has the predicted shape transposed (sp_is_transposed). */
bool sp_has_transposed_shape(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                             const void *unused);

/* How many findings without a cause satisfy the condition. */
size_t sp_count_wanted(const struct shapeproof_check *check, sp_wanted *wanted, const void *context);
/* A cause of that kind for all of them, without a message so far; NULL when there are none. Like every pointer to a
 * cause it holds until the next one is added. */
struct shapeproof_cause *sp_gather(struct shapeproof_check *check, enum sp_cause_kind kind, sp_wanted *wanted,
                                   const void *context);

/* Adds a cause of that kind that explains no finding so far. */
struct shapeproof_cause *sp_blame(struct shapeproof_check *check, enum sp_cause_kind kind);
/* Says that a finding is explained by the cause. */
void sp_attribute_finding(struct shapeproof_check *check, size_t finding, const struct shapeproof_cause *cause);

/* The names of what the cause explains, in one line, and how many: "3 tensors". In the arena. */
const char *sp_names_of(struct shapeproof_check *check, const struct shapeproof_cause *cause);
const char *sp_tensors_of(struct shapeproof_check *check, const struct shapeproof_cause *cause);
/* The message "SAYS: NAMES (3 tensors)". */
void sp_cause_set_message(struct shapeproof_check *check, struct shapeproof_cause *cause, const char *says);
/* "has a.bias, b.bias and lacks c.weight", of what the cause with that index explains. In the arena. */
const char *sp_cause_file_summary(struct shapeproof_check *check, size_t cause);
/* The first finding that the cause explains. */
const struct shapeproof_finding *sp_first_of(const struct shapeproof_check *check,
                                             const struct shapeproof_cause *cause);

/* Whether the configuration says that transformers 5 or a later release wrote the file. */
bool sp_is_of_transformers_5(const struct shapeproof_check *check);

#endif
