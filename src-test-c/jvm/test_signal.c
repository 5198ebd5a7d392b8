/* SPDX-License-Identifier: Apache-2.0 */
/* Real signals to ordinary threads; only AsyncGetCallTrace is fake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "handler/cookie.h"
#include "jvm/walk/signals.h"
#include "support/seccomp.h"

enum {
    FRAMES = 16,
    METHOD = 0x1230,
    WAIT_MS = 120000 /* longer than any thread waits for a CPU */
};

static _Atomic int32_t walked_tid;
static _Atomic int foreign_count;
static _Atomic int foreign_value;
static _Atomic bool hold_walks;
static _Atomic bool is_walking;

static void fake_walk(struct smp_jvm_trace *trace, int32_t depth, void *context)
{
    (void)depth;
    (void)context;
    atomic_store(&walked_tid, (int32_t)syscall(SYS_gettid));
    atomic_store(&is_walking, true);
    while (atomic_load(&hold_walks))
        (void)sched_yield();
    atomic_store(&is_walking, false);
    trace->frames[0] = (struct smp_jvm_frame){ .bci = 5, .method = (void *)METHOD };
    trace->frames[1] = (struct smp_jvm_frame){ .bci = 6, .method = (void *)(METHOD + 1) };
    trace->count = 2;
    errno = EXDEV; /* the interrupted code must not see any change of errno */
}

static void foreign(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    atomic_fetch_add(&foreign_count, 1);
    atomic_store(&foreign_value, info->si_value.sival_int);
}

static int number;
static struct smp_signal_mailbox *mailbox;

/* The signal has a handler before ours is installed. */
static int install(void **state)
{
    struct sigaction action = { .sa_sigaction = foreign, .sa_flags = SA_SIGINFO };

    (void)state;
    number = smp_signals_number(0);
    if (sigaction(number, &action, NULL) != 0)
        return -1;
    if (smp_signals_install(number) != SMP_OK || smp_signals_install(number) != SMP_OK)
        return -1;
    atomic_store(&smp_signal_process.is_open, true);
    mailbox = smp_signals_take_mailbox();
    return mailbox != NULL ? 0 : -1;
}

/* ------------------------------------------------------------------------------ a thread to
 * request */

struct walked_thread {
    struct smp_thread thread;
    pthread_t handle;
    _Atomic bool stop;
    _Atomic bool blocks_signals;
    _Atomic bool is_blocking;
    _Atomic uint64_t spins;
    _Atomic uint64_t errno_changes;
};

static void follow_mask(struct walked_thread *target)
{
    sigset_t set;
    const bool wanted = atomic_load(&target->blocks_signals);

    if (wanted == atomic_load(&target->is_blocking))
        return;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, number);
    (void)pthread_sigmask(wanted ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
    atomic_store(&target->is_blocking, wanted);
}

static void *spin(void *self)
{
    struct walked_thread *target = self;
    const stack_t none = { .ss_flags = SS_DISABLE };

    /* Removes the alternate stack of the address sanitizer: with it, a thread without known bounds
     * is not walked. */
    (void)sigaltstack(&none, NULL);
    errno = 0;
    atomic_store(&target->thread.os_tid, (int32_t)syscall(SYS_gettid));
    while (!atomic_load(&target->stop)) {
        follow_mask(target);
        atomic_fetch_add(&target->spins, 1);
        if (errno != 0)
            atomic_fetch_add(&target->errno_changes, 1);
    }
    target->thread.ended_ns = 1;
    smp_signal_thread_ends(target->thread.os_tid);
    return NULL;
}

static void begin(struct walked_thread *target)
{
    memset(target, 0, sizeof(*target));
    assert_int_equal(pthread_create(&target->handle, NULL, spin, target), 0);
    while (target->thread.os_tid == 0)
        (void)sched_yield();
}

static void end(struct walked_thread *target)
{
    const long tid = atomic_load(&target->thread.os_tid);

    atomic_store(&target->stop, true);
    assert_int_equal(pthread_join(target->handle, NULL), 0);
    /* After the join the kernel's list may still contain the thread, and a signal would reach
     * it. */
    while (syscall(SYS_tgkill, getpid(), tid, 0) == 0)
        (void)sched_yield();
}

static void block(struct walked_thread *target, bool blocks)
{
    atomic_store(&target->blocks_signals, blocks);
    while (atomic_load(&target->is_blocking) != blocks)
        (void)sched_yield();
}

