/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline_record.h - the debug records of a compiled method, as its event has them: for each place
 * with a record, the frames there, innermost first.
 *
 * Threads  those of the JVM's events.
 * Cost     find: constant; first_at: a binary search.
 */
#ifndef SMP_JVM_CHECK_INLINE_RECORD_H
#define SMP_JVM_CHECK_INLINE_RECORD_H

#include <jvmti.h>
#include <jvmticmlr.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sort.h"

/* info: the event's compile info. NULL: it has no such record, or the record has no place. */
static inline const jvmtiCompiledMethodLoadInlineRecord *smp_inline_record_find(const void *info)
{
    const jvmtiCompiledMethodLoadRecordHeader *header = info;
    const jvmtiCompiledMethodLoadInlineRecord *record;

    while (header != NULL && header->kind != JVMTI_CMLR_INLINE_INFO)
        header = header->next;
    record = (const jvmtiCompiledMethodLoadInlineRecord *)header;
    return record != NULL && record->numpcs > 0 ? record : NULL;
}

static inline uintptr_t smp_inline_record_pc(const jvmtiCompiledMethodLoadInlineRecord *record,
                                             jint index)
{
    return (uintptr_t)record->pcinfo[index].pc;
}

static inline uint64_t smp_inline_record_key(const void *record, size_t index)
{
    return smp_inline_record_pc(record, (jint)index);
}

/* The index of the first place at or behind pc; numpcs: none. Places are in order. */
static inline jint smp_inline_record_first_at(const jvmtiCompiledMethodLoadInlineRecord *record,
                                              uintptr_t pc)
{
    return (jint)smp_lower_bound(record, (size_t)record->numpcs, smp_inline_record_key, pc);
}

#endif
