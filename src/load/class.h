/* SPDX-License-Identifier: MIT
 * The class that a loader makes of a configuration. */
#ifndef SP_LOAD_CLASS_H
#define SP_LOAD_CLASS_H

#include "load/judge.h"

/* The key of the configuration by which the loader finds its class. */
const char *sp_class_key(const struct sp_loader *loader);
/* Without a model_type when the loader has none. A configuration that names no model_type is of one that its table is
 * for. */
struct sp_loaded sp_class_loaded(const struct sp_loader *loader, const struct sp_load_subject *subject);
/* The class of another model_type that the configuration names, if the loader goes by it; or the same. */
struct sp_loaded sp_class_named(const struct sp_loader *loader, const struct sp_load_subject *subject);

/* What the class has. */
struct sp_class_model {
    const struct shapeproof_prediction *prediction; /* NULL when nothing can be predicted */
    struct shapeproof_prediction *own;              /* the same, when the subject's own would not do */
    bool untied;                                    /* nothing of it is tied */
    const char *alone;                              /* a tensor that is not, though the table ties it; or NULL */
};

struct sp_class_model sp_class_predict(struct sp_arena *arena, const struct sp_loader *loader,
                                       const struct sp_loaded *loaded, const struct sp_load_subject *subject);
void sp_class_free(struct sp_class_model *model);
/* Why the loader makes no model of the configuration: a key that the class needs is not there, or two contradict each
 * other, in the whole or in a part. A key that the configuration leaves out has the default of the class, or else the
 * one that the prediction found in its table; `prediction` may be NULL. "" when it does. In the arena. */
const char *sp_class_objection(struct sp_arena *arena, const struct sp_loader *loader, const struct sp_loaded *loaded,
                               const struct shapeproof_config *config, const struct shapeproof_prediction *prediction);

#endif
