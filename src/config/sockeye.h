/* SPDX-License-Identifier: MIT
 * What Sockeye's own files leave to the reader: which of its models a configuration describes. */
#ifndef SP_CONFIG_SOCKEYE_H
#define SP_CONFIG_SOCKEYE_H

#include "base/value.h"

/* Whether this is the `config` of a Sockeye model: a ModelConfig with an encoder. */
bool sp_sockeye_is_config(struct shapeproof_value root);
/* The same with a member "model_type" in front, unless the file has one. `version` is that of the Sockeye that wrote
 * it, or NULL when it is not known: then it shows in what the file holds. */
struct shapeproof_value sp_sockeye_with_model_type(struct sp_arena *arena, struct shapeproof_value root,
                                                   const char *version);
/* "sockeye-rnn", "sockeye-transformer", "sockeye-cnn", or "sockeye-mixed" when encoder and decoder are of different
 * kinds. They are named as on Sockeye's command line ("rnn-with-conv-embed") or by their class. */
const char *sp_sockeye_model_type(struct sp_arena *arena, const char *encoder, const char *decoder);
/* The first line of the file `version` beside the configuration at `path`; NULL when there is none that makes sense. */
const char *sp_sockeye_version(struct sp_arena *arena, const char *path);

#endif
