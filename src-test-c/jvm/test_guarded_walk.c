/* SPDX-License-Identifier: Apache-2.0 */
/* Sends real signals to a thread that runs on a stack of the test. The request says which stack is
 * the thread's own, so a coroutine is simulated by a thread whose request names another stack. */
#include "handler/guarded_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "handler/registers.h"
#include "jvm/walk/signals.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum {
    FRAMES = 16,
    METHOD = 0x1230,
    IN_NATIVE = 4,
    LARGE = 256 * 1024,
    NARROW = 3072, /* besides the kernel's frame: room for a handler that checks and returns */
    /* maximum size of the kernel's frame, if the kernel does not report it */
    SIGNAL_FRAME = 16384,
    PAINT = 0x5a,
    WAIT_MS = 120000, /* longer than any thread waits for a CPU */
    CODE = 7
};

static char running_on[LARGE] __attribute__((aligned(64 * 1024)));
static char own_stack[LARGE] __attribute__((aligned(64 * 1024)));
static char alternate[LARGE] __attribute__((aligned(64 * 1024)));
static uintptr_t java_thread[8]; /* fields: state; sp, pc, fp of the anchor */
static struct smp_jvm_frame frames[FRAMES];
static struct smp_signal_mailbox *mailbox;
static int number;

static _Atomic uintptr_t walked_at; /* an address on the stack of the walk; 0: there was no walk */
static uintptr_t anchor_sp;         /* where the walk began */
static _Atomic uintptr_t below_at;  /* the same for a handler below ours */

static void jvm_walk(struct smp_jvm_trace *trace, int32_t depth, void *context)
{
    (void)depth;
    (void)context;
    atomic_store(&walked_at, (uintptr_t)__builtin_frame_address(0));
    trace->frames[0] = (struct smp_jvm_frame){ .bci = 5, .method = (void *)METHOD };
    trace->frames[1] = (struct smp_jvm_frame){ .bci = 6, .method = (void *)METHOD };
    trace->count = 2;
}

static int32_t walk_own(const struct smp_own_walk *self, struct smp_frames_start from,
                        uintptr_t stack_high, struct smp_jvm_frame *to, uint32_t capacity,
                        struct smp_stack_cut *cut)
{
    (void)self;
    (void)stack_high;
    (void)capacity;
    (void)cut;
    anchor_sp = from.sp;
    to[0] = (struct smp_jvm_frame){ .bci = 5, .method = (void *)METHOD };
    return 1;
}

static bool find_no_code(const struct smp_own_walk *self, uintptr_t pc, struct smp_blob *out)
{
    (void)self;
    (void)pc;
    (void)out;
    return false;
}

static const struct smp_own_walk own_walk = { .walk = walk_own, .find = find_no_code };

/* ---------------------------------------------------------------------------------- the thread */

static struct {
    pthread_t handle;
    size_t alternate_bytes; /* 0: no alternate stack */
    _Atomic int32_t tid;
    _Atomic bool stop;
} target;

static size_t signal_frame_bytes(void)
{
    const size_t bytes = getauxval(AT_MINSIGSTKSZ);

    return bytes > 0 ? bytes : SIGNAL_FRAME;
}

static void *run(void *unused)
{
    const stack_t stack = { .ss_sp = alternate + LARGE - target.alternate_bytes,
                            .ss_size = target.alternate_bytes };
    const stack_t none = { .ss_flags = SS_DISABLE };

    (void)unused;
    if (sigaltstack(target.alternate_bytes > 0 ? &stack : &none, NULL) == 0)
        atomic_store(&target.tid, (int32_t)syscall(SYS_gettid));
    while (!atomic_load(&target.stop))
        (void)sched_yield();
    (void)sigaltstack(&none, NULL);
    return NULL;
}

static void begin(size_t alternate_bytes)
{
    pthread_attr_t attributes;

    memset(alternate, PAINT, sizeof(alternate));
    atomic_store(&walked_at, 0);
    anchor_sp = 0;
    target.alternate_bytes = alternate_bytes;
    atomic_store(&target.tid, 0);
    atomic_store(&target.stop, false);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, running_on, sizeof(running_on)), 0);
    assert_int_equal(pthread_create(&target.handle, &attributes, run, NULL), 0);
    (void)pthread_attr_destroy(&attributes);
    while (atomic_load(&target.tid) == 0)
        (void)sched_yield();
}

static void end(void)
{
    atomic_store(&target.stop, true);
    assert_int_equal(pthread_join(target.handle, NULL), 0);
}

/* ------------------------------------------------------------------------------------- requests */

static struct smp_walk_target target_on(const char *stack)
{
    return (struct smp_walk_target){ .walk = jvm_walk,
                                     .env = java_thread,
                                     .was_alive = true,
                                     .java_thread = (uintptr_t)java_thread,
                                     .layout = { .state = sizeof(uintptr_t),
                                                 .last_sp = 2 * sizeof(uintptr_t),
                                                 .last_pc = 3 * sizeof(uintptr_t),
                                                 .last_fp = 4 * sizeof(uintptr_t),
                                                 .states.in_native = IN_NATIVE },
                                     .stack_low = (uintptr_t)stack,
                                     .stack_high = stack != NULL ? (uintptr_t)stack + LARGE : 0 };
}

