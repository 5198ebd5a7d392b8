/* SPDX-License-Identifier: Apache-2.0 */
/* Threads at a monitor; thread objects and monitor are in memory of the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <string.h>

#include "base/clock.h"
#include "base/safe_read.h"
#include "jvm/agent/agent.h"
#include "jvm/locks/monitor_owner.h"
#include "jvm/threads/threads.h"
#include "jvm/threads/virtual_threads.h"
#include "support/fake_vm.h"

enum {
    THREADS = 3, /* the first one waits */
    FIRST_ID = 100,
    FIRST_TID = 5,
    VIRTUAL_ID = 900,
    CPU_NS = 777,
    UNMAPPED = 4096
};

struct java_thread {
    uintptr_t padding;
    uintptr_t pending;
    uintptr_t waiting;
    uint64_t owner_id;
    uint32_t top;
    uint32_t gap;
    uintptr_t base[8];
    char stack[64];
};

struct monitor {
    uintptr_t padding;
    uintptr_t owner;
    uintptr_t stack_locker;
    uintptr_t handle;
};

static struct fake_vm_reader reader;

static struct {
    struct fake_thread threads[THREADS];
    struct java_thread java[THREADS];
    struct monitor monitor;
    uintptr_t reference; /* in the monitor's handle */
    uintptr_t object[2];
    uint64_t safepoints;
    int64_t cpu_ns;
    int64_t cpu_step_ns; /* advance of the clock at each reading */
    struct smp_monitor_reader how;
    struct smp_lock_owner found;
} vm;

static bool read_cpu(void *self, int32_t tid, int64_t *out)
{
    (void)self;
    *out = vm.cpu_ns;
    vm.cpu_ns += vm.cpu_step_ns;
    return tid == FIRST_TID;
}

static const struct smp_clock_fake clock_seam = { .thread_cpu_ns = read_cpu };

static void start_thread(size_t i, bool is_carrier)
{
    struct fake_thread *thread = &vm.threads[i];
    struct smp_walk_info *info;

    *thread = fake_vm.main_thread;
    thread->java_id = FIRST_ID + (int64_t)i;
    thread->is_carrier = is_carrier;
    fake_vm_thread_start(thread);
    fake_vm_poll(&reader);
    reader.threads[reader.count - 1]->os_tid = FIRST_TID + (int32_t)i;
    info = smp_threads_walk_info(reader.threads[reader.count - 1]);
    info->java_thread = (uintptr_t)&vm.java[i];
    info->stack_low = (uintptr_t)vm.java[i].stack;
    info->stack_high = (uintptr_t)vm.java[i].stack + sizeof(vm.java[i].stack);
    vm.java[i].top = offsetof(struct java_thread, base);
}

/* A layout in which owners are ids and lock stacks exist; a reference is the object's address. */
static struct smp_monitor_layout layout_with_ids(void)
{
    return (struct smp_monitor_layout){
        .is_id = true,
        .pending = offsetof(struct java_thread, pending),
        .waiting = offsetof(struct java_thread, waiting),
        .owner_id = offsetof(struct java_thread, owner_id),
        .lock_stack_top = offsetof(struct java_thread, top),
        .lock_stack_base = offsetof(struct java_thread, base),
        .owner = offsetof(struct monitor, owner),
        .object = offsetof(struct monitor, handle),
        .stack_locker = offsetof(struct monitor, stack_locker),
        .objects = { .references = SMP_REFERENCE_PLAIN },
    };
}

static int open_jvm(bool with_virtual)
{
    memset(&vm, 0, sizeof(vm));
    fake_vm_setup();
    fake_vm.has_virtual_threads = with_virtual;
    reader = (struct fake_vm_reader){ .accept = FAKE_VM_MAX_POLLED };
    vm.cpu_ns = CPU_NS;
    vm.how =
        (struct smp_monitor_reader){ .layout = layout_with_ids(), .safepoints = &vm.safepoints };
    smp_clock_set_fake(&clock_seam);
    smp_gate_open(&smp_gate_process);
    if (smp_safe_read_refusal() != NULL || smp_agent_open() != SMP_OK)
        return -1;
    fake_vm_poll(&reader); /* the main thread */
    fake_vm_drop_all(&reader);
    for (size_t i = 0; i < THREADS; i++)
        start_thread(i, with_virtual && i == THREADS - 1);
    vm.java[0].pending = (uintptr_t)&vm.monitor;
    vm.monitor.handle = (uintptr_t)&vm.reference;
    vm.reference = (uintptr_t)vm.object;
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return open_jvm(false);
}

static int setup_virtual(void **state)
{
    (void)state;
    return open_jvm(true);
}

