/* SPDX-License-Identifier: MIT
 * A pickle read as data: its stack machine runs, but nothing is ever imported or called. A global is a node with a
 * name; what the pickle would call becomes a node with the callable, its arguments and its state, for others to
 * interpret. The result is a graph, possibly with cycles, of nodes in one arena. */
#ifndef SP_READ_PICKLE_PICKLE_H
#define SP_READ_PICKLE_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum sp_pickle_type {
    SP_PICKLE_NONE,
    SP_PICKLE_BOOL,
    SP_PICKLE_INT,
    SP_PICKLE_BIG, /* an integer of more than 64 bits: its little-endian bytes, or with `capacity` 1 its decimal text */
    SP_PICKLE_FLOAT,
    SP_PICKLE_STR, /* any bytes: Python 2 wrote its byte strings here, and TorchScript its std::string */
    SP_PICKLE_BYTES,
    SP_PICKLE_TUPLE,
    SP_PICKLE_LIST,
    SP_PICKLE_SET,
    SP_PICKLE_DICT, /* keys and values alternate, in file order; a key may come twice */
    SP_PICKLE_GLOBAL,
    SP_PICKLE_PERSID,
    SP_PICKLE_OBJECT
};

struct sp_pickle_value;

/* One node per name and pickle. */
struct sp_pickle_global {
    const char *name; /* "module.name", NUL-terminated; the text comes from the file */
    bool called;
    bool dotted; /* the name has a dot: protocol 4 looks up an attribute of an attribute of the module */
    bool held;   /* it is an argument, an item, a key or a state somewhere: who gets it may call it */
};

/* callable(*args, **kwargs), then its items, pairs and state. */
struct sp_pickle_object {
    struct sp_pickle_value *callable;
    struct sp_pickle_value *args;   /* a tuple, or NULL */
    struct sp_pickle_value *kwargs; /* NULL but for NEWOBJ_EX */
    struct sp_pickle_value *state;  /* NULL without BUILD; after a second BUILD, a tuple of both states */
    struct sp_pickle_value *items;  /* a list of what was appended, or NULL */
    struct sp_pickle_value *pairs;  /* a dict of what was set, or NULL */
    bool is_new;                    /* of NEWOBJ or NEWOBJ_EX: __new__ of the class alone is called, not __init__ */
};

struct sp_pickle_value {
    uint8_t type;    /* enum sp_pickle_type */
    uint8_t uses;    /* how often it became a part of another value; 2 stands for more */
    bool given;      /* a call or BUILD had it as an argument or state, and may have copied what was in it */
    uint32_t tag;    /* 0 at first: for those who interpret the graph */
    uint32_t length; /* bytes of text, items of a container (2 per pair of a dict) */
    uint32_t capacity;
    union {
        int64_t integer; /* BOOL, INT */
        double real;
        const char *text;               /* STR, BYTES, BIG: not terminated, borrowed from the pickle's bytes */
        struct sp_pickle_value **items; /* TUPLE, LIST, SET, DICT */
        struct sp_pickle_global *global;
        struct sp_pickle_value *id; /* PERSID */
        struct sp_pickle_object *object;
    } as;
};

struct sp_pickle {
    struct sp_pickle_value *root;
    size_t end;                       /* offset of the first byte after STOP */
    struct sp_pickle_value **globals; /* each once, in order of appearance */
    size_t global_count;
    struct sp_pickle_value **persids; /* in order of appearance */
    size_t persid_count;
    struct sp_pickle_value **calls; /* each OBJECT, in order of appearance */
    size_t call_count;
    bool truncated; /* it failed because the bytes ran out: more of them might help */
    bool odd_text;  /* a text of Python 3 is not UTF-8, which Python refuses */
};

/* Limits; the memory is that of the arena, which several pickles may share, without the bytes of the pickles. */
enum { SP_PICKLE_MAX_STACK = 1000 * 1000, SP_PICKLE_MAX_MEMO = 16 * 1000 * 1000, SP_PICKLE_MAX_MEMORY = 1 << 30 };

/* Reads one pickle from the first bytes of `data`, which must outlive the result, into `arena`. `name` is what
 * messages call it: "data.pkl: BINGET at byte 17: no memo entry 5". Escapes in the texts of protocol 0 are kept as
 * they are written. */
bool sp_pickle_read(struct sp_pickle *pickle, struct sp_arena *arena, const char *name, const void *data, size_t length,
                    struct shapeproof_error *error);

/* ---- looking at values; each accepts NULL ---- */

bool sp_pickle_is(const struct sp_pickle_value *value, enum sp_pickle_type type);
/* True for a STR of exactly that text. */
bool sp_pickle_is_text(const struct sp_pickle_value *value, const char *text);
/* The name of a GLOBAL, or of the callable of an OBJECT when that is a GLOBAL; else NULL. */
const char *sp_pickle_name(const struct sp_pickle_value *value);
/* Item `index` of a TUPLE or LIST; NULL when it is neither, or too short. */
struct sp_pickle_value *sp_pickle_item(const struct sp_pickle_value *value, size_t index);
/* Argument `index` of an OBJECT, or NULL. */
struct sp_pickle_value *sp_pickle_arg(const struct sp_pickle_value *value, size_t index);
/* The last value under that text key of a DICT, or NULL. */
struct sp_pickle_value *sp_pickle_get(const struct sp_pickle_value *dict, const char *key);

#endif
