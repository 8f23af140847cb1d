/* SPDX-License-Identifier: MIT */
#include "browse/browser.h"

#include <stdlib.h>
#include <string.h>

#include "names/collapse.h"

/* ---- what the tree is made of ---- */

/* Links each finding to what it is about. A predicted tensor that the file lacks becomes an entry, which adds nothing
 * to the sums. */
static void add_absent(struct sp_browser *browser)
{
    const struct shapeproof_prediction *prediction = shapeproof_check_prediction(browser->check);
    const size_t finding_count = shapeproof_check_finding_count(browser->check),
                 predicted_count = shapeproof_prediction_count(prediction);
    size_t *entry_of = sp_realloc(NULL, predicted_count + 1, sizeof *entry_of);
    for (size_t i = 0; i < predicted_count; i++) entry_of[i] = SIZE_MAX;
    for (size_t i = finding_count; i-- > 0;) { /* backwards, so that the first is the first of its list */
        const struct shapeproof_finding *finding = shapeproof_check_finding(browser->check, i);
        size_t entry = finding->tensor;
        browser->next_finding[i] = SIZE_MAX;
        if (entry == SHAPEPROOF_NONE && finding->predicted == SHAPEPROOF_NONE) continue; /* an expectation */
        if (entry == SHAPEPROOF_NONE && (entry = entry_of[finding->predicted]) == SIZE_MAX) {
            const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(prediction, finding->predicted);
            struct shapeproof_tensor *absent = &browser->absent[browser->entry_count - browser->stored_count];
            *absent = (struct shapeproof_tensor){.name = finding->name,
                                                 .dtype_name = "",
                                                 .rank = (uint32_t)predicted->rank,
                                                 .shape = predicted->shape,
                                                 .parameters = predicted->parameters,
                                                 .same_as = SHAPEPROOF_NONE};
            entry = entry_of[finding->predicted] = browser->entry_count++;
            browser->entries[entry] = (struct sp_name_entry){.tensor = absent};
            browser->first_finding[entry] = SIZE_MAX;
        }
        browser->next_finding[i] = browser->first_finding[entry];
        browser->first_finding[entry] = i;
    }
    sp_free(entry_of);
}

/* Entries are folded only if they have the same findings, and if both are stored and count, or neither. */
static void set_kinds(struct sp_browser *browser)
{
    struct sp_kinds kinds = {0};
    struct sp_text text = {0};
    for (size_t i = 0; i < browser->entry_count; i++) {
        text.length = 0;
        sp_text_printf(&text, "%d,%llu", i < browser->stored_count, (unsigned long long)browser->entries[i].parameters);
        for (size_t j = browser->first_finding[i]; j != SIZE_MAX; j = browser->next_finding[j]) {
            const struct shapeproof_finding *finding = shapeproof_check_finding(browser->check, j);
            sp_text_printf(&text, ",%s %zu ", finding->id, finding->cause);
            sp_text_puts(&text, finding->message);
        }
        browser->entries[i].kind = sp_kind_of(&kinds, &text);
    }
    sp_text_free(&text);
    sp_kinds_free(&kinds);
}

/* Tied tensors count once. */
static void list_entries(struct sp_browser *browser)
{
    const size_t stored = shapeproof_inventory_count(browser->inventory),
                 findings = browser->check ? shapeproof_check_finding_count(browser->check) : 0;
    browser->stored_count = browser->entry_count = stored;
    browser->entries = sp_realloc(NULL, stored + findings + 1, sizeof *browser->entries);
    browser->absent = sp_realloc(NULL, findings + 1, sizeof *browser->absent);
    browser->first_finding = sp_realloc(NULL, stored + findings + 1, sizeof *browser->first_finding);
    browser->next_finding = sp_realloc(NULL, findings + 1, sizeof *browser->next_finding);
    for (size_t i = 0; i < stored; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(browser->inventory, i);
        const bool counts = tensor->same_as == SHAPEPROOF_NONE;
        browser->first_finding[i] = SIZE_MAX;
        browser->entries[i] = (struct sp_name_entry){.tensor = tensor,
                                                     .tensors = 1,
                                                     .parameters = counts ? tensor->parameters : 0,
                                                     .bytes = counts ? tensor->bytes : 0};
    }
    if (browser->check) add_absent(browser);
    set_kinds(browser);
}

