/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>

#include "base/clock.h"
#include "base/safe_read.h"
#include "hotspot/frames.h"
#include "jvm/agent/agent.h"
#include "jvm/check/check.h"
#include "jvm/threads/threads.h"
#include "jvm/walk/cross_check.h"
#include "jvm/walk/outside.h"
#include "support/failing_alloc.h"
#include "support/fake_vm.h"
#include "support/thread_states.h"

enum { CAPACITY = 16, DEPTH = 4, NEVER = 1000000 };

static struct fake_vm_reader reader;
static struct smp_frame frames[CAPACITY];
static struct smp_sample sample;

/* The artificial thread object of every thread, and the results of its walks. */
static struct {
    int32_t state;
    uintptr_t sp;
    uintptr_t fp;
    uintptr_t pc;
    uintptr_t stack[DEPTH];
    uintptr_t stack_base;
    uintptr_t stack_size;
    uintptr_t word;    /* the word that is read from the stack */
    size_t without_id; /* the frame without an id; DEPTH: all have one */
    bool copies_names; /* the names of that frame */
    unsigned walks;
    int64_t cpu_ns;
    int64_t cpu_step_ns;     /* the clock advances by this at each reading, */
    unsigned cpu_steps;      /* this many times */
    void (*meanwhile)(void); /* called during a walk */
    struct smp_proven_walk how;
    struct smp_outside *walker;
} vm;

static uint64_t copy_name(const struct smp_frames *out)
{
    struct smp_method_copy *copy = (struct smp_method_copy *)(void *)out->names;

    if (!vm.copies_names || out->names == NULL)
        return 0;
    assert_true(out->names_bytes >= 64);
    *copy = (struct smp_method_copy){ .line = 7, .class_bytes = 1, .name_bytes = 1 };
    copy->texts[0] = 'A';
    copy->texts[1] = 'b';
    return SMP_FRAME_NAME_BIT | (uintptr_t)copy;
}

static void walk(void *self, struct smp_frames_start start, uintptr_t stack_high,
                 struct smp_frames *out)
{
    (void)self;
    (void)start;
    (void)stack_high;
    vm.walks++;
    if (vm.meanwhile != NULL)
        vm.meanwhile();
    for (size_t i = 0; i < DEPTH; i++) {
        out->raw[i] = (struct smp_raw_frame){ .method = 1, .bci = (int32_t)i - 1 };
        out->ids[i] = i == vm.without_id ? copy_name(out) : 500 + i;
    }
    out->count = DEPTH;
    out->leaf_count = DEPTH - 1;
    out->omitted = 7;
    out->end = SMP_FRAMES_ROOT;
    out->words->read[0] = (struct smp_frames_word){ (uintptr_t)&vm.word, vm.word };
    out->words->count = 1;
}

static bool read_cpu(void *self, int32_t tid, int64_t *out)
{
    (void)self;
    if (vm.cpu_steps > 0) {
        vm.cpu_steps--;
        vm.cpu_ns += vm.cpu_step_ns;
    }
    *out = vm.cpu_ns;
    return tid != 0;
}

static const struct smp_clock_fake clock_seam = { .thread_cpu_ns = read_cpu };

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    fake_vm.has_status = true;
    reader = (struct fake_vm_reader){ .accept = FAKE_VM_MAX_POLLED };
    vm.state = STATE_BLOCKED;
    vm.sp = (uintptr_t)vm.stack;
    vm.without_id = DEPTH;
    vm.copies_names = false;
    vm.walks = vm.cpu_steps = 0;
    vm.meanwhile = NULL;
    vm.how = (struct smp_proven_walk){
        .layout = { .states = STATES_UNTIL_27,
                    .state = 0,
                    .last_sp = (uint32_t)((char *)&vm.sp - (char *)&vm),
                    .last_fp = (uint32_t)((char *)&vm.fp - (char *)&vm),
                    .last_pc = (uint32_t)((char *)&vm.pc - (char *)&vm),
                    .stack_base = (uint32_t)((char *)&vm.stack_base - (char *)&vm),
                    .stack_size = (uint32_t)((char *)&vm.stack_size - (char *)&vm) },
        .walk = walk,
    };
    sample = (struct smp_sample){ .frames = frames, .capacity = CAPACITY };
    smp_clock_set_fake(&clock_seam);
    smp_gate_open(&smp_gate_process);
    smp_cross_check_set_each(NEVER);
    return smp_agent_open() == SMP_OK && smp_outside_create(CAPACITY, &vm.how, &vm.walker) == SMP_OK
               ? 0
               : -1;
}