/* ------------------------------------------------------------------------------------- requests */

static struct smp_jvm_frame frames[FRAMES];

static struct smp_signal_slot *fill(uint64_t *cookie)
{
    struct smp_signal_slot *slot = smp_signal_take(cookie);

    assert_non_null(slot);
    slot->target = (struct smp_walk_target){ .walk = fake_walk, .env = &number };
    slot->mailbox = mailbox;
    slot->frames = frames;
    slot->capacity = FRAMES;
    return slot;
}

static uint64_t request_into(struct walked_thread *target, struct smp_jvm_frame *room)
{
    uint64_t cookie = 0;
    struct smp_signal_slot *slot = fill(&cookie);

    slot->frames = room;
    assert_int_equal(smp_signals_request(number, &target->thread, slot, cookie), SMP_OK);
    return cookie;
}

static uint64_t request_walk(struct walked_thread *target)
{
    return request_into(target, frames);
}

static void wait_ms(int64_t ms)
{
    smp_signals_wait(mailbox, smp_clock_ns() + ms * 1000000);
}

/* id: of the sender or of the timer. */
static void send_value(int32_t tid, int32_t id, int code, uint64_t value)
{
    siginfo_t info;

    memset(&info, 0, sizeof(info));
    info.si_signo = number;
    info.si_code = code;
    info.si_timerid = id;
    info.si_value.sival_ptr = (void *)(uintptr_t)value;
    assert_int_equal(syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, number, &info), 0);
}

static void send_cookie(int32_t tid, uint64_t cookie)
{
    send_value(tid, smp_signal_request_id(), SI_TIMER, cookie);
}

static void test_a_requested_thread_walks_itself(void **state)
{
    struct walked_thread target;

    (void)state;
    begin(&target);
    for (int i = 0; i < 200; i++) {
        const uint64_t cookie = request_walk(&target);
        wait_ms(WAIT_MS);
        assert_int_equal(smp_signal_state(cookie), SMP_SLOT_DONE);
        const struct smp_walk_answer answer = smp_signal_slot_of(cookie)->answer;
        assert_int_equal(answer.answer, SMP_ANSWER_WHOLE);
        assert_int_equal(answer.count, 2);
        assert_ptr_equal(frames[answer.first].method, (void *)METHOD);
        assert_int_equal(atomic_load(&walked_tid), target.thread.os_tid);
        smp_signal_release(cookie);
        assert_int_equal(smp_signal_state(cookie), SMP_SLOT_FREE);
    }
    end(&target);
    assert_int_equal(target.errno_changes, 0);
    assert_int_equal(atomic_load(&mailbox->pending), 0);
}

static void test_many_threads_are_requested_at_once(void **state)
{
    enum { THREADS = 8 };
    struct walked_thread target[THREADS];
    uint64_t cookies[THREADS];
    struct smp_jvm_frame room[THREADS][FRAMES];

    (void)state;
    for (size_t i = 0; i < THREADS; i++)
        begin(&target[i]);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < THREADS; i++)
            cookies[i] = request_into(&target[i], room[i]);
        wait_ms(WAIT_MS);
        for (size_t i = 0; i < THREADS; i++) {
            assert_int_equal(smp_signal_state(cookies[i]), SMP_SLOT_DONE);
            smp_signal_release(cookies[i]);
        }
    }
    for (size_t i = 0; i < THREADS; i++)
        end(&target[i]);
}

/* Sanitizers deliver signals a little later than the system, and only one of them at a time. */
static void expect_foreign(int count)
{
    for (int i = 0; i < WAIT_MS && atomic_load(&foreign_count) != count; i++)
        (void)usleep(1000);
    assert_int_equal(atomic_load(&foreign_count), count);
}

/* As many as a JVM may have, side by side, each of the same size as a copy. */
static void test_copies_of_the_library_have_different_marks(void **state)
{
    enum { COPIES = 64, FROM_MB = 1, TILL_MB = 64 };
    const uintptr_t lowest = UINT64_C(0x7f1234567000);

    (void)state;
    for (uintptr_t mb = FROM_MB; mb <= TILL_MB; mb++) {
        for (uintptr_t i = 1; i < COPIES; i++) {
            const uintptr_t other = lowest + i * (mb << 20);
            assert_int_not_equal(smp_cookie_mark((const void *)lowest),
                                 smp_cookie_mark((const void *)other));
        }
    }
}