/* The bit of a dtype in the masks. */
static uint64_t dtype_bit(struct sp_browser *browser, const char *name)
{
    size_t i = 0;
    while (i < browser->dtype_count && strcmp(browser->dtype_names[i], name) != 0) i++;
    if (i == browser->dtype_count) {
        if (i == SP_BROWSE_DTYPES - 1) name = "others";
        if (i == SP_BROWSE_DTYPES) i--;
        else browser->dtype_names[browser->dtype_count++] = name;
    }
    return (uint64_t)1 << i;
}

/* Numbers the dtypes in the order of the file. */
static void list_dtypes(struct sp_browser *browser)
{
    for (size_t i = 0; i < browser->stored_count; i++) dtype_bit(browser, browser->entries[i].tensor->dtype_name);
}

/* Hands findings and dtypes up to the nodes above: children come after their parents in the list. */
static void sum_up_nodes(struct sp_browser *browser)
{
    for (size_t i = browser->tree.count; i-- > 0;) {
        const struct sp_name_node *node = browser->tree.nodes[i];
        struct sp_browse_node *known = &browser->nodes[i];
        if (node->tensor) {
            for (size_t j = sp_browser_finding(browser, node); j != SIZE_MAX; j = browser->next_finding[j])
                known->findings[shapeproof_check_finding(browser->check, j)->severity]++;
            if (!sp_browser_is_absent(browser, node)) known->dtypes = dtype_bit(browser, node->tensor->dtype_name);
        }
        if (node->parent == &browser->tree.root) continue;
        struct sp_browse_node *parent = &browser->nodes[node->parent->index];
        for (size_t j = 0; j <= SHAPEPROOF_SEVERITY_ERROR; j++) parent->findings[j] += known->findings[j];
        parent->dtypes |= known->dtypes;
    }
}

/* ---- lines ---- */

/* Finds which node stands for each in the lines. Below a node that is folded into another, these are the nodes below
 * that other one, which has the same children in the order in which they were made. */
static void find_shown(struct sp_browser *browser)
{
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < browser->tree.count; i++) {
            const struct sp_name_node *node = browser->tree.nodes[i], *parent = node->parent;
            const bool is_root = parent == &browser->tree.root;
            const struct sp_name_node *stand_in = is_root ? parent : browser->nodes[parent->index].shown;
            if (pass == 0) browser->nodes[i].shown = NULL;
            /* The parent is shown itself: so is the node, or the one that it is folded into. */
            if (pass == 0 && stand_in == parent) browser->nodes[i].shown = node->leader;
            if (pass == 0 || browser->nodes[i].shown) continue;
            const struct sp_name_node *sibling = parent->first_made, *there = stand_in->first_made;
            for (; sibling; sibling = sibling->next_made, there = there->next_made)
                browser->nodes[sibling->index].shown = browser->nodes[there->index].shown;
        }
}

/* Lists the lines of the children of a node; returns behind the last one. */
static size_t list_children(struct sp_browser *browser, const struct sp_name_node *node, size_t parent, unsigned depth,
                            size_t count)
{
    for (const struct sp_name_node *child = node->child; child; child = child->next) {
        if (!child->folded) continue;
        const size_t here = count++;
        const struct sp_name_node *last = child;
        browser->nodes[child->index].item = here;
        for (const struct sp_name_node *joined; (joined = sp_name_node_joined(last)); last = joined)
            browser->nodes[joined->index].item = here;
        browser->items[here] = (struct sp_browse_item){.first = child, .node = last, .depth = depth, .parent = parent};
        count = list_children(browser, last, here, depth + 1, count);
        browser->items[here].end = count;
    }
    return count;
}

