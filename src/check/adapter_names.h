/* SPDX-License-Identifier: MIT
 * How programs name the tensors of an adapter: what they put in front of the module, how they end the name, and which
 * program's names the modules themselves have. Each is a table of data:
 *
 *     "lora_unet_double_blocks_0_img_attn_qkv.lora_down.weight"
 *      front      module, flat                ending
 *
 * Nothing is guessed from a flat module, whose dots are underscores: it is looked up among the predicted ones. */
#ifndef SP_CHECK_ADAPTER_NAMES_H
#define SP_CHECK_ADAPTER_NAMES_H

#include "base/arena.h"
#include "base/text.h"

/* Which model of a pipeline a front is for. */
enum sp_adapter_side {
    SP_SIDE_ANY,
    SP_SIDE_DENOISER,    /* the U-Net or the transformer */
    SP_SIDE_TEXT_ENCODER /* one of its text encoders */
};

struct sp_adapter_front {
    const char *text;      /* "lora_unet_" */
    const char *names;     /* whose they are: "kohya's"; "" for PEFT's */
    const char *component; /* its folder in a pipeline: "text_encoder_2"; "" when it may be any */
    enum sp_adapter_side side;
    bool flat;      /* the dots of the module are underscores */
    bool converted; /* loaders convert these names, whatever they look for themselves */
};

/* What the module begins with, the longest one that fits; one with an empty text when there is none. */
const struct sp_adapter_front *sp_adapter_front(const char *module);

/* "32 modules of a U-Net and 4 of a text encoder, with kohya's names"; `names` are whose names they are where no front
 * tells, or NULL to leave that out. In the arena. */
const char *sp_adapter_modules_in_words(struct sp_arena *arena, const char *const *modules, size_t count,
                                        const char *names);

enum sp_adapter_role { SP_ROLE_DOWN, SP_ROLE_UP, SP_ROLE_MID, SP_ROLES };

/* Which prefix a module must have so that the loader of the base finds it. */
enum sp_adapter_taking {
    SP_TAKEN_BY_FRONT,  /* the one that the loader looks for */
    SP_TAKEN_CONVERTED, /* none: the loader converts the names of modules that it knows */
    SP_TAKEN_ANYWHERE /* none: the program that wrote the adapter (MLX, torchtune) loads it by the names as they are */
};

struct sp_adapter_ending {
    const char *parts[SP_ROLES]; /* "lora_down", "lora_up", "lora_mid"; NULL: has none */
    const char *names;           /* whose they are where the front does not tell, or "" */
    bool before_peft;            /* of diffusers before PEFT: modules have other names */
    bool glued;                  /* behind a component, not a component: "to_q_lora.down" */
    enum sp_adapter_taking taken;
};

struct sp_adapter_place {
    size_t module;      /* its length in the name */
    const char *behind; /* what follows the ending: "", ".weight", ".default.weight" */
    const struct sp_adapter_ending *ending;
    enum sp_adapter_role role;
};

/* Where the name of a tensor ends as one of a pair does; false when it does not. */
bool sp_adapter_place(const char *name, struct sp_adapter_place *place);

/* A module as its first publisher names it, and what diffusers makes of it: one module, or up to four whose rows stand
 * one behind the other. "{}" is an index. The texts are in place: pointers would be relocated at every start. */
enum { SP_MOST_FUSED = 4 };
struct sp_adapter_original {
    char name[64], modules[SP_MOST_FUSED][72];
};
/* Calls `found` with every original name of the module of diffusers, and with which of the fused ones it is. */
void sp_adapter_originals(const char *module, void (*found)(void *context, const char *name, size_t part, size_t parts),
                          void *context);

#endif
