/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline_record.h - reads the debug records in the event of a compiled method: for each recorded
 * pc the frames there, innermost first.
 *
 * Threads  the thread that runs the event.
 * Cost     find: constant; first_at: a binary search.
 */
#ifndef SMP_JVM_CHECK_INLINE_RECORD_H
#define SMP_JVM_CHECK_INLINE_RECORD_H

#include <jvmti.h>
#include <jvmticmlr.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sort.h"

/* info is the event's compile info. Returns NULL if it has no record, or a record without pcs. */
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

/* Returns the index of the first recorded pc at or above pc, or numpcs if there is none. */
static inline jint smp_inline_record_first_at(const jvmtiCompiledMethodLoadInlineRecord *record,
                                              uintptr_t pc)
{
    return (jint)smp_lower_bound(record, (size_t)record->numpcs, smp_inline_record_key, pc);
}

#endif
