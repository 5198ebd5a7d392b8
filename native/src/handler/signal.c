/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs inside a signal handler, except for the requester's functions at the end.
 * src-test-c/checks/async_safe.sh compares the symbols of this folder's objects with a list. It
 * cannot see calls through pointers: to the handler that was installed before ours, and to
 * AsyncGetCallTrace.
 */
#include "handler/signal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/backoff.h"
#include "handler/cookie.h"
#include "handler/guarded_walk.h"
#include "handler/pauses.h"
#include "handler/signal_frame.h"

enum { PASS_BITS = 16 };

_Static_assert((int)SMP_SLOT_FREE == (int)SMP_COOKIE_FREE, "a free slot can be taken");

struct smp_signal_process smp_signal_process;
struct smp_signal_slot smp_signal_slots[SMP_SIGNAL_SLOTS];
struct smp_signal_mailbox smp_signal_mailboxes[SMP_SIGNAL_MAILBOXES];

/* Distinguishes our signals from late signals of another core. */
static uint64_t slot_mark(void)
{
    return smp_cookie_mark(&smp_signal_process);
}

struct smp_signal_slot *smp_signal_slot_of(uint64_t cookie)
{
    return &smp_signal_slots[smp_cookie_index(cookie)];
}

static bool change_slot_state(uint64_t cookie, enum smp_slot_state from, enum smp_slot_state to)
{
    uint64_t expected = smp_cookie_word(cookie, from);

    return atomic_compare_exchange_strong(&smp_signal_slot_of(cookie)->word, &expected,
                                          smp_cookie_word(cookie, to));
}

/* ---------------------------------------------------------------------------------- the handler */

/* The requester has just written the slot on another CPU. Loads all its cache lines at once. */
static void prefetch_slot(const struct smp_signal_slot *slot)
{
    for (size_t at = 0; at < sizeof(*slot); at += SMP_SIGNAL_ALIGNMENT)
        __builtin_prefetch((const char *)slot + at, 1);
}

static bool is_request(const siginfo_t *info)
{
    const uint64_t cookie = smp_cookie_of_signal(info);

    if (info->si_code != SI_TIMER || !smp_cookie_has(cookie, slot_mark(), SMP_SIGNAL_SLOTS))
        return false;
    prefetch_slot(smp_signal_slot_of(cookie));
    return info->si_timerid == smp_signal_request_id();
}

/* Returns how often we have already passed on this signal. The count is kept, with our mark, in
 * the last bytes of its siginfo_t, which the kernel leaves zero. */
static uint32_t count_passes(siginfo_t *info)
{
    char *const at = (char *)info + sizeof(*info) - sizeof(uint32_t);
    const uint32_t mark = (uint32_t)slot_mark() << PASS_BITS;
    uint32_t word = 0;

    memcpy(&word, at, sizeof(word));
    const uint32_t passes = word >> PASS_BITS == mark >> PASS_BITS ? word - mark : 0;
    word = mark + passes + 1;
    memcpy(at, &word, sizeof(word));
    return passes;
}

/* Without an earlier handler nothing is done, not even the default action. */
static void pass_on_signal(int number, siginfo_t *info, void *context)
{
    const uint32_t installs = atomic_load(&smp_signal_process.installs[number]);
    const uint32_t passes = count_passes(info);

    if (passes >= installs)
        return;
    const struct sigaction *previous = &smp_signal_process.previous[number][installs - 1 - passes];

    atomic_fetch_add_explicit(&smp_signal_process.foreign, 1, memory_order_relaxed);
    /* SIG_DFL and SIG_IGN are not functions, even with SA_SIGINFO. */
    if (previous->sa_handler == SIG_DFL || previous->sa_handler == SIG_IGN)
        return;
    if ((previous->sa_flags & SA_SIGINFO) != 0)
        previous->sa_sigaction(number, info, context);
    else
        previous->sa_handler(number);
}