static void test_signals_of_others_are_passed_on(void **state)
{
    const int32_t me = (int32_t)syscall(SYS_gettid);
    const union sigval value = { .sival_int = 4711 };
    uint64_t cookie = 0;

    (void)state;
    (void)fill(&cookie);
    atomic_store(&foreign_count, 0);
    assert_int_equal(sigqueue(getpid(), number, value), 0);
    expect_foreign(1);
    assert_int_equal(atomic_load(&foreign_value), 4711);
    /* our cookie, sent in another way */
    send_value(me, smp_signal_request_id(), SI_QUEUE, cookie);
    expect_foreign(2);
    send_value(me, smp_signal_request_id() - 1, SI_TIMER, cookie); /* from another process */
    expect_foreign(3);
    send_cookie(me, cookie ^ (1ULL << 60));
    expect_foreign(4);
    /* The mark of another core, whose data are elsewhere. */
    assert_int_equal(cookie >> 48, smp_cookie_mark(&smp_signal_process));
    assert_int_not_equal(
        cookie >> 48, smp_cookie_mark((const void *)((uintptr_t)&smp_signal_process + (1 << 20))));
    send_cookie(me, cookie ^ (1ULL << 48));
    expect_foreign(5);
    send_cookie(me, cookie | (0xffffULL << 32)); /* no such slot */
    expect_foreign(6);
    assert_int_equal(raise(number), 0);
    expect_foreign(7);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_FILLING);
    smp_signal_release(cookie);
}

/* A second signal number has its own earlier handler or none: both are independent of the first
 * number's. */
static void test_another_signal_number(void **state)
{
    const int other = number + 1;
    const union sigval value = { .sival_int = 4712 };
    struct sigaction now = { 0 };
    struct walked_thread target;
    uint64_t cookie = 0;

    (void)state;
    assert_false(smp_signals_is_installed(other));
    assert_int_equal(smp_signals_install(other), SMP_OK);
    assert_true(smp_signals_is_installed(other));
    assert_int_equal(smp_signals_install(0), SMP_EINVAL);
    assert_int_equal(smp_signals_install(SMP_SIGNAL_NUMBERS), SMP_EINVAL);
    atomic_store(&foreign_count, 0);
    /* would end this process if it had the default action */
    assert_int_equal(sigqueue(getpid(), other, value), 0);
    assert_int_equal(sigqueue(getpid(), number, value), 0);
    expect_foreign(1);
    assert_int_equal(sigaction(other, NULL, &now), 0);
    assert_ptr_equal(now.sa_sigaction, smp_signal_handle);
    begin(&target);
    struct smp_signal_slot *slot = fill(&cookie);
    assert_int_equal(smp_signals_request(other, &target.thread, slot, cookie), SMP_OK);
    wait_ms(WAIT_MS);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_DONE);
    smp_signal_release(cookie);
    end(&target);
}

/* SIG_IGN is no function, even together with SA_SIGINFO. */
static void test_an_ignored_signal_number(void **state)
{
    const int ignored = number + 2;
    const union sigval value = { .sival_int = 4713 };
    struct sigaction action = { .sa_flags = SA_SIGINFO };

    (void)state;
    action.sa_handler = SIG_IGN;
    assert_int_equal(sigaction(ignored, &action, NULL), 0);
    assert_int_equal(smp_signals_install(ignored), SMP_OK);
    const uint64_t before = atomic_load(&smp_signal_process.foreign);
    assert_int_equal(sigqueue(getpid(), ignored, value), 0);
    for (int i = 0; i < WAIT_MS && atomic_load(&smp_signal_process.foreign) == before; i++)
        (void)usleep(1000);
    assert_int_equal(atomic_load(&smp_signal_process.foreign), before + 1);
}

static int try_to_send(void)
{
    return smp_signals_refusal() == NULL ? 0 : 1;
}

static void test_under_filters_of_system_calls(void **state)
{
    const int permitted = seccomp_run(SYS_rt_tgsigqueueinfo, SECCOMP_RET_ALLOW, try_to_send);

    (void)state;
    if (permitted == SECCOMP_NO_FILTER)
        skip();
    assert_null(smp_signals_refusal());
    assert_int_equal(permitted, 0);
    assert_int_equal(seccomp_run(SYS_rt_tgsigqueueinfo, SECCOMP_RET_ERRNO | EPERM, try_to_send), 1);
    /* This process survives even if the filter ends one that makes the call. */
    assert_int_equal(seccomp_run(SYS_rt_tgsigqueueinfo, SECCOMP_RET_KILL_PROCESS, try_to_send), 1);
    assert_int_equal(seccomp_run(SYS_rt_tgsigqueueinfo, SECCOMP_RET_TRAP, try_to_send), 1);
}

