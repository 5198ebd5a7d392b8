/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/stack_bounds.h"

#include <pthread.h>

struct smp_stack_bounds smp_stack_bounds_own(void)
{
    struct smp_stack_bounds bounds = { 0 };
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return bounds;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0)
        bounds = (struct smp_stack_bounds){ (uintptr_t)low, (uintptr_t)low + size };
    (void)pthread_attr_destroy(&attributes);
    return bounds;
}
