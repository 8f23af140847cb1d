/* SPDX-License-Identifier: MIT
 * How the names of a whole file differ from the predicted ones: "module." in front, "transformer." left out. */
#ifndef SP_MATCH_NAMING_H
#define SP_MATCH_NAMING_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "names/naming_schemes.h"
#include "names/prefix_pairs.h"
#include "shapeproof/inventory.h"
#include "shapeproof/prediction.h"

enum { SP_MAX_PREFIX_RULES = 8 };

/* What is done to a name of the file to make it the predicted one, in this order. With drop_wrappers, `strip` "module."
 * and `add` "model.":
 *
 *     module._orig_mod.layers.0.mlp.up_proj.weight      the file
 *     module.          layers.0.mlp.up_proj.weight      wrappers dropped
 *                      layers.0.mlp.up_proj.weight      stripped; now a scheme would translate it
 *     model.           layers.0.mlp.up_proj.weight      added
 *
 * A name that is predicted as it is, or before the last step, stays that. `prefix_rules` are for what this leaves over:
 * the beginning `from` becomes `to`, in place of `strip` and `add`. */
struct sp_naming {
    const char *strip;                     /* in front of the file's names; "" for nothing */
    const char *add;                       /* what the file left out in front; "" for nothing */
    bool drop_wrappers;                    /* components such as _orig_mod, anywhere in the name */
    bool tensorflow_names;                 /* as TensorFlow does: slashes, "kernel", ":0" (spelling.h) */
    const struct sp_naming_scheme *scheme; /* whose names they are, or NULL */
    struct sp_prefix_rule prefix_rules[SP_MAX_PREFIX_RULES]; /* of components that begin otherwise than the rest: in the
                                                                file, predicted */
    size_t prefix_rule_count;
};

/* What had to be done to the name of a tensor of the file to make it the predicted one. */
enum sp_renaming {
    SP_STRIPPED = 1 << 0,        /* naming.strip was taken away */
    SP_ADDED = 1 << 1,           /* naming.add was put in front */
    SP_UNWRAPPED = 1 << 2,       /* wrapper components were left out */
    SP_OLD_NAME = 1 << 3,        /* older files use this name */
    SP_TRANSLATED = 1 << 4,      /* naming.scheme has another name for it */
    SP_PREFIX_REPLACED = 1 << 5, /* one of naming.prefix_rules was replaced */
    SP_RESPELT = 1 << 6          /* brought into the common spelling */
};

struct sp_match;
/* The naming that makes the most names of the file agree with the prediction, of which those that are the same in both
 * are matched. Strings are in the arena. */
struct sp_naming sp_naming_infer(struct sp_arena *arena, const struct sp_match *same);

/* Whether it leaves every name as it is. */
bool sp_naming_is_plain(const struct sp_naming *naming);

/* Appends what a name of the file is under a naming, whatever is predicted. */
void sp_naming_apply(const struct sp_naming *naming, const char *name, struct sp_text *text);

/* Looks names up under a naming, first as they are. Keeps its scratch between calls. */
struct sp_finder {
    const struct sp_naming *naming;
    size_t (*find)(const void *context, const char *name); /* an index, or SHAPEPROOF_NONE */
    const void *context;
    struct sp_text bare, whole, translated;
    struct sp_arena spellings;
    size_t rule; /* which one was replaced last */
};

/* One that looks up among the predicted names. */
struct sp_finder sp_predicted_finder(const struct sp_naming *naming, const struct shapeproof_prediction *prediction);
/* The index, or SHAPEPROOF_NONE; `renaming` says what was done to the name (enum sp_renaming). */
size_t sp_finder_find(struct sp_finder *finder, const char *name, unsigned *renaming);
/* The name in the common spelling and without wrappers, if the naming says so: it itself, or in the finder's scratch.
 * Adds to `renaming`. */
const char *sp_finder_plain(struct sp_finder *finder, const char *name, unsigned *renaming);
/* The same without the prefix. */
const char *sp_finder_bare(struct sp_finder *finder, const char *name, unsigned *renaming);
void sp_finder_free(struct sp_finder *finder);

/* A `find` that finds nothing, but keeps every name that `tensor` could stand for. The context is a keeper. */
struct sp_name_keeper {
    struct sp_arena *arena; /* of the names */
    struct sp_map *names;
    size_t tensor;
};
size_t sp_keep_name(const void *keeper, const char *name);
/* prefix_rules.c: adds the prefix rules of components. */
void sp_prefix_rules_infer(struct sp_arena *arena, const struct sp_match *same, struct sp_naming *naming);

#endif
