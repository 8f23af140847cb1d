/* SPDX-License-Identifier: MIT
 * The causes with their hints, then the findings in three parts: what has no cause, what has one, and what is no fault.
 * Unless all is asked for, what has a cause is a number, and of the others there are as many as there is room for:
 * findings without a cause before causes beyond the first, notes last. */
#include <string.h>

#include "report/check.h"
#include "report/findings.h"
#include "report/wrap.h"

enum part { PART_CAUSES, PART_OPEN, PART_EXPLAINED, PART_NOTES };

static const char *const headings[] = {"causes", "findings", "findings that the causes explain", "notes"};

struct report {
    const struct shapeproof_check *check;
    const struct shapeproof_report_options *options;
    struct sp_text *text;
    size_t counts[PART_NOTES + 1]; /* of the findings of each part that are worth a line, or of all */
};

enum { TWO_LINES = 2 * 67, FOUR_LINES = 2 * TWO_LINES };

/* ---- causes ---- */

/* A message takes so many columns at most, unless all is asked for. */
static void put_message(const struct report *report, const char *message, size_t most)
{
    const size_t begin = report->text->length;
    sp_put_visible(report->text, message);
    if (!report->options->all) sp_cut_at_word(report->text, begin, most);
}

static void put_hint(const struct report *report, const char *hint)
{
    sp_begin_hint(report->text);
    const size_t begin = report->text->length;
    sp_put_visible(report->text, hint);
    sp_end_item(report->text, begin);
}

/* Whether one of the causes behind it, before `end`, has the same hint: it is said once. */
static bool is_said_below(const struct shapeproof_check *check, size_t cause, size_t end)
{
    for (size_t i = cause + 1; i < end; i++)
        if (shapeproof_check_cause(check, i)->hint == shapeproof_check_cause(check, cause)->hint) return true;
    return false;
}

/* Returns how many are left. */
static size_t put_first_causes(const struct report *report, size_t most)
{
    const size_t all = shapeproof_check_cause_count(report->check), count = most < all ? most : all;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_cause *cause = shapeproof_check_cause(report->check, i);
        sp_put_severity(report->text, report->options, cause->severity);
        const size_t begin = report->text->length;
        put_message(report, cause->message, FOUR_LINES);
        sp_end_item(report->text, begin);
        if (cause->hint && !is_said_below(report->check, i, count)) put_hint(report, cause->hint);
    }
    return all - count;
}

/* ---- findings ---- */

static enum part part_of_finding(const struct shapeproof_finding *finding)
{
    if (finding->severity == SHAPEPROOF_SEVERITY_NOTE) return PART_NOTES;
    return finding->cause == SHAPEPROOF_NONE ? PART_OPEN : PART_EXPLAINED;
}

/* A note that a cause has said is said; unless it was an error that somebody expected. */
static bool is_worth_a_line(const struct shapeproof_finding *finding)
{
    return finding->severity != SHAPEPROOF_SEVERITY_NOTE || finding->cause == SHAPEPROOF_NONE || finding->reason;
}

