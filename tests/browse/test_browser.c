/* SPDX-License-Identifier: MIT
 * What the keys of the browser do, and what is then on the screen, without a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "browse/screen.h"
#include "shapeproof/shapeproof.h"

enum { MOST_COLUMNS = 220, MOST_LINES = 60 };

/* A screen as it would look: each character is one cell. */
static char screen[MOST_LINES][4 * MOST_COLUMNS + 1];

/* Draws the browser, and checks that everything is within the screen and printable. */
static void draw(struct sp_browser *browser, size_t columns, size_t lines, bool unicode)
{
    static char cells[MOST_LINES][MOST_COLUMNS][5];
    struct sp_browse_frame frame = {.columns = columns, .lines = lines, .unicode = unicode};
    for (size_t i = 0; i < lines; i++)
        for (size_t j = 0; j < columns; j++) strcpy(cells[i][j], " ");
    sp_browser_draw(browser, &frame);
    for (size_t i = 0; i < frame.spans.count; i++) {
        const struct sp_browse_span *span = &frame.spans.items[i];
        const char *text = frame.text.data + span->begin;
        assert_true(span->line < lines);
        assert_true(span->column + span->columns <= columns);
        assert_true(sp_text_columns(text, strlen(text)) <= span->columns);
        for (size_t column = span->column; *text; column++) {
            size_t length = 1;
            while (((unsigned char)text[length] & 0xc0) == 0x80) length++;
            assert_true((unsigned char)*text >= ' ' && *text != 0x7f);
            if (!unicode) assert_true((unsigned char)*text < 0x80);
            snprintf(cells[span->line][column], sizeof cells[0][0], "%.*s", (int)length, text);
            text += length;
        }
    }
    for (size_t i = 0; i < lines; i++) {
        screen[i][0] = '\0';
        for (size_t j = 0; j < columns; j++) strcat(screen[i], cells[i][j]);
        for (size_t end = strlen(screen[i]); end && screen[i][end - 1] == ' ';) screen[i][--end] = '\0';
    }
    if (columns >= SP_BROWSE_COLUMNS && lines >= SP_BROWSE_LINES) assert_true(frame.has_cursor == browser->is_typing);
    sp_browse_frame_free(&frame);
}

static void press(struct sp_browser *browser, const char *keys)
{
    for (; *keys; keys++) sp_browser_press(browser, (unsigned char)*keys);
}

/* The names on the screen: "model.layers.{0-1}", with those above it. */
static void assert_selected(const struct sp_browser *browser, const char *name)
{
    struct sp_text text = {0};
    assert_non_null(sp_browser_selected(browser));
    sp_browser_put_name(&text, sp_browser_selected(browser)->node);
    assert_string_equal(text.data, name);
    sp_text_free(&text);
}

static void assert_rows(const struct sp_browser *browser, const char *const *names)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < browser->row_count; i++) {
        text.length = 0;
        sp_browser_put_name(&text, browser->items[browser->rows[i]].node);
        assert_non_null(names[i]);
        assert_string_equal(text.data, names[i]);
    }
    assert_null(names[browser->row_count]);
    sp_text_free(&text);
}

/* ---- a model in memory ---- */

static const uint64_t wide[] = {100, 8}, square[] = {8, 8}, flat[] = {8};

/* Two equal layers and one that is larger; a tied head. */
static struct shapeproof_inventory *small_model(void)
{
    static const struct shapeproof_tensor_description tensors[] = {
        {.name = "embed.weight", .shape = wide, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F16, .storage = "e"},
        {.name = "h.0.ln.weight", .shape = flat, .rank = 1, .dtype = SHAPEPROOF_DTYPE_F32},
        {.name = "h.0.mlp.weight", .shape = square, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F16},
        {.name = "h.1.ln.weight", .shape = flat, .rank = 1, .dtype = SHAPEPROOF_DTYPE_F32},
        {.name = "h.1.mlp.weight", .shape = square, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F16},
        {.name = "h.2.ln.weight", .shape = flat, .rank = 1, .dtype = SHAPEPROOF_DTYPE_F32},
        {.name = "h.2.mlp.weight", .shape = wide, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F16},
        {.name = "head.weight", .shape = wide, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F16, .storage = "e"},
    };
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory =
        shapeproof_inventory_describe("model", tensors, sizeof tensors / sizeof *tensors, &error);
    assert_non_null(inventory);
    return inventory;
}

