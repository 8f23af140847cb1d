/* SPDX-License-Identifier: MIT
 * Documents for CI systems: SARIF 2.1.0, JUnit XML and Markdown; and the document of JSON that says why there is no
 * other, with the same names for errors. A document for CI is made of parts, one for each checkpoint, so that processes
 * that check a list can each make theirs:
 *
 *   SARIF: a line of JSON for each result    JUnit: an element <testcase>
 *   HTML: see html/several.c                 Markdown: the report
 *
 * In SARIF and JUnit, what belongs to the document as a whole is found in the text of its parts: the rules that have
 * results, and how many test cases failed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/json_write.h"
#include "report/check.h"
#include "report/ci.h"
#include "report/html/html.h"
#include "report/markdown.h"
#include "report/verify.h"
#include "shapeproof/load.h"
#include "shapeproof/remote.h"
#include "shapeproof/report.h"
#include "shapeproof/shapeproof.h"

/* ---- why a checkpoint could not be checked ---- */

static const struct {
    enum shapeproof_kind kind;
    const char *meaning;
} error_kinds[] = {
    {SHAPEPROOF_KIND_IO, "the checkpoint could not be opened, read or fetched"},
    {SHAPEPROOF_KIND_UNRECOGNISED, "the checkpoint has no format that shapeproof reads"},
    {SHAPEPROOF_KIND_MALFORMED, "the checkpoint breaks the rules of its format"},
    {SHAPEPROOF_KIND_REFUSED, "the checkpoint is rejected for safety"},
    {SHAPEPROOF_KIND_LIMIT,
     "the checkpoint or the prediction exceeds a limit, or the check took longer than --timeout"},
    {SHAPEPROOF_KIND_CRASHED, "the process that checked the checkpoint crashed"},
    {SHAPEPROOF_KIND_OVERFLOW, "a number of the prediction does not fit in 64 bits"},
};

/* Those of errors without a kind. */
static const struct {
    int status;
    const char *id, *meaning;
} error_statuses[] = {
    {SHAPEPROOF_ERR_USAGE, "command-line", "the options of the command do not fit the checkpoint"},
    {SHAPEPROOF_ERR_TABLE, "configuration", "a table or the configuration of the checkpoint is wrong"},
    {SHAPEPROOF_ERR_FILE, "unreadable", "the checkpoint could not be read"},
    {SHAPEPROOF_ERR_UNKNOWN, "not-decided", "there is no table for the architecture, or no configuration"},
};

enum {
    ERROR_KINDS = sizeof error_kinds / sizeof *error_kinds,
    ERROR_STATUSES = sizeof error_statuses / sizeof *error_statuses
};

/* "malformed", or "configuration" of an error that has no kind. */
static const char *error_id(const struct shapeproof_checked *checked)
{
    if (checked->error && checked->error->kind) return shapeproof_kind_name(checked->error->kind);
    for (size_t i = 0; i < ERROR_STATUSES; i++)
        if (error_statuses[i].status == checked->status) return error_statuses[i].id;
    return "not-decided";
}

static const char *error_message(const struct shapeproof_checked *checked)
{
    return checked->error && checked->error->message[0] ? checked->error->message : "it could not be checked";
}

/* ---- SARIF: a result ---- */

/* Of the results that are neither findings nor causes. */
static const char rule_loading[] = "loading", rule_claim[] = "claim", rule_warning[] = "file-warning";

/* The names of severities are those of the levels of SARIF. */
static const char *level_of(enum shapeproof_severity severity) { return shapeproof_severity_name(severity); }

/* A message of SARIF: "{" and "}" are doubled, because {0} stands for an argument (SARIF 2.1.0, 3.11.5). */
static void sarif_message(struct sp_writer *json, const char *key, const char *message)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (const char *c = message; *c; c++) {
        sp_text_append(&text, c, 1);
        if (*c == '{' || *c == '}') sp_text_append(&text, c, 1);
    }
    sp_write_key_open(json, key, '{');
    sp_write_key_string(json, "text", text.data);
    sp_write_close(json);
    sp_text_free(&text);
}

/* A path as a URI reference (RFC 3986): all bytes but unreserved ones and "/" are percent-encoded, also ":", which
 * would end a scheme. An absolute path begins with file://. A URL keeps what URLs are made of. */