/* One call in a certain number is timed, from beginning to end. */
static void test_the_handler_cost_is_measured(void **state)
{
    enum { SIGNALS = 3 * SMP_SIGNAL_TIMED_EVERY, TIMED = 3 };
    struct smp_handler_cost before;
    struct smp_handler_cost after;
    struct walked_thread target;

    (void)state;
    begin(&target);
    smp_signals_get_handler_cost(&before);
    for (int i = 0; i < SIGNALS; i++) {
        const uint64_t cookie = request_walk(&target);
        wait_ms(WAIT_MS);
        smp_signal_release(cookie);
    }
    end(&target); /* its handlers have finished */
    smp_signals_get_handler_cost(&after);
    assert_int_equal(after.signals - before.signals, SIGNALS);
    assert_int_equal(after.timed - before.timed, TIMED);
    assert_true(after.timed_ns > before.timed_ns);
    assert_true(after.median_ns > 0);
    assert_true(after.median_ns <= after.timed_ns);
}

/* A signal whose request is over matches no slot. */
static void test_outdated_signals_are_ignored(void **state)
{
    const int32_t me = (int32_t)syscall(SYS_gettid);
    uint64_t cookie = 0;

    (void)state;
    atomic_store(&walked_tid, 0);
    (void)fill(&cookie);
    send_cookie(me, cookie); /* not expected */
    smp_signal_release(cookie);
    send_cookie(me, cookie);
    for (size_t i = 0; i < 2 * SMP_SIGNAL_SLOTS; i++) { /* by now every slot serves others */
        uint64_t other = 0;
        (void)fill(&other);
        smp_signal_release(other);
    }
    send_cookie(me, cookie);
    assert_int_equal(atomic_load(&walked_tid), 0);
    assert_int_equal(atomic_load(&mailbox->pending), 0);
}

/* The wait is over, but the answer is valid. */
static void test_a_late_answer_is_accepted(void **state)
{
    struct walked_thread target;

    (void)state;
    begin(&target);
    block(&target, true);
    atomic_store(&walked_tid, 0);
    const uint64_t cookie = request_walk(&target);
    wait_ms(5);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_PENDING);
    assert_true(smp_signal_give_up(cookie));
    assert_false(smp_signal_give_up(cookie));
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_LATE);
    assert_int_equal(atomic_load(&mailbox->pending), 0);
    block(&target, false);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_DONE);
    assert_int_equal(atomic_load(&walked_tid), target.thread.os_tid);
    assert_int_equal(atomic_load(&mailbox->pending), 0);
    assert_false(smp_signal_abandon(cookie));
    smp_signal_release(cookie);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_FREE);
    end(&target);
}

/* Its slot is free at once, also for other requests. Its frames may be gone: when its signal
 * comes, nothing is walked. */
static void test_an_abandoned_request_is_not_walked(void **state)
{
    struct walked_thread target;

    (void)state;
    begin(&target);
    for (int late = 0; late < 2; late++) {
        block(&target, true);
        atomic_store(&walked_tid, 0);
        const uint64_t cookie = request_walk(&target);
        wait_ms(5);
        if (late == 1)
            assert_true(smp_signal_give_up(cookie));
        assert_true(smp_signal_abandon(cookie));
        assert_false(smp_signal_abandon(cookie));
        assert_int_equal(smp_signal_state(cookie), SMP_SLOT_FREE);
        assert_int_equal(atomic_load(&mailbox->pending), 0);
        for (int i = 0; i < SMP_SIGNAL_SLOTS; i++) {
            uint64_t other = 0;
            assert_non_null(smp_signal_take(&other));
            smp_signal_release(other);
        }
        block(&target, false);
        assert_int_equal(smp_signal_state(cookie), SMP_SLOT_FREE);
        assert_int_equal(atomic_load(&walked_tid), 0);
    }
    end(&target);
}

