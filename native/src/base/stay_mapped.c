/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stay_mapped.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* Looks only at the first file of the list, which is the program. */
static int look_into_program(struct dl_phdr_info *program, SMP_UNUSED size_t size, void *found)
{
    const void **const address = found;

    for (size_t i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &program->dlpi_phdr[i];
        const uintptr_t start = program->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (uintptr_t)*address - start < part->p_memsz)
            *address = NULL;
    }
    return 1;
}

/* In a test the address is in the program itself, which is always mapped and has no name here. */
static bool is_of_program(const void *address)
{
    const void *searched = address;

    (void)dl_iterate_phdr(look_into_program, &searched);
    return searched == NULL;
}

bool smp_stay_mapped(const void *address)
{
    Dl_info us;

    if (address == NULL || dladdr(address, &us) == 0 || us.dli_fname == NULL)
        return false;
    return is_of_program(address) ||
           dlopen(us.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL;
}
