/* SPDX-License-Identifier: Apache-2.0 */
#include "vm/vm_selection.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "vm/vm_threads.h"

struct selection {
    size_t count;
    int64_t ids[]; /* rising */
};

static int compare_ids(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left;
    const int64_t b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static bool contains(void *self, struct smp_thread *thread)
{
    const struct selection *selection = self;
    const int64_t id = smp_vm_threads_java_id(thread);

    return bsearch(&id, selection->ids, selection->count, sizeof(id), compare_ids) != NULL;
}

static void destroy(void *self)
{
    smp_free(NULL, self);
}

static enum smp_status read_id(JNIEnv *env, jobjectArray threads, jsize index, int64_t *out)
{
    jobject thread = (*env)->GetObjectArrayElement(env, threads, index);

    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        return SMP_EVM;
    }
    if (thread == NULL)
        return SMP_EINVAL;
    enum smp_status status = smp_vm_threads_id_of(env, thread, out);
    (*env)->DeleteLocalRef(env, thread);
    return status;
}

enum smp_status smp_vm_selection_create(JNIEnv *env, jobjectArray threads,
                                        struct smp_selection *out)
{
    const size_t count = threads != NULL ? (size_t)(*env)->GetArrayLength(env, threads) : 0;
    enum smp_status status = SMP_OK;
    struct selection *selection =
        smp_alloc(NULL, sizeof(*selection) + count * sizeof(selection->ids[0]));

    if (selection == NULL)
        return SMP_ENOMEM;
    for (size_t i = 0; status == SMP_OK && i < count; i++)
        status = read_id(env, threads, (jsize)i, &selection->ids[i]);
    if (status == SMP_OK) {
        selection->count = count;
        qsort(selection->ids, count, sizeof(selection->ids[0]), compare_ids);
        *out =
            (struct smp_selection){ .contains = contains, .destroy = destroy, .self = selection };
        selection = NULL;
    }
    smp_free(NULL, selection);
    return status;
}
