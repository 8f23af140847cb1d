/* SPDX-License-Identifier: MIT
 * What stable-baselines3 saves of an agent beside its weights. */
#ifndef SP_READ_AGENT_H
#define SP_READ_AGENT_H

#include "read/zip/archive.h"

/* Reports what unpickling the objects in the member `data` of such an archive would run. A warning says if the member
 * cannot be read. */
void sp_agent_judge(struct sp_zip *zip, size_t record, struct shapeproof_inventory *inventory);

#endif