static void equal_layers_share_a_line(void **state)
{
    (void)state;
    struct sp_browser browser;
    struct shapeproof_inventory *inventory = small_model();
    sp_browser_open(&browser, inventory, NULL, "there is no configuration");
    assert_rows(&browser, (const char *[]){"h", "embed.weight", "head.weight", NULL});
    press(&browser, "l");
    assert_rows(&browser, (const char *[]){"h", "h.2", "h.{0-1}", "embed.weight", "head.weight", NULL});
    press(&browser, "jjl");
    assert_rows(&browser, (const char *[]){"h", "h.2", "h.{0-1}", "h.{0-1}.mlp.weight", "h.{0-1}.ln.weight",
                                           "embed.weight", "head.weight", NULL});
    press(&browser, "j");
    assert_selected(&browser, "h.{0-1}.mlp.weight");
    press(&browser, "m"); /* what was selected stays so */
    assert_selected(&browser, "h.0.mlp.weight");
    press(&browser, "hh"); /* the layer, which is closed then */
    assert_rows(&browser, (const char *[]){"h", "h.2", "h.0", "h.1", "embed.weight", "head.weight", NULL});
    assert_selected(&browser, "h.0");
    press(&browser, "jll"); /* in the layer that is folded into another */
    assert_selected(&browser, "h.1.mlp.weight");
    press(&browser, "m");
    assert_selected(&browser, "h.{0-1}.mlp.weight");
    sp_browser_close(&browser);
    shapeproof_inventory_close(inventory);
}

static void lines_open_and_close(void **state)
{
    (void)state;
    struct sp_browser browser;
    struct shapeproof_inventory *inventory = small_model();
    sp_browser_open(&browser, inventory, NULL, "");
    press(&browser, "x"); /* all below the selected one */
    assert_rows(&browser,
                (const char *[]){"h", "h.2", "h.2.mlp.weight", "h.2.ln.weight", "h.{0-1}", "h.{0-1}.mlp.weight",
                                 "h.{0-1}.ln.weight", "embed.weight", "head.weight", NULL});
    press(&browser, "G");
    assert_selected(&browser, "head.weight");
    press(&browser, "j");
    assert_selected(&browser, "head.weight");
    press(&browser, "gk");
    assert_selected(&browser, "h");
    press(&browser, "jjX"); /* the selected line is no longer there, the one around it is */
    assert_selected(&browser, "h");
    assert_rows(&browser, (const char *[]){"h", "embed.weight", "head.weight", NULL});
    press(&browser, " j ");
    assert_selected(&browser, "h.2");
    assert_int_equal(browser.row_count, 7);
    press(&browser, "h");
    assert_int_equal(browser.row_count, 5);
    sp_browser_press(&browser, SP_KEY_LEFT);
    assert_selected(&browser, "h");
    sp_browser_press(&browser, SP_KEY_END);
    sp_browser_press(&browser, SP_KEY_ENTER);
    assert_int_equal(browser.page, SP_PAGE_DETAILS);
    press(&browser, "q");
    assert_int_equal(browser.page, SP_PAGE_NONE);
    assert_false(browser.is_done);
    press(&browser, "q");
    assert_true(browser.is_done);
    sp_browser_close(&browser);
    shapeproof_inventory_close(inventory);
}

static void orders_follow_each_other(void **state)
{
    (void)state;
    struct sp_browser browser;
    struct shapeproof_inventory *inventory = small_model();
    sp_browser_open(&browser, inventory, NULL, "");
    press(&browser, "G");
    press(&browser, "s"); /* by parameters */
    assert_rows(&browser, (const char *[]){"h", "embed.weight", "head.weight", NULL});
    press(&browser, "s"); /* by tensors: both have one */
    assert_rows(&browser, (const char *[]){"h", "embed.weight", "head.weight", NULL});
    press(&browser, "s"); /* as in the file */
    assert_rows(&browser, (const char *[]){"embed.weight", "h", "head.weight", NULL});
    assert_selected(&browser, "head.weight");
    press(&browser, "kls"); /* by name */
    assert_rows(&browser, (const char *[]){"embed.weight", "h", "h.{0-1}", "h.2", "head.weight", NULL});
    assert_selected(&browser, "h");
    press(&browser, "s"); /* by bytes again */
    assert_rows(&browser, (const char *[]){"h", "h.2", "h.{0-1}", "embed.weight", "head.weight", NULL});
    sp_browser_close(&browser);
    shapeproof_inventory_close(inventory);
}

