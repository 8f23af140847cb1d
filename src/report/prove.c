/* SPDX-License-Identifier: MIT
 * The verdicts on claims: those that surprise, or all, under the name of their table. */
#include <string.h>

#include "base/json_write.h"
#include "report/common.h"
#include "shapeproof/report.h"

/* A claim, the verdict on it, and why; what there is nothing to say about is left out. */
static void json_proof(struct sp_writer *json, const struct shapeproof_proof *proof)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "table", proof->table);
    sp_write_key_string(json, "claim", proof->claim);
    sp_write_key_filled(json, "given", proof->given);
    sp_write_key_string(json, "verdict", shapeproof_verdict_on_claim_name(proof->verdict));
    sp_write_key_filled(json, "difference", proof->difference);
    sp_write_key_filled(json, "counterexample", proof->counterexample);
    sp_write_key_filled(json, "cases", proof->cases);
    sp_write_key_filled(json, "source", proof->source);
    sp_write_key_filled(json, "correction", proof->correction);
    sp_write_key_bool(json, "erratum", proof->erratum);
    sp_write_key_bool(json, "as_expected", proof->as_expected);
    if (proof->verdict == SHAPEPROOF_TESTED) {
        sp_write_key_number(json, "points", proof->points);
        sp_write_key_number(json, "disagreed", 0); /* one would refute the claim */
        sp_write_key_number(json, "untried", proof->untried);
    }
    sp_write_key_string(json, "file", proof->file);
    sp_write_key_number(json, "line", proof->line);
    if (proof->steps) {
        sp_write_key_open(json, "steps", '[');
        for (size_t i = 0; i < proof->step_count; i++) sp_write_string(json, proof->steps[i]);
        sp_write_close(json);
    }
    sp_write_close(json);
}

static void prove_json(const struct shapeproof_proofs *proofs, struct sp_text *text)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.prove/1");
    sp_write_key_open(&json, "claims", '[');
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) json_proof(&json, shapeproof_proofs_get(proofs, i));
    sp_write_close(&json);
    sp_write_close(&json);
}

static const struct {
    const char *word;
    enum sp_color color;
} verdicts[] = {[SHAPEPROOF_PROVED] = {"PROVED", SP_COLOR_GREEN},
                [SHAPEPROOF_REFUTED] = {"REFUTED", SP_COLOR_RED},
                [SHAPEPROOF_TESTED] = {"TESTED", SP_COLOR_YELLOW},
                [SHAPEPROOF_UNDECIDED] = {"UNDECIDED", SP_COLOR_RED}};

/* A line below the claim, below its first word; nothing when there is nothing to say. */
static void put_detail(struct sp_text *text, const char *label, const char *detail)
{
    if (!detail || !*detail) return;
    sp_text_puts(text, "             ");
    sp_text_puts(text, label);
    sp_put_visible(text, detail);
    sp_text_puts(text, "\n");
}

/*   REFUTED    claim total = V*E, and below it why, where, and who said so. */
static void put_proof(const struct shapeproof_proof *proof, struct sp_text *text, bool color)
{
    enum { VERDICT_COLUMNS = 11 };
    const char *word = verdicts[proof->verdict].word;
    const bool is_known_erratum = proof->as_expected && proof->verdict == SHAPEPROOF_REFUTED;
    sp_text_puts(text, "  ");
    sp_color_puts(text, color, is_known_erratum ? SP_COLOR_YELLOW : verdicts[proof->verdict].color, word);
    sp_text_pad(text, VERDICT_COLUMNS - strlen(word));
    sp_put_visible(text, proof->claim);
    sp_text_puts(text, "\n");
    put_detail(text, "given ", proof->given);
    if (proof->verdict == SHAPEPROOF_TESTED)
        sp_text_printf(text, "             agreed at %zu points, disagreed at 0, %zu could not be tried\n",
                       proof->points, proof->untried);
    put_detail(text, "", proof->difference);
    put_detail(text, "at ", proof->counterexample);
    put_detail(text, "", proof->cases);
    for (size_t i = 0; i < proof->step_count; i++) put_detail(text, "| ", proof->steps[i]);
    put_detail(text, "source: ", proof->source);
    put_detail(text, "correct: ", proof->correction);
    if (proof->erratum && !proof->as_expected) put_detail(text, "", "marked as an erratum, and not refuted");
}

/* The claims table by table, without those that are as expected unless all are wanted; then how many of each verdict
 * there are. */
static void prove_text(const struct shapeproof_proofs *proofs, struct sp_text *text,
                       const struct shapeproof_report_options *options)
{
    size_t counts[sizeof verdicts / sizeof *verdicts] = {0}; /* by verdict */
    size_t errata = 0, surprises = 0;
    const char *table = "";
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        counts[proof->verdict]++;
        errata += proof->erratum && proof->as_expected;
        surprises += !proof->as_expected;
        if (proof->as_expected && !options->all) continue;
        if (strcmp(table, proof->table) != 0) {
            table = proof->table;
            sp_color_puts(text, options->color, SP_COLOR_BOLD, table);
            sp_text_puts(text, "\n");
        }
        put_proof(proof, text, options->color);
    }
    if (*table) sp_text_puts(text, "\n");
    sp_put_count(text, shapeproof_proofs_count(proofs), "claim", "claims");
    sp_text_printf(text, ": %zu proved, %zu refuted (%zu known errata), %zu tested, %zu undecided",
                   counts[SHAPEPROOF_PROVED], counts[SHAPEPROOF_REFUTED], errata, counts[SHAPEPROOF_TESTED],
                   counts[SHAPEPROOF_UNDECIDED]);
    sp_text_printf(text, surprises ? "; %zu not as expected\n" : "\n", surprises);
}

char *shapeproof_report_prove(const struct shapeproof_proofs *proofs, const struct shapeproof_report_options *options,
                              size_t *length)
{
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) prove_json(proofs, &text);
    else prove_text(proofs, &text, options);
    return sp_text_take(&text, length);
}