static void put_uri(struct sp_text *uri, const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    const bool is_url = shapeproof_is_remote(path);
    if (path[0] == '/') sp_text_puts(uri, "file://");
    for (const char *c = path; *c; c++) {
        if (strchr(plain, *c) || (is_url && strchr(":@?=&%+,;!$()*", *c))) sp_text_append(uri, c, 1);
        else sp_text_printf(uri, "%%%02X", (unsigned char)*c);
    }
}

/* A hash of two strings (64-bit FNV-1a), and the ":1" that GitHub expects behind one. GitHub takes results with an
 * equal hash for the same, in this run and in later ones. */
static void sarif_fingerprint(struct sp_writer *json, const char *rule, const char *subject)
{
    const uint64_t prime = 0x100000001b3;
    uint64_t hash = 0xcbf29ce484222325;
    char text[24];
    for (const char *c = rule; *c; c++) hash = (hash ^ (unsigned char)*c) * prime;
    hash *= prime; /* a NUL between the two */
    for (const char *c = subject; *c; c++) hash = (hash ^ (unsigned char)*c) * prime;
    snprintf(text, sizeof text, "%016" PRIx64 ":1", hash);
    sp_write_key_open(json, "partialFingerprints", '{');
    sp_write_key_string(json, "primaryLocationLineHash", text);
    sp_write_close(json);
}

/* A line of the file, and in it what has the name, unless that is NULL, such as a tensor. */
static void sarif_line_location(struct sp_writer *json, const char *path, size_t line, const char *name,
                                const char *kind)
{
    struct sp_text uri = {0};
    put_uri(&uri, path);
    sp_write_key_open(json, "locations", '[');
    sp_write_open(json, '{');
    sp_write_key_open(json, "physicalLocation", '{');
    sp_write_key_open(json, "artifactLocation", '{');
    sp_write_key_string(json, "uri", uri.data);
    sp_write_close(json);
    sp_write_key_open(json, "region", '{');
    sp_write_key_number(json, "startLine", line);
    sp_write_close(json);
    sp_write_close(json);
    if (name) {
        sp_write_key_open(json, "logicalLocations", '[');
        sp_write_open(json, '{');
        sp_write_key_string(json, "fullyQualifiedName", name);
        sp_write_key_string(json, "kind", kind);
        sp_write_close(json);
        sp_write_close(json);
    }
    sp_write_close(json);
    sp_write_close(json);
    sp_text_free(&uri);
}

/* The option of the command line that is given for the `number`th time. It is in no file, but GitHub refuses a document
 * with a result that has no physicalLocation. */
static void sarif_option_location(struct sp_writer *json, const char *option, size_t number)
{
    struct sp_text name = {0};
    sp_text_printf(&name, "%s %zu", option, number);
    sarif_line_location(json, option, number ? number : 1, name.data, "option");
    sp_text_free(&name);
}

/* A checkpoint has no lines, but GitHub requires one. */
static void sarif_location(struct sp_writer *json, const char *path, const char *tensor)
{
    sarif_line_location(json, path, 1, tensor, "tensor");
}

/* Begins the line of a result: close it with sp_write_close. */
static struct sp_writer begin_result(struct sp_text *text, const char *rule, enum shapeproof_severity severity,
                                     const char *message)
{
    struct sp_writer json = {.text = text};
    sp_write_open_line(&json, '{');
    sp_write_key_string(&json, "ruleId", rule);
    sp_write_key_string(&json, "level", level_of(severity));
    sarif_message(&json, "message", message);
    return json;
}

/* A result about the checkpoint as a whole. */
static void put_plain_result(struct sp_text *text, const char *rule, enum shapeproof_severity severity,
                             const char *message, const char *path)
{
    struct sp_writer json = begin_result(text, rule, severity, message);
    sarif_location(&json, path, NULL);
    sarif_fingerprint(&json, rule, message);
    sp_write_close(&json);
}

void sp_sarif_claim(struct sp_text *text, const struct shapeproof_proof *proof, const char *subject,
                    const char *message)
{
    struct sp_writer json = begin_result(text, rule_claim, SHAPEPROOF_SEVERITY_ERROR, message);
    if (strcmp(proof->file, "--claim") == 0) sarif_option_location(&json, proof->file, proof->line);
    else sarif_line_location(&json, proof->file, proof->line ? proof->line : 1, NULL, NULL);
    sarif_fingerprint(&json, rule_claim, subject);
    sp_write_close(&json);
}