static struct smp_walk_answer request(struct smp_walk_target from)
{
    uint64_t cookie = 0;
    struct smp_signal_slot *slot = smp_signal_take(&cookie);

    assert_non_null(slot);
    slot->target = from;
    slot->mailbox = mailbox;
    slot->frames = frames;
    slot->capacity = FRAMES;
    assert_int_equal(smp_signals_request_tid(number, target.tid, slot, cookie), SMP_OK);
    smp_signals_wait(mailbox, smp_clock_ns() + WAIT_MS * INT64_C(1000000));
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_DONE);
    const struct smp_walk_answer answer = slot->answer;
    smp_signal_release(cookie);
    return answer;
}

static void set_anchor(int32_t state, uintptr_t sp)
{
    java_thread[1] = (uintptr_t)state;
    java_thread[2] = sp;
    java_thread[3] = sp != 0 ? METHOD : 0;
    java_thread[4] = 0;
}

static bool holds(const char *stack, uintptr_t address)
{
    return address - (uintptr_t)stack < LARGE;
}

/* ---------------------------------------------------------------------------------------- tests */

static void test_the_walk_runs_on_the_alternate_stack(void **state)
{
    (void)state;
    begin(LARGE);
    assert_int_equal(request(target_on(running_on)).answer, SMP_ANSWER_WHOLE);
    assert_true(holds(alternate, atomic_load(&walked_at)));
    end();
}

static void test_without_an_alternate_stack(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(request(target_on(running_on)).answer, SMP_ANSWER_WHOLE);
    assert_true(holds(running_on, atomic_load(&walked_at)));
    end();
}

/* The handler uses some stack besides the kernel's frame, and nothing below. */
static void test_an_alternate_stack_without_room(void **state)
{
    const size_t bytes = signal_frame_bytes() + NARROW;

    (void)state;
    begin(bytes);
    const struct smp_walk_answer answer = request(target_on(running_on));
    assert_int_equal(answer.answer, SMP_ANSWER_FOREIGN_STACK);
    assert_int_equal(answer.count, 0);
    assert_int_equal(atomic_load(&walked_at), 0);
    for (size_t i = 0; i < LARGE - bytes; i++)
        assert_int_equal(alternate[i], PAINT);
    end();
}

static void test_a_stack_that_is_not_the_threads_own(void **state)
{
    (void)state;
    begin(LARGE);
    set_anchor(CODE, 0);
    assert_int_equal(request(target_on(own_stack)).answer, SMP_ANSWER_FOREIGN_STACK);
    assert_int_equal(atomic_load(&walked_at), 0);
    end();
}

/* The handler has to run on the current stack. */
static void test_a_foreign_stack_without_an_alternate_one(void **state)
{
    (void)state;
    begin(0);
    set_anchor(IN_NATIVE, (uintptr_t)own_stack + LARGE / 2);
    struct smp_walk_target from = target_on(own_stack);
    from.own = &own_walk;
    assert_int_equal(request(from).answer, SMP_ANSWER_FOREIGN_STACK);
    assert_int_equal(atomic_load(&walked_at), 0);
    assert_int_equal(anchor_sp, 0);
    end();
}

static void test_a_native_method_on_a_foreign_stack(void **state)
{
    const uintptr_t sp = (uintptr_t)own_stack + LARGE / 2;

    (void)state;
    begin(LARGE);
    struct smp_walk_target from = target_on(own_stack);
    from.own = &own_walk;
    set_anchor(CODE, sp); /* in any other state the frames may change */
    assert_int_equal(request(from).answer, SMP_ANSWER_FOREIGN_STACK);
    assert_int_equal(anchor_sp, 0);
    set_anchor(IN_NATIVE, sp);
    const struct smp_walk_answer answer = request(from);
    assert_int_equal(answer.answer, SMP_ANSWER_WHOLE);
    assert_int_equal(answer.count, 1);
    assert_ptr_equal(frames[answer.first].method, (void *)METHOD);
    assert_int_equal(anchor_sp, sp);
    set_anchor(IN_NATIVE, 0); /* no Java frames */
    assert_int_equal(request(from).answer, SMP_ANSWER_FOREIGN_STACK);
    set_anchor(IN_NATIVE, (uintptr_t)alternate); /* not on the thread's stack */
    assert_int_equal(request(from).answer, SMP_ANSWER_FOREIGN_STACK);
    assert_int_equal(atomic_load(&walked_at), 0);
    end();
}

/* Without bounds, only the JVM's own code certainly runs on the thread's stack. */
static void test_a_stack_of_unknown_bounds(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(request(target_on(NULL)).answer, SMP_ANSWER_WHOLE);
    end();
    begin(LARGE);
    assert_int_equal(request(target_on(NULL)).answer, SMP_ANSWER_FOREIGN_STACK);
    assert_int_equal(atomic_load(&walked_at), 0);
    end();
}

