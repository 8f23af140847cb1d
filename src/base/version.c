/* SPDX-License-Identifier: MIT */
#include "base/system/system.h"
#include "shapeproof/shapeproof.h"

#define TEXT_OF(number) #number
#define DOTTED(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *shapeproof_version(void)
{
    return DOTTED(SHAPEPROOF_VERSION_MAJOR, SHAPEPROOF_VERSION_MINOR, SHAPEPROOF_VERSION_PATCH);
}

bool shapeproof_is_portable(void) { return !sp_system_confines; }