/* The reason for which a difference is expected; NULL when it is not known. */
static void sarif_suppression(struct sp_writer *json, const char *reason)
{
    sp_write_key_open(json, "suppressions", '[');
    sp_write_open(json, '{');
    sp_write_key_string(json, "kind", "external");
    sp_write_key_string(json, "status", "accepted");
    sp_write_key_optional(json, "justification", reason);
    sp_write_close(json);
    sp_write_close(json);
}

/* ---- SARIF: the results of a check ---- */

/* Puts the path of the file that the tensor of the finding is in; of the checkpoint when it is in none. A file is named
 * relative to the directory that is the checkpoint, or that its index lies in:
 *
 *   model, model.safetensors                        -> model/model.safetensors
 *   model/model.safetensors.index.json, 1.safetensors -> model/1.safetensors
 *   model/model.safetensors, model.safetensors      -> model/model.safetensors */
static void put_file_of_finding(struct sp_text *path, const struct shapeproof_check *check,
                                const struct shapeproof_finding *finding)
{
    static const char index[] = ".index.json";
    const struct shapeproof_inventory *inventory = shapeproof_check_inventory(check);
    const char *checkpoint = shapeproof_inventory_path(inventory), *slash = strrchr(checkpoint, '/');
    const char *last = slash ? slash + 1 : checkpoint;
    const size_t length = strlen(last);
    sp_text_puts(path, checkpoint);
    if (finding->tensor == SHAPEPROOF_NONE) return;
    const char *file =
        shapeproof_inventory_file(inventory, shapeproof_inventory_tensor(inventory, finding->tensor)->file);
    if (strcmp(file, checkpoint) == 0 || strcmp(file, last) == 0 || file[0] == '/') return;
    if (length >= strlen(index) && strcmp(last + length - strlen(index), index) == 0) path->length -= length;
    else if (length) sp_text_puts(path, "/");
    sp_text_puts(path, file);
}

/* A finding is no worse than the cause that explains it. */
static enum shapeproof_severity severity_of_finding(const struct shapeproof_finding *finding,
                                                    const struct shapeproof_cause *cause)
{
    return cause && cause->severity < finding->severity ? cause->severity : finding->severity;
}