static void count_parts(struct report *report)
{
    for (size_t i = 0; i < shapeproof_check_finding_count(report->check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(report->check, i);
        report->counts[part_of_finding(finding)] += report->options->all || is_worth_a_line(finding);
    }
}

void sp_put_sole_shape(struct sp_text *text, const struct shapeproof_finding *finding)
{
    if (finding->kind == SHAPEPROOF_FINDING_MISSING) sp_text_printf(text, ": %s", finding->expected);
    if (finding->kind == SHAPEPROOF_FINDING_UNEXPECTED) sp_text_printf(text, ": %s", finding->found);
}

/*   error    h.{0-4}.ln.weight is missing: (768) (5 tensors) */
static void put_finding(const struct report *report, const char *name, size_t count,
                        const struct shapeproof_finding *finding)
{
    struct sp_text *text = report->text;
    sp_put_severity(text, report->options, finding->severity);
    const size_t begin = text->length;
    sp_put_visible(text, name);
    sp_text_puts(text, " ");
    put_message(report, finding->message, TWO_LINES);
    sp_put_sole_shape(text, finding);
    if (count > 1) sp_text_printf(text, " (%zu tensors)", count);
    sp_put_reason(text, finding->reason);
    sp_end_item(text, begin);
}

/* Collapsed over their indices; returns how many findings are left. */
static size_t put_first_groups(const struct report *report, enum part part, size_t most)
{
    size_t left = report->counts[part];
    for (size_t i = 0; i < shapeproof_check_group_count(report->check) && left && most; i++) {
        const struct shapeproof_finding_group *group = shapeproof_check_group(report->check, i);
        if (part_of_finding(group->first) != part || !is_worth_a_line(group->first)) continue;
        put_finding(report, group->name, group->count, group->first);
        left -= group->count;
        most--;
    }
    return left;
}

static void put_advice(const struct report *report)
{
    if (shapeproof_check_advice(report->check)) put_hint(report, shapeproof_check_advice(report->check));
}

/* A line for each. */
static void put_each(const struct report *report, enum part part)
{
    for (size_t i = 0; i < shapeproof_check_finding_count(report->check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(report->check, i);
        if (part_of_finding(finding) == part) put_finding(report, finding->name, 1, finding);
    }
}

/* ---- as many as there is room for ---- */

/* With the empty line and the heading above it. */
static void put_first_of(const struct report *report, enum part part, size_t most)
{
    sp_put_heading(report->text, report->options, headings[part]);
    const size_t left = part == PART_CAUSES ? put_first_causes(report, most) : put_first_groups(report, part, most);
    if (left) sp_text_printf(report->text, "  ... and %zu more; --all lists them\n", left);
    if (part == PART_OPEN) put_advice(report);
}

/* What is written takes at most `room` lines, but there is one cause or finding, whatever it takes. Returns how many
 * lines it takes. */
static size_t put_part(const struct report *report, enum part part, size_t room)
{
    const size_t begin = report->text->length, before = sp_count_lines(report->text);
    for (size_t most = report->options->all ? SIZE_MAX : SP_MOST_LINES;; most--) {
        put_first_of(report, part, most);
        const size_t lines = sp_count_lines(report->text) - before;
        if (lines <= room || most == 1) return lines;
        sp_cut_back(report->text, begin);
    }
}

static bool is_part_empty(const struct report *report, enum part part)
{
    return part == PART_CAUSES ? !shapeproof_check_cause_count(report->check) : !report->counts[part];
}

/* The fewest lines in which something is said of it. */
static size_t measure_part(const struct report *report, enum part part)
{
    const size_t begin = report->text->length;
    if (is_part_empty(report, part)) return 0;
    const size_t lines = put_part(report, part, 0);
    sp_cut_back(report->text, begin);
    return lines;
}

static size_t room_below(const struct report *report, size_t reserved)
{
    const size_t lines = sp_count_lines(report->text) + reserved;
    return lines < SP_MOST_LINES ? SP_MOST_LINES - lines : 0;
}

/* "the causes explain 24 findings; --all lists them and 2 notes" */
static void put_number_of_rest(const struct report *report, size_t explained, size_t notes)
{
    struct sp_text *text = report->text;
    if (!explained && !notes) return;
    sp_text_puts(text, "\n");
    if (explained) sp_text_printf(text, "the causes explain %zu finding%s; ", explained, explained == 1 ? "" : "s");
    sp_text_puts(text, "--all lists ");
    if (explained) sp_text_puts(text, explained == 1 ? "it" : "them");
    if (explained && notes) sp_text_puts(text, " and ");
    if (notes) sp_text_printf(text, "%zu note%s", notes, notes == 1 ? "" : "s");
    sp_text_puts(text, "\n");
}

static void put_what_fits(const struct report *report)
{
    enum { REST = 2 };
    const size_t explained = report->counts[PART_EXPLAINED], notes = report->counts[PART_NOTES];
    const size_t rest = explained || notes ? REST : 0;
    const size_t open = measure_part(report, PART_OPEN);
    if (!is_part_empty(report, PART_CAUSES)) put_part(report, PART_CAUSES, room_below(report, rest + open));
    if (!open) put_advice(report);
    if (open) put_part(report, PART_OPEN, room_below(report, rest));
    const size_t room = room_below(report, explained ? REST : 0);
    const bool any_note = notes && measure_part(report, PART_NOTES) <= room;
    put_number_of_rest(report, explained, any_note ? 0 : notes);
    if (any_note) put_part(report, PART_NOTES, room);
}

static void put_everything(const struct report *report)
{
    if (!is_part_empty(report, PART_CAUSES)) put_part(report, PART_CAUSES, SIZE_MAX);
    if (is_part_empty(report, PART_OPEN)) put_advice(report);
    for (enum part part = PART_OPEN; part <= PART_NOTES; part++) {
        if (is_part_empty(report, part)) continue;
        sp_put_heading(report->text, report->options, headings[part]);
        put_each(report, part);
        if (part == PART_OPEN) put_advice(report);
    }
}

void sp_put_causes_and_findings(const struct shapeproof_check *check, struct sp_text *text,
                                const struct shapeproof_report_options *options)
{
    struct report report = {.check = check, .options = options, .text = text};
    count_parts(&report);
    if (options->all) put_everything(&report);
    else put_what_fits(&report);
}
