/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core_anchor.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* The layout denoted by note type 1. Other versions of the library read it. */
struct anchor {
    _Atomic uint32_t is_published; /* 0: the fields below are not valid */
    uint32_t abi;
    uint64_t seam;
    const void *functions;
    _Atomic uint32_t samplers;
};

enum { NOTE_TYPE = 1, NOTE_NAME_BYTES = 16 };

static const char note_name[NOTE_NAME_BYTES] = "threads-sampler";

static struct anchor own __asm__("smp_core_anchor_own") __attribute__((used));

/* The note's content is the distance from the content to the anchor. */
__asm__(".pushsection .note.threads-sampler, \"a\", %note\n"
        ".balign 4\n"
        ".long 16, 8, 1\n"
        ".asciz \"threads-sampler\"\n"
        ".quad smp_core_anchor_own - .\n"
        ".popsection\n");

/* --- the note of a mapped file --- */

static bool is_within(const struct dl_phdr_info *file, uintptr_t address, size_t size)
{
    for (size_t i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &file->dlpi_phdr[i];
        const uintptr_t start = file->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (part->p_flags & PF_R) != 0 && address >= start &&
            size <= part->p_memsz && address - start <= part->p_memsz - size)
            return true;
    }
    return false;
}

static size_t padded(size_t size, size_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}

/* Returns NULL if the note points outside its file and so is not ours. */
static struct anchor *follow_note(const struct dl_phdr_info *file, uintptr_t content)
{
    int64_t distance = 0;

    memcpy(&distance, (const void *)content, sizeof(distance));
    const uintptr_t address = content + (uintptr_t)distance;
    if (address % _Alignof(struct anchor) != 0 || !is_within(file, address, sizeof(struct anchor)))
        return NULL;
    return (struct anchor *)address;
}

static struct anchor *find_in_notes(const struct dl_phdr_info *file, const ElfW(Phdr) * part)
{
    const size_t alignment = part->p_align == 8 ? 8 : 4;
    const uintptr_t start = file->dlpi_addr + part->p_vaddr;
    ElfW(Nhdr) note;

    if (!is_within(file, start, part->p_memsz))
        return NULL;
    for (size_t at = 0; part->p_memsz - at >= sizeof(note);) {
        memcpy(&note, (const void *)(start + at), sizeof(note));
        const size_t content = at + sizeof(note) + padded(note.n_namesz, alignment);
        const size_t end = padded(content + note.n_descsz, alignment);
        if (content + note.n_descsz > part->p_memsz)
            return NULL;
        if (note.n_type == NOTE_TYPE && note.n_namesz == NOTE_NAME_BYTES &&
            note.n_descsz == sizeof(int64_t) &&
            memcmp((const void *)(start + at + sizeof(note)), note_name, NOTE_NAME_BYTES) == 0)
            return follow_note(file, start + content);
        if (end > part->p_memsz)
            return NULL;
        at = end;
    }
    return NULL;
}

/* Returns NULL if the file is not a copy of this library. The dynamic linker unmaps nothing during
 * the iteration. */
static struct anchor *anchor_of(const struct dl_phdr_info *file)
{
    struct anchor *anchor = NULL;

    for (size_t i = 0; anchor == NULL && i < file->dlpi_phnum; i++) {
        if (file->dlpi_phdr[i].p_type == PT_NOTE)
            anchor = find_in_notes(file, &file->dlpi_phdr[i]);
    }
    return anchor;
}

/* --- the search --- */

struct search {
    struct smp_core_identity identity;
    const void *functions;
};

static int compare_identity(struct dl_phdr_info *file, SMP_UNUSED size_t size, void *self)
{
    struct search *const search = self;
    const struct anchor *const anchor = anchor_of(file);

    if (anchor == NULL || atomic_load(&anchor->is_published) == 0)
        return 0;
    if (anchor->abi != search->identity.abi || anchor->seam != search->identity.seam)
        return 0;
    search->functions = anchor->functions;
    return 1;
}

const void *smp_core_anchor_find(struct smp_core_identity identity)
{
    struct search search = { .identity = identity };

    (void)dl_iterate_phdr(compare_identity, &search);
    return search.functions;
}

void smp_core_anchor_publish(struct smp_core_identity identity, const void *functions)
{
    own.abi = identity.abi;
    own.seam = identity.seam;
    own.functions = functions;
    atomic_store(&own.is_published, 1);
}

/* --- samplers --- */

static int find_rival(struct dl_phdr_info *file, SMP_UNUSED size_t size, void *self)
{
    struct smp_core_rival *const rival = self;
    const struct anchor *const anchor = anchor_of(file);

    if (anchor == NULL || anchor == &own || atomic_load(&anchor->is_published) == 0 ||
        atomic_load(&anchor->samplers) == 0)
        return 0;
    rival->abi = anchor->abi;
    (void)strncpy(rival->path, file->dlpi_name, sizeof(rival->path) - 1);
    rival->path[sizeof(rival->path) - 1] = '\0';
    return 1;
}

/* Counts itself before checking the others: if two begin at the same moment, at least one sees the
 * other. */
bool smp_core_anchor_begin_sampling(struct smp_core_rival *rival)
{
    atomic_fetch_add(&own.samplers, 1);
    if (dl_iterate_phdr(find_rival, rival) == 0)
        return true;
    atomic_fetch_sub(&own.samplers, 1);
    return false;
}

void smp_core_anchor_end_sampling(void)
{
    atomic_fetch_sub(&own.samplers, 1);
}
