/* SPDX-License-Identifier: Apache-2.0 */
/* A wait that lasts leaves its CPU to others, however low their priority is. */
#include "base/give_way.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/task_file.h"

static _Atomic int32_t waiting_tid;
static _Atomic bool is_over;

static void *wait_until_over(void *rounds)
{
    unsigned *const count = rounds;

    atomic_store(&waiting_tid, (int32_t)syscall(SYS_gettid));
    for (; !atomic_load(&is_over); (*count)++)
        smp_give_way(*count);
    return NULL;
}

/* By the kernel: S stands behind the name, which is in brackets. */
static bool is_asleep(int32_t tid)
{
    char stat[512];
    const char *behind = NULL;

    if (!smp_task_file_read(tid, "stat", stat, sizeof(stat)))
        return false;
    behind = strrchr(stat, ')');
    return behind != NULL && behind[1] == ' ' && behind[2] == 'S';
}

static void a_long_wait_sleeps(void **state)
{
    pthread_t thread;
    unsigned rounds = 0;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, wait_until_over, &rounds), 0);
    while (atomic_load(&waiting_tid) == 0)
        (void)sched_yield();
    while (!is_asleep(atomic_load(&waiting_tid)))
        (void)sched_yield();
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(rounds >= SMP_GIVE_WAY_YIELDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_wait_sleeps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
