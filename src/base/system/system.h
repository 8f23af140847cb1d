/* SPDX-License-Identifier: MIT
 * What POSIX lacks, or has only in its latest version. Each function is defined once for each kind of system: linux.c
 * uses what Linux offers; posix.c does what POSIX.1-2008 allows, for other systems and for `make PORTABLE=yes`. The
 * Makefile compiles one of these files. No other file of the tree calls what only one system has. */
#ifndef SP_BASE_SYSTEM_SYSTEM_H
#define SP_BASE_SYSTEM_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- confinement of a child process ---- */

/* What a confined child may still do. Everybody may use memory that is not executed, take locks, read what is open, and
 * end. */
enum sp_confinement {
    SP_CONFINED_TO_READING, /* and write to one descriptor */
    SP_CONFINED_TO_FETCHING /* and use sockets and threads, read files of the system, write to what is open */
};

/* Whether sp_system_confine takes anything away. In posix.c it does not: there, only limits of resources hold. */
extern const bool sp_system_confines;
/* For messages: by what a child is confined, "seccomp, rlimits". */
extern const char sp_system_sandbox[];
/* A filter of system calls, as the program that the kernel runs at every call. */
struct sp_filter {
    enum sp_confinement confinement;
    void *program; /* mapped until the process ends */
    size_t bytes;
};

/* Makes a filter, which does not hold yet. `out` is the descriptor of SP_CONFINED_TO_READING. This needs memory, a
 * descriptor and a file in memory, so limits of them are set afterwards. False with errno, which is 0 if a rule is
 * refused. Without memory it is ENOMEM, but libseccomp may also crash or loop for ever (sp_child_make_filter). */
bool sp_system_make_filter(struct sp_filter *filter, enum sp_confinement confinement, int out);
/* Takes all other rights from this process, for good. False if the system refuses. */
bool sp_system_confine(const struct sp_filter *filter);
/* Bytes of address space that this process uses, or up to twice as many; 0 if the system does not tell. For a child
 * with one thread: posix.c finds it out by changing a limit. */
uint64_t sp_system_address_space(void);
/* Seconds of processor time that a child has used; 0 if the system does not tell. */
uint64_t sp_system_seconds_used(pid_t child);

/* ---- processes ---- */

/* As pipe(2); a program that the host runs does not inherit the ends. */
int sp_system_pipe(int ends[2]);
/* Ends this process when its parent ends, where the system can do so. */
void sp_system_end_with_parent(void);
/* No core dump of this process is written, and processes of the same user cannot trace it. */
void sp_system_forbid_dumps(void);
/* Closes the descriptors from `first` to `last`. */
void sp_system_close_range(unsigned first, unsigned last);
/* How many processors this process may use, at least 1. */
unsigned sp_system_processors(void);

/* ---- memory ---- */

/* The descriptor of an empty file without a path; -1 with errno. In linux.c it is in memory, in posix.c in the folder
 * of temporary files. `name` is what others may see of it. */
int sp_system_unnamed_file(const char *name);
/* The bytes are not read again, though they are not freed yet: the system may have the pages that lie within. */
void sp_system_give_back(void *memory, size_t size);
/* 64 bits that who wrote a file cannot know. */
uint64_t sp_system_random(void);

#endif
