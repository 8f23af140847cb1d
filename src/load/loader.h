/* SPDX-License-Identifier: MIT
 * What a loader does, as data: one `struct sp_loader` in a file of its own. The engine, taking.c, is the same for all.
 *
 *     file                rules               in memory              held
 *     a.w1, a.w3    ── renamed, joined ──▶    a.w13       ◀── renamed, joined ── what the table predicts
 *
 * A table says what files of a model hold. What the model has in memory follows from that by the same rules: what is
 * saved under old names for others' sake is renamed and joined when it is loaded. */
#ifndef SP_LOAD_LOADER_H
#define SP_LOAD_LOADER_H

#include <stdbool.h>

#include "base/rows.h"

/* A renaming: where `from` is found (several expressions, with blanks between), there is `to`. With `how`, a
 * conversion: the tensors that become the same name are one, `to` may be several, and shapes change in steps:
 *
 *     stack0      those of an expression, all of one shape, along a new first dimension
 *     join1       all of them, along the second dimension
 *     chunk0      one of them, into as many parts as there are names in `to`
 *     swap12      two dimensions change places
 *     same        as it is
 *
 * "?" is a step that is not known. */
struct sp_rule {
    const char *from, *to, *how;
};

/* What a class does: transformers.def says what each field is, and "" is none of it. */
struct sp_loaded {
    const char *model_type, *class, *base;
    /* "always" and "never", whatever tie_word_embeddings says; "true" and "false", what it is when nothing is said; the
     * name of a part, which may say so for itself; "or PART", what the part says counts as well; "of PART", it counts
     * alone; "but NAME", when it says no, all the same, but for that tensor; "",
     * then nothing. */
    const char *ties;
    const char *spared, *ignored, *mappings;
    const char *computed;       /* an expression of buffers that are not saved, and so need no place */
    const char *all_or_nothing; /* last words of names that must not be there when one beside them is missing */
    const char *unread; /* keys that the class does not know, and "attention_bias=false", what it has all the same */
    /* Keys that the configuration must have, and conditions that must hold where both keys are set, separated by
     * blanks: "a<b", a is an index of b items, so that -b <= a < b; "a%b", a is a multiple of b; "#a=b", the list a has
     * b entries. */
    const char *needed;
    /* What the class takes for keys of `needed` that the configuration leaves out, separated by blanks: "a=12";
     * "a|b=12" if b is another name of a. */
    const char *defaults;
};

struct sp_loader {
    const char *id, *name;
    const char *version;        /* transformers_version of what it saves itself, for tables that ask; or NULL */
    const char *own_releases;   /* what a transformers_version begins with that it reads as it stands; NULL: none */
    const char *variant_of;     /* the id of another one that it is nearly like; NULL for none */
    const char *const *files;   /* what it takes of a folder, the first that is there; ends with NULL */
    const char *beginning;      /* or all safetensors files that begin like that; NULL for none of this */
    const char *const *formats; /* what it can read; ends with NULL */
    struct sp_rows rows;        /* of rows.h; of those of a model_type, that for any class comes last */
    const char *ending;         /* of the classes that it has; NULL for any */
    const char *quantisation;   /* the method of quantised weights that it reads as they are, or NULL */
    const char *unpacks;   /* the method of quantised weights that it unpacks on a machine without a GPU, or NULL */
    const char *class_key; /* of the configuration: it names the class, in place of model_type; or NULL */
    bool by_class;         /* the first of the architectures is its class, whatever the model_type; or else by that */
    bool counts_labels;    /* num_labels wins over id2label */
    bool minds_kinds;      /* it refuses the values that value_kinds.h says its classes do not take */
    bool renames;          /* the rules hold for files; otherwise only for what is in memory */
    bool shards_as_named;  /* but not for files of several shards */
    bool spares;           /* says nothing of what a class may lack or have besides */
    bool ties;             /* of tensors that are tied, one is enough */
    bool ties_over;        /* of tensors that are tied and differ, one takes the place of all */
    const char *preferred; /* an expression of names: that one, and not the one that the others are tied to; or NULL */
    bool ties_by_text;     /* what the part for the text says of that counts, and not the whole */
    bool ignores_computed; /* says nothing of what it computes by itself */
    bool one_renaming;     /* of those of a class, the first that fits is the only one */
    bool base_of_file;     /* puts the name of the base model in front of all names, or takes it away, or neither */
    const char *forgiven;  /* an expression of names that may be missing in files that keep no versions; or NULL */
    bool holds_once;       /* what is tied to another tensor has no place of its own */
    bool infers_dtype;     /* of the first tensor, when the configuration has none */
    bool leaves_empty;     /* gives no values at all to what is missing; otherwise initial ones */
    bool strict;           /* refuses what is missing or unexpected */
    bool maps_archives;    /* into memory: it takes what is compressed for numbers */
    bool refuses_sparse;   /* it copies no sparse tensor into a dense one; otherwise that is not known */
    bool adds_adapter; /* with PEFT, it loads the adapter that adapter_config.json beside the weights describes as well
                        */
    bool base_of_adapter; /* and it loads the base that this file names instead of the weights in the folder */
};

extern const struct sp_loader sp_loader_transformers, sp_loader_transformers4, sp_loader_diffusers, sp_loader_torch,
    sp_loader_mlx;

/* The rules that are known by a name, as a row is read; NULL when there are none. */
const char *sp_loader_rules(const struct sp_loader *loader, const char *identifier, size_t length);
/* The next of them; false behind the last one. */
bool sp_next_rule(const char **rules, struct sp_rule *rule);
/* What the next class does, in the order of the rows: `row` is NULL before the first one. False behind the last one. */
bool sp_loader_next_class(const struct sp_loader *loader, const char **row, struct sp_loaded *loaded);
/* Without a model_type when the loader knows no such model. */
struct sp_loaded sp_loader_class(const struct sp_loader *loader, const char *model_type, const char *class);

/* A condition "a%b" of sp_loaded.needed, "hidden_size%num_attention_heads": both keys within the text of the words. */
struct sp_multiple {
    const char *key; /* a, a multiple of */
    size_t length;
    const char *divisor; /* b */
    size_t divisor_length;
};

/* The next such condition of the words, which begin as sp_loaded.needed; false behind the last one. */
bool sp_loader_next_multiple(const char **words, struct sp_multiple *multiple);
/* The key that must be a multiple of this one by a condition "a%b" of `needed`: hidden_size for num_attention_heads.
 * NULL when there is none. It is as long as `length`. */
const char *sp_loader_multiple_of(const struct sp_loaded *loaded, const char *key, size_t *length);

#endif
