/* SPDX-License-Identifier: MIT
 * Part of the library in the build of `make coverage` alone: lets a child process write which of its lines have run.
 * gcov writes that into files when a process ends, but a confined child ends with _exit and may not open files. The
 * linker replaces calls of f by calls of __wrap_f (--wrap), so the child is not confined, and writes before it ends. */
#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <sys/resource.h>

#include "base/process/child.h"
#include "base/system/system.h"

void __gcov_dump(void); /* of gcc */

noreturn void __real__exit(int status);
noreturn void __wrap__exit(int status);
bool __wrap_sp_system_confine(const struct sp_filter *filter);
bool __real_sp_child_limit(int resource, uint64_t soft, uint64_t hard);
bool __wrap_sp_child_limit(int resource, uint64_t soft, uint64_t hard);

noreturn void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}

bool __wrap_sp_system_confine(const struct sp_filter *filter)
{
    (void)filter;
    return true;
}

/* No limit of files: neither of their size nor of their number. */
bool __wrap_sp_child_limit(int resource, uint64_t soft, uint64_t hard)
{
    return resource == RLIMIT_FSIZE || resource == RLIMIT_NOFILE || __real_sp_child_limit(resource, soft, hard);
}
