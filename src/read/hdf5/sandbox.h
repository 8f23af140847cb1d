/* SPDX-License-Identifier: MIT
 * Runs a job in a child process that can do nothing but compute, read one file and write its results to a pipe.
 *
 * fork without exec: the child needs only the file descriptor and a page of arguments, there is no second program to
 * install or to find, and the parent never initialises the library that the job uses. The price, in a host with many
 * threads: the child starts with the locks of the other threads as they stood. glibc repairs those of malloc, of stdio
 * and of the loader; a job must not touch anything else of the host's.
 *
 * The host is left alone: no signal handler, no signal mask and no limit of its process changes; the parent only reads,
 * so that no SIGPIPE can reach it; the child is always waited for, and dies with the thread that started it. */
#ifndef SP_READ_HDF5_SANDBOX_H
#define SP_READ_HDF5_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/process/child.h"

enum {
    SP_SANDBOX_MEMORY_MIB = 2048,  /* that the child may add to the address space it was born with */
    SP_SANDBOX_CPU_SECONDS = 5,    /* of processor time, and one more for each of the following: */
    SP_SANDBOX_PROGRESS_KIB = 256, /* of results, some 2 500 datasets of an HDF5 file, which take a twentieth of that */
    SP_SANDBOX_WALL_SECONDS = 60,  /* without any result: a file system that hangs */
    SP_SANDBOX_OUTPUT_MIB = 256    /* of results */
};

struct sp_sandbox_job {
    const char *library; /* that may crash, for the messages: "the HDF5 library" */
    int keep_fd;         /* the one descriptor that stays open in the child, or -1 */
    void *context;
    bool (*prepare)(void *context); /* before the system calls are cut off: may open files and map code */
    void (*run)(void *context, int out);
};

/* The bytes that `run` wrote to `out`, for the caller to free() and to distrust; false with an error when the child
 * crashed, ran into a limit or could not be confined. */
bool sp_sandbox_run(const struct sp_sandbox_job *job, char **bytes, size_t *length, struct shapeproof_error *error);

/* A job whose results are read as they come, however many there are. */
struct sp_sandbox_stream {
    const struct sp_sandbox_job *job;
    struct sp_child child;
    uint64_t taken; /* bytes */
    bool ended;     /* the child has been waited for */
};

/* Starts the job, which must stay until the stream is stopped. */
bool sp_sandbox_start(struct sp_sandbox_stream *stream, const struct sp_sandbox_job *job,
                      struct shapeproof_error *error);
/* The next `length` bytes that `run` wrote; false with an error when it did not write as many, or as for
 * sp_sandbox_run. */
bool sp_sandbox_take(struct sp_sandbox_stream *stream, void *into, size_t length, struct shapeproof_error *error);
/* Ends the child, which may not have written all; more than once does no harm. */
void sp_sandbox_stop(struct sp_sandbox_stream *stream);

#endif
