/* SPDX-License-Identifier: MIT */
#include "check/adapter_names.h"

#include <string.h>

#include "base/chars.h"
#include "names/components.h"

/* ---- fronts ---- */

static const struct sp_adapter_front fronts[] = {
    {"base_model.model.", "", "", SP_SIDE_ANY, SP_FRONT_DOTTED},
    {"unet.", "diffusers'", "unet", SP_SIDE_DENOISER, SP_FRONT_DOTTED},
    {"transformer.", "diffusers'", "transformer", SP_SIDE_DENOISER, SP_FRONT_DOTTED},
    {"transformer_2.", "diffusers'", "transformer_2", SP_SIDE_DENOISER, SP_FRONT_DOTTED},
    {"prior.", "diffusers'", "prior", SP_SIDE_DENOISER, SP_FRONT_DOTTED},
    {"text_encoder.", "diffusers'", "text_encoder", SP_SIDE_TEXT_ENCODER, SP_FRONT_DOTTED},
    {"text_encoder_2.", "diffusers'", "text_encoder_2", SP_SIDE_TEXT_ENCODER, SP_FRONT_DOTTED},
    {"text_encoder_3.", "diffusers'", "text_encoder_3", SP_SIDE_TEXT_ENCODER, SP_FRONT_DOTTED},
    {"lora_unet_", "kohya's", "", SP_SIDE_DENOISER, SP_FRONT_FLAT},
    {"lora_te_", "kohya's", "text_encoder", SP_SIDE_TEXT_ENCODER, SP_FRONT_FLAT},
    {"lora_te1_", "kohya's", "text_encoder", SP_SIDE_TEXT_ENCODER, SP_FRONT_FLAT},
    {"lora_te2_", "kohya's", "text_encoder_2", SP_SIDE_TEXT_ENCODER, SP_FRONT_FLAT},
    {"lora_te3_", "kohya's", "text_encoder_3", SP_SIDE_TEXT_ENCODER, SP_FRONT_FLAT},
    {"lora_transformer_", "OneTrainer's", "transformer", SP_SIDE_DENOISER, SP_FRONT_FLAT},
    {"lora_prior_unet_", "OneTrainer's", "prior", SP_SIDE_DENOISER, SP_FRONT_FLAT},
    {"lora_prior_te_", "OneTrainer's", "text_encoder", SP_SIDE_TEXT_ENCODER, SP_FRONT_FLAT},
    {"lycoris_", "LyCORIS'", "", SP_SIDE_DENOISER, SP_FRONT_FLAT},
    {"diffusion_model.", "ComfyUI's", "", SP_SIDE_DENOISER, SP_FRONT_CONVERTED},
    {"model.diffusion_model.", "ComfyUI's", "", SP_SIDE_DENOISER, SP_FRONT_CONVERTED},
    {"text_encoders.", "ComfyUI's", "", SP_SIDE_TEXT_ENCODER, SP_FRONT_CONVERTED},
    {"text_encoders.clip_l.transformer.", "ComfyUI's", "text_encoder", SP_SIDE_TEXT_ENCODER, SP_FRONT_CONVERTED},
    {"text_encoders.clip_g.transformer.", "ComfyUI's", "text_encoder_2", SP_SIDE_TEXT_ENCODER, SP_FRONT_CONVERTED},
    {"text_encoders.t5xxl.transformer.", "ComfyUI's", "", SP_SIDE_TEXT_ENCODER, SP_FRONT_CONVERTED},
    {"cond_stage_model.", "ComfyUI's", "", SP_SIDE_TEXT_ENCODER, SP_FRONT_CONVERTED},
};

const struct sp_adapter_front *sp_adapter_front(const char *module)
{
    static const struct sp_adapter_front none = {"", "", "", SP_SIDE_ANY, SP_FRONT_DOTTED};
    const struct sp_adapter_front *found = &none;
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
        const size_t length = strlen(fronts[i].text);
        if (length > strlen(found->text) && strncmp(module, fronts[i].text, length) == 0) found = &fronts[i];
    }
    return found;
}

