/* SPDX-License-Identifier: MIT */
#ifndef SP_EXPLAIN_ADAPTER_TASK_H
#define SP_EXPLAIN_ADAPTER_TASK_H

#include "check/check.h"

/* The model that PEFT builds of the base of an adapter, because task_type in adapter_config.json asks for it. */
struct sp_adapter_task {
    const char *class, *head; /* "BertForSequenceClassification", "ForSequenceClassification" */
    uint64_t labels;          /* rows of the head in the adapter; 0: it has none */
};

/* Fills `task` for an adapter of PEFT whose task needs a head that the class of the configuration does not have. False
 * for any other file, and where the class does not begin with the model_type. Strings are in the arena of the check. */
bool sp_adapter_task_read(struct shapeproof_check *check, struct sp_adapter_task *task);

#endif
