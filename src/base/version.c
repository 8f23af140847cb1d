/* SPDX-License-Identifier: MIT */
#include "shapeproof/shapeproof.h"

#define TEXT_OF(number) #number
#define DOTTED(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *sp_version(void) { return DOTTED(SP_VERSION_MAJOR, SP_VERSION_MINOR, SP_VERSION_PATCH); }