/* For example with few StackShadowPages, the end of the stack may be nearer than the depth of a
 * walk. */
static void test_the_guard_pages_are_near(void **state)
{
    struct smp_walk_target from = target_on(running_on);

    (void)state;
    begin(0);
    from.guard_end = from.stack_low + LARGE / 2;
    assert_int_equal(request(from).answer, SMP_ANSWER_WHOLE);
    from.guard_end = from.stack_high - SMP_WALK_ROOM_BYTES;
    assert_int_equal(request(from).answer, SMP_ANSWER_FOREIGN_STACK);
    end();
}

/* The signal of a CPU timer. */
static void test_a_timer(void **state)
{
    static struct smp_cpu_pool pool;
    static struct smp_thread thread;
    siginfo_t info;
    uint64_t cookie = 0;
    struct smp_cpu_timer *timer = smp_cpu_timer_take(&cookie);

    (void)state;
    assert_non_null(timer);
    atomic_store(&pool.free, 1);
    pool.samples[0].frames = frames;
    pool.samples[0].capacity = FRAMES;
    timer->target = target_on(own_stack);
    timer->thread = &thread;
    timer->pool = &pool;
    begin(LARGE);
    smp_cpu_timer_arm(timer);
    memset(&info, 0, sizeof(info));
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = (void *)(uintptr_t)cookie;
    assert_int_equal(syscall(SYS_rt_tgsigqueueinfo, getpid(), target.tid, number, &info), 0);
    while (atomic_load(&pool.done) == 0)
        (void)sched_yield();
    assert_int_equal(pool.samples[0].answer.answer, SMP_ANSWER_FOREIGN_STACK);
    assert_int_equal(atomic_load(&walked_at), 0);
    end();
    smp_cpu_timer_close(timer);
    smp_cpu_timer_free(timer);
}

/* --- other handlers of the same signal --- */

static void note_stack(int unused, siginfo_t *info, void *context)
{
    (void)unused;
    (void)info;
    (void)context;
    atomic_store(&below_at, (uintptr_t)__builtin_frame_address(0));
}

/* The handler installed before ours did not request the alternate stack, and runs on it. */
static void test_a_handler_below_ours(void **state)
{
    siginfo_t info;

    (void)state;
    begin(LARGE);
    memset(&info, 0, sizeof(info));
    info.si_code = SI_QUEUE;
    assert_int_equal(syscall(SYS_rt_tgsigqueueinfo, getpid(), target.tid, number, &info), 0);
    while (atomic_load(&below_at) == 0)
        (void)sched_yield();
    assert_true(holds(alternate, atomic_load(&below_at)));
    assert_int_equal(request(target_on(running_on)).answer, SMP_ANSWER_WHOLE);
    end();
}

static struct sigaction ours;

static void call_ours(int which, siginfo_t *info, void *context)
{
    ours.sa_sigaction(which, info, context);
}

/* A handler installed after ours that did not request the alternate stack calls ours on the
 * current stack. */
static void test_a_handler_above_ours(void **state)
{
    struct sigaction above = { .sa_sigaction = call_ours, .sa_flags = SA_SIGINFO | SA_RESTART };

    (void)state;
    assert_int_equal(sigaction(number, &above, &ours), 0);
    begin(LARGE);
    assert_int_equal(request(target_on(own_stack)).answer, SMP_ANSWER_FOREIGN_STACK);
    assert_int_equal(atomic_load(&walked_at), 0);
    assert_int_equal(request(target_on(running_on)).answer, SMP_ANSWER_WHOLE);
    assert_true(holds(running_on, atomic_load(&walked_at)));
    end();
    assert_int_equal(sigaction(number, &ours, NULL), 0);
}

static int install(void **state)
{
    struct sigaction below = { .sa_sigaction = note_stack, .sa_flags = SA_SIGINFO };

    (void)state;
    number = smp_signals_number(0);
    if (sigaction(number, &below, NULL) != 0 || smp_signals_install(number) != SMP_OK)
        return -1;
    atomic_store(&smp_signal_process.is_open, true);
    mailbox = smp_signals_take_mailbox();
    return mailbox != NULL ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_walk_runs_on_the_alternate_stack),
        cmocka_unit_test(test_without_an_alternate_stack),
        cmocka_unit_test(test_an_alternate_stack_without_room),
        cmocka_unit_test(test_a_stack_that_is_not_the_threads_own),
        cmocka_unit_test(test_a_foreign_stack_without_an_alternate_one),
        cmocka_unit_test(test_a_native_method_on_a_foreign_stack),
        cmocka_unit_test(test_a_stack_of_unknown_bounds),
        cmocka_unit_test(test_the_guard_pages_are_near),
        cmocka_unit_test(test_a_timer),
        cmocka_unit_test(test_a_handler_below_ours),
        cmocka_unit_test(test_a_handler_above_ours),
    };

    return cmocka_run_group_tests(tests, install, NULL);
}