static void put_finding_result(struct sp_text *text, const struct shapeproof_check *check,
                               const struct shapeproof_finding *finding)
{
    const struct shapeproof_cause *cause =
        finding->cause == SHAPEPROOF_NONE ? NULL : shapeproof_check_cause(check, finding->cause);
    struct sp_text message = {0}, file = {0};
    sp_text_printf(&message, "%s %s", finding->name, finding->message);
    sp_put_sole_shape(&message, finding);
    put_file_of_finding(&file, check, finding);
    struct sp_writer json = begin_result(text, finding->id, severity_of_finding(finding, cause), message.data);
    sarif_location(&json, file.data, finding->name);
    sarif_fingerprint(&json, finding->id, finding->name);
    if (finding->reason) sarif_suppression(&json, finding->reason);
    if (finding->expected || finding->found || cause) {
        sp_write_key_open(&json, "properties", '{');
        sp_write_key_optional(&json, "expected", finding->expected);
        sp_write_key_optional(&json, "found", finding->found);
        sp_write_key_optional(&json, "cause", cause ? cause->id : NULL);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_text_free(&message);
    sp_text_free(&file);
}

/* "n_layer is 3 in config.json, the file has 2. Hint: ..." */
static void put_cause_result(struct sp_text *text, const struct shapeproof_check *check,
                             const struct shapeproof_cause *cause)
{
    struct sp_text message = {0};
    sp_text_puts(&message, cause->message);
    if (cause->hint) sp_text_printf(&message, ". Hint: %s", cause->hint);
    struct sp_writer json = begin_result(text, cause->id, cause->severity, message.data);
    sarif_location(&json, shapeproof_inventory_path(shapeproof_check_inventory(check)), NULL);
    sarif_fingerprint(&json, cause->id, cause->message);
    if (cause->expected) sarif_suppression(&json, NULL);
    sp_write_close(&json);
    sp_text_free(&message);
}

/* A loader that does not load the checkpoint whole is a note where the exit status is 0 all the same. */
static void put_loading_results(struct sp_text *text, const struct shapeproof_checked *checked, const char *path)
{
    for (size_t i = 0; checked->loadings && i < shapeproof_loading_count(checked->loadings); i++) {
        const struct shapeproof_loading *loading = shapeproof_loading(checked->loadings, i);
        if (loading->answer == SHAPEPROOF_LOADING_WHOLE) continue;
        put_plain_result(text, rule_loading, checked->status ? SHAPEPROOF_SEVERITY_ERROR : SHAPEPROOF_SEVERITY_NOTE,
                         loading->message, path);
    }
}

/* Claims that do not hold, or cannot be evaluated. Known errata are left out. */
static void put_claim_results(struct sp_text *text, const struct shapeproof_verification *claims, const char *path)
{
    for (size_t i = 0; claims && i < shapeproof_verification_claim_count(claims); i++) {
        const struct shapeproof_verified_claim *claim = shapeproof_verification_claim(claims, i);
        const bool fails = claim->answer == SHAPEPROOF_CLAIM_FAILS;
        const char *why = fails ? claim->difference : claim->why;
        struct sp_text message = {0};
        if (claim->proof->erratum || (!fails && claim->answer != SHAPEPROOF_CLAIM_UNKNOWN)) continue;
        sp_text_printf(&message, "%s %s%s%s", claim->proof->claim, fails ? "fails" : "cannot be evaluated",
                       why ? ": " : "", why ? why : "");
        put_plain_result(text, rule_claim, SHAPEPROOF_SEVERITY_ERROR, message.data, path);
        sp_text_free(&message);
    }
}

static void put_warning_results(struct sp_text *text, const struct shapeproof_check *check, const char *path)
{
    const struct shapeproof_inventory *inventory = shapeproof_check_inventory(check);
    const struct shapeproof_prediction *prediction = shapeproof_check_prediction(check);
    for (size_t i = 0; i < shapeproof_inventory_warning_count(inventory); i++)
        put_plain_result(text, rule_warning, SHAPEPROOF_SEVERITY_WARNING, shapeproof_inventory_warning(inventory, i),
                         path);
    for (size_t i = 0; i < shapeproof_prediction_remark_count(prediction); i++)
        put_plain_result(text, rule_warning, SHAPEPROOF_SEVERITY_WARNING, shapeproof_prediction_remark(prediction, i),
                         path);
    for (size_t i = 0; i < shapeproof_prediction_unused_count(prediction); i++) {
        struct sp_text message = {0};
        sp_text_printf(&message, "the table does not read the setting %s", shapeproof_prediction_unused(prediction, i));
        put_plain_result(text, rule_warning, SHAPEPROOF_SEVERITY_WARNING, message.data, path);
        sp_text_free(&message);
    }
}

static void put_results(struct sp_text *text, const struct shapeproof_checked *checked)
{
    const struct shapeproof_check *check = checked->check;
    if (!check) {
        put_plain_result(text, error_id(checked), SHAPEPROOF_SEVERITY_ERROR, error_message(checked), checked->path);
        return;
    }
    const char *path = shapeproof_inventory_path(shapeproof_check_inventory(check));
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++)
        put_cause_result(text, check, shapeproof_check_cause(check, i));
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++)
        put_finding_result(text, check, shapeproof_check_finding(check, i));
    put_loading_results(text, checked, path);
    put_claim_results(text, checked->claims, path);
    put_warning_results(text, check, path);
}

/* ---- SARIF: the document ---- */

/* Whether a part has a result of that rule. A string in JSON has no quote without a backslash before it: what is found
 * is a key and its value. */
static bool is_rule_used(const char *const *parts, size_t count, const char *id)
{
    struct sp_text pair = {0};
    bool used = false;
    sp_text_printf(&pair, "\"ruleId\": \"%s\"", id);
    for (size_t i = 0; i < count && !used; i++) used = strstr(parts[i], pair.data) != NULL;
    sp_text_free(&pair);
    return used;
}

