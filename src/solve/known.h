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
};

/* What an expression shall be. */
struct sp_want {
    enum { SP_WANT_VALUE, SP_WANT_ITEM, SP_WANT_LENGTH, SP_WANT_MEMBER } kind;
    struct shapeproof_value
        value; /* that value; or the list's item at `index`; or its length; or an item that it has or lacks */
    size_t index;
    bool scalar;    /* of an item: what is no list stands for every item */
    bool is_member; /* of an item: not its value, but what is in it */
    bool lacks;     /* of a member */
};

enum sp_answer {
    SP_OPEN,       /* too little is known */
    SP_HOLDS,      /* it is so, or was made so */
    SP_CONTRADICTS /* it cannot be so */
};

/* An item that a list has, or lacks. */
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
    size_t guess;     /* the last guess that it follows from; or 0 */
    size_t parent;    /* the object that it is a member of, as an index; or SIZE_MAX */
    bool has_members; /* something was told of a member */
    bool is_used;     /* it was asked for or told since everything was forgotten, and is listed in `used` */
    /* Of a list that is told item by item: */
    size_t item_count; /* one more than the last index; the items are facts of their own */
    size_t length;     /* SIZE_MAX: not known */
    bool scalar;       /* one value may stand for all items */
    bool is_closed;    /* nothing told how long it is: it ends with the last item that was told */
    bool objects;      /* the items are told member by member: "layers[2].width" is a fact */
    const struct sp_told_member *members;
    size_t saved;                 /* the last scope in which it was put on the trail */
    struct shapeproof_value list; /* put together from the items */
    size_t list_made;             /* when: `changes` then */
};

enum { SP_MAX_GUESSES = 100 };

struct sp_old_fact {
    size_t index;
    struct sp_fact fact;
};

struct sp_known {
    struct sp_arena *arena;
    struct sp_fact *facts;
    size_t count, capacity;
    SP_ARRAY(size_t) used; /* the facts to forget: there may be many more that nobody asked for */
    struct sp_map names;
    size_t guesses;  /* how many were made */
    size_t supposed; /* the first so many of these are suppositions: made before anything was deduced */
    const char *guessed[SP_MAX_GUESSES + 1]; /* by their numbers, from 1: the keys */
    const char *others[SP_MAX_GUESSES + 1];  /* and values that are as good, such as "56 and 14"; or NULL */
    size_t touched;                          /* the last guess that anything asked for follows from */
    size_t told;                             /* how many pieces */
    size_t changes;                          /* counts up with each new fact, and each that is taken back */
    struct sp_reason reason;                 /* of what is told next */
    bool spares_defaults; /* what a key is by default is not told of it: something else may tell that it is not set */
    bool spared;          /* that was so of something since it was asked last */
    bool tell_items;      /* layer_types[i] in place of full_attention_interval, when no interval will do */
    /* The undo trail: facts as they were before they were changed, each once in a scope. */
    SP_ARRAY(struct sp_old_fact) trail;
    size_t scope, scopes; /* the innermost open scope, 0: none; and how many there were */
};

/* A place on the trail, to which what is known can be taken back. */
struct sp_mark {
    size_t trail, told, guesses, scope;
};

/* Whether a value is what is wanted. */
enum sp_answer sp_value_satisfies(struct shapeproof_value have, const struct sp_want *want);
/* SHAPEPROOF_VALUE_UNKNOWN when it is not known. */
struct shapeproof_value sp_known_value(struct sp_known *known, const char *path);
/* That of an item which was told of a list; SHAPEPROOF_VALUE_UNKNOWN when it was not. */
struct shapeproof_value sp_known_item(struct sp_known *known, const char *list, size_t index);
/* NULL when nothing was ever told of it. */
const struct sp_fact *sp_known_fact(const struct sp_known *known, const char *path);
enum sp_answer sp_known_tell(struct sp_known *known, const char *path, const struct sp_want *want);
/* The same of an item of a list, which is a list itself: what is wanted is an item of that. */
enum sp_answer sp_known_tell_inner(struct sp_known *known, const char *path, size_t index, const struct sp_want *want);
/* Whatever was told of it, or of its items, it is that value: others were tried. `guess`: others may do as well. A
 * number may have been rounded down; sp_known_settle_exactly: it was not. */
void sp_known_settle_exactly(struct sp_known *known, const char *path, struct shapeproof_value value);
void sp_known_settle(struct sp_known *known, const char *path, struct shapeproof_value value, bool guess);
/* The metadata of the file give it that value; what tensors told of it stays, but for a list of which only some items
 * are known. */
void sp_known_state(struct sp_known *known, const char *path, struct shapeproof_value value);
/* Whether members of it were told, or asked for. */
bool sp_known_is_object(const struct sp_known *known, const char *path);
/* Whether items of a list are told, and not how many there are. */
bool sp_known_has_open_lists(const struct sp_known *known);
/* Such a list is taken to have so many items; false when it is none, or has as many. */
bool sp_known_close_list(struct sp_known *known, const char *path, size_t length);
/* It is not known any more how many items a list has of which some were told. */
void sp_known_open_list(struct sp_known *known, const char *path);
/* Of how many keys and items the value is known. */
size_t sp_known_count_set(const struct sp_known *known);
/* Lists whose items are told are taken to end with the last one. */
bool sp_known_close_lists(struct sp_known *known);
/* How long lists are in the same configuration; 0 when there is none, or the key is known. */
size_t sp_known_length_beside(struct sp_known *known, const char *path);
/* What is known of another item of the list that this is an item of; SHAPEPROOF_VALUE_UNKNOWN when nothing is. */
struct shapeproof_value sp_known_item_beside(struct sp_known *known, const char *path);
/* To try something out: opens a scope, which is closed by one of the next two. Scopes may be nested. */
struct sp_mark sp_known_mark(struct sp_known *known);
/* What was told since then is forgotten, and what was forgotten is known again. Facts that are newer keep their places,
 * and nothing is known of them. */
void sp_known_undo(struct sp_known *known, const struct sp_mark *mark);
/* What is known now stays, unless an outer scope is undone. */
void sp_known_commit(struct sp_known *known, const struct sp_mark *mark);
/* The fact with that index, to be changed. */
struct sp_fact *sp_known_change(struct sp_known *known, size_t index);
/* What was guessed is forgotten, with what nothing but trying told; `lists`: and whatever was told of lists. False when
 * there is nothing of the kind. */
bool sp_known_forget_guesses(struct sp_known *known, bool lists);
/* All is forgotten but numbers that dimensions told, whatever was guessed. */
void sp_known_keep_dimensions(struct sp_known *known);
/* The other way round: what dimensions told is forgotten, and numbers that were guessed. */
void sp_known_forget_dimensions(struct sp_known *known);
/* What is told from now on follows from a guess about the key. */
void sp_known_guess(struct sp_known *known, const char *key);
/* As at the beginning: nothing is known. */
void sp_known_clear(struct sp_known *known);
void sp_known_free(struct sp_known *known);

static inline struct sp_want sp_want_value(struct shapeproof_value value)
{
    return (struct sp_want){.kind = SP_WANT_VALUE, .value = value};
}

#endif
