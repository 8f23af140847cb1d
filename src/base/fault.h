/* SPDX-License-Identifier: MIT
 * Failures of the system, as opposed to those of a file: no memory, and calls that fail for a reason of the machine
 * (EIO, too many open files).
 *
 * A reader cannot tell a broken file from one that could not be read: without bytes, a probe answers "not this format",
 * and a search answers "no such file". The first call of an operation that fails in this way is therefore noted, for
 * each thread, and the public function fails with it at its end, whatever was concluded meanwhile. */
#ifndef SP_BASE_FAULT_H
#define SP_BASE_FAULT_H

#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

/* ---- memory ---- */

/* Lets the public function that is under way fail (base/call.h). Also for libraries that have said that they got no
 * memory. */
__attribute__((noreturn)) void sp_out_of_memory(void);
/* Ends the process in its own way instead; NULL: not set. The command sets it at its start, and a child process of the
 * library at its own. */
extern void (*sp_memory_handler)(void);
/* Ends the process with the error, in place of a call that exceeds its budget and has no error to fill, once the call
 * is undone; NULL: it fails like others. The command sets it at its start. */
extern void (*sp_budget_handler)(const struct shapeproof_error *error);

/* ---- system calls ---- */

/* The begin and the end of a public function that opens files. They may be nested. The first also resets the error. The
 * second returns false if a call has failed; the error then names the call and the reason. */
void sp_fault_begin(struct shapeproof_error *error);
bool sp_fault_end(struct shapeproof_error *error);
/* How many have begun; and to go back to that number when some of them will not end. */
unsigned sp_fault_depth(void);
void sp_fault_return_to(unsigned depth);
/* Whether errno `why` is a reason of the machine, not of the path, which does not exist, is not permitted, or is not a
 * folder. */
bool sp_is_fault(int why);
/* Notes that `call` on `path` has failed with errno `why`, and returns sp_is_fault(why). Of what is not a fault, only a
 * missing permission is noted, for sp_search_end. */
bool sp_fault_note(const char *call, const char *path, int why);
/* The same for a fault that a child process has told of: the text of errno. */
void sp_fault_note_reason(const char *call, const char *path, const char *reason);

/* The begin and the end of a public function that searches for a file. It fails as above. If it has found nothing
 * (`found` is false), and there was a path that it was not permitted to look at, it fails with SHAPEPROOF_ERR_UNKNOWN:
 * what it searched for may be there. The begin forgets such paths of earlier searches. */
void sp_search_begin(struct shapeproof_error *error);
bool sp_search_end(bool found, struct shapeproof_error *error);

/* These note what fails. A path is relative to `directory_fd`, or to the working directory with AT_FDCWD. */

/* As fstatat, following links; false with errno. */
bool sp_path_stat(int directory_fd, const char *path, struct stat *info);
/* Whether there is something of that name. */
bool sp_path_exists(int directory_fd, const char *path);
bool sp_path_is_file(int directory_fd, const char *path);
bool sp_path_is_folder(int directory_fd, const char *path);
/* For a search that cannot fail. As sp_path_is_file; but if the status cannot be read, opening the file decides, and
 * one that cannot be opened for a reason of the machine counts as there: who opens it next gets the reason. */
bool sp_path_may_be_file(int directory_fd, const char *path);
/* Whether there is anything of that name: also a folder, or a link that leads nowhere. */
bool sp_path_is_there(int directory_fd, const char *path);
/* As sp_path_is_folder; but if the status cannot be read, opening the folder decides. */
bool sp_path_may_be_folder(int directory_fd, const char *path);
/* To be read with sp_folder_next and closed with sp_folder_end; NULL with errno. */
DIR *sp_folder_stream(int directory_fd, const char *path);
/* The next entry; NULL at the end, or when reading fails. */
const struct dirent *sp_folder_next(DIR *stream, const char *path);
/* Closes it, unless it is NULL. */
void sp_folder_end(DIR *stream);

#endif
