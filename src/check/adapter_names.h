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

/* How the name of a module is written behind a front. */
enum sp_front_form {
    SP_FRONT_DOTTED,   /* as the model has it, with dots */
    SP_FRONT_FLAT,     /* with underscores in place of the dots */
    SP_FRONT_CONVERTED /* with dots; loaders convert these names, whatever front they look for themselves */
};

struct sp_adapter_front {
    const char *text;      /* "lora_unet_" */
    const char *names;     /* whose names begin so: "kohya's"; "" for PEFT's */
    const char *component; /* the folder in a pipeline that it is for: "text_encoder_2"; "" when it may be any */
    enum sp_adapter_side side;
    enum sp_front_form form;
};

/* What the module begins with, the longest one that fits; one with an empty text when there is none. */
const struct sp_adapter_front *sp_adapter_front(const char *module);

/* "32 modules of a U-Net and 4 of a text encoder, with kohya's names". Whose names they are is that of the last front
 * which says so, or else `names`; a NULL `names` leaves it out altogether, and a "" where no front says it. In the
 * arena. */
const char *sp_adapter_modules_in_words(struct sp_arena *arena, const char *const *modules, size_t count,
                                        const char *names);

/* Which matrix of a pair a tensor is. */
enum sp_adapter_role {
    SP_ROLE_DOWN, /* A, from the input to the rank */
    SP_ROLE_UP,   /* B, from the rank to the output */
    SP_ROLE_MID,  /* the core of a convolution in three parts, between them */
    SP_ROLES
};

/* Which prefix a module must have so that the loader of the base finds it. */
enum sp_adapter_taking {
    SP_TAKEN_BY_FRONT,  /* the one that the loader looks for */
    SP_TAKEN_CONVERTED, /* none: the loader converts the names of modules that it knows */
    SP_TAKEN_ANYWHERE   /* none: the program that wrote the adapter (MLX, torchtune, NeMo) loads it by the names as they
                           are */
};

/* How an ending follows the name of the module. */
enum sp_ending_style {
    SP_ENDING_PEFT,        /* as a component of its own: "to_q.lora_A" */
    SP_ENDING_BEFORE_PEFT, /* the same, from diffusers before PEFT: modules have other names */
    SP_ENDING_GLUED        /* from before PEFT as well, at the end of a component: "to_q_lora.down" */
};

struct sp_adapter_ending {
    const char *parts[SP_ROLES]; /* "lora_down", "lora_up", "lora_mid"; NULL: has none */
    const char *names;           /* whose they are where the front does not tell, or "" */
    enum sp_ending_style style;
    enum sp_adapter_taking taken;
};

static inline bool sp_ending_is_before_peft(const struct sp_adapter_ending *ending)
{
    return ending->style != SP_ENDING_PEFT;
}

struct sp_adapter_place {
    size_t module;      /* its length in the name */
    const char *behind; /* what follows the ending: "", ".weight", ".default.weight" */
    const struct sp_adapter_ending *ending;
    enum sp_adapter_role role;
};

/* Takes the name of a tensor of a pair apart; false when it does not end as one. */
bool sp_adapter_place(const char *name, struct sp_adapter_place *place);

/* A module as its first publisher names it, and what diffusers makes of it: one module, or up to four whose rows stand
 * one behind the other. "{}" is an index. The texts are in place: pointers would be relocated at every start. */
enum { SP_MOST_FUSED = 4 };
struct sp_adapter_original {
    char name[64], modules[SP_MOST_FUSED][72];
};
/* Calls `found` with every original name of a module of diffusers: where the original fuses several, `parts` is how
 * many, and `part` which of them the module is; 1 and 0 otherwise. */
void sp_adapter_originals(const char *module, void (*found)(void *context, const char *name, size_t part, size_t parts),
                          void *context);

#endif
