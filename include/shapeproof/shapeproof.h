/* SPDX-License-Identifier: MIT
 * All of shapeproof's public interface. What holds for each function, unless it says otherwise:
 *
 * - No pointer may be NULL but the options of a call, which are then the defaults, and what is given to a function that
 *   frees. No returned pointer is NULL but of a function that takes an error, and then the error is filled; or without
 *   memory.
 * - Options are zero by default: initialise with {0}, in C++ {}, or name the ones that differ. The words called
 *   `reserved` stay zero.
 * - What `..._new`, `..._open`, `..._load` and the verbs `shapeproof_predict`, `shapeproof_infer`, `shapeproof_prove`,
 *   `shapeproof_derive`, `shapeproof_solve` return is the caller's, to be given to the `..._free` or `..._close` of its
 *   kind. Everything else that is returned is borrowed, until the thing that it was asked of is freed; a `char *` that
 *   is not const is for shapeproof_free.
 * - An index is below the `..._count` of its kind; SHAPEPROOF_NONE stands for no index.
 * - Texts are UTF-8 and end with a NUL. They come out of files as they are: shapeproof_report_visible makes them
 *   printable.
 * - Dimensions, offsets within a storage and numbers of parameters are counted in elements, what is called bytes in
 *   bytes. All are exact.
 * - Nothing is printed, no locale or environment is looked at, and no global state is written: two threads may work at
 *   once as long as they share no object. Objects behind `const` count too: a set of tables
 *   parses a built-in table when it is first asked for it. A call needs up to 2 MiB of stack.
 * - HDF5 and Keras files are read, and remote ones fetched, in a child process, which the call waits for, also where
 *   the host ignores SIGCHLD. Nothing else forks.
 * - If a call exceeds its limit of memory (limits.h), it fails with SHAPEPROOF_KIND_LIMIT; else as follows.
 * - If memory runs out, the function fails with SHAPEPROOF_ERR_FILE, "out of memory", and everything is as it was
 *   before. A function that takes no error then returns NULL, false or 0, or does nothing, and
 *   shapeproof_ran_out_of_memory tells so. */
#ifndef SHAPEPROOF_SHAPEPROOF_H
#define SHAPEPROOF_SHAPEPROOF_H

#include "shapeproof/api.h"
#include "shapeproof/breakdown.h"
#include "shapeproof/card.h"
#include "shapeproof/check.h"
#include "shapeproof/components.h"
#include "shapeproof/config.h"
#include "shapeproof/data.h"
#include "shapeproof/diff.h"
#include "shapeproof/dtype.h"
#include "shapeproof/error.h"
#include "shapeproof/evaluate.h"
#include "shapeproof/expect.h"
#include "shapeproof/figures.h"
#include "shapeproof/fit.h"
#include "shapeproof/infer.h"
#include "shapeproof/inventory.h"
#include "shapeproof/keras.h"
#include "shapeproof/learn.h"
#include "shapeproof/limits.h"
#include "shapeproof/load.h"
#include "shapeproof/models.h"
#include "shapeproof/prediction.h"
#include "shapeproof/prove.h"
#include "shapeproof/redact.h"
#include "shapeproof/remote.h"
#include "shapeproof/report.h"
#include "shapeproof/resume.h"
#include "shapeproof/run.h"
#include "shapeproof/table.h"
#include "shapeproof/value.h"
#include "shapeproof/verify.h"
#include "shapeproof/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. */
#define SHAPEPROOF_VERSION_MAJOR 0
#define SHAPEPROOF_VERSION_MINOR 1
#define SHAPEPROOF_VERSION_PATCH 0
#define SHAPEPROOF_VERSION_NUMBER                                                                                      \
    (SHAPEPROOF_VERSION_MAJOR * 10000 + SHAPEPROOF_VERSION_MINOR * 100 + SHAPEPROOF_VERSION_PATCH)

/* The version of the library that is linked, "MAJOR.MINOR.PATCH". Static. */
SHAPEPROOF_API const char *shapeproof_version(void);
/* Whether it is a portable build (make PORTABLE=yes): one for POSIX alone, which has no sandbox. The processes that run
 * libhdf5 and libcurl are then confined by limits of memory, time and open files alone. */
SHAPEPROOF_API bool shapeproof_is_portable(void);

#ifdef __cplusplus
}
#endif
#endif