/* The lines whose parents are open, and the selected one among them. */
static void list_rows(struct sp_browser *browser, size_t selected)
{
    browser->row_count = browser->cursor = 0;
    for (size_t i = 0; i < browser->item_count;) {
        if (i == selected) browser->cursor = browser->row_count;
        browser->rows[browser->row_count++] = i;
        i = browser->nodes[browser->items[i].node->index].is_open ? i + 1 : browser->items[i].end;
    }
}

static size_t selected_item(const struct sp_browser *browser)
{
    return browser->row_count ? browser->rows[browser->cursor] : SIZE_MAX;
}

/* Opens what is around the item, and selects it. */
static void select_item(struct sp_browser *browser, size_t item)
{
    for (size_t above = browser->items[item].parent; above != SIZE_MAX; above = browser->items[above].parent)
        browser->nodes[browser->items[above].node->index].is_open = true;
    list_rows(browser, item);
}

static void mark_matches(struct sp_browser *browser);

/* Brings the lines into order again. The same node stays selected, or the one that stands for it now. */
static void arrange(struct sp_browser *browser)
{
    const size_t before = selected_item(browser);
    const struct sp_name_node *node = before == SIZE_MAX ? NULL : browser->items[before].node;
    sp_name_tree_arrange(&browser->tree, browser->is_merged, browser->order);
    find_shown(browser);
    browser->item_count = list_children(browser, &browser->tree.root, SIZE_MAX, 0, 0);
    mark_matches(browser);
    if (node) select_item(browser, browser->nodes[browser->nodes[node->index].shown->index].item);
    else list_rows(browser, 0);
}

void sp_browser_open(struct sp_browser *browser, const struct shapeproof_inventory *inventory,
                     const struct shapeproof_check *check, const char *no_check)
{
    *browser = (struct sp_browser){.inventory = inventory,
                                   .check = check,
                                   .no_check = no_check,
                                   .order = SP_NAMES_BY_BYTES,
                                   .is_merged = true,
                                   .height = 1};
    list_entries(browser);
    sp_name_tree_open(&browser->tree, browser->entries, browser->entry_count);
    browser->nodes = sp_realloc(NULL, browser->tree.count + 1, sizeof *browser->nodes);
    for (size_t i = 0; i < browser->tree.count; i++) browser->nodes[i] = (struct sp_browse_node){.is_open = false};
    browser->items = sp_realloc(NULL, browser->tree.count + 1, sizeof *browser->items);
    browser->rows = sp_realloc(NULL, browser->tree.count + 1, sizeof *browser->rows);
    list_dtypes(browser);
    sum_up_nodes(browser);
    arrange(browser);
    if (browser->item_count && browser->items[0].end == browser->item_count) { /* a single line would say nothing */
        browser->nodes[browser->items[0].node->index].is_open = true;
        list_rows(browser, 0);
    }
}

void sp_browser_close(struct sp_browser *browser)
{
    sp_name_tree_close(&browser->tree);
    sp_free(browser->entries);
    sp_free(browser->absent);
    sp_free(browser->first_finding);
    sp_free(browser->next_finding);
    sp_free(browser->nodes);
    sp_free(browser->items);
    sp_free(browser->rows);
    sp_text_free(&browser->query);
    sp_text_free(&browser->message);
}

const struct sp_browse_item *sp_browser_selected(const struct sp_browser *browser)
{
    const size_t item = selected_item(browser);
    return item == SIZE_MAX ? NULL : &browser->items[item];
}

void sp_browser_put_name(struct sp_text *text, const struct sp_name_node *node)
{
    if (node->begin) { /* not at the top: the byte in front is a separator */
        sp_browser_put_name(text, node->parent);
        sp_text_append(text, node->name + node->begin - 1, 1);
    }
    if (node->begin == node->end) sp_text_puts(text, "\"\""); /* an empty component would not be seen */
    else sp_put_name_node(text, node);
}

bool sp_browser_is_absent(const struct sp_browser *browser, const struct sp_name_node *leaf)
{
    return leaf->position >= browser->stored_count;
}

size_t sp_browser_finding(const struct sp_browser *browser, const struct sp_name_node *leaf)
{
    return browser->first_finding[leaf->position];
}

/* ---- moving ---- */

