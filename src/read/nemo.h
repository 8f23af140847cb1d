/* SPDX-License-Identifier: MIT
 * The configuration in a .nemo file, model_config.yaml: NeMo makes the model from it with hydra, which imports and
 * calls what it names. */
#ifndef SP_READ_NEMO_H
#define SP_READ_NEMO_H

#include "base/file.h"
#include "model/inventory.h"

/* Warns of what the configuration names that is no class of NeMo or of what NeMo is built on. `what` is the file in the
 * messages. */
void sp_nemo_judge(const struct sp_file *file, const char *what, struct shapeproof_inventory *inventory);

#endif