/* Whether the module is a block of a U-Net, by the names of diffusers or by the original ones. */
static bool is_of_unet(const char *module)
{
    static const char *const blocks[] = {"down", "mid", "up", "input", "middle", "output"};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        const size_t length = strlen(blocks[i]);
        if (strncmp(module, blocks[i], length) == 0 && strncmp(module + length, "_block", strlen("_block")) == 0)
            return true;
    }
    return false;
}

/* Which model a module with that front is of: "a U-Net", "a transformer", "a text encoder" or "a model". */
static const char *adapter_model_of(const struct sp_adapter_front *front, const char *module)
{
    const char *body = module + strlen(front->text);
    if (front->side == SP_SIDE_TEXT_ENCODER) return "a text encoder";
    if (is_of_unet(body) || strcmp(front->component, "unet") == 0) return "a U-Net";
    return front->side == SP_SIDE_DENOISER ? "a transformer" : "a model";
}

const char *sp_adapter_modules_in_words(struct sp_arena *arena, const char *const *modules, size_t count,
                                        const char *names)
{
    enum { MODELS = 4 };
    const char *models[MODELS] = {NULL};
    size_t counts[MODELS] = {0}, kinds = 0;
    struct sp_text text = {0};
    for (size_t i = 0; i < count; i++) {
        const struct sp_adapter_front *front = sp_adapter_front(modules[i]);
        const char *model = adapter_model_of(front, modules[i]);
        size_t k = 0;
        while (k < kinds && strcmp(models[k], model) != 0) k++;
        if (k == kinds) models[kinds++] = model; /* there are no more than these four */
        counts[k]++;
        if (names && *front->names) names = front->names;
    }
    /* A text encoder that comes first is named last. */
    if (kinds > 1 && strcmp(models[0], "a text encoder") == 0) {
        const size_t encoders = counts[0];
        memmove(models, models + 1, (kinds - 1) * sizeof *models);
        memmove(counts, counts + 1, (kinds - 1) * sizeof *counts);
        models[kinds - 1] = "a text encoder";
        counts[kinds - 1] = encoders;
    }
    for (size_t i = 0; i < kinds; i++) {
        if (i) sp_text_printf(&text, "%s%zu", i + 1 < kinds ? ", " : " and ", counts[i]);
        else sp_text_puts(&text, sp_count_of(arena, counts[i], "module"));
        if (strcmp(models[i], "a model") != 0) sp_text_printf(&text, " of %s", models[i]);
    }
    if (names && *names) sp_text_printf(&text, ", with %s names", names);
    return sp_text_keep(&text, arena);
}

/* ---- endings ---- */

static const struct sp_adapter_ending endings[] = {
    {{"lora_A", "lora_B", NULL}, "", SP_ENDING_PEFT, SP_TAKEN_BY_FRONT},
    {{"lora_a", "lora_b", NULL}, "", SP_ENDING_PEFT, SP_TAKEN_ANYWHERE},
    {{"adapter.linear_in", "adapter.linear_out", NULL}, "", SP_ENDING_PEFT, SP_TAKEN_ANYWHERE},
    {{"lora_embedding_A", "lora_embedding_B", NULL}, "", SP_ENDING_PEFT, SP_TAKEN_BY_FRONT},
    {{"lora_down", "lora_up", "lora_mid"}, "kohya's", SP_ENDING_PEFT, SP_TAKEN_BY_FRONT},
    {{"lora.down", "lora.up", NULL}, "diffusers'", SP_ENDING_BEFORE_PEFT, SP_TAKEN_BY_FRONT},
    {{"lora_linear_layer.down", "lora_linear_layer.up", NULL}, "diffusers'", SP_ENDING_BEFORE_PEFT, SP_TAKEN_BY_FRONT},
    {{"_lora.down", "_lora.up", NULL}, "diffusers'", SP_ENDING_GLUED, SP_TAKEN_BY_FRONT},
    {{"_lora1.down", "_lora1.up", NULL}, "XLabs'", SP_ENDING_GLUED, SP_TAKEN_CONVERTED},
    {{"_lora2.down", "_lora2.up", NULL}, "XLabs'", SP_ENDING_GLUED, SP_TAKEN_CONVERTED},
};

