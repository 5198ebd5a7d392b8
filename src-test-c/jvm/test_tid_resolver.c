/* SPDX-License-Identifier: Apache-2.0 */
/* Threads found by a scan, each with an artificial thread object; their clocks are fake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <string.h>

#include "base/clock.h"
#include "jvm/agent/agent.h"
#include "jvm/threads/threads.h"
#include "jvm/threads/tid_resolver.h"
#include "support/fake_vm.h"

enum { THREADS = 300, FIRST_TID = 5000, CPU_NS = 1000 };

struct os_thread {
    int64_t padding;
    int32_t tid;
};

struct object {
    int64_t padding[2];
    struct os_thread *os_thread;
};

static struct fake_vm_reader reader;
static struct fake_thread crowd[THREADS];
static struct object objects[THREADS];
static struct os_thread os_threads[THREADS];
static int64_t clocks[THREADS];

static bool read_os_clock(void *self, int32_t tid, int64_t *out)
{
    (void)self;
    if (tid < FIRST_TID || tid >= FIRST_TID + THREADS)
        return false;
    *out = clocks[tid - FIRST_TID];
    return true;
}

static const struct smp_clock_fake clock_seam = { .thread_cpu_ns = read_os_clock };

static size_t index_of(const struct smp_thread *thread)
{
    return (size_t)(smp_threads_java_id(thread) - 100);
}

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    fake_vm.has_cpu_time = true;
    reader = (struct fake_vm_reader){ .accept = FAKE_VM_MAX_POLLED };
    fake_vm.main_thread.java_id = 100;
    for (size_t i = 1; i < THREADS; i++)
        fake_vm_add(&crowd[i], 100 + (int64_t)i, "old");
    smp_clock_set_fake(&clock_seam);
    if (smp_agent_open() != SMP_OK)
        return -1;
    fake_vm_poll(&reader);
    for (size_t i = 0; i < reader.count; i++) {
        const size_t at = index_of(reader.threads[i]);
        os_threads[at] = (struct os_thread){ .tid = FIRST_TID + (int32_t)at };
        objects[at] = (struct object){ .os_thread = &os_threads[at] };
        smp_threads_walk_info(reader.threads[i])->java_thread = (uintptr_t)&objects[at];
        clocks[at] = CPU_NS * (int64_t)(at + 1);
        struct fake_thread *thread = at == 0 ? &fake_vm.main_thread : &crowd[at];
        thread->cpu_ns = clocks[at];
    }
    return reader.count == THREADS ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    fake_vm_drop_all(&reader);
    smp_agent_close();
    smp_clock_set_fake(NULL);
    fake_vm_teardown();
    return 0;
}

static void resolve(void)
{
    smp_tid_resolver_set_fields(offsetof(struct object, os_thread),
                                offsetof(struct os_thread, tid));
    fake_vm_poll(&reader);
}

static struct smp_thread *thread_at(size_t at)
{
    for (size_t i = 0; i < reader.count; i++) {
        if (index_of(reader.threads[i]) == at)
            return reader.threads[i];
    }
    fail();
    return NULL;
}

static void every_thread_gets_the_tid_of_its_record(void **state)
{
    (void)state;
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(thread_at(i)->os_tid, 0); /* the place of the records was unknown */
    resolve();
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(thread_at(i)->os_tid, FIRST_TID + i);
}

static void a_record_does_not_count_if_the_clocks_differ(void **state)
{
    (void)state;
    os_threads[3].tid = FIRST_TID + 4; /* the tid of another thread */
    os_threads[5].tid = 1;             /* the tid of no thread */
    os_threads[6].tid = -1;
    crowd[7].cpu_ns = clocks[7] - 1; /* less than the OS thread's clock, */
    crowd[8].cpu_ns = clocks[8] + 1; /* and more than it */
    resolve();
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(thread_at(i)->os_tid,
                         i == 3 || (i >= 5 && i <= 8) ? 0 : FIRST_TID + (int32_t)i);
    os_threads[3].tid = FIRST_TID + 3;
    crowd[7].cpu_ns = clocks[7];
    resolve();
    assert_int_equal(thread_at(3)->os_tid, FIRST_TID + 3);
    assert_int_equal(thread_at(7)->os_tid, FIRST_TID + 7);
    assert_int_equal(thread_at(5)->os_tid, 0);
}

static void freed_objects_are_read_safely(void **state)
{
    (void)state;
    smp_threads_walk_info(thread_at(1))->java_thread = 8;
    smp_threads_walk_info(thread_at(2))->java_thread = 0;
    smp_threads_walk_info(thread_at(3))->java_thread += 4; /* not an address of a record */
    objects[4].os_thread = NULL;
    objects[5].os_thread = (struct os_thread *)16;
    resolve();
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(thread_at(i)->os_tid, i >= 1 && i <= 5 ? 0 : FIRST_TID + (int32_t)i);
}

/* Its event came before it was registered. */
static void an_ended_thread_is_recognised(void **state)
{
    (void)state;
    crowd[9].ended = true;
    resolve();
    assert_int_equal(thread_at(9)->os_tid, 0);
    assert_int_not_equal(thread_at(9)->ended_ns, 0);
    assert_int_equal(thread_at(10)->ended_ns, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_thread_gets_the_tid_of_its_record),
        TEST(a_record_does_not_count_if_the_clocks_differ),
        TEST(freed_objects_are_read_safely),
        TEST(an_ended_thread_is_recognised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
