/* SPDX-License-Identifier: MIT
 * A configuration in JSON, a line "====", tensors as lines, a line "====", and keys, a byte each: what is on the screen
 * after them. Without a configuration there is no check. */
#include "described.h"
#include "small_table.h"

#include "mutate_json.h"

#include "browse/screen.h"

enum { MAX_SIZE = 4096, MOST_TENSORS = 2000, MOST_KEYS = 64, DRAWN_EVERY = 4 };

/* Bytes that no keyboard sends are the keys without a character, of which there are SP_KEY_END - SP_KEY_UP + 1. */
static uint32_t key_of(unsigned char byte)
{
    const uint32_t special = byte >= 0x80 ? SP_KEY_UP + (uint32_t)(byte - 0x80) : byte;
    return special <= SP_KEY_END ? special : byte;
}

/* Draws a screen of that size, and looks whether all of it is on the screen and printable. */
static void draw(struct sp_browser *browser, size_t columns, size_t lines, bool unicode)
{
    struct sp_browse_frame frame = {.columns = columns, .lines = lines, .unicode = unicode};
    sp_browser_draw(browser, &frame);
    for (size_t i = 0; i < frame.spans.count; i++) {
        const struct sp_browse_span *span = &frame.spans.items[i];
        const char *text = frame.text.data + span->begin;
        fuzz_must(span->line < lines && span->column + span->columns <= columns);
        fuzz_must(sp_text_columns(text, strlen(text)) <= span->columns);
        for (; *text; text++)
            fuzz_must((unsigned char)*text >= ' ' && *text != 0x7f && (unicode || (unsigned char)*text < 0x80));
    }
    sp_browse_frame_free(&frame);
}

static void browse(const struct shapeproof_inventory *inventory, const struct shapeproof_check *check, const char *keys,
                   size_t length)
{
    static const size_t columns[] = {SP_BROWSE_COLUMNS, 130, 78}, lines[] = {SP_BROWSE_LINES, 40, 12};
    struct sp_browser browser;
    sp_browser_open(&browser, inventory, check, check ? NULL : "there is no configuration");
    sp_browser_resize(&browser, lines[0]);
    for (size_t i = 0; i < length && i < MOST_KEYS && !browser.is_done; i++) {
        sp_browser_press(&browser, key_of((unsigned char)keys[i]));
        fuzz_must(browser.row_count ? browser.cursor < browser.row_count : !browser.cursor);
        const size_t screen = i / DRAWN_EVERY % 3;
        if (i % DRAWN_EVERY == 0) draw(&browser, columns[screen], lines[screen], i % 2);
    }
    draw(&browser, columns[1], lines[1], true);
    draw(&browser, SP_BROWSE_COLUMNS - 1, SP_BROWSE_LINES, false);
    sp_browser_close(&browser);
}

static void browse_input(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    const char *texts[3];
    size_t lengths[3];
    char *copy = fuzz_split(data, size, texts, lengths, 3);
    struct shapeproof_config *config = shapeproof_config_new();
    struct shapeproof_inventory *inventory = describe_lines(texts[1]);
    if (inventory) {
        const struct shapeproof_check_options what = {.table = "small"};
        const bool is_read = lengths[0] && shapeproof_config_load_text(config, "config.json", texts[0], lengths[0],
                                                                       &error) == SHAPEPROOF_OK;
        struct shapeproof_check *check =
            is_read ? shapeproof_check_new(inventory, fuzz_tables(add_small_table), config, &what, &error) : NULL;
        browse(inventory, check, texts[2], lengths[2]);
        shapeproof_check_free(check);
    }
    shapeproof_inventory_close(inventory);
    shapeproof_config_free(config);
    free(copy);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_limit(&(struct shapeproof_limits){.tensors = MOST_TENSORS});
    fuzz_tables(add_small_table);
    if (size <= MAX_SIZE) fuzz_undone(browse_input, data, size);
}

JSON_MUTATOR(JSON_TEXT(0))
