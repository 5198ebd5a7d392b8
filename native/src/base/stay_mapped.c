/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stay_mapped.h"

#include <dlfcn.h>
#include <stddef.h>

/* In a test the address is the program's own, which is mapped anyway and has no name here. */
bool smp_stay_mapped(const void *address)
{
    Dl_info us;

    return dladdr(address, &us) != 0 && us.dli_fname != NULL &&
           (dlopen(us.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL ||
            dlopen(NULL, RTLD_LAZY) != NULL);
}