static void test_a_running_walk_is_not_abandoned(void **state)
{
    struct walked_thread target;

    (void)state;
    begin(&target);
    atomic_store(&hold_walks, true);
    const uint64_t cookie = request_walk(&target);
    while (!atomic_load(&is_walking))
        (void)sched_yield();
    assert_false(smp_signal_give_up(cookie));
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_BUSY);
    assert_true(smp_signal_is_busy(smp_signal_slot_of(cookie)));
    atomic_store(&hold_walks, false);
    wait_ms(WAIT_MS);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_DONE);
    smp_signal_release(cookie);
    end(&target);
}

/* The thread sanitizer has its own handlers; the address sanitizer does not see the frames that a
 * cancellation leaves. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define MAY_CANCEL 0
#else
#define MAY_CANCEL 1
#endif

#if MAY_CANCEL
static void *spin_cancellable(void *self)
{
    (void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    return spin(self);
}

/* An asynchronous cancellation must wait until the handler has returned; otherwise its slot would
 * be BUSY for ever. */
static void test_a_cancelled_thread_ends_its_walk(void **state)
{
    struct walked_thread target;
    void *result = NULL;

    (void)state;
    memset(&target, 0, sizeof(target));
    assert_int_equal(pthread_create(&target.handle, NULL, spin_cancellable, &target), 0);
    while (target.thread.os_tid == 0)
        (void)sched_yield();
    atomic_store(&hold_walks, true);
    const uint64_t cookie = request_walk(&target);
    while (!atomic_load(&is_walking))
        (void)sched_yield();
    assert_int_equal(pthread_cancel(target.handle), 0);
    atomic_store(&hold_walks, false);
    assert_int_equal(pthread_join(target.handle, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_DONE);
    smp_signal_release(cookie);
}
#endif

static void test_a_closed_process_does_not_walk(void **state)
{
    struct walked_thread target;

    (void)state;
    begin(&target);
    atomic_store(&walked_tid, 0);
    atomic_store(&smp_signal_process.is_open, false);
    const uint64_t cookie = request_walk(&target);
    wait_ms(WAIT_MS);
    assert_int_equal(smp_signal_slot_of(cookie)->answer.answer, SMP_ANSWER_UNKNOWN_STATE);
    assert_int_equal(smp_signal_slot_of(cookie)->answer.count, 0);
    assert_int_equal(atomic_load(&walked_tid), 0);
    smp_signal_release(cookie);
    atomic_store(&smp_signal_process.is_open, true);
    end(&target);
}

static void test_an_ended_thread_gets_no_signal(void **state)
{
    struct walked_thread target;
    uint64_t cookie = 0;

    (void)state;
    begin(&target);
    end(&target);
    struct smp_signal_slot *slot = fill(&cookie);
    assert_int_equal(smp_signals_request(number, &target.thread, slot, cookie), SMP_EGONE);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_FREE);
    target.thread.ended_ns = 0; /* as if it had not been set */
    slot = fill(&cookie);
    assert_int_equal(smp_signals_request(number, &target.thread, slot, cookie), SMP_EGONE);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_FREE);
    assert_int_equal(atomic_load(&mailbox->pending), 0);
}

/* Threads end while they are requested: the result is an answer or SMP_EGONE, and never a walk
 * after the end. */
static void test_threads_end_while_they_are_requested(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct walked_thread target;
        uint64_t cookie = 0;
        begin(&target);
        struct smp_signal_slot *slot = fill(&cookie);
        atomic_store(&target.stop, true);
        for (int spins = 0; spins < round * 20; spins++)
            (void)atomic_load(&target.spins);
        const enum smp_status status = smp_signals_request(number, &target.thread, slot, cookie);
        assert_true(status == SMP_OK || status == SMP_EGONE);
        assert_int_equal(pthread_join(target.handle, NULL), 0);
        /* The signal, if there is one, was answered before the thread was allowed to end. */
        assert_int_equal(smp_signal_state(cookie),
                         status == SMP_OK ? SMP_SLOT_DONE : SMP_SLOT_FREE);
        smp_signal_release(cookie);
    }
    assert_int_equal(atomic_load(&mailbox->pending), 0);
}

static void test_requests_fail_if_all_slots_are_in_use(void **state)
{
    static uint64_t cookies[SMP_SIGNAL_SLOTS];
    uint64_t more = 0;

    (void)state;
    for (size_t i = 0; i < SMP_SIGNAL_SLOTS; i++)
        assert_non_null(smp_signal_take(&cookies[i]));
    assert_null(smp_signal_take(&more));
    for (size_t i = 0; i < SMP_SIGNAL_SLOTS; i++) {
        smp_signal_slot_of(cookies[i])->mailbox = mailbox;
        smp_signal_release(cookies[i]);
    }
    assert_non_null(smp_signal_take(&more));
    smp_signal_release(more);
}

