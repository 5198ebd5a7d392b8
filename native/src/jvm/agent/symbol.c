/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/agent/symbol.h"

#include <dlfcn.h>
#include <stddef.h>

/* Whether the first way finds it depends on how the launcher loaded libjvm; it is loaded for as
 * long as there is a JVM, so the handle is given back at once. */
void *smp_symbol(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);

    if (symbol != NULL)
        return symbol;
    void *library = dlopen("libjvm.so", RTLD_NOLOAD | RTLD_LAZY);
    if (library == NULL)
        return NULL;
    symbol = dlsym(library, name);
    (void)dlclose(library);
    return symbol;
}
