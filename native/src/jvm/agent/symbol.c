/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/agent/symbol.h"

#include <dlfcn.h>
#include <stddef.h>

/* RTLD_DEFAULT finds it only where the launcher loaded libjvm globally. libjvm stays loaded for as
 * long as there is a JVM, so the handle is closed at once. */
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