static void keep_in_sight(struct sp_browser *browser)
{
    const size_t height = browser->height;
    const size_t last_top = browser->row_count > height ? browser->row_count - height : 0;
    if (browser->cursor < browser->top) browser->top = browser->cursor;
    if (browser->cursor >= browser->top + height) browser->top = browser->cursor - height + 1;
    if (browser->top > last_top) browser->top = last_top;
}

void sp_browser_resize(struct sp_browser *browser, size_t height)
{
    browser->height = height ? height : 1;
    keep_in_sight(browser);
}

static void move_to_row(struct sp_browser *browser, size_t row)
{
    if (browser->row_count) browser->cursor = row < browser->row_count ? row : browser->row_count - 1;
}

static bool is_open(const struct sp_browser *browser, const struct sp_browse_item *item)
{
    return browser->nodes[item->node->index].is_open;
}

static void set_open(struct sp_browser *browser, size_t item, bool open)
{
    if (!browser->items[item].node->tensor) browser->nodes[browser->items[item].node->index].is_open = open;
}

/* Opens the selected line; if it is open, goes to the first one below it. */
static void enter(struct sp_browser *browser)
{
    const struct sp_browse_item *item = sp_browser_selected(browser);
    if (!item || item->node->tensor) return;
    if (is_open(browser, item)) browser->cursor++;
    else {
        set_open(browser, selected_item(browser), true);
        list_rows(browser, selected_item(browser));
    }
}

/* Closes the selected line; if it is closed, goes to the one around it. */
static void leave(struct sp_browser *browser)
{
    const struct sp_browse_item *item = sp_browser_selected(browser);
    if (!item) return;
    if (!item->node->tensor && is_open(browser, item)) {
        set_open(browser, selected_item(browser), false);
        list_rows(browser, selected_item(browser));
    } else if (item->parent != SIZE_MAX) list_rows(browser, item->parent);
}

/* What Enter does: a module is opened or closed, a tensor has a page. */
static void toggle(struct sp_browser *browser)
{
    const struct sp_browse_item *item = sp_browser_selected(browser);
    if (!item) return;
    if (item->node->tensor) browser->page = SP_PAGE_DETAILS;
    else {
        set_open(browser, selected_item(browser), !is_open(browser, item));
        list_rows(browser, selected_item(browser));
    }
}

static void open_all(struct sp_browser *browser)
{
    const size_t selected = selected_item(browser);
    if (selected == SIZE_MAX) return;
    for (size_t i = selected; i < browser->items[selected].end; i++) set_open(browser, i, true);
    list_rows(browser, selected);
}

static void close_all(struct sp_browser *browser)
{
    size_t selected = selected_item(browser);
    if (selected == SIZE_MAX) return;
    for (size_t i = 0; i < browser->item_count; i++) set_open(browser, i, false);
    while (browser->items[selected].parent != SIZE_MAX) selected = browser->items[selected].parent;
    list_rows(browser, selected);
}

/* ---- searching ---- */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Whether the query occurs in the name of the node such that it ends in the node's own component: otherwise a node
 * above matches, and each below it would. Of ASCII letters the case does not matter. */
static bool node_matches(const struct sp_name_node *node, const struct sp_text *query)
{
    for (size_t i = node->begin > query->length ? node->begin - query->length + 1 : 0; i + query->length <= node->end;
         i++) {
        size_t same = 0;
        while (same < query->length && lower(node->name[i + same]) == lower(query->data[same])) same++;
        if (same == query->length && i + same > node->begin) return true;
    }
    return false;
}

/* A line matches if any node matches that it stands for. */
static void mark_matches(struct sp_browser *browser)
{
    for (size_t i = 0; i < browser->item_count; i++) browser->items[i].is_match = false;
    browser->match_count = 0;
    if (!browser->query.length) return;
    for (size_t i = 0; i < browser->tree.count; i++) {
        if (!node_matches(browser->tree.nodes[i], &browser->query)) continue;
        struct sp_browse_item *item = &browser->items[browser->nodes[browser->nodes[i].shown->index].item];
        browser->match_count += !item->is_match;
        item->is_match = true;
    }
}

