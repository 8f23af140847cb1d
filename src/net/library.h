/* SPDX-License-Identifier: MIT
 * libcurl, loaded in the child that needs it. It brings some 30 libraries along, and loading those takes longer than
 * reading a checkpoint: so the command is not linked with it. The types of the functions are those of its header. */
#ifndef SP_NET_LIBRARY_H
#define SP_NET_LIBRARY_H

#include <curl/curl.h>
#include <stdbool.h>

#define SP_CURL_FUNCTIONS(X)                                                                                           \
    X(global_init_mem)                                                                                                 \
    X(easy_init)                                                                                                       \
    X(easy_cleanup)                                                                                                    \
    X(easy_setopt)                                                                                                     \
    X(easy_getinfo)                                                                                                    \
    X(easy_strerror)                                                                                                   \
    X(slist_append)                                                                                                    \
    X(slist_free_all)                                                                                                  \
    X(multi_init)                                                                                                      \
    X(multi_setopt)                                                                                                    \
    X(multi_add_handle)                                                                                                \
    X(multi_remove_handle)                                                                                             \
    X(multi_perform)                                                                                                   \
    X(multi_poll)                                                                                                      \
    X(multi_info_read)

/* easy_setopt and its like are macros of the header as well: the members have names of their own. */
struct sp_curl {
#define SP_CURL_MEMBER(name) __typeof__(curl_##name) *do_##name;
    SP_CURL_FUNCTIONS(SP_CURL_MEMBER)
#undef SP_CURL_MEMBER
};

bool sp_curl_load(struct sp_curl *curl);

#endif
