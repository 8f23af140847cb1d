/* SPDX-License-Identifier: MIT
 * What the modules of an adapter are in the model. PEFT names them as the program has them in memory, behind its own
 * "base_model.model.": a name that begins otherwise is found here all the same, and by no loader. */
#ifndef SP_EXPLAIN_FILES_ADAPTER_BASE_H
#define SP_EXPLAIN_FILES_ADAPTER_BASE_H

#include "check/check.h"

enum { SP_MOST_LEFT_OUT = 2 }; /* components in front of a predicted name that an adapter may leave out */

struct sp_adapter_base {
    struct sp_check *check;
    struct sp_map left_out[SP_MOST_LEFT_OUT]; /* predicted names without so many -> predicted; SP_NONE when several */
    bool whole;                               /* the weights of the model are in the file */
    size_t *finding_of; /* for each tensor of the file: the finding that it is unexpected, or SP_NONE */
};

void sp_adapter_base_open(struct sp_adapter_base *base, struct sp_check *check);
void sp_adapter_base_close(struct sp_adapter_base *base);
/* The predicted tensor `rest` of the module, such as "weight", or SP_NONE. */
size_t sp_adapter_base_find(const struct sp_adapter_base *base, const char *module, const char *rest);
/* Whether the module is one of several weights, such as all experts: what is for it belongs to more than one. */
bool sp_adapter_base_holds(const struct sp_adapter_base *base, const char *module);

/* What is as it should be in an adapter is no error. */
void sp_adapter_tensor_fits(const struct sp_adapter_base *base, size_t tensor);
/* The model itself is not in such a file, apart from what was trained as a whole: a head, an embedding. */
void sp_adapter_take_absent(struct sp_check *check, const struct sp_cause *cause);
extern const char sp_adapter_merge_hint[];

#endif
