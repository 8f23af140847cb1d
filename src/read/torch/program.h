/* SPDX-License-Identifier: MIT
 * Programs in archives: what loading or running those of torch.export hands to Python, and which operators TorchScript
 * calls. */
#ifndef SP_READ_TORCH_PROGRAM_H
#define SP_READ_TORCH_PROGRAM_H

#include "model/inventory.h"
#include "read/zip/archive.h"

/* Reports in the inventory what each program in the archive would run: models/MODEL.json, and
 * serialized_exported_program.json of torch before 2.8. A warning names the member, also if it cannot be read. */
void sp_torch_judge_programs(struct sp_zip *zip, struct shapeproof_inventory *inventory);

/* The same for the source code of TorchScript in the archive: operators that open a file, and operators of other
 * libraries if loading runs code. */
void sp_torch_judge_scripts(struct sp_zip *zip, struct shapeproof_inventory *inventory);

#endif