static int teardown(void **state)
{
    (void)state;
    smp_outside_destroy(vm.walker);
    fake_vm_drop_all(&reader);
    smp_agent_close();
    smp_clock_set_fake(NULL);
    smp_gate_open(&smp_gate_process);
    fake_vm_teardown();
    return 0;
}

static void know(struct smp_thread *thread)
{
    struct smp_walk_info *info = smp_threads_walk_info(thread);

    thread->os_tid = 5;
    info->java_thread = (uintptr_t)&vm;
    info->stack_low = (uintptr_t)vm.stack;
    info->stack_high = (uintptr_t)(vm.stack + DEPTH);
}

/* Starts a thread now. */
static struct smp_thread *start(struct fake_thread *thread)
{
    *thread = fake_vm.main_thread;
    thread->java_id = 100;
    fake_vm_thread_start(thread);
    fake_vm_poll(&reader);
    know(reader.threads[reader.count - 1]);
    return reader.threads[reader.count - 1];
}

static enum smp_status walk_outside(struct smp_thread *thread)
{
    const struct smp_walker walker = smp_outside_functions(vm.walker);

    return walker.walk_outside(walker.self, thread, -1, &sample);
}

static enum smp_status walk_by_jvmti(struct smp_thread *thread)
{
    const struct smp_walker walker = smp_outside_functions(vm.walker);

    return walker.walk(walker.self, thread, &sample);
}

static void a_proven_stack_becomes_the_sample(void **state)
{
    struct fake_thread java_thread;
    struct smp_thread *thread = start(&java_thread);

    (void)state;
    assert_int_equal(walk_outside(thread), SMP_OK);
    assert_int_equal(sample.count, DEPTH);
    assert_int_equal(sample.leaf_count, DEPTH - 1);
    assert_int_equal(sample.omitted, 7);
    for (size_t i = 0; i < DEPTH; i++) {
        assert_int_equal(frames[i].method, 500 + i);
        assert_int_equal(frames[i].bci, (int64_t)i - 1);
    }
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 0);
    assert_int_equal(smp_outside_count(vm.walker, SMP_PROOF_PROVEN), 1);
}

static void a_method_without_an_id_is_left_to_jvmti(void **state)
{
    struct fake_thread java_thread;
    struct smp_thread *thread = start(&java_thread);

    (void)state;
    vm.without_id = DEPTH - 1;
    assert_int_equal(walk_outside(thread), SMP_ESTATE);
    assert_int_equal(walk_by_jvmti(thread), SMP_OK);
    assert_int_equal(sample.count, 3);
    vm.without_id = DEPTH;
    assert_int_equal(walk_outside(thread), SMP_OK);
}

static void a_method_without_an_id_has_the_names_that_were_copied(void **state)
{
    struct fake_thread java_thread;
    struct smp_thread *thread = start(&java_thread);
    struct smp_named_methods *named = NULL;
    struct smp_method_info info;

    (void)state;
    vm.without_id = 1;
    vm.copies_names = true;
    assert_int_equal(walk_outside(thread), SMP_ESTATE); /* there is no room for them */
    assert_int_equal(smp_named_methods_create(&named), SMP_OK);
    smp_outside_name_by(vm.walker, named);
    assert_int_equal(walk_outside(thread), SMP_OK);
    assert_int_equal(sample.count, DEPTH);
    assert_int_equal(frames[0].method, 500);
    assert_int_equal(frames[1].bci, 0);
    assert_int_equal(frames[2].method, 502);
    assert_true(smp_named_methods_find(named, frames[1].method, &info));
    assert_string_equal(info.class_name, "A");
    assert_int_equal(info.lines[0].line, 7);
    vm.copies_names = false;
    assert_int_equal(walk_outside(thread), SMP_ESTATE);
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 0);
    smp_outside_name_by(vm.walker, NULL);
    smp_named_methods_destroy(named);
}

