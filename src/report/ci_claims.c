/* SPDX-License-Identifier: MIT
 * Claims in the documents for CI systems. In JUnit each claim is a test case: it passes, fails if the claim is wrong,
 * and is an error if that is not decided. In SARIF a claim that is not as it should be is a result. */
#include <string.h>

#include "report/ci.h"
#include "report/verify.h"

/* What came of a claim. */
struct outcome {
    const char *element; /* of JUnit: "failure", "error", or NULL for a claim that is as it should be */
    const char *type;    /* "refuted" */
    const char *says;    /* what SARIF puts behind the claim: "is refuted" */
    struct sp_text why;  /* "short by V*E; at V = 1, E = 1: 1, claimed 0"; may be empty */
    struct sp_text text; /* the report of the claim as text */
};

static void free_outcome(struct outcome *outcome)
{
    sp_text_free(&outcome->why);
    sp_text_free(&outcome->text);
}

/* Appends a reason, behind a semicolon if there is one before it. */
static void add_reason(struct sp_text *why, const char *label, const char *reason)
{
    if (!reason || !*reason) return;
    sp_text_printf(why, "%s%s%s", why->length ? "; " : "", label, reason);
}

/* ---- both documents ---- */

/* The test case of a claim: `name` is what it is called in its class. */
static void put_testcase(struct sp_text *text, const char *class_name, const char *name, const struct outcome *outcome)
{
    sp_text_puts(text, "    <testcase");
    sp_put_xml_attribute(text, "classname", class_name);
    sp_put_xml_attribute(text, "name", name);
    if (!outcome->element) {
        sp_text_puts(text, "/>\n");
        return;
    }
    sp_text_printf(text, ">\n      <%s", outcome->element);
    sp_put_xml_attribute(text, "type", outcome->type);
    sp_put_xml_attribute(text, "message", outcome->why.length ? outcome->why.data : outcome->says);
    sp_text_puts(text, ">");
    if (outcome->text.length) sp_put_xml(text, outcome->text.data);
    sp_text_printf(text, "</%s>\n    </testcase>\n", outcome->element);
}

/* The result of a claim that is not as it should be: "model/: claim total = V*E fails: 928 more". */
static void put_result(struct sp_text *text, const char *name, const struct shapeproof_proof *proof,
                       const struct outcome *outcome)
{
    struct sp_text message = {0};
    if (!outcome->element) return;
    sp_text_printf(&message, "%s %s", name, outcome->says);
    if (outcome->why.length) sp_text_printf(&message, ": %s", outcome->why.data);
    sp_sarif_claim(text, proof, name, message.data);
    sp_text_free(&message);
}

/* ---- verdicts for all hyper-parameters ---- */

static struct outcome outcome_of_proof(const struct shapeproof_proof *proof)
{
    struct outcome outcome = {.type = shapeproof_verdict_on_claim_name(proof->verdict)};
    if (proof->as_expected) return outcome;
    const bool is_decided = proof->verdict == SHAPEPROOF_PROVED || proof->verdict == SHAPEPROOF_REFUTED;
    outcome.element = is_decided ? "failure" : "error";
    outcome.says = proof->verdict == SHAPEPROOF_REFUTED  ? "is refuted"
                   : proof->verdict == SHAPEPROOF_PROVED ? "is marked as an erratum, and is proved"
                   : proof->verdict == SHAPEPROOF_TESTED ? "is not proved, only tested"
                                                         : "cannot be decided";
    add_reason(&outcome.why, "", proof->difference);
    add_reason(&outcome.why, "at ", proof->counterexample);
    sp_put_proof(proof, &outcome.text, false);
    return outcome;
}

static void put_proof(struct sp_text *text, const struct shapeproof_proof *proof, enum shapeproof_report_format format)
{
    struct outcome outcome = outcome_of_proof(proof);
    struct sp_text class_name = {0}, name = {0};
    sp_text_printf(&class_name, "shapeproof.prove.%s", proof->table);
    sp_text_printf(&name, "%s: %s", proof->table, proof->claim);
    if (format == SHAPEPROOF_REPORT_JUNIT) put_testcase(text, class_name.data, proof->claim, &outcome);
    else put_result(text, name.data, proof, &outcome);
    free_outcome(&outcome);
    sp_text_free(&class_name);
    sp_text_free(&name);
}

