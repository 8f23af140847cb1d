/* SPDX-License-Identifier: MIT */
#include "check/adapter_names.h"

#include <string.h>

#include "names/components.h"

/* ---- fronts ---- */

static const struct sp_adapter_front fronts[] = {
    {"base_model.model.", "", "", SP_SIDE_ANY, false, false},
    {"unet.", "diffusers'", "unet", SP_SIDE_DENOISER, false, false},
    {"transformer.", "diffusers'", "transformer", SP_SIDE_DENOISER, false, false},
    {"transformer_2.", "diffusers'", "transformer_2", SP_SIDE_DENOISER, false, false},
    {"prior.", "diffusers'", "prior", SP_SIDE_DENOISER, false, false},
    {"text_encoder.", "diffusers'", "text_encoder", SP_SIDE_TEXT_ENCODER, false, false},
    {"text_encoder_2.", "diffusers'", "text_encoder_2", SP_SIDE_TEXT_ENCODER, false, false},
    {"text_encoder_3.", "diffusers'", "text_encoder_3", SP_SIDE_TEXT_ENCODER, false, false},
    {"lora_unet_", "kohya's", "", SP_SIDE_DENOISER, true, false},
    {"lora_te_", "kohya's", "text_encoder", SP_SIDE_TEXT_ENCODER, true, false},
    {"lora_te1_", "kohya's", "text_encoder", SP_SIDE_TEXT_ENCODER, true, false},
    {"lora_te2_", "kohya's", "text_encoder_2", SP_SIDE_TEXT_ENCODER, true, false},
    {"lora_te3_", "kohya's", "text_encoder_3", SP_SIDE_TEXT_ENCODER, true, false},
    {"lora_transformer_", "OneTrainer's", "transformer", SP_SIDE_DENOISER, true, false},
    {"lora_prior_unet_", "OneTrainer's", "prior", SP_SIDE_DENOISER, true, false},
    {"lora_prior_te_", "OneTrainer's", "text_encoder", SP_SIDE_TEXT_ENCODER, true, false},
    {"lycoris_", "LyCORIS'", "", SP_SIDE_DENOISER, true, false},
    {"diffusion_model.", "ComfyUI's", "", SP_SIDE_DENOISER, false, true},
    {"model.diffusion_model.", "ComfyUI's", "", SP_SIDE_DENOISER, false, true},
    {"text_encoders.", "ComfyUI's", "", SP_SIDE_TEXT_ENCODER, false, true},
    {"text_encoders.clip_l.transformer.", "ComfyUI's", "text_encoder", SP_SIDE_TEXT_ENCODER, false, true},
    {"text_encoders.clip_g.transformer.", "ComfyUI's", "text_encoder_2", SP_SIDE_TEXT_ENCODER, false, true},
    {"text_encoders.t5xxl.transformer.", "ComfyUI's", "", SP_SIDE_TEXT_ENCODER, false, true},
    {"cond_stage_model.", "ComfyUI's", "", SP_SIDE_TEXT_ENCODER, false, true},
};

const struct sp_adapter_front *sp_adapter_front(const char *module)
{
    static const struct sp_adapter_front none = {"", "", "", SP_SIDE_ANY, false, false};
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

/* "a U-Net", "a transformer", "a text encoder", "a model": what a module with that front is of. */
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
    {{"lora_A", "lora_B", NULL}, "", false, false, SP_TAKEN_BY_FRONT},
    {{"lora_a", "lora_b", NULL}, "", false, false, SP_TAKEN_ANYWHERE},
    {{"lora_embedding_A", "lora_embedding_B", NULL}, "", false, false, SP_TAKEN_BY_FRONT},
    {{"lora_down", "lora_up", "lora_mid"}, "kohya's", false, false, SP_TAKEN_BY_FRONT},
    {{"lora.down", "lora.up", NULL}, "diffusers'", true, false, SP_TAKEN_BY_FRONT},
    {{"lora_linear_layer.down", "lora_linear_layer.up", NULL}, "diffusers'", true, false, SP_TAKEN_BY_FRONT},
    {{"_lora.down", "_lora.up", NULL}, "diffusers'", true, true, SP_TAKEN_BY_FRONT},
    {{"_lora1.down", "_lora1.up", NULL}, "XLabs'", true, true, SP_TAKEN_CONVERTED},
    {{"_lora2.down", "_lora2.up", NULL}, "XLabs'", true, true, SP_TAKEN_CONVERTED},
};

/* Whether the text begins with that ending, as whole components. */
static bool begins_with(const char *text, const char *ending)
{
    const size_t length = ending ? strlen(ending) : 0;
    return length && strncmp(text, ending, length) == 0 && (!text[length] || text[length] == '.');
}

/* The ending is the component, or the end of the component for one that is glued to it. */
static bool fits_ending(const char *name, const struct sp_component_walk *part, const struct sp_adapter_ending *ending,
                        struct sp_adapter_place *place)
{
    for (enum sp_adapter_role role = SP_ROLE_DOWN; role < SP_ROLES; role++) {
        const char *text = ending->parts[role];
        const size_t glue = text && ending->glued ? strcspn(text, ".") : 0;
        const char *begin = part->text + (glue < part->length ? part->length - glue : 0);
        if (!ending->glued) begin = part->text;
        if (!begins_with(begin, text)) continue;
        /* The names of XLabs number what is glued, and the number belongs to the module. */
        const bool numbered = ending->glued && text[glue - 1] != 'a';
        *place = (struct sp_adapter_place){(size_t)(begin - name) + (numbered ? glue : 0), begin + strlen(text), ending,
                                           role};
        if (!ending->glued) place->module--; /* the dot */
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

/* Whether the module is the pattern; where its indices are goes into `indices`. */
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

/* The original name with these indices. */
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
