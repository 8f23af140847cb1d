/* SPDX-License-Identifier: MIT
 * What to write into the configuration, as a hint. */
#ifndef SP_EXPLAIN_REMEDY_H
#define SP_EXPLAIN_REMEDY_H

#include "check/check.h"

/* Values by their dotted paths, in the order in which they were found. Empty: all zero. */
struct sp_remedy {
    struct sp_member *values;
    size_t count;
};

/* The remedy with one value more; `path` and what `value` points to must outlive the check. In its arena. */
struct sp_remedy sp_remedy_with(struct sp_check *check, struct sp_remedy remedy, const char *path,
                                struct sp_value value);
struct sp_remedy sp_remedy_join(struct sp_check *check, struct sp_remedy first, struct sp_remedy second);
/* "write {"n_layer": 2} into config.json, and these 24 findings vanish; --set n_layer=2 tries it"; "with --set ..." of
 * what was set on the command line, and where the configuration is no JSON file. In the arena. */
const char *sp_remedy_said(struct sp_check *check, struct sp_remedy remedy, const struct sp_cause *cause);

#endif
