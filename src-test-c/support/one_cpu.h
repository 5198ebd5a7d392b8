/* SPDX-License-Identifier: Apache-2.0 */
/* Confines the calling thread, and the threads that it starts afterwards, to one CPU. */
#ifndef SMP_TEST_SUPPORT_ONE_CPU_H
#define SMP_TEST_SUPPORT_ONE_CPU_H

#include <sched.h>
#include <stddef.h>

static inline void confine_to_one_cpu(cpu_set_t *before)
{
    cpu_set_t one;
    size_t cpu = 0;

    assert_int_equal(sched_getaffinity(0, sizeof(*before), before), 0);
    while (!CPU_ISSET(cpu, before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

#endif