static void a_thread_that_has_just_run_is_tried_once_more(void **state)
{
    struct fake_thread java_thread;
    struct smp_thread *thread = start(&java_thread);

    (void)state;
    vm.cpu_step_ns = 400;
    vm.cpu_steps = 2;
    assert_int_equal(walk_outside(thread), SMP_OK);
    assert_int_equal(smp_outside_count(vm.walker, SMP_PROOF_HAS_RUN), 1);
    vm.cpu_steps = 4;
    assert_int_equal(walk_outside(thread), SMP_ESTATE);
    assert_int_equal(smp_outside_count(vm.walker, SMP_PROOF_HAS_RUN), 3);
}

static void a_thread_without_frames_has_none(void **state)
{
    struct fake_thread java_thread;
    struct smp_thread *thread = start(&java_thread);

    (void)state;
    vm.sp = 0;
    assert_int_equal(walk_outside(thread), SMP_OK);
    assert_int_equal(sample.count, 0);
}

static enum smp_wait_word word_of(struct smp_thread *thread)
{
    const struct smp_walker walker = smp_outside_functions(vm.walker);

    return walker.wait_word(walker.self, thread);
}

static void the_jvms_state_of_a_thread_is_known(void **state)
{
    struct fake_thread java_thread;
    struct smp_thread *thread = start(&java_thread);

    (void)state;
    vm.state = STATE_IN_NATIVE;
    assert_int_equal(word_of(thread), SMP_WORD_IN_NATIVE);
    vm.state = STATE_IN_JAVA;
    assert_int_equal(word_of(thread), SMP_WORD_RUNS);
    assert_int_equal(vm.walks, 0);
}

/* A thread listed by a scan may be past its ThreadEnd. */
static void an_older_thread_is_walked_after_jvmti_has_seen_its_frames(void **state)
{
    (void)state;
    fake_vm_poll(&reader);
    know(reader.threads[0]);
    assert_int_equal(walk_outside(reader.threads[0]), SMP_ESTATE);
    assert_int_equal(smp_outside_count(vm.walker, SMP_PROOF_UNSURE), 1);
    fake_vm.main_thread.depth = 0;
    assert_int_equal(walk_by_jvmti(reader.threads[0]), SMP_OK);
    assert_int_equal(walk_outside(reader.threads[0]), SMP_ESTATE);
    fake_vm.main_thread.depth = 1;
    fake_vm.errors[FAKE_GetStackTrace] = JVMTI_ERROR_INTERNAL;
    assert_int_equal(walk_by_jvmti(reader.threads[0]), SMP_EVM);
    assert_int_equal(walk_outside(reader.threads[0]), SMP_ESTATE);
    fake_vm.errors[FAKE_GetStackTrace] = JVMTI_ERROR_NONE;
    assert_int_equal(vm.walks, 0);
    assert_int_equal(walk_by_jvmti(reader.threads[0]), SMP_OK);
    assert_int_equal(walk_outside(reader.threads[0]), SMP_OK);
    assert_int_equal(vm.walks, 1);
}

/* Only a thread whose ThreadEnd is still to come can wait: so thousands of threads need no
 * handshake. */
static void an_older_thread_that_waits_is_walked_at_once(void **state)
{
    static const jint others[] = { JVMTI_THREAD_STATE_TERMINATED,
                                   JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_RUNNABLE,
                                   JVMTI_THREAD_STATE_ALIVE |
                                       JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER };

    (void)state;
    fake_vm_poll(&reader);
    know(reader.threads[0]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        fake_vm.main_thread.status = others[i];
        assert_int_equal(walk_outside(reader.threads[0]), SMP_ESTATE);
    }
    assert_int_equal(vm.walks, 0);
    fake_vm.main_thread.status = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_WAITING |
                                 JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT |
                                 JVMTI_THREAD_STATE_PARKED;
    assert_int_equal(walk_outside(reader.threads[0]), SMP_OK);
    assert_int_equal(vm.walks, 1);
}