/* A rule, if it has results. GitHub shows all three texts. */
static void put_rule(struct sp_writer *json, const char *const *parts, size_t count, const char *id,
                     enum shapeproof_severity severity, const char *meaning)
{
    if (!is_rule_used(parts, count, id)) return;
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "id", id);
    sarif_message(json, "shortDescription", meaning);
    sarif_message(json, "fullDescription", meaning);
    sarif_message(json, "help", meaning);
    sp_write_key_open(json, "defaultConfiguration", '{');
    sp_write_key_string(json, "level", level_of(severity));
    sp_write_close(json);
    sp_write_close(json);
}

/* The first rule from `first` to before `end` with the id of that one, or NULL. */
static const struct shapeproof_rule *namesake(size_t index, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (strcmp(shapeproof_rule(i)->id, shapeproof_rule(index)->id) == 0) return shapeproof_rule(i);
    return NULL;
}

/* A cause that is called as a kind of findings is shares its rule, because the id of a rule is unique. */
static void put_rules(struct sp_writer *json, const char *const *parts, size_t count)
{
    const size_t rules = shapeproof_rule_count();
    for (size_t i = 0; i < rules; i++) {
        const struct shapeproof_rule *rule = shapeproof_rule(i), *other = namesake(i, i + 1, rules);
        struct sp_text meaning = {0};
        if (namesake(i, 0, i)) continue;
        sp_text_puts(&meaning, rule->meaning);
        if (other && strcmp(other->meaning, rule->meaning) != 0) sp_text_printf(&meaning, "; or: %s", other->meaning);
        put_rule(json, parts, count, rule->id, rule->severity, meaning.data);
        sp_text_free(&meaning);
    }
    put_rule(json, parts, count, rule_loading, SHAPEPROOF_SEVERITY_ERROR,
             "a loader does not load the checkpoint whole");
    put_rule(json, parts, count, rule_claim, SHAPEPROOF_SEVERITY_ERROR, "a claim does not hold, or cannot be decided");
    put_rule(json, parts, count, rule_warning, SHAPEPROOF_SEVERITY_WARNING,
             "something is odd about the checkpoint or its configuration");
    for (size_t i = 0; i < ERROR_KINDS; i++)
        put_rule(json, parts, count, shapeproof_kind_name(error_kinds[i].kind), SHAPEPROOF_SEVERITY_ERROR,
                 error_kinds[i].meaning);
    for (size_t i = 0; i < ERROR_STATUSES; i++)
        put_rule(json, parts, count, error_statuses[i].id, SHAPEPROOF_SEVERITY_ERROR, error_statuses[i].meaning);
}

/* The lines of a part, each an element of "results". */
static void put_lines(struct sp_writer *json, const char *part)
{
    while (*part) {
        const size_t length = strcspn(part, "\n");
        struct sp_text line = {0};
        sp_text_append(&line, part, length);
        sp_write_raw(json, line.data);
        sp_text_free(&line);
        part += length + (part[length] == '\n');
    }
}

static void put_sarif(struct sp_text *text, const char *const *parts, size_t count)
{
    struct sp_writer json = {.text = text};
    sp_write_open(&json, '{');
    sp_write_key_string(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    sp_write_key_string(&json, "version", "2.1.0");
    sp_write_key_open(&json, "runs", '[');
    sp_write_open(&json, '{');
    sp_write_key_open(&json, "tool", '{');
    sp_write_key_open(&json, "driver", '{');
    sp_write_key_string(&json, "name", "shapeproof");
    sp_write_key_string(&json, "semanticVersion", shapeproof_version());
    sp_write_key_open(&json, "rules", '[');
    put_rules(&json, parts, count);
    sp_write_close(&json);
    sp_write_close(&json);
    sp_write_close(&json);
    sp_write_key_string(&json, "columnKind", "unicodeCodePoints");
    sp_write_key_open(&json, "results", '[');
    for (size_t i = 0; i < count; i++) put_lines(&json, parts[i]);
    sp_write_close(&json);
    sp_write_close(&json);
    sp_write_close(&json);
    sp_write_close(&json);
}

/* ---- JUnit ---- */

/* What is visible has no characters that XML cannot have: control characters, U+FFFE and U+FFFF. */
void sp_put_xml(struct sp_text *text, const char *visible)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    while (*visible) {
        const size_t plain = strcspn(visible, "&<>\"");
        sp_text_append(text, visible, plain);
        visible += plain;
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            if (*visible == entities[i].character) sp_text_puts(text, entities[i].entity);
        visible += *visible != '\0';
    }
}