static void a_search_finds_every_line(void **state)
{
    (void)state;
    struct sp_browser browser;
    struct shapeproof_inventory *inventory = small_model();
    sp_browser_open(&browser, inventory, NULL, "");
    press(&browser, "n");
    assert_string_equal(browser.message.data, "nothing was searched for: / begins a search");
    press(&browser, "/MLQ\177P\n");
    assert_selected(&browser, "h.2.mlp.weight"); /* which takes the line of "mlp" */
    assert_string_equal(browser.message.data, "line 1 of 2 with 'MLP'");
    press(&browser, "n");
    assert_selected(&browser, "h.{0-1}.mlp.weight");
    press(&browser, "n");
    assert_selected(&browser, "h.2.mlp.weight");
    press(&browser, "NN");
    assert_selected(&browser, "h.2.mlp.weight");
    press(&browser, "/h.1.mlp\n"); /* in a layer that is folded into another */
    assert_selected(&browser, "h.{0-1}.mlp.weight");
    press(&browser, "/nothing\n");
    assert_string_equal(browser.message.data, "no name contains 'nothing'");
    assert_selected(&browser, "h.{0-1}.mlp.weight");
    press(&browser, "/e\033");
    assert_int_equal(browser.match_count, 0);
    press(&browser, "/");
    sp_browser_press(&browser, 0x20ac);
    sp_browser_press(&browser, 0x1f600);
    sp_browser_press(&browser, SP_KEY_UP); /* is no character */
    assert_string_equal(browser.query.data, "\u20ac\U0001f600");
    press(&browser, "\177");
    assert_string_equal(browser.query.data, "\u20ac");
    press(&browser, "\n");
    assert_string_equal(browser.message.data, "no name contains '\u20ac'");
    press(&browser, "f");
    assert_string_equal(browser.message.data, "nothing was checked: c says why");
    sp_browser_close(&browser);
    shapeproof_inventory_close(inventory);
}

/* ---- a check ---- */

/* With a layer more than the file has: 9 tensors are missing. */
static struct shapeproof_check *failing_check(void)
{
    struct shapeproof_error error = {0};
    struct shapeproof_check *check = shapeproof_check_path(
        "fixtures/models/tiny-llama",
        &(struct shapeproof_check_path_options){.settings = (const char *const[]){"num_hidden_layers=3", NULL}},
        &error);
    assert_non_null(check);
    return check;
}

static void findings_are_where_they_belong(void **state)
{
    (void)state;
    struct sp_browser browser;
    struct shapeproof_check *check = failing_check();
    sp_browser_open(&browser, shapeproof_check_inventory(check), check, NULL);
    press(&browser, "f");
    for (size_t i = 0; i < 9; i++, press(&browser, "f")) {
        const struct sp_name_node *node = sp_browser_selected(&browser)->node;
        assert_non_null(node->tensor);
        assert_true(sp_browser_is_absent(&browser, node));
        assert_int_equal(strncmp(node->tensor->name, "model.layers.2.", strlen("model.layers.2.")), 0);
        assert_int_equal(shapeproof_check_finding(check, sp_browser_finding(&browser, node))->kind,
                         SHAPEPROOF_FINDING_MISSING);
    }
    assert_selected(&browser, "model.layers.2.mlp.down_proj.weight"); /* the first one again */
    press(&browser, "F");
    assert_selected(&browser, "model.layers.2.input_layernorm.weight");
    assert_int_equal(browser.tree.root.tensors, 21); /* what is missing counts nowhere */
    draw(&browser, 80, 24, true);
    assert_string_equal(screen[1], "differs: num_hidden_layers is 3 on the command line, the file has 2 (9 tensors)");
    assert_non_null(strstr(screen[17], " model.layers.2.input_layernorm.weight"));
    assert_string_equal(screen[18], "predicted  (8), 8 parameters");
    assert_string_equal(screen[19], "error      is missing; predicted: (8)");
    assert_string_equal(screen[23], " 21 tensors, 2,024 parameters, 7.9 KiB  |  9 errors");
    press(&browser, "c");
    draw(&browser, 80, 24, true);
    assert_string_equal(screen[4], "causes");
    press(&browser, "q/layers.2\n");
    assert_int_equal(browser.nodes[sp_browser_selected(&browser)->node->index].findings[SHAPEPROOF_SEVERITY_ERROR], 9);
    sp_browser_close(&browser);
    shapeproof_check_free(check);
}

/* ---- the screen ---- */