/* The scan finds it while its ThreadStart is delivered. */
static void a_start_event_proves_that_a_listed_thread_lives(void **state)
{
    (void)state;
    fake_vm_thread_start(&fake_vm.main_thread);
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 1);
    know(reader.threads[0]);
    assert_int_equal(walk_outside(reader.threads[0]), SMP_OK);
}

static void the_stack_of_an_older_thread_is_found_by_its_thread_object(void **state)
{
    struct fake_thread java_thread;
    struct smp_thread *thread = start(&java_thread);
    struct smp_walk_info *info = smp_threads_walk_info(thread);

    (void)state;
    assert_null(smp_safe_read_refusal());
    info->stack_low = info->stack_high = 0;
    vm.stack_base = (uintptr_t)(vm.stack + DEPTH);
    vm.stack_size = 0;
    assert_int_equal(walk_outside(thread), SMP_ESTATE);
    assert_int_equal(info->stack_high, 0);
    vm.stack_size = sizeof(vm.stack);
    assert_int_equal(walk_outside(thread), SMP_OK);
    assert_int_equal(info->stack_low, (uintptr_t)vm.stack);
    assert_int_equal(info->stack_high, (uintptr_t)(vm.stack + DEPTH));
}

static void a_thread_in_native_code_is_walked(void **state)
{
    struct fake_thread java_thread;
    struct smp_thread *thread = start(&java_thread);

    (void)state;
    assert_int_equal(walk_outside(thread), SMP_OK);
    vm.state = STATE_IN_NATIVE;
    assert_int_equal(walk_outside(thread), SMP_OK);
    vm.state = STATE_BLOCKED;
    vm.cpu_step_ns = 400;
    vm.cpu_steps = 4;
    assert_int_equal(walk_outside(thread), SMP_ESTATE);
}

/* ----------------------------------------------------------------------------------------- ends */

static struct fake_thread ending;
static pthread_t end;
static _Atomic int ended;

static void *end_it(void *unused)
{
    (void)unused;
    (void)fake_vm_jni(); /* attached, as a thread of the JVM is */
    fake_vm_thread_end(&ending);
    ended = 1;
    fake_vm_detach();
    return NULL;
}

/* The end of the thread begins during the walk, and reaches its gate before the walk ends. */
static void begin_the_end(void)
{
    struct smp_walk_info *info = smp_threads_walk_info(reader.threads[reader.count - 1]);

    if (vm.walks > 1)
        return;
    assert_int_equal(pthread_create(&end, NULL, end_it, NULL), 0);
    while (smp_gate_enter(&info->gate)) {
        assert_true(smp_gate_leave(&info->gate));
        (void)sched_yield();
    }
    assert_int_equal(ended, 0);
}

static void a_thread_ends_after_its_walk(void **state)
{
    struct smp_thread *thread = start(&ending);

    (void)state;
    ended = 0;
    vm.meanwhile = begin_the_end;
    assert_int_equal(walk_outside(thread), SMP_OK);
    pthread_join(end, NULL);
    assert_int_equal(ended, 1);
    assert_int_not_equal(thread->ended_ns, 0);
    assert_int_equal(smp_threads_walk_info(thread)->java_thread, 0);
    vm.walks = 0;
    assert_int_equal(walk_outside(thread), SMP_ESTATE);
    assert_int_equal(vm.walks, 0);
    assert_int_equal(smp_outside_count(vm.walker, SMP_PROOF_ENDED), 1);
}

static void no_thread_is_walked_after_the_end_of_the_jvm(void **state)
{
    struct fake_thread java_thread;
    struct smp_thread *thread = start(&java_thread);

    (void)state;
    fake_vm_death();
    assert_int_equal(walk_outside(thread), SMP_ESTATE);
    assert_int_equal(walk_by_jvmti(thread), SMP_EPHASE);
    assert_int_equal(vm.walks, 0);
    fake_vm_thread_end(&java_thread);
}

/* ------------------------------------------------------------------------------------- bad luck */

static enum smp_status create_and_destroy(void *unused)
{
    struct smp_outside *walker = NULL;
    const enum smp_status status = smp_outside_create(CAPACITY, NULL, &walker);

    (void)unused;
    if (status == SMP_OK)
        smp_outside_destroy(walker);
    return status;
}

