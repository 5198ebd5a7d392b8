/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that end while calls are counted. */
#include "jvm/calls/call_threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those */
#include <cmocka.h>

#include "counting/call_arena.h"
#include "jvm/agent/agent.h"
#include "jvm/threads/threads.h"
#include "support/vm_fixture.h"

static struct vm_fixture fixture;
static struct vm_fixture_reader reader;
static int64_t java_id; /* of the one thread */

static int setup(void **state)
{
    const struct smp_call_options options = { .max_bytes = 1 << 20,
                                              .nodes = SMP_CALL_DEFAULT_NODES,
                                              .depth = SMP_CALL_DEFAULT_DEPTH };

    (void)state;
    vm_fixture_setup(&fixture);
    reader = (struct vm_fixture_reader){ .accept = VM_FIXTURE_MAX_THREADS };
    if (smp_agent_open() != SMP_OK || smp_call_arena_open(&options) != SMP_OK)
        return -1;
    vm_fixture_poll(&reader);
    java_id = smp_threads_java_id(reader.threads[0]);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    smp_call_threads_retire();
    smp_call_threads_forget();
    smp_call_arena_close();
    vm_fixture_drop_all(&reader);
    smp_agent_close();
    vm_fixture_teardown(&fixture);
    return 0;
}

static void end_thread(size_t times)
{
    for (size_t i = 0; i < times; i++)
        smp_call_threads_on_end(fake_jni_env(), smp_threads_ref(reader.threads[0]));
}

static void a_counted_thread_that_ends_is_retired(void **state)
{
    (void)state;
    assert_non_null(smp_call_begin(java_id, false, 0));
    end_thread(1);
    assert_non_null(smp_call_state_find(java_id));
    smp_call_threads_retire();
    assert_null(smp_call_state_find(java_id));
    assert_int_equal(smp_call_threads_find(java_id), reader.threads[0]->serial);
    smp_call_threads_forget();
    assert_int_equal(smp_call_threads_lost(), 0);
}

/* It gives back what it has itself: the state of a thread that has ended is of no use. */
static void past_the_limit_ended_threads_are_lost_and_counted(void **state)
{
    const uint64_t before = smp_call_threads_lost();

    (void)state;
    end_thread(1); /* it has no state: not counted */
    assert_non_null(smp_call_begin(java_id, false, 0));
    end_thread(SMP_ENDED_LIMIT);
    assert_int_equal(smp_call_threads_lost(), before);
    for (uint64_t i = 1; i <= 3; i++) {
        assert_non_null(smp_call_begin(java_id, false, 0));
        end_thread(1);
        assert_int_equal(smp_call_threads_lost(), before + i);
        assert_null(smp_call_state_find(java_id));
    }
    smp_call_threads_retire();
    smp_call_threads_forget();
    assert_non_null(smp_call_begin(java_id, false, 0));
    end_thread(1);
    assert_int_equal(smp_call_threads_lost(), before + 3);
}

/* No sampler is there, and none may come for long. */
static void a_thread_that_ends_later_gives_its_state_back(void **state)
{
    (void)state;
    assert_non_null(smp_call_begin(java_id, false, 0));
    smp_call_arena_close();
    vm_fixture_drop_all(&reader);
    smp_agent_close();
    assert_non_null(smp_call_state_find(java_id));
    fake_jvmti_thread_end(&fixture.main_thread);
    assert_null(smp_call_state_find(java_id));
    assert_int_equal(smp_agent_open(), SMP_OK); /* as the tear-down closes it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_counted_thread_that_ends_is_retired, setup, teardown),
        cmocka_unit_test_setup_teardown(past_the_limit_ended_threads_are_lost_and_counted, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_thread_that_ends_later_gives_its_state_back, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