/* Whether the text begins with that ending, as whole components; false for a NULL ending. */
static bool begins_with(const char *text, const char *ending)
{
    const size_t length = ending ? strlen(ending) : 0;
    return length && strncmp(text, ending, length) == 0 && (!text[length] || text[length] == '.');
}

/* Whether the component, with what follows it, is that ending, or ends with it for one that is glued:
 *
 *     "blocks.0.to_q.lora_A.weight"              lora_A       module "blocks.0.to_q"
 *     "blocks.0.to_q_lora.down.weight"           _lora.down   module "blocks.0.to_q"
 *     "blocks.0.processor.qkv_lora1.up.weight"   _lora1.up    module "blocks.0.processor.qkv_lora1": the names of XLabs
 *                                                             number what is glued, and number the modules by it */
static bool fits_ending(const char *name, const struct sp_component_walk *part, const struct sp_adapter_ending *ending,
                        struct sp_adapter_place *place)
{
    const bool is_glued = ending->style == SP_ENDING_GLUED;
    for (enum sp_adapter_role role = SP_ROLE_DOWN; role < SP_ROLES; role++) {
        const char *text = ending->parts[role];
        const size_t glue = text && is_glued ? strcspn(text, ".") : 0; /* the length of "_lora1" */
        const char *begin = part->text + (is_glued && glue < part->length ? part->length - glue : 0);
        if (!begins_with(begin, text)) continue;
        size_t module = (size_t)(begin - name);
        if (!is_glued) module--; /* the dot */
        else if (sp_is_digit(text[glue - 1])) module += glue;
        *place = (struct sp_adapter_place){module, begin + strlen(text), ending, role};
        return true;
    }
    return false;
}

bool sp_adapter_place(const char *name, struct sp_adapter_place *place)
{
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");)
        for (size_t i = 0; i < sizeof endings / sizeof *endings && part.text > name; i++)
            if (fits_ending(name, &part, &endings[i], place)) return true;
    return false;
}

/* ---- original names ---- */

static const struct sp_adapter_original originals[] = {
#define QKV(name, prefix)                                                                                              \
    {                                                                                                                  \
        name, { prefix "to_q", prefix "to_k", prefix "to_v" }                                                          \
    }
#define ONE(name, module)                                                                                              \
    {                                                                                                                  \
        name, { module }                                                                                               \
    }
#include "check/adapter_originals.def"
#undef QKV
#undef ONE
};

enum { MOST_INDICES = 4, LONGEST = 512 };

/* Whether the module has the form of the pattern, whose "{}" stand for indices; `indices` gets where these are in it.
 */
static bool fits_pattern(const char *pattern, const char *module, struct sp_component_walk indices[MOST_INDICES])
{
    size_t count = 0;
    while (*pattern) {
        if (pattern[0] == '{' && count < MOST_INDICES) {
            const size_t digits = strspn(module, "0123456789");
            if (!digits) return false;
            indices[count++] = (struct sp_component_walk){.text = module, .length = digits};
            module += digits;
            pattern += 2;
        } else if (*pattern++ != *module++) return false;
    }
    return !*module;
}

/* Puts the pattern into `text`, with these indices in place of its "{}". */
static void put_original(struct sp_text *text, const char *pattern, const struct sp_component_walk *indices)
{
    text->length = 0;
    for (; *pattern; pattern++) {
        if (*pattern != '{') sp_text_append(text, pattern, 1);
        else {
            sp_text_append(text, indices->text, indices->length);
            indices++;
            pattern++;
        }
    }
}

void sp_adapter_originals(const char *module, void (*found)(void *context, const char *name, size_t part, size_t parts),
                          void *context)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < sizeof originals / sizeof *originals; i++) {
        size_t parts = 0;
        while (parts < SP_MOST_FUSED && *originals[i].modules[parts]) parts++;
        for (size_t part = 0; part < parts; part++) {
            struct sp_component_walk indices[MOST_INDICES];
            if (!fits_pattern(originals[i].modules[part], module, indices)) continue;
            put_original(&text, originals[i].name, indices);
            found(context, text.data, part, parts);
        }
    }
    sp_text_free(&text);
}