static void without_memory_opening_leaves_nothing(void **state)
{
    struct smp_outside *walker = NULL;

    (void)state;
    fake_vm_drop_all(&reader);
    smp_outside_destroy(vm.walker);
    vm.walker = NULL;
    smp_agent_close();
    assert_int_equal(failing_alloc_each_step(create_and_destroy, NULL).survived, 0);
    assert_int_equal(smp_outside_create(1, NULL, &walker), SMP_EINVAL);
    smp_outside_destroy(NULL);
    assert_int_equal(smp_agent_open(), SMP_OK);
}

/* While reading from outside is off, JVMTI walks, and no failure is counted. */
static void if_reading_from_outside_is_off_it_says_so(void **state)
{
    struct fake_thread java_thread;
    struct smp_thread *thread = start(&java_thread);

    (void)state;
    smp_outside_destroy(vm.walker);
    assert_int_equal(smp_outside_create(CAPACITY, NULL, &vm.walker), SMP_OK);
    assert_int_equal(walk_outside(thread), SMP_EUNSUPPORTED);
    assert_int_equal(word_of(thread), SMP_WORD_UNKNOWN);
    smp_outside_open();
    assert_false(smp_outside_is_usable());
    assert_int_equal(walk_outside(thread), SMP_EUNSUPPORTED);
    smp_outside_close();
}

/* JVMTI's stack of a carrier lacks frames while a virtual thread is mounted. */
static void a_carriers_stack_is_not_compared(void **state)
{
    struct fake_thread java_thread;
    struct smp_thread *thread = start(&java_thread);

    (void)state;
    smp_cross_check_set_each(1);
    smp_threads_walk_info(thread)->is_carrier = true;
    assert_int_equal(walk_outside(thread), SMP_OK);
    assert_int_equal(sample.count, DEPTH);
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 0);
}

/* Must be the last test: reading from outside is off afterwards. */
static void a_stack_unlike_jvmtis_disables_reading_from_outside(void **state)
{
    char refusal[SMP_LAYOUT_REASON_BYTES];
    struct fake_thread java_thread;
    struct smp_thread *thread = start(&java_thread);

    (void)state;
    assert_int_equal(walk_outside(thread), SMP_OK);
    smp_cross_check_set_each(1);
    assert_int_equal(walk_outside(thread), SMP_ESTATE);
    assert_false(smp_hotspot_is_refused()); /* the thread may have run without CPU time */
    smp_cross_check_set_each(1000);         /* the next one is compared even so */
    assert_int_equal(walk_outside(thread), SMP_ESTATE);
    smp_hotspot_refusal(refusal);
    assert_string_equal(refusal, "found wrong, a stack of 3 frames read as 11");
    assert_int_equal(walk_outside(thread), SMP_EUNSUPPORTED);
    assert_int_equal(walk_by_jvmti(thread), SMP_OK);
    smp_outside_open(); /* another session changes nothing */
    smp_hotspot_refusal(refusal);
    assert_string_equal(refusal, "found wrong, a stack of 3 frames read as 11");
    assert_false(smp_outside_is_usable());
    smp_outside_close();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_proven_stack_becomes_the_sample),
        TEST(a_method_without_an_id_is_left_to_jvmti),
        TEST(a_method_without_an_id_has_the_names_that_were_copied),
        TEST(a_thread_that_has_just_run_is_tried_once_more),
        TEST(a_thread_without_frames_has_none),
        TEST(the_jvms_state_of_a_thread_is_known),
        TEST(an_older_thread_is_walked_after_jvmti_has_seen_its_frames),
        TEST(an_older_thread_that_waits_is_walked_at_once),
        TEST(a_start_event_proves_that_a_listed_thread_lives),
        TEST(the_stack_of_an_older_thread_is_found_by_its_thread_object),
        TEST(a_thread_in_native_code_is_walked),
        TEST(a_thread_ends_after_its_walk),
        TEST(no_thread_is_walked_after_the_end_of_the_jvm),
        TEST(without_memory_opening_leaves_nothing),
        TEST(if_reading_from_outside_is_off_it_says_so),
        TEST(a_carriers_stack_is_not_compared),
        TEST(a_stack_unlike_jvmtis_disables_reading_from_outside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
