/* SPDX-License-Identifier: MIT
 * The configuration of the base of an adapter, a line "====", the adapter_config.json, and the header of the
 * safetensors file beside it: what the adapter is, and whether it fits the base. */
#include "folder.h"
#include "small_decoder.h"

#include "mutate_json.h"

enum { FILES = 3, MAX_SIZE = 16384, MOST_TENSORS = 20000 };

static int files[FILES];

static void check_against_base(const struct shapeproof_inventory *adapter, const struct shapeproof_config *base)
{
    struct shapeproof_error error = {0};
    struct shapeproof_check *check = shapeproof_check_new(adapter, fuzz_tables(add_small_decoder), base, NULL, &error);
    fuzz_must_have(check, &error);
    if (!check) return;
    fuzz_must(shapeproof_check_summary(check)[0]);
    shapeproof_free(shapeproof_report_check(check, NULL, NULL));
    shapeproof_check_free(check);
}

static void check_adapter(const unsigned char *data, size_t size)
{
    static const char *const components[] = {"unet", "text_encoder", "text_encoder_2", "transformer"};
    const char *texts[FILES];
    size_t lengths[FILES];
    char path[sizeof folder_path + 64];
    bool is_consistent;
    struct shapeproof_error error = {0};
    char *copy = fuzz_split(data, size, texts, lengths, FILES);
    struct shapeproof_config *base = shapeproof_config_new();
    folder_write(files[1], texts[1], lengths[1]);
    folder_write_safetensors(files[2], texts[2], lengths[2]);
    snprintf(path, sizeof path, "%sadapter_model.safetensors", folder_path);
    struct shapeproof_inventory *adapter = shapeproof_inventory_open(path, &error);
    fuzz_must_have(adapter, &error);
    if (adapter) {
        char *text = shapeproof_adapter_describe(adapter, &is_consistent);
        fuzz_must(!text || text[0]);
        shapeproof_free(text);
        for (size_t i = 0; i < sizeof components / sizeof *components; i++)
            shapeproof_adapter_is_for(adapter, components[i]);
        if (shapeproof_config_load_text(base, "config.json", texts[0], lengths[0], &error) == SHAPEPROOF_OK)
            check_against_base(adapter, base);
        else fuzz_must_refuse(&error);
    }
    shapeproof_inventory_close(adapter);
    shapeproof_config_free(base);
    free(copy);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_limit(&(struct shapeproof_limits){.tensors = MOST_TENSORS});
    fuzz_tables(add_small_decoder);
    if (!files[1]) {
        files[1] = folder_file("adapter_config.json");
        files[2] = folder_file("adapter_model.safetensors");
    }
    if (size <= MAX_SIZE) fuzz_undone(check_adapter, data, size);
}

JSON_MUTATOR(JSON_EVERY_TEXT)
