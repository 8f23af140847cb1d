/* SPDX-License-Identifier: MIT
 * The rows of findings and causes, and the tables of docs/causes.md and docs/diff.md that show them. */
#define _XOPEN_SOURCE 700 /* getdelim */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explain/causes.h"
#include "shapeproof/diff.h"

static char *read_docs(const char *path)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &length, '\0', file) > 0);
    fclose(file);
    return text;
}

/* Fails with the table as it should be in the page, which is longer than a message of cmocka. */
static void assert_in_docs(const char *path, struct sp_text *table)
{
    char *docs = read_docs(path);
    bool holds = strstr(docs, table->data);
    if (!holds) fputs(table->data, stderr);
    if (!holds) fail_msg("%s does not have the table that is printed above", path);
    free(docs);
    sp_text_free(table);
}

struct finding_row {
    const char *id;
    enum shapeproof_severity severity;
    const char *meaning;
};

static void assert_findings_in_docs(const char *path, const struct finding_row *rows, size_t count)
{
    struct sp_text table = {0};
    sp_text_puts(&table, "\n\n| id of a finding | severity | meaning |\n|---|---|---|\n");
    for (size_t i = 0; i < count; i++)
        sp_text_printf(&table, "| `%s` | %s | %s |\n", rows[i].id, shapeproof_severity_name(rows[i].severity),
                       rows[i].meaning);
    sp_text_puts(&table, "\n");
    assert_in_docs(path, &table);
}

#define ROW(name, value, id, severity, meaning) {id, SHAPEPROOF_SEVERITY_##severity, meaning},

static void test_docs_of_findings(void **state)
{
    static const struct finding_row rows[] = {SHAPEPROOF_FINDINGS(ROW)};
    (void)state;
    assert_findings_in_docs("docs/causes.md", rows, sizeof rows / sizeof *rows);
}

static void test_docs_of_diff_findings(void **state)
{
    static const struct finding_row rows[] = {SHAPEPROOF_DIFF_FINDINGS(ROW)};
    (void)state;
    assert_findings_in_docs("docs/diff.md", rows, sizeof rows / sizeof *rows);
}

#undef ROW

static void test_docs_of_causes(void **state)
{
    struct sp_text table = {0};
    (void)state;
    sp_text_puts(&table, "\n\n| id of a cause | usually | meaning |\n|---|---|---|\n");
    for (size_t i = 0; i < SP_CAUSE_COUNT; i++)
        sp_text_printf(&table, "| `%s` | %s | %s |\n", sp_cause_rows[i].id,
                       shapeproof_severity_name(sp_cause_rows[i].severity), sp_cause_rows[i].meaning);
    sp_text_puts(&table, "\n");
    assert_in_docs("docs/causes.md", &table);
}

/* Ids are what expectations can name, and no two are the same. */
static void test_ids(void **state)
{
    (void)state;
    for (size_t i = 0; i < SP_CAUSE_COUNT; i++) {
        const char *id = sp_cause_rows[i].id;
        assert_int_equal(strspn(id, "abcdefghijklmnopqrstuvwxyz-"), strlen(id));
        for (size_t k = 0; k < i; k++) assert_string_not_equal(id, sp_cause_rows[k].id);
        assert_string_equal(sp_cause_of((enum sp_cause_kind)i).id, id);
    }
}

/* The rows of a stage stand together, the stages in their order, and the rows of an explainer below each other. */
static void test_order_of_rows(void **state)
{
    static const struct {
        int stage;
        const char *explainer;
    } rows[] = {
#define CAUSE(stage, explainer, name, severity, id, meaning) {SP_STAGE_##stage, #explainer},
#define ALSO(stage, explainer) {SP_STAGE_##stage, #explainer},
#include "explain/causes.def"
#undef CAUSE
#undef ALSO
    };
    (void)state;
    for (size_t i = 1; i < sizeof rows / sizeof *rows; i++) {
        assert_true(rows[i].stage >= rows[i - 1].stage);
        for (size_t k = 0; k < i && strcmp(rows[i].explainer, rows[i - 1].explainer) != 0; k++)
            assert_string_not_equal(rows[i].explainer, rows[k].explainer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_docs_of_findings), cmocka_unit_test(test_docs_of_diff_findings),
        cmocka_unit_test(test_docs_of_causes),   cmocka_unit_test(test_ids),
        cmocka_unit_test(test_order_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
