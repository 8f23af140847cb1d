/* SPDX-License-Identifier: MIT
 * What is known so far of hyper-parameters, told in pieces.
 *
 *   told                                   the fact              then its value is
 *   n_embd is 16                           n_embd                16
 *   item 2 of depths is 6                  depths, depths[2]     unknown: it is not told how long the list is
 *   depths has 4 items                     depths                [unknown, unknown, 6, unknown]
 *   "all" is in lhuc                       lhuc                  unknown, with a member
 *   vision_config.depth is 32              vision_config.depth   32; and vision_config is an object
 */
#ifndef SP_SOLVE_KNOWN_H
#define SP_SOLVE_KNOWN_H

#include "base/map.h"
#include "base/text.h"
#include "lang/hyper.h"

/* What told a hyper-parameter. */
enum sp_reason_kind {
    SP_REASON_NONE,
    SP_REASON_DIMENSION, /* a dimension of a tensor */
    SP_REASON_PRODUCT,   /* the elements of a tensor of which no more shows */
    SP_REASON_INDICES,   /* the indices in names such as the tensor's */
    SP_REASON_LAST,      /* the tensor has the last index, although there may be others without a tensor */
    SP_REASON_PRESENT,   /* the tensor is there */
    SP_REASON_MISSING,   /* no tensor of that name is there */
    SP_REASON_TIE,       /* the tensor is the same as another one */
    SP_REASON_REQUIRED,  /* the table covers no other value */
    SP_REASON_STATED,    /* the file's metadata */
    SP_REASON_ONLY,      /* of all values that were tried no other one agrees with the file */
    SP_REASON_GUESS      /* nothing: it is assumed */
};

struct sp_reason {
    enum sp_reason_kind kind;
    const char *name; /* of the tensor */
    size_t dimension;
    size_t line;  /* of SP_REASON_MISSING, in place of a name: the line of the outline */
    bool rounded; /* by a quotient that was rounded down: larger values may give the same */
    bool bound;   /* by a loop without iterations: any value may that gives it none */
};

/* What an expression is to be. */
struct sp_want {
    enum {
        SP_WANT_VALUE,  /* `value` */
        SP_WANT_ITEM,   /* a list whose item at `index` is `value` */
        SP_WANT_LENGTH, /* a list of `value` items */
        SP_WANT_MEMBER  /* a list with the item `value`, or a text with that in it; without it if `lacks` */
    } kind;
    struct shapeproof_value value;
    size_t index;
    bool scalar;    /* of an item: a value that is no list stands for every item */
    bool is_member; /* of an item: it is itself to have, or lack, `value` as a member */
    bool lacks;     /* of a member */
};

enum sp_answer {
    SP_OPEN,       /* too little is known */
    SP_HOLDS,      /* it is so, or was made so */
    SP_CONTRADICTS /* it cannot be so */
};

/* An item that a list is told to have, or to lack. */
struct sp_told_member {
    struct shapeproof_value item;
    bool lacks;
    const struct sp_told_member *next;
};

struct sp_fact {
    const char *path;              /* "text_config.depths", or an item: "text_config.depths[2]" */
    struct shapeproof_value value; /* SHAPEPROOF_VALUE_UNKNOWN, a value, SHAPEPROOF_VALUE_NULL, or
                                      SHAPEPROOF_VALUE_ABSENT: the configuration is to lack it */
    struct sp_reason reason;
    size_t guess;     /* the number of the last guess that it follows from; 0: it follows from none */
    size_t parent;    /* the object that it is a member of, as an index; SIZE_MAX: it is a key by itself */
    bool has_members; /* something was told of a member */
    uint64_t asks;    /* sp_known.asked of its own key and of the objects around it */
    bool is_used;     /* it was asked for or told since everything was forgotten, and is listed in `used` */

    /* ---- of a list that is told item by item ---- */

