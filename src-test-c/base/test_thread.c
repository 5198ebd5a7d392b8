/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
    int32_t tid;
    bool is_listed;
    size_t stack_bytes;
    unsigned char used;
};

static bool is_listed(int32_t tid)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d", (int)tid);
    return access(path, F_OK) == 0;
}

/* Not inlined, so that the array is freed on return. It is smaller than the stack, because
 * sanitizers need most of the stack, and twice as large as musl's default stack. */
static __attribute__((noinline)) unsigned char use_stack(void)
{
    volatile unsigned char bytes[SMP_THREAD_MIN_STACK_BYTES / 4];

    for (size_t i = 0; i < sizeof(bytes); i += 1024)
        bytes[i] = (unsigned char)i;
    return bytes[1024 * 3];
}

static void *see(void *argument)
{
    struct seen *seen = argument;
    pthread_attr_t attributes;

    seen->tid = smp_thread_own_tid();
    seen->is_listed = is_listed(seen->tid);
    assert_int_equal(pthread_getattr_np(pthread_self(), &attributes), 0);
    assert_int_equal(pthread_attr_getstacksize(&attributes, &seen->stack_bytes), 0);
    (void)pthread_attr_destroy(&attributes);
    seen->used = use_stack();
    return argument;
}

static void a_thread_is_known_by_its_id(void **state)
{
    struct seen seen = { 0 };
    pthread_t thread;
    void *result = NULL;

    (void)state;
    assert_int_equal(smp_thread_own_tid(), getpid()); /* the first thread */
    assert_int_equal(smp_thread_start(&thread, 0, see, &seen), SMP_OK);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &seen);
    assert_true(seen.is_listed);
    assert_int_not_equal(seen.tid, smp_thread_own_tid());
}

/* Sets the default stack size of musl for the process. */
static void a_thread_has_the_stack_it_needs(void **state)
{
    const size_t requested[] = { 0, 1, SMP_THREAD_MIN_STACK_BYTES,
                                 3 * SMP_THREAD_MIN_STACK_BYTES - 1 };
    pthread_attr_t small;

    (void)state;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 128 * 1024), 0);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
    for (size_t i = 0; i < sizeof(requested) / sizeof(requested[0]); i++) {
        struct seen seen = { 0 };
        pthread_t thread;
        assert_int_equal(smp_thread_start(&thread, requested[i], see, &seen), SMP_OK);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(seen.stack_bytes >= SMP_THREAD_MIN_STACK_BYTES);
        assert_true(seen.stack_bytes >= requested[i]);
        assert_true(seen.stack_bytes < requested[i] + 2 * SMP_THREAD_MIN_STACK_BYTES);
        assert_int_equal(seen.used, (unsigned char)(1024 * 3));
    }
    (void)pthread_attr_destroy(&small);
}

static void too_large_a_stack_is_an_error(void **state)
{
    struct seen seen = { 0 };
    pthread_t thread;

    (void)state;
    assert_int_equal(smp_thread_start(&thread, SIZE_MAX / 2, see, &seen), SMP_ETHREAD);
    assert_int_equal(seen.tid, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_is_known_by_its_id),
        cmocka_unit_test(a_thread_has_the_stack_it_needs),
        cmocka_unit_test(too_large_a_stack_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