/* --- other handlers installed after ours --- */

static struct sigaction ours;
static _Atomic int swallowed;
static _Atomic int chained;

static void swallow(int which, siginfo_t *info, void *context)
{
    (void)which;
    (void)info;
    (void)context;
    atomic_fetch_add(&swallowed, 1);
}

static void chain(int which, siginfo_t *info, void *context)
{
    atomic_fetch_add(&chained, 1);
    ours.sa_sigaction(which, info, context);
}

static void put_above(void (*handler)(int, siginfo_t *, void *))
{
    const struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

    assert_int_equal(sigaction(number, &action, &ours), 0);
}

static enum smp_signals_hold check(char taker[256])
{
    taker[0] = '\0';
    return smp_signals_check(number, taker, 256);
}

static void expect_answer(void)
{
    struct walked_thread target;

    begin(&target);
    const uint64_t cookie = request_walk(&target);
    wait_ms(WAIT_MS);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_DONE);
    smp_signal_release(cookie);
    end(&target);
}

/* The handler `swallow` gets the signal. */
static void expect_no_answer(void)
{
    struct walked_thread target;

    begin(&target);
    atomic_store(&swallowed, 0);
    const uint64_t cookie = request_walk(&target);
    while (atomic_load(&swallowed) == 0)
        (void)sched_yield();
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_PENDING);
    smp_signal_release(cookie);
    end(&target);
}

static void test_a_handler_that_passes_signals_on_is_kept(void **state)
{
    char taker[256];

    (void)state;
    assert_int_equal(check(taker), SMP_SIGNALS_HELD);
    put_above(chain);
    atomic_store(&chained, 0);
    assert_int_equal(check(taker), SMP_SIGNALS_HELD);
    assert_int_equal(chained, 1);
    expect_answer();
    assert_int_equal(chained, 2);
    assert_int_equal(sigaction(number, &ours, NULL), 0);
}

/* Runs in a child process, because the signal number is lost for the others. Returns its exit
 * status. */
static int in_child(void (*run)(void))
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        smp_signal_process.pid = (int32_t)getpid();
        run();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Our handler is installed again, above the other one. The other handler gets the signals that are
 * not ours, once; if it passes one on, the handler below gets it. */
static void take_back_from_others(void)
{
    struct sigaction now;
    char taker[256];
    const int32_t tid = (int32_t)syscall(SYS_gettid);

    put_above(swallow);
    expect_no_answer();
    assert_int_equal(check(taker), SMP_SIGNALS_TAKEN_BACK);
    assert_non_null(strstr(taker, "test_signal"));
    expect_answer();
    atomic_store(&swallowed, 0);
    send_value(tid, getpid(), SI_QUEUE, 42);
    assert_int_equal(swallowed, 1);

    assert_int_equal(sigaction(number, &(struct sigaction){ .sa_handler = SIG_IGN }, &ours), 0);
    assert_int_equal(check(taker), SMP_SIGNALS_TAKEN_BACK);
    expect_answer();
    assert_int_equal(sigaction(number, &(struct sigaction){ .sa_handler = SIG_DFL }, &now), 0);
    assert_int_equal(check(taker), SMP_SIGNALS_TAKEN_BACK);
    assert_string_equal(taker, "the default action");
    expect_answer();

    /* Not repeatedly. */
    put_above(swallow);
    assert_int_equal(check(taker), SMP_SIGNALS_LOST);
    assert_true(smp_signals_is_lost(number));
    assert_int_equal(check(taker), SMP_SIGNALS_LOST);
    assert_int_equal(sigaction(number, &ours, NULL), 0);
    assert_int_equal(check(taker), SMP_SIGNALS_HELD);
    assert_false(smp_signals_is_lost(number));
    expect_answer();
}

static void chain_if_not_ours(int which, siginfo_t *info, void *context)
{
    if (info->si_value.sival_int == 42)
        chain(which, info, context);
}

