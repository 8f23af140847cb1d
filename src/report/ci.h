/* SPDX-License-Identifier: MIT
 * Parts of the documents for CI systems: see ci.c. */
#ifndef SP_REPORT_CI_H
#define SP_REPORT_CI_H

#include "report/common.h"
#include "shapeproof/report.h"

/* A result of SARIF about a claim, at its line in its file. `subject` tells it from others. */
void sp_sarif_claim(struct sp_text *text, const struct shapeproof_proof *proof, const char *subject,
                    const char *message);
/* Printable text (sp_text_visible) as the content of an element of XML or of a quoted attribute. */
void sp_put_xml(struct sp_text *text, const char *visible);
/* ` name="value"`, made printable. */
void sp_put_xml_attribute(struct sp_text *text, const char *name, const char *value);

/* The part of a document of SARIF or JUnit for the verdicts on claims and figures; `figures` may be NULL. */
void sp_ci_proofs(struct sp_text *text, const struct shapeproof_proofs *proofs,
                  const struct shapeproof_figures *figures, const struct shapeproof_report_options *options);
/* The same for claims at the hyper-parameters of a model or against a checkpoint, which `path` names. */
void sp_ci_verification(struct sp_text *text, const struct shapeproof_verification *verification,
                        const struct shapeproof_report_verify_options *options);

#endif
