/* SPDX-License-Identifier: Apache-2.0 */
#include "vm/vm_ids.h"

#include <jvmti.h>
#include <string.h>

#include "vm/vm.h"
#include "vm/vm_status.h"

enum {
    /* From here on GetStackTrace of a platform thread holds up all virtual threads, and a list of
     * one thread does not; before, it was the other way round. */
    LIST_OF_ONE_SINCE = 0x00180000 /* JNI_VERSION_24 */
};

static enum smp_status walk_one(jvmtiEnv *jvmti, jobject thread, struct smp_frame *frames,
                                size_t capacity, size_t *count)
{
    jint got = 0;
    const enum smp_status status = smp_vm_status((*jvmti)->GetStackTrace(
        jvmti, thread, 0, (jint)capacity, (jvmtiFrameInfo *)(void *)frames, &got));

    if (status == SMP_OK)
        *count = (size_t)got;
    return status;
}

static enum smp_status walk_list(jvmtiEnv *jvmti, jobject thread, struct smp_frame *frames,
                                 size_t capacity, size_t *count)
{
    jvmtiStackInfo *info = NULL;
    const enum smp_status status =
        smp_vm_status((*jvmti)->GetThreadListStackTraces(jvmti, 1, &thread, (jint)capacity, &info));

    if (status != SMP_OK)
        return status;
    *count = (size_t)info->frame_count < capacity ? (size_t)info->frame_count : capacity;
    memcpy(frames, info->frame_buffer, *count * sizeof(*frames));
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)info);
    return SMP_OK;
}

enum smp_status smp_vm_ids_walk(JNIEnv *env, jobject thread, struct smp_frame *frames,
                                size_t capacity, size_t *count)
{
    jvmtiEnv *jvmti = smp_vm_jvmti();

    if (!smp_vm_is_live())
        return SMP_EPHASE;
    if ((*env)->GetVersion(env) >= LIST_OF_ONE_SINCE)
        return walk_list(jvmti, thread, frames, capacity, count);
    return walk_one(jvmti, thread, frames, capacity, count);
}