static int64_t handler_clock_ns(void)
{
    struct timespec now = { 0 };

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

struct timing {
    bool is_counted; /* counts for the median */
    int64_t start_ns;
};

static struct timing begin_timing(void)
{
    const uint64_t number =
        atomic_fetch_add_explicit(&smp_signal_process.walks, 1, memory_order_relaxed);
    const bool is_counted = number % SMP_SIGNAL_TIMED_EVERY == 0;

    if (is_counted)
        (void)handler_clock_ns(); /* loads the clock's memory, which should not be measured */
    return (struct timing){ .is_counted = is_counted, .start_ns = handler_clock_ns() };
}

static void end_timing(struct timing timing)
{
    const uint64_t ns = (uint64_t)(handler_clock_ns() - timing.start_ns);

    smp_pauses_note(SMP_PAUSE_HANDLER, (int64_t)ns);
    if (!timing.is_counted)
        return;
    const uint64_t number =
        atomic_fetch_add_explicit(&smp_signal_process.timed, 1, memory_order_relaxed);

    atomic_fetch_add_explicit(&smp_signal_process.timed_ns, ns, memory_order_relaxed);
    atomic_store_explicit(&smp_signal_process.times_ns[number % SMP_SIGNAL_TIMES],
                          ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX, memory_order_relaxed);
}

/* After DONE the slot may belong to another request, so only the static mailbox is accessed. */
static void count_answer(struct smp_signal_mailbox *mailbox)
{
    (void)atomic_fetch_sub(&mailbox->pending, 1);
}

static void answer_request(uint64_t cookie, ucontext_t *context)
{
    struct smp_signal_slot *slot = smp_signal_slot_of(cookie);
    const bool is_in_time = change_slot_state(cookie, SMP_SLOT_PENDING, SMP_SLOT_BUSY);

    if (!is_in_time && !change_slot_state(cookie, SMP_SLOT_LATE, SMP_SLOT_BUSY)) {
        atomic_fetch_add_explicit(&smp_signal_process.stale, 1, memory_order_relaxed);
        return;
    }
    struct smp_signal_mailbox *mailbox = slot->mailbox;
    __builtin_prefetch(mailbox, 1);
    slot->answer = (struct smp_walk_answer){ .answer = SMP_ANSWER_UNKNOWN_STATE };
    if (atomic_load(&smp_signal_process.is_open))
        smp_guarded_walk(&slot->target, context, slot->frames, slot->capacity, &slot->answer);
    atomic_store(&slot->word, smp_cookie_word(cookie, SMP_SLOT_DONE));
    if (is_in_time)
        count_answer(mailbox);
}

void smp_signal_handle(int number, siginfo_t *info, void *context)
{
    const int saved = errno;

    smp_signal_frame_learn((uintptr_t)__builtin_return_address(0));
    if (is_request(info)) {
        const struct timing timing = begin_timing();
        answer_request(smp_cookie_of_signal(info), context);
        end_timing(timing);
    } else if (smp_cpu_timer_is_for(info)) {
        const struct timing timing = begin_timing();
        if (!smp_cpu_timer_sample(info, context, &smp_signal_process.is_open))
            atomic_fetch_add_explicit(&smp_signal_process.stale, 1, memory_order_relaxed);
        end_timing(timing);
    } else {
        pass_on_signal(number, info, context);
    }
    errno = saved;
}

/* ------------------------------------------------------------------- functions of the requester */

struct smp_signal_slot *smp_signal_take(uint64_t *cookie)
{
    static _Atomic uint32_t next;

    for (uint32_t tries = 0; tries < SMP_SIGNAL_SLOTS; tries++) {
        const uint32_t index = atomic_fetch_add(&next, 1) % SMP_SIGNAL_SLOTS;
        struct smp_signal_slot *slot = &smp_signal_slots[index];
        *cookie = smp_cookie_take(&slot->word, slot_mark(), index, SMP_SLOT_FILLING);
        if (*cookie != 0)
            return slot;
    }
    return NULL;
}

void smp_signal_post(struct smp_signal_slot *slot)
{
    const uint64_t word = atomic_load(&slot->word);

    atomic_fetch_add(&slot->mailbox->pending, 1);
    atomic_store(&slot->word, word - SMP_SLOT_FILLING + SMP_SLOT_PENDING);
}

void smp_signal_spare(uint64_t cookie)
{
    (void)change_slot_state(cookie, SMP_SLOT_FILLING, SMP_SLOT_DONE);
}

enum smp_slot_state smp_signal_state(uint64_t cookie)
{
    const uint64_t word = atomic_load(&smp_signal_slot_of(cookie)->word);
    const enum smp_slot_state state = (enum smp_slot_state)smp_cookie_state(word);

    return word == smp_cookie_word(cookie, state) ? state : SMP_SLOT_FREE;
}

bool smp_signal_give_up(uint64_t cookie)
{
    struct smp_signal_mailbox *mailbox = smp_signal_slot_of(cookie)->mailbox;

    if (!change_slot_state(cookie, SMP_SLOT_PENDING, SMP_SLOT_LATE))
        return false;
    atomic_fetch_sub(&mailbox->pending, 1);
    return true;
}

bool smp_signal_abandon(uint64_t cookie)
{
    (void)smp_signal_give_up(cookie);
    return change_slot_state(cookie, SMP_SLOT_LATE, SMP_SLOT_FREE);
}

void smp_signal_release(uint64_t cookie)
{
    struct smp_signal_mailbox *mailbox = smp_signal_slot_of(cookie)->mailbox;

    if (change_slot_state(cookie, SMP_SLOT_PENDING, SMP_SLOT_FREE))
        atomic_fetch_sub(&mailbox->pending, 1);
    else if (!change_slot_state(cookie, SMP_SLOT_DONE, SMP_SLOT_FREE) &&
             !change_slot_state(cookie, SMP_SLOT_FILLING, SMP_SLOT_FREE))
        (void)change_slot_state(cookie, SMP_SLOT_LATE, SMP_SLOT_FREE);
}

void smp_signal_let_finish(uint64_t cookie)
{
    for (unsigned round = 0; smp_signal_state(cookie) == SMP_SLOT_BUSY; round++)
        smp_backoff(round);
}

/* The system call at the end makes the kernel deliver a signal that was already sent. */
void smp_signal_thread_ends(int32_t tid)
{
    for (size_t i = 0; i < SMP_SIGNAL_MAILBOXES; i++) {
        for (unsigned round = 0; atomic_load(&smp_signal_mailboxes[i].sending_to) == tid; round++)
            smp_backoff(round);
    }
    (void)syscall(SYS_gettid);
}

bool smp_signal_is_busy(const struct smp_signal_slot *slot)
{
    return smp_cookie_state(atomic_load(&slot->word)) == SMP_SLOT_BUSY;
}