static int teardown(void **state)
{
    (void)state;
    smp_safe_read_count_calls(NULL);
    fake_vm_drop_all(&reader);
    smp_agent_close();
    smp_clock_set_fake(NULL);
    smp_gate_open(&smp_gate_process);
    fake_vm_teardown();
    return 0;
}

static enum smp_owner_kind read_owner(void)
{
    smp_monitor_owner_read(&vm.how, reader.threads[0], -1, &vm.found);
    return vm.found.kind;
}

static void check_owner(size_t thread)
{
    assert_int_equal(read_owner(), SMP_OWNER_THREAD);
    assert_int_equal(vm.found.serial, reader.threads[thread]->serial);
}

static void lock_object(size_t thread, size_t at)
{
    vm.java[thread].base[at] = (uintptr_t)vm.object;
    vm.java[thread].top =
        (uint32_t)(offsetof(struct java_thread, base) + (at + 1) * sizeof(uintptr_t));
}

static void an_owner_id_belongs_to_a_thread(void **state)
{
    (void)state;
    vm.monitor.owner = FIRST_ID + 1;
    check_owner(1);
    vm.monitor.owner = FIRST_ID + 2;
    check_owner(2);
    vm.monitor.owner = SMP_MONITOR_NO_OWNER;
    assert_int_equal(read_owner(), SMP_OWNER_NONE);
    vm.monitor.owner = SMP_MONITOR_DEFLATED;
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    vm.monitor.owner = VIRTUAL_ID; /* the id of no thread */
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
}

static void an_owner_pointer_is_a_thread_object_or_in_a_stack(void **state)
{
    (void)state;
    vm.how.layout.is_id = false;
    vm.how.layout.stack_locker = 0;
    vm.monitor.owner = (uintptr_t)&vm.java[2];
    check_owner(2);
    vm.monitor.owner = (uintptr_t)&vm.java[1].stack[sizeof(vm.java[1].stack) - 1];
    check_owner(1);
    vm.monitor.owner = (uintptr_t)&vm.java[1].stack[0];
    check_owner(1);
    vm.monitor.owner = (uintptr_t)&vm.monitor;
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    vm.monitor.owner = SMP_MONITOR_NO_OWNER;
    assert_int_equal(read_owner(), SMP_OWNER_NONE);
}

static void a_thread_that_was_notified_waits_for_the_monitor(void **state)
{
    (void)state;
    vm.java[0].pending = 0;
    vm.java[0].waiting = (uintptr_t)&vm.monitor;
    vm.monitor.owner = FIRST_ID + 1;
    check_owner(1);
}

static void an_anonymous_owner_has_the_object_in_its_lock_stack(void **state)
{
    (void)state;
    vm.monitor.owner = SMP_MONITOR_ANONYMOUS;
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    lock_object(2, 3);
    check_owner(2);
    vm.java[2].top -= (uint32_t)sizeof(uintptr_t); /* it has released the monitor */
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    lock_object(1, 0);
    check_owner(1);
    vm.reference = 0; /* the collector is moving it at the moment */
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    vm.reference = (uintptr_t)vm.object;
    vm.how.safepoints = NULL;
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    vm.how.safepoints = &vm.safepoints;
    vm.how.layout.lock_stack_top = 0;
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
}

static void an_anonymous_owner_on_the_stack_is_found_there(void **state)
{
    (void)state;
    vm.monitor.owner = SMP_MONITOR_ANONYMOUS;
    vm.monitor.stack_locker = (uintptr_t)&vm.java[2].stack[8];
    check_owner(2);
}

/* Counts the safe reads, which happen between the two readings of the word. */
static void count_reads_in(void *word)
{
    smp_safe_read_count_calls(word);
}

static void data_that_change_during_the_read_are_rejected(void **state)
{
    (void)state;
    vm.monitor.owner = SMP_MONITOR_ANONYMOUS;
    lock_object(2, 0);
    count_reads_in(&vm.safepoints);
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    count_reads_in(NULL);
    check_owner(2);

    vm.monitor.owner = FIRST_ID;
    count_reads_in(&vm.monitor.owner);
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    count_reads_in(NULL);

    vm.monitor.owner = FIRST_ID + 1;
    count_reads_in(&vm.java[0].pending);
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    count_reads_in(NULL);
    vm.java[0].pending = (uintptr_t)&vm.monitor;
    check_owner(1);

    vm.cpu_step_ns = 1;
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    assert_string_equal(vm.found.lock, "");
}

