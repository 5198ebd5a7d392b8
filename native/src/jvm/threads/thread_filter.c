/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/thread_filter.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "jvm/threads/threads.h"

struct thread_filter {
    size_t count;
    int64_t ids[]; /* ascending */
};

static int compare_ids(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left;
    const int64_t b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static bool thread_filter_contains(void *self, struct smp_thread *thread)
{
    const struct thread_filter *thread_filter = self;
    const int64_t id = smp_threads_java_id(thread);

    return bsearch(&id, thread_filter->ids, thread_filter->count, sizeof(id), compare_ids) != NULL;
}

static void destroy_thread_filter(void *self)
{
    smp_free(NULL, self);
}

static enum smp_status read_thread_id(JNIEnv *env, jobjectArray threads, jsize index, int64_t *out)
{
    jobject thread = (*env)->GetObjectArrayElement(env, threads, index);

    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        return SMP_EVM;
    }
    if (thread == NULL)
        return SMP_EINVAL;
    enum smp_status status = smp_threads_id_of(env, thread, out);
    (*env)->DeleteLocalRef(env, thread);
    return status;
}

enum smp_status smp_jvm_thread_filter_create(JNIEnv *env, jobjectArray threads,
                                             struct smp_thread_filter *out)
{
    const size_t count = threads != NULL ? (size_t)(*env)->GetArrayLength(env, threads) : 0;
    enum smp_status status = SMP_OK;
    struct thread_filter *thread_filter =
        smp_alloc(NULL, sizeof(*thread_filter) + count * sizeof(thread_filter->ids[0]));

    if (thread_filter == NULL)
        return SMP_ENOMEM;
    for (size_t i = 0; status == SMP_OK && i < count; i++)
        status = read_thread_id(env, threads, (jsize)i, &thread_filter->ids[i]);
    if (status == SMP_OK) {
        thread_filter->count = count;
        qsort(thread_filter->ids, count, sizeof(thread_filter->ids[0]), compare_ids);
        *out = (struct smp_thread_filter){ .contains = thread_filter_contains,
                                           .destroy = destroy_thread_filter,
                                           .self = thread_filter };
        thread_filter = NULL;
    }
    smp_free(NULL, thread_filter);
    return status;
}