static void pass_on_in_a_circle(void)
{
    char taker[256];

    put_above(chain_if_not_ours);
    assert_int_equal(check(taker), SMP_SIGNALS_TAKEN_BACK);
    atomic_store(&chained, 0);
    atomic_store(&foreign_count, 0);
    send_value((int32_t)syscall(SYS_gettid), getpid(), SI_QUEUE, 42);
    assert_int_equal(chained, 1);
    assert_int_equal(foreign_count, 1);
}

static void test_a_signal_taken_by_another_handler(void **state)
{
    (void)state;
    assert_int_equal(in_child(take_back_from_others), 0);
    assert_int_equal(in_child(pass_on_in_a_circle), 0);
}

/* --- a program that replaces itself --- */

enum { NONE_PENDING = 40, ONE_PENDING = 41, NO_PROGRAM = 42 };

static const char *own_file;

/* The code of the new program. */
static int say_what_is_pending(void)
{
    sigset_t pending;

    (void)sigpending(&pending);
    return sigismember(&pending, smp_signals_number(0)) == 1 ? ONE_PENDING : NONE_PENDING;
}

/* The signal mask and pending signals are inherited by the new program. */
static void replace_program(void)
{
    char name[] = "test_signal";
    char *arguments[] = { name, name, NULL };

    (void)execv(own_file, arguments);
    _exit(NO_PROGRAM);
}

static void block_number(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, number);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void replace_with_a_request(void)
{
    uint64_t cookie = 0;
    struct smp_signal_slot *slot = fill(&cookie);

    block_number();
    if (smp_signals_request_tid(number, (int32_t)syscall(SYS_gettid), slot, cookie) == SMP_OK)
        replace_program();
}

static void replace_with_another_signal(void)
{
    block_number();
    send_value((int32_t)syscall(SYS_gettid), getpid(), SI_QUEUE, 42);
    replace_program();
}

static void test_no_request_survives_exec(void **state)
{
    const int left = in_child(replace_with_another_signal);

    (void)state;
    if (left == NO_PROGRAM)
        skip(); /* an emulator runs this program */
    assert_int_equal(left, ONE_PENDING);
    assert_int_equal(in_child(replace_with_a_request), NONE_PENDING);
}

static void test_the_number_of_mailboxes_is_limited(void **state)
{
    struct smp_signal_mailbox *taken[SMP_SIGNAL_MAILBOXES];
    size_t count = 0;

    (void)state;
    for (struct smp_signal_mailbox *one = smp_signals_take_mailbox(); one != NULL;
         one = smp_signals_take_mailbox())
        taken[count++] = one;
    /* this thread's mailbox is the remaining one */
    assert_int_equal(count, SMP_SIGNAL_MAILBOXES - 1);
    while (count > 0)
        smp_signals_give_mailbox(taken[--count]);
}

/* With an argument it is the program with which a test replaces itself. */
int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_requested_thread_walks_itself),
        cmocka_unit_test(test_many_threads_are_requested_at_once),
        cmocka_unit_test(test_signals_of_others_are_passed_on),
        cmocka_unit_test(test_copies_of_the_library_have_different_marks),
        cmocka_unit_test(test_another_signal_number),
        cmocka_unit_test(test_an_ignored_signal_number),
        cmocka_unit_test(test_under_filters_of_system_calls),
        cmocka_unit_test(test_the_handler_cost_is_measured),
        cmocka_unit_test(test_outdated_signals_are_ignored),
        cmocka_unit_test(test_a_late_answer_is_accepted),
        cmocka_unit_test(test_an_abandoned_request_is_not_walked),
        cmocka_unit_test(test_a_running_walk_is_not_abandoned),
#if MAY_CANCEL
        cmocka_unit_test(test_a_cancelled_thread_ends_its_walk),
#endif
        cmocka_unit_test(test_a_closed_process_does_not_walk),
        cmocka_unit_test(test_an_ended_thread_gets_no_signal),
        cmocka_unit_test(test_threads_end_while_they_are_requested),
        cmocka_unit_test(test_requests_fail_if_all_slots_are_in_use),
        cmocka_unit_test(test_a_handler_that_passes_signals_on_is_kept),
        cmocka_unit_test(test_a_signal_taken_by_another_handler),
        cmocka_unit_test(test_no_request_survives_exec),
        cmocka_unit_test(test_the_number_of_mailboxes_is_limited),
    };

    own_file = arguments[0];
    if (count > 1)
        return say_what_is_pending();
    return cmocka_run_group_tests(tests, install, NULL);
}
