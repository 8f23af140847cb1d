/* SPDX-License-Identifier: MIT
 * A checkpoint to look through: its tensors as a tree of modules, of which a line is selected, some are open, and any
 * can be searched for. What a key does is decided here, and what is then on the screen in screen.h; neither knows a
 * terminal.
 *
 *     tree               items (all lines)           rows (those on the screen, while only "h" is open)
 *     h { 0 { w }, ...}  0 h        depth 0          h
 *     ln { w }           1   {0-1}  depth 1            {0-1}
 *                        2     w    depth 2          ln.w
 *                        3 ln.w     depth 0                   "ln" takes the line of its only child */
#ifndef SP_BROWSE_BROWSER_H
#define SP_BROWSE_BROWSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "report/name_tree.h"
#include "shapeproof/check.h"

/* A key is the code point of a character, or one of these, which are none. */
enum {
    SP_KEY_ENTER = '\n',
    SP_KEY_ESCAPE = 0x1b,
    SP_KEY_BACKSPACE = 0x7f,
    SP_KEY_UP = 0x110000,
    SP_KEY_DOWN,
    SP_KEY_LEFT,
    SP_KEY_RIGHT,
    SP_KEY_PAGE_UP,
    SP_KEY_PAGE_DOWN,
    SP_KEY_HOME,
    SP_KEY_END
};

/* A line: a node, with those above it that have no other child. */
struct sp_browse_item {
    const struct sp_name_node *first, *node; /* "model" and "{0-31}" of "model.layers.{0-31}" */
    unsigned depth;                          /* lines that it is indented by */
    size_t parent;                           /* item, or SIZE_MAX */
    size_t end;                              /* the first item behind it that is not below it */
    bool is_match;                           /* of what was searched for */
};

/* What is known of a node of the tree; of a folded one, what it says of each that it stands for. */
struct sp_browse_node {
    bool is_open;
    size_t findings[SHAPEPROOF_SEVERITY_ERROR + 1]; /* in it and below it, by severity */
    uint64_t dtypes;                                /* a bit for each that occurs in it; see dtype_names */
    const struct sp_name_node *shown;               /* the node that stands for it in the lines */
    size_t item;                                    /* of a node that is shown: the line that it is in */
};

enum sp_browse_page { SP_PAGE_NONE, SP_PAGE_HELP, SP_PAGE_CHECK, SP_PAGE_DETAILS };

enum { SP_BROWSE_DTYPES = 64 }; /* a bit each; the last one stands for all further ones */

struct sp_browser {
    const struct shapeproof_inventory *inventory;
    const struct shapeproof_check *check; /* NULL: there is none */
    const char *no_check;                 /* why; NULL: there is one */

    /* The tensors of the file, then those that are predicted and not stored. */
    struct sp_name_entry *entries;
    size_t stored_count, entry_count;
    struct shapeproof_tensor *absent; /* entry_count - stored_count of them */
    size_t *first_finding;            /* of each entry, or SIZE_MAX */
    size_t *next_finding;             /* of each finding: the next one about the same entry, or SIZE_MAX */
    const char *dtype_names[SP_BROWSE_DTYPES];
    size_t dtype_count;

    struct sp_name_tree tree;
    struct sp_browse_node *nodes; /* by their index in the tree */
    enum sp_name_order order;
    bool is_merged; /* equal layers share a line */
    struct sp_browse_item *items;
    size_t item_count;
    size_t *rows; /* items on the screen, were it high enough */
    size_t row_count;
    size_t cursor; /* the selected row; 0 when there is none */
    size_t top;    /* the first row that the screen has room for */
    size_t height; /* rows that it has room for, at least 1 */

    bool is_typing; /* into `query` */
    struct sp_text query;
    size_t match_count;
    struct sp_text message; /* one line, until the next key */

    enum sp_browse_page page; /* of text, in place of the tree */
    size_t page_top;          /* its first line on the screen */

    bool is_done;
};

/* `check` may be NULL, then `no_check` says why. All are borrowed. Close it with sp_browser_close. */
void sp_browser_open(struct sp_browser *browser, const struct shapeproof_inventory *inventory,
                     const struct shapeproof_check *check, const char *no_check);
void sp_browser_close(struct sp_browser *browser);
/* How many rows the screen has room for. */
void sp_browser_resize(struct sp_browser *browser, size_t height);
void sp_browser_press(struct sp_browser *browser, uint32_t key);

/* The selected line, or NULL when the file has no tensors. */
const struct sp_browse_item *sp_browser_selected(const struct sp_browser *browser);
/* Its name, with the names above it: "model.layers.{0-31}.mlp". */
void sp_browser_put_name(struct sp_text *text, const struct sp_name_node *node);
/* Of a leaf: whether it is not stored, and the first finding about it, or SIZE_MAX. */
bool sp_browser_is_absent(const struct sp_browser *browser, const struct sp_name_node *leaf);
size_t sp_browser_finding(const struct sp_browser *browser, const struct sp_name_node *leaf);

#endif
