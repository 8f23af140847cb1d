/* SPDX-License-Identifier: MIT */
#include "net/library.h"

#include <dlfcn.h>
#include <string.h>

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
    return curl->do_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}