void sp_put_xml_attribute(struct sp_text *text, const char *name, const char *value)
{
    struct sp_text visible = {0};
    sp_put_visible(&visible, value);
    sp_text_printf(text, " %s=\"", name);
    sp_put_xml(text, visible.length ? visible.data : "");
    sp_text_puts(text, "\"");
    sp_text_free(&visible);
}

/* The report of the check as a person reads it, without colour and limit of width. */
static void put_report_text(struct sp_text *text, const struct shapeproof_checked *checked,
                            const struct shapeproof_report_options *options)
{
    struct shapeproof_report_options plain = *options;
    struct sp_text report = {0};
    plain.format = SHAPEPROOF_REPORT_TEXT;
    plain.width = 0;
    plain.color = false;
    plain.loadings = checked->loadings;
    plain.claims = checked->claims;
    sp_put_check(checked->check, &report, &plain);
    sp_put_xml(text, report.data);
    sp_text_free(&report);
}

/* The first line of the report, which begins with the verdict; behind it, that a claim fails. */
static void put_failure_message(struct sp_text *text, const struct shapeproof_checked *checked)
{
    struct sp_text line = {0};
    size_t failing = 0;
    sp_put_headline(checked->check, checked->loadings, &line);
    for (size_t i = 0; checked->claims && i < shapeproof_verification_claim_count(checked->claims); i++) {
        const struct shapeproof_verified_claim *claim = shapeproof_verification_claim(checked->claims, i);
        failing += claim->answer == SHAPEPROOF_CLAIM_FAILS && !claim->proof->erratum;
    }
    if (failing) sp_text_printf(&line, "; %zu claim%s", failing, failing == 1 ? " fails" : "s fail");
    sp_put_xml_attribute(text, "message", line.data);
    sp_text_free(&line);
}

/* Failures, errors, and what is remarkable about a checkpoint that passes: its differences are explained. */
static void put_outcome(struct sp_text *text, const struct shapeproof_checked *checked,
                        const struct shapeproof_report_options *options)
{
    const char *element = checked->status == 1 ? "failure" : "error";
    const struct shapeproof_check *check = checked->check;
    if (check && checked->status == 0) {
        sp_text_puts(text, "<system-out>");
        put_report_text(text, checked, options);
        sp_text_puts(text, "</system-out>");
        return;
    }
    sp_text_printf(text, "<%s", element);
    if (check) {
        sp_put_xml_attribute(text, "type", shapeproof_verdict_name(shapeproof_check_verdict(check)));
        put_failure_message(text, checked);
        sp_text_puts(text, ">");
        put_report_text(text, checked, options);
    } else {
        struct sp_text hint = {0};
        sp_put_xml_attribute(text, "type", error_id(checked));
        sp_put_xml_attribute(text, "message", error_message(checked));
        sp_text_puts(text, ">");
        if (checked->error) sp_put_visible(&hint, checked->error->hint);
        if (hint.length) sp_put_xml(text, hint.data);
        sp_text_free(&hint);
    }
    sp_text_printf(text, "</%s>", element);
}

static void put_testcase(struct sp_text *text, const struct shapeproof_checked *checked,
                         const struct shapeproof_report_options *options)
{
    const bool matches =
        checked->check && checked->status == 0 && shapeproof_check_verdict(checked->check) == SHAPEPROOF_VERDICT_MATCH;
    sp_text_printf(text, "    <testcase classname=\"shapeproof.%s\"", checked->command ? checked->command : "check");
    sp_put_xml_attribute(text, "name", checked->path);
    if (matches) {
        sp_text_puts(text, "/>\n");
        return;
    }
    sp_text_puts(text, ">\n      ");
    put_outcome(text, checked, options);
    sp_text_puts(text, "\n    </testcase>\n");
}

/* How often the parts have the beginning of an element: in text and attributes "<" is "&lt;". */
static size_t count_tags(const char *const *parts, size_t count, const char *tag)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        for (const char *at = parts[i]; (at = strstr(at, tag)) != NULL; at++) found++;
    return found;
}

/* Whether the parts are those of `prove`: the class of a test case stands in front of its name, which is from outside.
 */