    size_t item_count;                    /* one more than the last index; the items are facts of their own */
    size_t length;                        /* SIZE_MAX: not known */
    bool scalar;                          /* one value may stand for all items */
    bool is_closed;                       /* nothing told the length: it was assumed (sp_known_close_list) */
    bool objects;                         /* the items are told member by member: "layers[2].width" is a fact */
    const struct sp_told_member *members; /* what it has or lacks, or NULL */
    size_t saved;                         /* the last scope in which it was put on the trail */
    struct shapeproof_value list;         /* cached: put together from the items */
    size_t list_made;                     /* the value of `changes` when that was done */
};

enum { SP_MAX_GUESSES = 100 };

/* Keys are told apart by a hash of so many values, so that a set of them is a word of 64 bits. All items of a list
 * count as the list. The last bit stands for sp_known.spares_defaults. */
enum { SP_KEY_HASHES = 63 };
enum { SP_RECENT_FACTS = 64 }; /* places of a cache by the pointer to a path: tables read about as many keys */
#define SP_ASKED_DEFAULTS (UINT64_C(1) << SP_KEY_HASHES)

struct sp_old_fact {
    size_t index;
    struct sp_fact fact;
};

struct sp_known {
    struct sp_arena *arena;
    struct sp_fact *facts; /* one for each key or item that was asked for or told */
    size_t count, capacity;
    SP_ARRAY(size_t) used;          /* the facts to forget: there may be many more that nobody asked for */
    struct sp_map names;            /* path -> index of facts */
    size_t recent[SP_RECENT_FACTS]; /* cache of `names`: the last fact that was found at each place */
    struct sp_text path;            /* scratch */
    size_t guesses;                 /* how many were made */
    size_t supposed;                /* the first so many of these are suppositions: made before anything was deduced */
    const char *guessed[SP_MAX_GUESSES + 1]; /* by their numbers, from 1: the keys */
    const char *others[SP_MAX_GUESSES + 1];  /* and values that are as good, such as "56 and 14"; or NULL */
    size_t touched;                          /* the last guess that anything asked for follows from */
    size_t told;                             /* how many pieces */
    size_t changes; /* the number of the present state: each new fact makes another one, and undoing restores it */
    size_t states;  /* how many states there were */
    uint64_t asked; /* the keys whose facts were looked at; the caller resets it */
    size_t changed_at[SP_KEY_HASHES + 1]; /* for each bit of `asked` the state that changed such a key last */
    struct sp_reason reason;              /* of what is told next */
    bool spares_defaults; /* a key is not told a value that is its default: something may tell later that it is unset */
    bool spared;          /* set whenever that was done; the caller resets it */
    bool tell_items;      /* in `every default layer_types[i] == "full"` the item is told: no interval will do */
    /* The undo trail: facts as they were before they were changed, each once in a scope. */
    SP_ARRAY(struct sp_old_fact) trail;
    size_t scope, scopes; /* the innermost open scope, 0: none; and how many there were */
};

/* A place on the trail, to which what is known can be taken back. */
struct sp_mark {
    size_t trail, count, told, guesses, scope, changes;
    size_t changed_at[SP_KEY_HASHES + 1];
};

/* Whether a value is what is wanted; SP_OPEN when it is SHAPEPROOF_VALUE_UNKNOWN. */
enum sp_answer sp_value_satisfies(struct shapeproof_value have, const struct sp_want *want);
/* The value of a key; SHAPEPROOF_VALUE_UNKNOWN, with the path as its string, when it is not known. */
struct shapeproof_value sp_known_value(struct sp_known *known, const char *path);
/* The value of a list's item that was told by itself; SHAPEPROOF_VALUE_UNKNOWN when it was not. */
struct shapeproof_value sp_known_item(struct sp_known *known, const char *list, size_t index);
/* What is known of a key; NULL when it was never told nor asked for. */
const struct sp_fact *sp_known_fact(const struct sp_known *known, const char *path);
/* Makes known that the key is what is wanted, with known->reason. SP_HOLDS: it is so now, or was before;
 * SP_CONTRADICTS: it is known to be something else. */
enum sp_answer sp_known_tell(struct sp_known *known, const char *path, const struct sp_want *want);
/* The same of an item of a list, which is a list itself: what is wanted is an item of that. */
enum sp_answer sp_known_tell_inner(struct sp_known *known, const char *path, size_t index, const struct sp_want *want);
/* Gives a key the value that trying found, in place of whatever was told of it or of its items. A number counts as
 * rounded down: larger ones may do as well. */
