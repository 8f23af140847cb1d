/* SPDX-License-Identifier: MIT
 * From what a loader takes to what is said of it. */
#ifndef SP_LOAD_JUDGE_H
#define SP_LOAD_JUDGE_H

#include "base/arena.h"
#include "load/loader.h"
#include "match/match.h"
#include "shapeproof/config.h"
#include "shapeproof/data.h"
#include "shapeproof/inventory.h"
#include "shapeproof/load.h"
#include "shapeproof/prediction.h"
#include "shapeproof/table.h"

/* What a loader is asked about: a file and its configuration. */
struct sp_load_subject {
    const struct shapeproof_inventory *inventory;
    const struct shapeproof_tables *tables;
    const struct shapeproof_config *config;
    const struct shapeproof_prediction *prediction; /* from that; NULL: it is made when it is needed */
    const struct sp_match *match;                   /* of the inventory with that, or NULL */
    const char *table;                              /* its name, or NULL: the configuration says it */
    bool quantised;                                 /* the weights are, or the configuration says so */
    const char *quantisation; /* the method, when `config` makes predictions of what is stored; or NULL */
    /* Where a loader may unpack that method: the configuration of the unpacked model, and of each tensor of the
     * inventory whether it is a scale. NULL where what it does is not known. */
    const struct shapeproof_config *unpacked;
    const bool *scales;
    size_t unscaled;                    /* quantised weights whose scale the file lacks */
    const struct shapeproof_data *data; /* of the inventory, when tied tensors are to be compared; or NULL */
    const bool *spare; /* of each tensor of the inventory whether no model needs it: buffers, copies; NULL: none is */
};

/* Whether it reads such files, or refuses one because its name says another format, and has a class for the
 * configuration, which has to say its model_type. */
bool sp_load_is_meant(const struct sp_loader *loader, const struct sp_load_subject *subject);
/* An answer without a number in it yet; one that cannot be told; one that is no. */
struct shapeproof_loading sp_loading_of(const struct sp_loader *loader);
struct shapeproof_loading sp_loading_open(struct sp_arena *arena, struct shapeproof_loading loading, const char *why);
struct shapeproof_loading sp_loading_refused(struct sp_arena *arena, struct shapeproof_loading loading,
                                             const char *why);

/* What the loader makes of the file under the configuration. It is asked in this order, and the first obstacle is the
 * answer: a file that is not what its name says, the format, a class for the configuration, the pickle, data that the
 * file lacks, quantised weights, the dtype, what the class needs of the configuration; then the tensors decide. Texts
 * are in the arena, or static. */
struct shapeproof_loading sp_load(struct sp_arena *arena, const struct sp_loader *loader,
                                  const struct sp_load_subject *subject);

#endif