/* Selects the next item, or the one before, of which `is_wanted` is true, beginning again at the other end; `here`: the
 * selected one counts, too. Returns the item, or SIZE_MAX when there is none. */
static size_t go_on(struct sp_browser *browser, bool (*is_wanted)(const struct sp_browser *, size_t item),
                    bool is_backward, bool here)
{
    const size_t count = browser->item_count, from = selected_item(browser);
    for (size_t step = here ? 0 : 1; step <= count && count; step++) {
        const size_t item = (is_backward ? from + count - step % count : from + step) % count;
        if (!is_wanted(browser, item)) continue;
        select_item(browser, item);
        return item;
    }
    return SIZE_MAX;
}

static bool is_match(const struct sp_browser *browser, size_t item) { return browser->items[item].is_match; }

/* "2 of 24 lines match 'mlp'" */
static void find_match(struct sp_browser *browser, bool is_backward, bool here)
{
    size_t number = 0;
    struct sp_text *message = &browser->message;
    if (!browser->query.length) {
        sp_text_puts(message, "nothing was searched for: / begins a search");
        return;
    }
    const size_t found = go_on(browser, is_match, is_backward, here);
    for (size_t i = 0; found != SIZE_MAX && i <= found; i++) number += browser->items[i].is_match;
    if (found == SIZE_MAX) sp_text_puts(message, "no name contains '");
    else sp_text_printf(message, "line %zu of %zu with '", number, browser->match_count);
    sp_text_visible(message, browser->query.data, browser->query.length);
    sp_text_puts(message, "'");
}

/* Encodes a code point behind the query, which has at most so many bytes. */
static void type_character(struct sp_text *query, uint32_t code)
{
    enum { LONGEST_QUERY = 200 };
    char bytes[4];
    size_t length = 0;
    if (query->length >= LONGEST_QUERY || code < ' ' || code > 0x10ffff) return;
    if (code < 0x80) bytes[length++] = (char)code;
    else if (code < 0x800) bytes[length++] = (char)(0xc0 | code >> 6);
    else if (code < 0x10000) {
        bytes[length++] = (char)(0xe0 | code >> 12);
        bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
    } else {
        bytes[length++] = (char)(0xf0 | code >> 18);
        bytes[length++] = (char)(0x80 | (code >> 12 & 0x3f));
        bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
    }
    if (code >= 0x80) bytes[length++] = (char)(0x80 | (code & 0x3f));
    sp_text_append(query, bytes, length);
}

static void press_typing(struct sp_browser *browser, uint32_t key)
{
    struct sp_text *query = &browser->query;
    if (key == SP_KEY_ENTER || key == SP_KEY_ESCAPE) {
        browser->is_typing = false;
        if (key == SP_KEY_ESCAPE) query->length = 0;
        mark_matches(browser);
        if (query->length) find_match(browser, false, true);
    } else if (key == SP_KEY_BACKSPACE) {
        while (query->length && ((unsigned char)query->data[--query->length] & 0xc0) == 0x80) continue;
        if (query->data) query->data[query->length] = '\0';
    } else type_character(query, key);
}

/* ---- findings ---- */

static bool has_fault(const struct sp_browser *browser, size_t item)
{
    const struct sp_name_node *node = browser->items[item].node;
    const size_t *findings = browser->nodes[node->index].findings;
    return node->tensor && (findings[SHAPEPROOF_SEVERITY_ERROR] || findings[SHAPEPROOF_SEVERITY_WARNING]);
}

static bool has_finding(const struct sp_browser *browser, size_t item)
{
    const struct sp_name_node *node = browser->items[item].node;
    return node->tensor && sp_browser_finding(browser, node) != SIZE_MAX;
}

/* The next error or warning; where there is none, the next note. */
static void find_finding(struct sp_browser *browser, bool is_backward)
{
    if (browser->no_check) sp_text_puts(&browser->message, "nothing was checked: c says why");
    else if (go_on(browser, has_fault, is_backward, false) == SIZE_MAX &&
             go_on(browser, has_finding, is_backward, false) == SIZE_MAX)
        sp_text_puts(&browser->message, "the check has no findings about tensors");
}