void sp_known_settle(struct sp_known *known, const char *path, struct shapeproof_value value);
/* The same as a guess: any other value may do as well. */
void sp_known_settle_as_guess(struct sp_known *known, const char *path, struct shapeproof_value value);
/* The same for a number that is not rounded: no other one will do. */
void sp_known_settle_exactly(struct sp_known *known, const char *path, struct shapeproof_value value);
/* Gives a key the value that the metadata of the file state. A value that tensors told stays, except a list of which
 * only some items are known. */
void sp_known_state(struct sp_known *known, const char *path, struct shapeproof_value value);
/* Whether the key is a sub-configuration: members of it were told, or asked for. */
bool sp_known_is_object(struct sp_known *known, const char *path);
/* Whether there is an open list: items of it are told, and not how many there are. */
bool sp_known_has_open_lists(const struct sp_known *known);
/* Assumes that an open list has that many items. False, and nothing changes, when it is none, or has as many already.
 */
bool sp_known_close_list(struct sp_known *known, const char *path, size_t length);
/* Makes it an open list again. */
void sp_known_open_list(struct sp_known *known, const char *path);
/* Assumes that open lists end with the last item that is told, or are as long as lists beside them. False when there is
 * none. */
bool sp_known_close_lists(struct sp_known *known);
/* How many keys and items have a known value. */
size_t sp_known_count_set(const struct sp_known *known);
/* The length of the lists of the same configuration; 0 when there is none, or the key is known. */
size_t sp_known_length_beside(struct sp_known *known, const char *path);
/* For the path of an item: the first other item of the same list that is known; SHAPEPROOF_VALUE_UNKNOWN when none is.
 */
struct shapeproof_value sp_known_item_beside(struct sp_known *known, const char *path);
/* Opens a scope, to try something out; one of the next two closes it. Scopes may be nested. */
struct sp_mark sp_known_mark(struct sp_known *known);
/* Takes back what is known to what it was at the mark. Facts that are newer keep their places, and nothing is known of
 * them. */
void sp_known_undo(struct sp_known *known, const struct sp_mark *mark);
/* Keeps what is known now, unless an outer scope is undone. */
void sp_known_commit(struct sp_known *known, const struct sp_mark *mark);
/* The fact with that index, to be changed: it is put on the undo trail first. */
struct sp_fact *sp_known_change(struct sp_known *known, size_t index);
/* To be called when a fact has changed: values that were computed before no longer hold. */
void sp_known_note_change(struct sp_known *known, const struct sp_fact *fact);
/* The same when anything may have changed. */
void sp_known_renew(struct sp_known *known);
/* Sets spares_defaults. */
void sp_known_spare_defaults(struct sp_known *known, bool spares);
/* Whether one of the keys in the set (sp_known.asked) has changed after that state (sp_known.states). */
bool sp_known_has_changed(const struct sp_known *known, uint64_t asked, size_t state);

enum sp_forget { SP_FORGET_GUESSES, SP_FORGET_GUESSES_AND_LISTS };

/* Forgets values that were guessed or that only trying told, and then whatever was told of lists. False when there was
 * nothing to forget. */
bool sp_known_forget_guesses(struct sp_known *known, enum sp_forget what);
/* Forgets everything but integers that dimensions told without a guess. */
void sp_known_keep_dimensions(struct sp_known *known);
/* Forgets what dimensions told, and numbers that were guessed. */
void sp_known_forget_dimensions(struct sp_known *known);
/* Begins a guess about a key: until known->touched is set anew, what is told follows from it. */
void sp_known_guess(struct sp_known *known, const char *key);
/* Forgets everything. */
void sp_known_clear(struct sp_known *known);
void sp_known_free(struct sp_known *known);

static inline struct sp_want sp_want_value(struct shapeproof_value value)
{
    return (struct sp_want){.kind = SP_WANT_VALUE, .value = value};
}

#endif
