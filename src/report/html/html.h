/* SPDX-License-Identifier: MIT
 * Reports as HTML: one file that needs no network, and is whole without scripts. Its parts, in their order:
 *
 *     page.c       the head with style and Content Security Policy, the verdict, text from outside, tables
 *     tensors.c    the tensors: totals of modules, a table, and the data of the map and the search
 *     formulas.c   the groups of a table with their formulas and numbers, claims, hyper-parameters
 *     inspect.c, check.c, diff.c, verify.c    the reports of these names
 *     several.c    a page of several models, whose parts these reports can be
 *     page.css, page.js    style and script, which embed.awk turns into C
 *
 * What comes from outside reaches the page in two ways only: escaped by sp_html_text, or as JSON without "<", in a
 * script element that is not executed. */
#ifndef SP_REPORT_HTML_H
#define SP_REPORT_HTML_H

#include "base/arena.h"
#include "base/text.h"
#include "report/inspect/inspect.h"
#include "report/table.h"
#include "shapeproof/report.h"

/* ---- page.c ---- */

/* Of the build, from page.css and page.js. The hashes are SHA-256 in base64. */
extern const char sp_html_style[], sp_html_script[], sp_html_style_hash[], sp_html_script_hash[];

/* Whether a table whose rows begin at `begin` in the page, and that has so many of them, has room for one more. What
 * is long is cut, so that names without anything in common do not make a page larger than 2 MB. */
bool sp_html_has_room(const struct sp_text *html, size_t begin, size_t rows);

struct sp_html_title {
    const char *command; /* "check" */
    const char *subject; /* what it is about, a path */
    const char *verdict; /* a word, or NULL */
    enum sp_color color; /* of the verdict */
    const char *line;    /* behind the verdict; its reason */
    /* Of a part of a page of several models, for the table of all of them; NULL for what there is not. */
    const size_t *findings;
    const struct shapeproof_totals *totals;
    const char *note; /* the causes, and the like */
};

void sp_html_begin(struct sp_text *html, const struct sp_html_title *title);
void sp_html_end(struct sp_text *html);
/* The verdict and its reason; nothing for a title without one. */
void sp_html_verdict(struct sp_text *html, const struct sp_html_title *title);
/* The class that has the colour; "" for none. */
const char *sp_html_class_of_color(enum sp_color color);
/* Text from outside: made printable, and escaped. */
void sp_html_text(struct sp_text *html, const char *string);
void sp_html_code(struct sp_text *html, const char *string);
/* The same of the name of a tensor, whose lines break behind its components. */
void sp_html_name(struct sp_text *html, const char *name);
/* A section with that heading; the next one, or sp_html_end, ends it. */
void sp_html_section(struct sp_text *html, const char *heading);
/* What is folded away until somebody opens it: between the two. */
void sp_html_fold_begin(struct sp_text *html, const char *summary, bool open);
void sp_html_fold_end(struct sp_text *html);
/* A table whose cells are printable; it is freed. sp_table_render writes it for SHAPEPROOF_REPORT_HTML. */
void sp_html_table(struct sp_table *table, struct sp_text *html);
/* A list with the heading "Warnings"; nothing when there are none. `prediction` may be NULL. */
void sp_html_warnings(struct sp_text *html, const char *heading, const struct shapeproof_inventory *inventory,
                      const struct shapeproof_prediction *prediction);
/* <span class="error">error</span> */
void sp_html_severity(struct sp_text *html, enum shapeproof_severity severity);

/* ---- tensors.c ---- */

/* How a tensor of the list is; the script has the same numbers. */
enum sp_html_state {
    SP_HTML_PLAIN = 0,
    SP_HTML_NOTE = 1,
    SP_HTML_WARNING = 2,
    SP_HTML_ERROR = 3,
    SP_HTML_ADDED = 4,
    SP_HTML_REMOVED = 5,
    SP_HTML_CHANGED = 6
};

/* What the two shapes of a tensor are. */
enum sp_html_kind {
    SP_HTML_INSPECT, /* `after` alone: as stored */
    SP_HTML_CHECK,   /* predicted, stored */
    SP_HTML_DIFF     /* in A, in B */
};

/* NULL for what there is not. Everything but the shapes is borrowed. */
struct sp_html_tensor {
    const char *name, *dtype;
    const char *before, *after; /* shapes, in the arena */
    uint64_t parameters, bytes; /* as they count in sums: 0 of a tensor that is the same as an earlier one */
    uint64_t parameters_before, bytes_before; /* of a diff: those in A */
    const char *shard, *group;
    enum sp_html_state state;
    const char *note; /* what is remarkable, or what was found */
};

/* Zero-initialise but for the kind; free with sp_html_tensors_free. */
struct sp_html_tensors {
    enum sp_html_kind kind;
    const struct shapeproof_inventory *file; /* that has all of them; NULL if there is none */
    struct sp_arena arena;
    struct sp_html_tensor *items;
    size_t count, capacity;
};

/* "(768, 3072)" in the arena of the list; NULL for a tensor without a shape. */
const char *sp_html_shape(struct sp_html_tensors *tensors, const struct shapeproof_tensor *tensor);
const char *sp_html_predicted_shape(struct sp_html_tensors *tensors, const struct shapeproof_predicted *predicted);
/* Totals of the modules; of a diff with what grew and shrank. */
void sp_html_modules(struct sp_text *html, const struct sp_html_tensors *tensors);
/* The map and the search, for which the script needs the data; then the table of the tensors. */
void sp_html_tensors(struct sp_text *html, struct sp_html_tensors *tensors);
void sp_html_tensors_free(struct sp_html_tensors *tensors);

/* ---- formulas.c ---- */

/* The groups of the table: their formulas, the same with numbers, what is predicted and what is stored. */
void sp_html_groups(struct sp_text *html, const struct shapeproof_verification *verification);
/* The claims with their numbers; nothing when there are none. */
void sp_html_claims(struct sp_text *html, const struct shapeproof_verification *verification, bool all);
void sp_html_hyperparameters(struct sp_text *html, const struct shapeproof_prediction *prediction);

/* ---- several.c ---- */

/* In place of sp_html_begin, for a part of a page of several models; it has no end. */
void sp_html_begin_part(struct sp_text *html, const struct sp_html_title *title);
/* Stands in a part between the report and the section of the tensors, and behind a report without tensors. */
void sp_html_next_piece(struct sp_text *html);
/* The part of a model of which there is no report; `word` says what is wrong. */
void sp_html_failed_part(struct sp_text *html, const char *path, const char *word, const char *message,
                         const char *hint);
/* The page of these parts. */
void sp_html_several(struct sp_text *html, const char *const *parts, size_t count);

/* ---- the reports: a page, or a part of one ---- */

void sp_html_inspect(const struct sp_inspect *inspect, struct sp_text *html, bool is_part);
void sp_html_check(const struct shapeproof_check *check, struct sp_text *html,
                   const struct shapeproof_report_options *options, bool is_part);
void sp_html_diff(const struct shapeproof_diff *diff, struct sp_text *html,
                  const struct shapeproof_report_options *options);
void sp_html_verify(const struct shapeproof_verification *verification, struct sp_text *html,
                    const struct shapeproof_report_verify_options *options, bool is_part);

#endif
