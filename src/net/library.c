/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "net/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/child.h"

/* ---- memory ---- */

/* libcurl that gets no memory may wait for ever, or report another error, such as a host without an address. So the
 * child ends at once. */
static void *with_memory(void *memory)
{
    if (!memory) _exit(SP_CHILD_NO_MEMORY);
    return memory;
}

static void *curl_malloc(size_t size) { return with_memory(malloc(size ? size : 1)); }
static void *curl_calloc(size_t count, size_t size) { return with_memory(calloc(count ? count : 1, size ? size : 1)); }
static void *curl_realloc(void *memory, size_t size) { return with_memory(realloc(memory, size ? size : 1)); }
static char *curl_strdup(const char *text) { return (char *)with_memory(strdup(text)); }
static void curl_free_memory(void *memory) { free(memory); }

/* ---- functions ---- */

bool sp_curl_load(struct sp_curl *curl)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib"};
    void *library = NULL, *function;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
#define SP_CURL_FIND(name)                                                                                             \
    function = dlsym(library, "curl_" #name);                                                                          \
    if (!function) return false;                                                                                       \
    memcpy(&curl->do_##name, &function, sizeof function);
    SP_CURL_FUNCTIONS(SP_CURL_FIND)
#undef SP_CURL_FIND
    return curl->do_global_init_mem(CURL_GLOBAL_DEFAULT, curl_malloc, curl_free_memory, curl_realloc, curl_strdup,
                                    curl_calloc) == CURLE_OK;
}