static void a_screen_of_80_columns(void **state)
{
    (void)state;
    struct sp_browser browser;
    struct shapeproof_inventory *inventory = small_model();
    sp_browser_open(&browser, inventory, NULL, "there is no config.json beside it");
    press(&browser, "lj");
    draw(&browser, 80, 16, true);
    const char *const expected[16] = {
        " model: memory                           by bytes, equal layers merged  ?: help",
        "not checked: there is no config.json beside it",
        "  name                         tensors dtype      params      bytes        share",
        "  \u25be h                                6 F16,F32       952    1.9 KiB \u2588\u2588\u258a    55.0%",
        "    \u25b8 2                              2 F16,F32       808    1.6 KiB \u2588\u2588\u258e    45.9%",
        "    \u25b8 {0-1}                          4 F16,F32       144      320 B \u258c       9.0%",
        "    embed.weight                       F16           800    1.6 KiB \u2588\u2588\u258e    45.0%",
        "    head.weight                        F16           800    1.6 KiB         0.0%",
        "",
        "",
        "",
        " h.2",
        "stored     2 tensors, 808 parameters, 1,632 bytes (1.6 KiB)",
        "dtype      F16, F32",
        "",
        " 8 tensors, 1,752 parameters, 3.5 KiB"};
    for (size_t i = 0; i < 16; i++) assert_string_equal(screen[i], expected[i]);
    draw(&browser, 80, 16, false);
    assert_string_equal(screen[3], "  - h                                6 F16,F32       952    1.9 KiB ###    55.0%");
    draw(&browser, 39, 16, true);
    assert_string_equal(screen[0], "needs 40 x 8");
    draw(&browser, 80, 7, true);
    assert_string_equal(screen[0], "needs 40 x 8");
    sp_browser_close(&browser);
    shapeproof_inventory_close(inventory);
}

/* draw() checks each. */
static void every_size_of_screen_will_do(void **state)
{
    (void)state;
    static const char *const views[] = {"x", "G", "f", "\n", "q", "c", "G", "q", "?", "jj", "q", "m", "/we", "\n"};
    struct sp_browser browser;
    struct shapeproof_check *check = failing_check();
    sp_browser_open(&browser, shapeproof_check_inventory(check), check, NULL);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        press(&browser, views[i]);
        for (size_t columns = 1; columns <= 200; columns += columns < 60 ? 7 : 1)
            for (size_t lines = 1; lines <= 50; lines += 7) {
                draw(&browser, columns, lines, columns % 2);
                if (columns < SP_BROWSE_COLUMNS || lines < SP_BROWSE_LINES || browser.page) continue;
                assert_true(browser.top <= browser.cursor && browser.cursor < browser.top + browser.height);
            }
    }
    sp_browser_close(&browser);
    shapeproof_check_free(check);
}

/* The first block of docs/browse.md is what these keys lead to. */
static void the_example_of_the_page_is_true(void **state)
{
    (void)state;
    char line[4 * MOST_COLUMNS];
    size_t count = 0;
    bool is_inside = false;
    struct sp_browser browser;
    struct shapeproof_check *check = failing_check();
    FILE *page = fopen("docs/browse.md", "r");
    assert_non_null(page);
    sp_browser_open(&browser, shapeproof_check_inventory(check), check, NULL);
    press(&browser, "ljlf");
    draw(&browser, 80, 24, true);
    while (count < 24 && fgets(line, sizeof line, page)) {
        line[strcspn(line, "\n")] = '\0';
        if (is_inside) assert_string_equal(line, screen[count++]);
        is_inside = is_inside || strcmp(line, "```text") == 0;
    }
    assert_int_equal(count, 24);
    fclose(page);
    sp_browser_close(&browser);
    shapeproof_check_free(check);
}