static bool are_of_claims(const char *const *parts, size_t count)
{
    static const char first[] = "    <testcase classname=\"shapeproof.prove";
    for (size_t i = 0; i < count; i++)
        if (*parts[i]) return strncmp(parts[i], first, sizeof first - 1) == 0;
    return false;
}

static void put_junit(struct sp_text *text, const char *const *parts, size_t count)
{
    struct sp_text counts = {0};
    sp_text_printf(&counts, "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", count_tags(parts, count, "<testcase "),
                   count_tags(parts, count, "<failure "), count_tags(parts, count, "<error "));
    sp_text_puts(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    sp_text_printf(text, "<testsuites name=\"shapeproof\" %s>\n", counts.data);
    sp_text_printf(text, "  <testsuite name=\"shapeproof %s\" %s>\n", are_of_claims(parts, count) ? "prove" : "check",
                   counts.data);
    for (size_t i = 0; i < count; i++) sp_text_puts(text, parts[i]);
    sp_text_puts(text, "  </testsuite>\n</testsuites>\n");
    sp_text_free(&counts);
}

/* ---- an error as JSON: shapeproof.error/1 ---- */

char *shapeproof_report_error(const struct shapeproof_checked *failed, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    struct sp_text text = {0};
    struct sp_writer json = sp_write_document(&text, "shapeproof.error/1");
    sp_write_key_number(&json, "status", (uint64_t)failed->status);
    sp_write_key_string(&json, "code", error_id(failed));
    sp_write_key_optional(&json, "file", failed->path);
    sp_write_key_string(&json, "message", error_message(failed));
    if (failed->error) sp_write_key_filled(&json, "hint", failed->error->hint);
    sp_write_close(&json);
    return sp_text_take(&text, length);
}

/* ---- HTML ---- */

static void put_html_part(struct sp_text *html, const struct shapeproof_checked *checked,
                          const struct shapeproof_report_options *options)
{
    struct shapeproof_report_options how = *options;
    how.loadings = checked->loadings;
    how.claims = checked->claims;
    const bool is_io = checked->error && checked->error->kind == SHAPEPROOF_KIND_IO;
    if (checked->check) sp_html_check(checked->check, html, &how, true);
    else
        sp_html_failed_part(html, checked->path, is_io ? "unreadable" : error_id(checked), error_message(checked),
                            checked->error ? checked->error->hint : NULL);
}

/* ---- Markdown ---- */

static void put_markdown(struct sp_text *text, const struct shapeproof_checked *checked,
                         const struct shapeproof_report_options *options)
{
    struct shapeproof_report_options how = *options;
    how.loadings = checked->loadings;
    how.claims = checked->claims;
    if (checked->check) {
        sp_markdown_check(text, checked->check, &how);
        return;
    }
    sp_text_puts(text, "**not checked**: ");
    sp_markdown_text(text, error_message(checked));
    if (checked->path) {
        sp_text_puts(text, "\n\n");
        sp_markdown_code(text, checked->path);
    }
    sp_text_puts(text, "\n");
}

/* ---- parts and documents ---- */

char *shapeproof_report_checked(const struct shapeproof_checked *checked,
                                const struct shapeproof_report_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    if (checked->check) SP_BUDGET_REUSE(shapeproof_check_inventory(checked->check));
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JUNIT) put_testcase(&text, checked, options);
    else if (options->format == SHAPEPROOF_REPORT_HTML) put_html_part(&text, checked, options);
    else if (options->format == SHAPEPROOF_REPORT_MARKDOWN) put_markdown(&text, checked, options);
    else put_results(&text, checked);
    return sp_text_take(&text, length);
}

char *shapeproof_report_document(const char *const *parts, size_t count,
                                 const struct shapeproof_report_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    struct sp_text text = {0};
    if (options && options->format == SHAPEPROOF_REPORT_JUNIT) put_junit(&text, parts, count);
    else if (options && options->format == SHAPEPROOF_REPORT_HTML) sp_html_several(&text, parts, count);
    else if (options && options->format == SHAPEPROOF_REPORT_MARKDOWN) {
        for (size_t i = 0; i < count; i++) {
            if (text.length && parts[i][0]) sp_text_puts(&text, "\n");
            sp_text_puts(&text, parts[i]);
        }
    } else put_sarif(&text, parts, count);
    return sp_text_take(&text, length);
}
