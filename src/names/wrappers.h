/* SPDX-License-Identifier: MIT
 * Components of names that belong to no model: what frameworks wrap around modules, anywhere in a name, and what
 * programs put in front of the whole. */
#ifndef SP_NAMES_WRAPPERS_H
#define SP_NAMES_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* The component of the name that is a framework's wrapper and not part of the model, "_orig_mod"; or NULL. */
const char *sp_wrapper_in(const char *name);
bool sp_is_wrapper(const char *component, size_t length);
/* Whether PEFT puts this wrapper around a module that an adapter changes: "base_layer". */
bool sp_is_adapter_wrapper(const char *wrapper);
/* What programs put in front of a whole model: "module", "model". */
bool sp_is_holder(const char *component, size_t length);
/* Whether every component of "model.module." is one; true of "". */
bool sp_is_all_holders(const char *prefix);
/* Whether a word of the component is that of an average: "model_ema", "ema_state_dict", "averaged_model". */
bool sp_is_average(const char *component, size_t length);
/* Whether a component of a prefix is that of an average: "state_dict.model_ema.". */
bool sp_is_of_average(const char *prefix);
/* Puts the name without its wrapper components into `text`. */
void sp_unwrap(struct sp_text *text, const char *name);

#endif
