/* SPDX-License-Identifier: MIT
 * What all reports share: how a shape, a number of bytes, a name are written; colour. */
#ifndef SP_REPORT_COMMON_H
#define SP_REPORT_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "shapeproof/prediction.h"
#include "shapeproof/verify.h"

enum sp_color { SP_COLOR_NONE = 0, SP_COLOR_BOLD, SP_COLOR_DIM, SP_COLOR_RED, SP_COLOR_GREEN, SP_COLOR_YELLOW };

/* Between the two, what is appended has that colour; nothing is written for SP_COLOR_NONE or when `on` is false. */
void sp_color_begin(struct sp_text *text, bool on, enum sp_color color);
void sp_color_end(struct sp_text *text, bool on, enum sp_color color);
/* A string of our own (it is not escaped) in one colour. */
void sp_color_puts(struct sp_text *text, bool on, enum sp_color color, const char *string);

/* A name or a value out of a file, escaped. */
void sp_put_visible(struct sp_text *text, const char *string);
/* The same, cut to `columns` columns with "..." and the length of the whole: `{"format": "p... (1,204 bytes)`. */
void sp_put_cut(struct sp_text *text, const char *string, size_t columns);
/* Cuts what was appended since `begin` at a word, when it has more columns than that, with " ..." behind it. */
void sp_cut_at_word(struct sp_text *text, size_t begin, size_t columns);
/* A hyper-parameter's value, and where it is from. */
void sp_put_value(struct sp_text *text, struct shapeproof_value value, size_t columns);
void sp_put_provenance(struct sp_text *text, struct shapeproof_provenance from);
/* (50257, 768), (768), () for a scalar. */
void sp_put_shape(struct sp_text *text, const uint64_t *shape, size_t rank);
/* 147.2 MiB, 512 B. */
void sp_put_bytes(struct sp_text *text, uint64_t bytes);
/* 124.4 M, 46.7 B, 512: thousands, millions, billions and trillions (10^12). */
void sp_put_short(struct sp_text *text, uint64_t number);
/* "140.7 T", of operations. */
void sp_put_operations(struct sp_text *text, uint64_t number);
/* "-1,024", "3/7". */
void sp_put_fraction(struct sp_text *text, struct shapeproof_fraction value);
/* "12.3%", of the whole; "<0.1%" for what would be rounded to 0, and ">999%" for what says no more than that the file
 * is compressed or lacks its data. `plus` stands in front of what is more than 0. Nothing without a whole. */
void sp_put_percent(struct sp_text *text, int64_t part, int64_t whole, const char *plus);
/* "1 tensor", "1,024 tensors". */
void sp_put_count(struct sp_text *text, uint64_t count, const char *singular, const char *plural);

/* A bar of at most `columns` columns for a part of the whole: in eighths of a column, or without `unicode` of "#". */
void sp_put_bar(struct sp_text *text, uint64_t part, uint64_t whole, size_t columns, bool unicode);

/* Columns of a text that is printable already: its code points. */
size_t sp_text_columns(const char *text, size_t length);

/* Hands the bytes over to the caller of a public function; never NULL, the text is empty afterwards. */
char *sp_text_take(struct sp_text *text, size_t *length);

#endif
