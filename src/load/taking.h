/* SPDX-License-Identifier: MIT
 * What a loader takes of an inventory under a prediction. */
#ifndef SP_LOAD_TAKING_H
#define SP_LOAD_TAKING_H

#include "base/map.h"
#include "load/conversion.h"
#include "load/renaming.h"
#include "match/match.h"
#include "shapeproof/inventory.h"
#include "shapeproof/prediction.h"

enum { SP_ALIKE_INDICES = 4 };

/* The components of a name that are numbers, "17" and "208" of "layers.17.experts.208.w1". `first` is the index of the
 * first of them that is the same number, mostly its own. */
struct sp_name_numbers {
    struct {
        const char *begin;
        size_t length, first;
    } items[SP_ALIKE_INDICES];
    size_t count;
};

/* Names that differ in their numbers alone, which have the same places and lengths in all of them (taking.c). */
struct sp_alike_kind {
    const char *name; /* the one that stands for them: "layers.11.experts.222.w1" */
    size_t length;
    char *last;                     /* the name of the kind that was looked up last */
    struct sp_name_numbers numbers; /* in `name` */
    size_t front, end;              /* where in the name the last of the numbers begins, and where it ends */
    bool paired;                    /* two of the numbers have the same length, and so may be equal */
    struct sp_renamed renamed;      /* what `name` becomes: "layers.11.w13.222" */
    bool known; /* all names of the kind become that, with their numbers; otherwise each is renamed */
    bool same;  /* they stay as they are */
    struct sp_name_numbers digits; /* in renamed.name: "11" says that the first number comes there, "222" the second */
    bool follows_last;             /* the last number comes into it */
    char *result;                  /* renamed.name with the numbers of the name that was asked last */
    size_t note;                   /* on that: see sp_alike_rename */
    size_t next;                   /* index of the kind of the name that came after one of this kind the last time */
};

/* What was worked out of renaming so far. */
struct sp_alike {
    const struct sp_renaming_rules *rules;
    bool ruled_out;      /* a rule has a number of its own, "layers\\.0": then names of a kind may become different */
    struct sp_map known; /* sp_alike_kind.name -> index of the kind */
    struct {
        struct sp_alike_kind *items;
        size_t count, capacity;
    } kinds;
    size_t last;   /* of which kind the last name was, or SIZE_MAX */
    size_t unused; /* the note on a name of no kind */
    struct sp_text scratch;
};

/* The rules must live as long. */
void sp_alike_init(struct sp_alike *alike, const struct sp_renaming_rules *rules);
void sp_alike_free(struct sp_alike *alike);

/* As sp_rename, with the same result, of which the name lives until the next call (or is the name itself). `note`,
 * which may be NULL, comes back with a place for a number about that result: SIZE_MAX, or what was put there when
 * another name became the same. */
struct sp_renamed sp_alike_rename(struct sp_alike *alike, const char *name, size_t **note);

/* A tensor that the model has in memory. */
struct sp_state_entry {
    const char *name;
    struct sp_load_shape piece;
    size_t tie; /* another one that it is tied to, or itself: see sp_state_dict_tie */
    size_t
        taker; /* which entry takes a tensor of this name, mostly this one: see find_taker; SIZE_MAX: not yet asked */
    size_t gathered; /* where what becomes this is gathered, or SIZE_MAX */
    size_t tensor;   /* of the file, which it is as it stands; SIZE_MAX: none, or put together of several */
    bool there;      /* the loader gives it values from the file */
    bool reshaped;   /* those have another shape */
};

/* Where a tensor goes that has a name of the file. */
struct sp_load_place {
    struct sp_renamed renamed; /* without a name there is no place for it at all */
    size_t held;               /* SIZE_MAX: the model has no such tensor */
};

/* What becomes of the name of the base model in front of the names of a file. */
enum sp_base_move {
    SP_BASE_STAYS,
    SP_BASE_ADDED, /* "h.0.w" becomes "transformer.h.0.w" */
    SP_BASE_TAKEN  /* "transformer.h.0.w" becomes "h.0.w" */
};

struct sp_state_dict {
    struct sp_arena arena;
    const struct sp_loader *loader;
    const struct sp_loaded *loaded;
    struct sp_renaming_rules rules;
    struct sp_alike alike;
    const struct shapeproof_prediction *prediction;
    struct sp_load_place
        *places; /* of each predicted name, before the name of the base model is looked at; or no `held` */
    const struct sp_match *match; /* of the file, or NULL: which of its names are predicted; most are */
    struct sp_state_entry *items;
    size_t count, capacity;
    struct sp_map names;
    struct sp_text scratch;
    const bool *scales; /* of each tensor of the file whether it is unpacked into the weight beside it; NULL: none is */
    bool untied;        /* the class ties nothing */
    bool as_named;      /* the names of the file are those of the model: none is renamed */
    bool unversioned;   /* the file that is taken says nothing of the versions of modules */
    enum sp_base_move move; /* of a loader that looks at the file for the name of the base model */
    const char *unknown;    /* why it is not known, or NULL */
};

/* The model that is predicted, as the loader's class holds it. Texts of the prediction must live as long. */
void sp_state_dict_build(struct sp_state_dict *state, const struct sp_loader *loader, const struct sp_loaded *loaded,
                         const struct shapeproof_prediction *prediction);
/* A tensor by that name is tied to nothing. */
void sp_state_dict_untie(struct sp_state_dict *state, const char *name);
/* The one that stands for all that are tied to each other. */
size_t sp_state_dict_tie(const struct sp_state_dict *state, size_t held);
void sp_state_dict_free(struct sp_state_dict *state);

/* What came of it. */
struct sp_taking {
    size_t fresh, reshaped; /* entries that are newly initialised, and that have another shape in the file */
    size_t failed;          /* conversions whose tensors do not fit each other */
    struct {
        size_t *items;
        size_t count, capacity;
    } ignored; /* tensors of the inventory, of several that became one name the first */
    struct sp_map ignored_names;
    size_t outer; /* length of the first key at the top of a pickle that leads to tensors, and is taken for one; or 0 */
    const char *unknown; /* why nothing can be said, or NULL */
    size_t sparse;       /* tensors that have a place, and of which PyTorch makes sparse ones */
    size_t first_sparse; /* of them, in the inventory */
    const char *broken;  /* a name that is refused: it needs all of its module, and one is missing */
    const char *stray; /* a name that is refused: beside the base model in memory, and a file of the base model alone */
};

/* Takes the tensors of the inventory into the memory: marks what is there. A name that begins with `stripped` is taken
 * without that; NULL: every name as it is. May be called again; what was marked before is forgotten. */
struct sp_taking sp_load_take(struct sp_state_dict *state, const struct shapeproof_inventory *inventory,
                              const char *stripped);
void sp_taking_free(struct sp_taking *taking);

/* A tensor that is there and needs all of its module, of which another one is missing; or NULL. */
const char *sp_state_dict_broken(const struct sp_state_dict *state);
/* Whether it is missing, and the loader says so. */
bool sp_is_newly_initialised(const struct sp_state_dict *state, const struct sp_state_entry *held);
/* Whether the class computes it, and has it not in memory as a file might. */
bool sp_class_computes(const struct sp_state_dict *state, const char *name);
/* Whether the loader gives its values to what it is tied to, and not the other way round. */
bool sp_is_preferred(const struct sp_state_dict *state, const char *name);
/* Whether it is in memory, and may be missing. */
bool sp_class_may_lack(const struct sp_state_dict *state, const char *name);

#endif