static void hostile_names_are_harmless(void **state)
{
    (void)state;
    static char longest[60000], deepest[20000];
    struct shapeproof_tensor_description tensors[] = {
        {.name = "\033]0;title\a\033[2Ja.\033[31mb", .shape = flat, .rank = 1, .dtype = SHAPEPROOF_DTYPE_F32},
        {.name = "", .shape = flat, .rank = 1, .dtype = SHAPEPROOF_DTYPE_F32},
        {.name = "..", .shape = flat, .rank = 1, .dtype = SHAPEPROOF_DTYPE_F32},
        {.name = "a\nb\rc\td.\u202ee", .shape = flat, .rank = 1, .dtype = SHAPEPROOF_DTYPE_F32},
        {.name = "\u4e2d\u6587.\u6743", .dtype = SHAPEPROOF_DTYPE_F32},
        {.name = longest, .dtype = SHAPEPROOF_DTYPE_UNKNOWN, .dtype_name = "\033[5mnew"},
        {.name = deepest, .shape = flat, .rank = 1, .dtype = SHAPEPROOF_DTYPE_F32}};
    struct shapeproof_error error = {0};
    struct sp_browser browser;
    memset(longest, 'x', sizeof longest - 1);
    for (size_t i = 0; i + 1 < sizeof deepest; i++) deepest[i] = i % 2 ? '.' : 'd';
    struct shapeproof_inventory *inventory =
        shapeproof_inventory_describe("\033[31mpath", tensors, sizeof tensors / sizeof *tensors, &error);
    assert_non_null(inventory);
    sp_browser_open(&browser, inventory, NULL, "\033[31m");
    for (size_t i = 0; i < 9; i++) {
        for (size_t unicode = 0; unicode < 2; unicode++) draw(&browser, 60 + 20 * i, 24, unicode);
        press(&browser, "\n");
        draw(&browser, 60, 24, false);
        press(&browser, browser.page ? "qj" : "j");
    }
    press(&browser, "/\033]");
    sp_browser_press(&browser, 0x9b);
    press(&browser, "\n");
    draw(&browser, 60, 24, true);
    sp_browser_close(&browser);
    shapeproof_inventory_close(inventory);
}

static void an_empty_file_has_no_lines(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct sp_browser browser;
    struct shapeproof_inventory *inventory = shapeproof_inventory_describe("none", NULL, 0, &error);
    assert_non_null(inventory);
    sp_browser_open(&browser, inventory, NULL, "");
    for (const char *key = "jkgGhl xXsm/a\nnNfF?qcq\n"; *key; key++) {
        sp_browser_press(&browser, (unsigned char)*key);
        draw(&browser, 80, 24, true);
    }
    for (uint32_t key = SP_KEY_UP; key <= SP_KEY_END; key++) sp_browser_press(&browser, key);
    assert_null(sp_browser_selected(&browser));
    draw(&browser, 80, 24, true);
    assert_string_equal(screen[3], "  the file has no tensors");
    sp_browser_close(&browser);
    shapeproof_inventory_close(inventory);
}

/* 200 layers of 500 experts each, and each different from the next, so that few can be folded. */
static void a_hundred_thousand_tensors(void **state)
{
    (void)state;
    enum { LAYERS = 200, EXPERTS = 500, COUNT = LAYERS * EXPERTS, LENGTH = 40 };
    static const uint64_t shapes[][1] = {{1}, {2}, {3}, {4}, {5}, {6}, {7}};
    struct shapeproof_tensor_description *tensors = calloc(COUNT, sizeof *tensors);
    char *names = malloc((size_t)COUNT * LENGTH);
    struct shapeproof_error error = {0};
    struct sp_browser browser;
    assert_true(tensors && names);
    for (size_t i = 0; i < COUNT; i++) {
        char *name = names + i * LENGTH;
        snprintf(name, LENGTH, "layers.%zu.experts.%zu.up", i / EXPERTS, i % EXPERTS);
        tensors[i] = (struct shapeproof_tensor_description){
            .name = name, .shape = shapes[(i + i / EXPERTS) % 7], .rank = 1, .dtype = SHAPEPROOF_DTYPE_BF16};
    }
    struct shapeproof_inventory *inventory = shapeproof_inventory_describe("large", tensors, COUNT, &error);
    assert_non_null(inventory);
    sp_browser_open(&browser, inventory, NULL, "");
    press(&browser, "mgx");
    assert_int_equal(browser.row_count, 1 + LAYERS + COUNT); /* "experts.0" has the line of its only child */
    press(&browser, "G");
    draw(&browser, 80, 24, true);
    press(&browser, "/layers.199.experts.499\n");
    assert_selected(&browser, "layers.199.experts.499.up");
    press(&browser, "ssssmX");
    draw(&browser, 80, 24, true);
    sp_browser_close(&browser);
    shapeproof_inventory_close(inventory);
    free(names);
    free(tensors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_layers_share_a_line),      cmocka_unit_test(lines_open_and_close),
        cmocka_unit_test(orders_follow_each_other),       cmocka_unit_test(a_search_finds_every_line),
        cmocka_unit_test(findings_are_where_they_belong), cmocka_unit_test(a_screen_of_80_columns),
        cmocka_unit_test(every_size_of_screen_will_do),   cmocka_unit_test(the_example_of_the_page_is_true),
        cmocka_unit_test(hostile_names_are_harmless),     cmocka_unit_test(an_empty_file_has_no_lines),
        cmocka_unit_test(a_hundred_thousand_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
