/* SPDX-License-Identifier: MIT
 * What a browser looks like: a frame of texts with places and styles, which a terminal shows.
 *
 *      model.safetensors: safetensors              by bytes, equal layers merged  ?: help
 *     differs: num_hidden_layers is 3 on the command line, the file has 2 (9 tensors)
 *       name                       tensors dtype      params      bytes       share
 *     E - model                         20 F32         1.8 K    7.2 KiB ##### 100.0%      rows
 *     E   - layers.{0-1}                18 F32         1.7 K    6.8 KiB ####   94.5%
 *      model.layers.{0-1}                                                                 details
 *     18 tensors, 1,712 parameters, 6,848 bytes (6.7 KiB); F32
 *      20 tensors  1,812 parameters  7.2 KiB  9 errors  line 2 of 12                      totals */
#ifndef SP_BROWSE_SCREEN_H
#define SP_BROWSE_SCREEN_H

#include "browse/browser.h"
#include "report/common.h"

enum { SP_STYLE_REVERSE = 1 << 8 }; /* beside a colour */

/* A text on one line, which has at most `columns` columns from `column` on. It is printable. */
struct sp_browse_span {
    size_t line, column, columns;
    unsigned style; /* enum sp_color, with SP_STYLE_REVERSE */
    size_t begin;   /* in the text of the frame, in bytes; it ends with a NUL */
};

/* Set columns, lines and unicode; zero-initialise the rest. */
struct sp_browse_frame {
    size_t columns, lines;
    bool unicode; /* otherwise all is ASCII */
    struct sp_text text;
    SP_ARRAY(struct sp_browse_span) spans;
    bool has_cursor; /* on the last line, while a search is typed */
    size_t cursor_column;
};

/* Smaller screens show nothing but that they are too small. */
enum { SP_BROWSE_COLUMNS = 40, SP_BROWSE_LINES = 8 };

/* Draws the browser into the frame, in place of what was there; scrolls the browser so that the selected line is on the
 * screen. A span covers what earlier ones have in its columns. */
void sp_browser_draw(struct sp_browser *browser, struct sp_browse_frame *frame);
void sp_browse_frame_free(struct sp_browse_frame *frame);

/* page.c: lines of at most that many columns where no word is longer, each with a line break. */

/* What is known of the selected line, but its name; there must be one. */
void sp_browser_put_details(const struct sp_browser *browser, struct sp_text *text, size_t columns, bool unicode);
/* The page that is open. */
void sp_browser_put_page(const struct sp_browser *browser, struct sp_text *text, size_t columns, bool unicode);
/* Replaces each character that is not ASCII by its number: "\u{e9}". */
void sp_make_ascii(struct sp_text *text);

#endif