static void the_callers_clock_reading_is_used(void **state)
{
    (void)state;
    vm.monitor.owner = FIRST_ID + 1;
    smp_monitor_owner_read(&vm.how, reader.threads[0], CPU_NS, &vm.found);
    assert_int_equal(vm.found.kind, SMP_OWNER_THREAD);
    smp_monitor_owner_read(&vm.how, reader.threads[0], CPU_NS - 1, &vm.found);
    assert_int_equal(vm.found.kind, SMP_OWNER_UNREAD);
    reader.threads[0]->os_tid = 0; /* its clock is unknown */
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
}

static void a_thread_never_waits_for_itself(void **state)
{
    (void)state;
    vm.monitor.owner = FIRST_ID;
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
}

static void unreadable_data_give_no_owner(void **state)
{
    struct smp_walk_info *info = smp_threads_walk_info(reader.threads[0]);

    (void)state;
    vm.monitor.owner = FIRST_ID + 1;
    vm.java[0].pending = 0;
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    vm.java[0].pending = UNMAPPED; /* the monitor was freed */
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    vm.java[0].pending = (uintptr_t)&vm.monitor;
    info->java_thread = 0;
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    info->java_thread = (uintptr_t)&vm.java[0];
    smp_gate_close(&info->gate);
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
}

static void after_the_end_of_the_jvm_nothing_is_read(void **state)
{
    (void)state;
    vm.monitor.owner = FIRST_ID + 1;
    check_owner(1);
    smp_gate_close(&smp_gate_process);
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
}

/* The second word of an object, which leads to the name of its class. */
static void the_lock_has_the_name_of_its_class(void **state)
{
    static struct {
        uint16_t length;
        char body[16];
    } symbol = { 4, "Cart" };
    static uintptr_t class = (uintptr_t)&symbol;

    (void)state;
    vm.object[1] = (uintptr_t) & class;
    vm.how.layout.objects = (struct smp_object_layout){ .references = SMP_REFERENCE_PLAIN,
                                                        .classes = SMP_CLASS_POINTER,
                                                        .class_at = sizeof(uintptr_t),
                                                        .body = 2 };
    vm.monitor.owner = FIRST_ID + 1;
    check_owner(1);
    assert_string_equal(vm.found.lock, "Cart");
    count_reads_in(&vm.safepoints);
    check_owner(1);
    assert_string_equal(vm.found.lock, "");
    count_reads_in(NULL);
    vm.how.safepoints = NULL;
    check_owner(1);
    assert_string_equal(vm.found.lock, "Cart");
}

/* From here on virtual threads are in use. */
static void a_virtual_owner_is_found_by_its_carrier(void **state)
{
    (void)state;
    assert_true(smp_virtual_threads_in_use());
    vm.monitor.owner = VIRTUAL_ID;
    assert_int_equal(read_owner(), SMP_OWNER_UNMOUNTED);
    vm.java[2].owner_id = VIRTUAL_ID;
    check_owner(2);
    vm.java[1].owner_id = VIRTUAL_ID; /* no carrier: not used */
    check_owner(2);
    smp_gate_close(&smp_threads_walk_info(reader.threads[2])->gate);
    assert_int_equal(read_owner(), SMP_OWNER_UNMOUNTED);
}

static void an_object_in_no_lock_stack_belongs_to_a_virtual_thread(void **state)
{
    (void)state;
    vm.monitor.owner = SMP_MONITOR_ANONYMOUS;
    assert_int_equal(read_owner(), SMP_OWNER_UNMOUNTED);
    lock_object(2, 0);
    check_owner(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_owner_id_belongs_to_a_thread, setup, teardown),
        cmocka_unit_test_setup_teardown(an_owner_pointer_is_a_thread_object_or_in_a_stack, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_thread_that_was_notified_waits_for_the_monitor, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_anonymous_owner_has_the_object_in_its_lock_stack, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_anonymous_owner_on_the_stack_is_found_there, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(data_that_change_during_the_read_are_rejected, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_callers_clock_reading_is_used, setup, teardown),
        cmocka_unit_test_setup_teardown(a_thread_never_waits_for_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(unreadable_data_give_no_owner, setup, teardown),
        cmocka_unit_test_setup_teardown(after_the_end_of_the_jvm_nothing_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(the_lock_has_the_name_of_its_class, setup, teardown),
    };
    const struct CMUnitTest virtual_tests[] = {
        cmocka_unit_test_setup_teardown(a_virtual_owner_is_found_by_its_carrier, setup_virtual,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_object_in_no_lock_stack_belongs_to_a_virtual_thread,
                                        setup_virtual, teardown),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);

    return failed + cmocka_run_group_tests(virtual_tests, fake_vm_know_virtual_threads,
                                           fake_vm_forget_virtual_threads);
}
