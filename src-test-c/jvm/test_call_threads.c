/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that end while calls are counted. */
#include "jvm/calls/call_counter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "counting/call_arena.h"
#include "counting/call_path.h"
#include "counting/call_reader.h"
#include "counting/call_shared.h"
#include "jvm/agent/agent.h"
#include "jvm/threads/threads.h"
#include "support/fake_vm.h"

enum { ROOT = 1 };

static struct fake_vm_reader reader;
static int64_t java_id; /* of the only thread */
static uint64_t read_serial;

static uint64_t find_serial(int64_t tid)
{
    uint64_t serial = 0;

    return smp_threads_find(tid, &serial) ? serial : 0;
}

static int setup(void **state)
{
    static const struct smp_call_view view = { .serial_of = find_serial };
    const struct smp_call_options options = { .max_bytes = 1 << 20,
                                              .nodes = SMP_CALL_DEFAULT_NODES,
                                              .depth = SMP_CALL_DEFAULT_DEPTH };

    (void)state;
    smp_call_set_view(&view);
    fake_vm_setup();
    reader = (struct fake_vm_reader){ .accept = FAKE_VM_MAX_POLLED };
    if (smp_agent_open() != SMP_OK || smp_call_arena_open(&options) != SMP_OK)
        return -1;
    fake_vm_poll(&reader);
    java_id = smp_threads_java_id(reader.threads[0]);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    smp_call_arena_close();
    fake_vm_drop_all(&reader);
    smp_agent_close();
    fake_vm_teardown();
    return 0;
}

static void end_thread(void)
{
    smp_call_counter_on_thread_end(fake_vm_jni(), smp_threads_ref(reader.threads[0]));
}

static void note_serial(void *self, const struct smp_call_delta *delta)
{
    (void)self;
    assert_int_equal(delta->call.calls, 1);
    read_serial = delta->thread_serial;
}

/* Its calls are read after its end, still as calls of that thread. */
static void a_counted_thread_that_ends_is_read_once_more(void **state)
{
    const struct smp_call_visitor visitor = { .on_delta = note_serial };

    (void)state;
    end_thread(); /* it has no state yet */
    smp_call_enter_root(java_id, false, 0, ROOT);
    smp_call_exit_root(smp_call_state_find(java_id), ROOT);
    end_thread();
    end_thread();
    assert_null(smp_call_state_find(java_id));
    read_serial = 0;
    smp_call_read(&visitor);
    assert_int_equal(read_serial, reader.threads[0]->serial);
}

/* No sampler is running, and none may start for a long time. */
static void a_thread_that_ends_after_counting_returns_its_state(void **state)
{
    (void)state;
    assert_non_null(smp_call_begin(java_id, false, 0));
    smp_call_arena_close();
    fake_vm_drop_all(&reader);
    smp_agent_close();
    assert_non_null(smp_call_state_find(java_id));
    fake_vm_thread_end(&fake_vm.main_thread);
    assert_null(smp_call_state_find(java_id));
    assert_int_equal(smp_agent_open(), SMP_OK); /* the tear-down closes it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_counted_thread_that_ends_is_read_once_more, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_thread_that_ends_after_counting_returns_its_state, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