/* A figure without a verdict changes the exit status. */
static void put_undecided_figure(struct sp_text *text, const struct shapeproof_figure *figure,
                                 enum shapeproof_report_format format)
{
    const struct shapeproof_proof place = {.file = figure->source, .line = 1};
    struct outcome outcome = {.element = "error", .type = "undecided", .says = "cannot be decided"};
    struct sp_text name = {0};
    if (figure->verdict != SHAPEPROOF_UNDECIDED) return;
    sp_text_printf(&name, "%s %s is %s", figure->model, figure->of, figure->printed);
    add_reason(&outcome.why, "", figure->why);
    if (format == SHAPEPROOF_REPORT_JUNIT) put_testcase(text, "shapeproof.prove.figures", name.data, &outcome);
    else put_result(text, name.data, &place, &outcome);
    free_outcome(&outcome);
    sp_text_free(&name);
}

void sp_ci_proofs(struct sp_text *text, const struct shapeproof_proofs *proofs,
                  const struct shapeproof_figures *figures, const struct shapeproof_report_options *options)
{
    sp_text_puts(text, "");
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++)
        put_proof(text, shapeproof_proofs_get(proofs, i), options->format);
    for (size_t i = 0; figures && i < shapeproof_figures_count(figures); i++)
        put_undecided_figure(text, shapeproof_figures_get(figures, i), options->format);
}

/* ---- claims at hyper-parameters ---- */

static struct outcome outcome_of_claim(const struct shapeproof_verified_claim *claim)
{
    const bool fails = claim->answer == SHAPEPROOF_CLAIM_FAILS;
    struct outcome outcome = {.type = shapeproof_claim_answer_name(claim->answer)};
    if (claim->proof->erratum || (!fails && claim->answer != SHAPEPROOF_CLAIM_UNKNOWN)) return outcome;
    outcome.element = fails ? "failure" : "error";
    outcome.says = fails ? "fails" : "cannot be evaluated";
    add_reason(&outcome.why, "", fails ? claim->difference : claim->why);
    sp_put_claim(&outcome.text, claim, false);
    return outcome;
}

/* "model/: claim total = V*E" */
static void put_claim(struct sp_text *text, const char *path, const struct shapeproof_verified_claim *claim,
                      enum shapeproof_report_format format)
{
    struct outcome outcome = outcome_of_claim(claim);
    struct sp_text name = {0};
    sp_text_printf(&name, "%s: %s", path, claim->proof->claim);
    if (format == SHAPEPROOF_REPORT_JUNIT) put_testcase(text, "shapeproof.prove", name.data, &outcome);
    else put_result(text, name.data, claim->proof, &outcome);
    free_outcome(&outcome);
    sp_text_free(&name);
}

/* No claim is about the model: that is no success. */
static void put_lack_of_claims(struct sp_text *text, const char *path,
                               const struct shapeproof_verification *verification, enum shapeproof_report_format format)
{
    const struct shapeproof_proof place = {.file = path, .line = 1};
    struct outcome outcome = {.element = "error", .type = "unknown", .says = "has no claim about it"};
    sp_put_claim_totals(verification, &outcome.why);
    outcome.why.data[strcspn(outcome.why.data, "\n")] = '\0';
    if (format == SHAPEPROOF_REPORT_JUNIT) put_testcase(text, "shapeproof.prove", path, &outcome);
    else put_result(text, path, &place, &outcome);
    free_outcome(&outcome);
}

void sp_ci_verification(struct sp_text *text, const struct shapeproof_verification *verification,
                        const struct shapeproof_report_verify_options *options)
{
    const struct shapeproof_prediction *prediction = shapeproof_verification_prediction(verification);
    const char *path = options->path ? options->path
                       : prediction  ? shapeproof_prediction_table(prediction)
                                     : "checkpoint";
    size_t shown = 0;
    sp_text_puts(text, "");
    for (size_t i = 0; i < shapeproof_verification_claim_count(verification); i++) {
        const struct shapeproof_verified_claim *claim = shapeproof_verification_claim(verification, i);
        if (!sp_claim_is_shown(claim, options->report.all)) continue;
        put_claim(text, path, claim, options->report.format);
        shown += claim->answer != SHAPEPROOF_CLAIM_OTHER && !claim->proof->erratum;
    }
    if (!shown) put_lack_of_claims(text, path, verification, options->report.format);
}
