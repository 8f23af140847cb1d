/* SPDX-License-Identifier: MIT
 * All of shapeproof's public interface. */
#ifndef SHAPEPROOF_SHAPEPROOF_H
#define SHAPEPROOF_SHAPEPROOF_H

#include "shapeproof/api.h"
#include "shapeproof/check.h"
#include "shapeproof/config.h"
#include "shapeproof/data.h"
#include "shapeproof/diff.h"
#include "shapeproof/dtype.h"
#include "shapeproof/error.h"
#include "shapeproof/expect.h"
#include "shapeproof/infer.h"
#include "shapeproof/inventory.h"
#include "shapeproof/prediction.h"
#include "shapeproof/prove.h"
#include "shapeproof/report.h"
#include "shapeproof/table.h"
#include "shapeproof/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. */
#define SP_VERSION_MAJOR 0
#define SP_VERSION_MINOR 1
#define SP_VERSION_PATCH 0
#define SP_VERSION_NUMBER (SP_VERSION_MAJOR * 10000 + SP_VERSION_MINOR * 100 + SP_VERSION_PATCH)

/* The version of the library that is linked, "MAJOR.MINOR.PATCH". Static. */
SP_API const char *sp_version(void);

#ifdef __cplusplus
}
#endif
#endif