/* ---- keys ---- */

static void open_page(struct sp_browser *browser, enum sp_browse_page page)
{
    browser->page = page;
    browser->page_top = 0;
}

/* The page has lines enough for all that is pressed: the screen sees to it. */
static void press_on_page(struct sp_browser *browser, uint32_t key)
{
    const size_t step = browser->height > 1 ? browser->height - 1 : 1;
    switch (key) {
    case 'q':
    case '?':
    case 'h':
    case SP_KEY_LEFT:
    case SP_KEY_ENTER:
    case SP_KEY_ESCAPE:
        browser->page = SP_PAGE_NONE;
        break;
    case 'k':
    case SP_KEY_UP:
        browser->page_top -= browser->page_top > 0;
        break;
    case 'j':
    case SP_KEY_DOWN:
        browser->page_top++;
        break;
    case SP_KEY_PAGE_UP:
        browser->page_top -= browser->page_top < step ? browser->page_top : step;
        break;
    case ' ':
    case SP_KEY_PAGE_DOWN:
        browser->page_top += step;
        break;
    case 'g':
    case SP_KEY_HOME:
        browser->page_top = 0;
        break;
    case 'G':
    case SP_KEY_END:
        browser->page_top = SIZE_MAX / 2;
        break;
    default:
        break;
    }
}

/* The keys that select another of the rows; false for others. */
static bool press_to_move(struct sp_browser *browser, uint32_t key)
{
    const size_t cursor = browser->cursor, height = browser->height;
    switch (key) {
    case 'k':
    case SP_KEY_UP:
        move_to_row(browser, cursor ? cursor - 1 : 0);
        return true;
    case 'j':
    case SP_KEY_DOWN:
        move_to_row(browser, cursor + 1);
        return true;
    case SP_KEY_PAGE_UP:
        move_to_row(browser, cursor > height ? cursor - height : 0);
        return true;
    case SP_KEY_PAGE_DOWN:
        move_to_row(browser, cursor + height);
        return true;
    case 'g':
    case SP_KEY_HOME:
        move_to_row(browser, 0);
        return true;
    case 'G':
    case SP_KEY_END:
        move_to_row(browser, SIZE_MAX);
        return true;
    default:
        return false;
    }
}

static void press_in_tree(struct sp_browser *browser, uint32_t key)
{
    if (press_to_move(browser, key)) return;
    switch (key) {
    case 'q':
        browser->is_done = true;
        break;
    case 'l':
    case SP_KEY_RIGHT:
        enter(browser);
        break;
    case 'h':
    case SP_KEY_LEFT:
        leave(browser);
        break;
    case ' ':
    case SP_KEY_ENTER:
        toggle(browser);
        break;
    case 'x':
        open_all(browser);
        break;
    case 'X':
        close_all(browser);
        break;
    case 's':
        browser->order =
            browser->order == SP_NAMES_BY_TENSORS ? SP_NAMES_BY_POSITION : (enum sp_name_order)(browser->order + 1);
        arrange(browser);
        break;
    case 'm':
        browser->is_merged = !browser->is_merged;
        arrange(browser);
        break;
    case '/':
        browser->is_typing = true;
        browser->query.length = 0;
        break;
    case 'n':
        find_match(browser, false, false);
        break;
    case 'N':
        find_match(browser, true, false);
        break;
    case 'f':
        find_finding(browser, false);
        break;
    case 'F':
        find_finding(browser, true);
        break;
    case 'c':
        open_page(browser, SP_PAGE_CHECK);
        break;
    case '?':
        open_page(browser, SP_PAGE_HELP);
        break;
    default:
        break;
    }
}

void sp_browser_press(struct sp_browser *browser, uint32_t key)
{
    browser->message.length = 0;
    if (browser->page) press_on_page(browser, key);
    else if (browser->is_typing) press_typing(browser, key);
    else press_in_tree(browser, key);
    keep_in_sight(browser);
}
