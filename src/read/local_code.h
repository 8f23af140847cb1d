/* SPDX-License-Identifier: MIT
 * Python code in the folder of a model, which its configuration names and a loader runs. */
#ifndef SP_READ_LOCAL_CODE_H
#define SP_READ_LOCAL_CODE_H

#include "read/folder.h"

/* Warns in the inventory of each file of code that a configuration in the folder names, or a list of models in the
 * folder above. */
void sp_local_code_judge(const struct sp_folder *folder, struct shapeproof_inventory *inventory);

#endif
