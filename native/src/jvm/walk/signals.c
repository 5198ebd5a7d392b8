/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stay_mapped.h"
#include "base/syscall_filter.h"
#include "base/task_file.h"
#include "base/thread.h"
#include "handler/signal_frame.h"

enum {
    STANDARD_OFFSET = 4,   /* added to SIGRTMIN */
    SLOWING_DOWN = 4,      /* factor between two pauses */
    LAST_PAUSE_NS = 640000 /* maximum pause */
};

static struct {
    pthread_mutex_t mutex;
    _Atomic uint64_t numbers; /* a bit for each number with our handler */
    _Atomic uint64_t lost;    /* a bit for each that another library has taken */
} installed = { .mutex = PTHREAD_MUTEX_INITIALIZER };

int smp_signals_number(int wanted)
{
    return wanted != 0 ? wanted : SIGRTMIN + STANDARD_OFFSET;
}

bool smp_signals_is_installed(int number)
{
    return number > 0 && number < SMP_SIGNAL_NUMBERS &&
           (atomic_load(&installed.numbers) & smp_signal_mask_bit(number)) != 0;
}

bool smp_signals_is_lost(int number)
{
    return (atomic_load(&installed.lost) & smp_signal_mask_bit(number)) != 0;
}

void smp_signals_let_through(void)
{
    sigset_t ours;

    (void)sigemptyset(&ours);
    for (int number = 1; number < SMP_SIGNAL_NUMBERS; number++) {
        if (smp_signals_is_installed(number))
            (void)sigaddset(&ours, number);
    }
    (void)pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
}

/*
 * Blocks all signals but faults while the handler runs. Signals of other profilers must wait,
 * because a walk that starts inside our handler fails (measured: 99 % of the walks of
 * async-profiler in itimer mode). The internal signals of the C library, which sigfillset() omits,
 * must also wait: an asynchronous cancellation during a walk would leave its slot BUSY for ever.
 * Faults are handled by the JVM.
 */
static void fill_mask(sigset_t *mask)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };

    memset(mask, 0xff, sizeof(*mask));
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        (void)sigdelset(mask, faults[i]);
}

/*
 * SA_ONSTACK is needed for threads that run on a small stack of a library, which gives them an
 * alternate stack for handlers. guarded_walk.h checks the size of the alternate stack. A handler
 * that ours calls also runs there, even if it was installed without SA_ONSTACK.
 */
static enum smp_status install_above(int number, const struct sigaction *found)
{
    struct sigaction action = { .sa_sigaction = smp_signal_handle,
                                .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
    const uint32_t installs = atomic_load(&smp_signal_process.installs[number]);

    fill_mask(&action.sa_mask);
    smp_signal_process.previous[number][installs] = *found;
    atomic_store(&smp_signal_process.installs[number], installs + 1);
    return sigaction(number, &action, NULL) == 0 ? SMP_OK : SMP_EINVAL;
}

static enum smp_status install_for(int number)
{
    struct sigaction found;
    enum smp_status status = SMP_EINVAL;

    /* The JVM may unload the library with its class loader, but the handler stays installed. */
    if (!smp_stay_mapped((const void *)&smp_signal_process))
        return SMP_EVM;
    smp_signal_process.pid = (int32_t)getpid();
    if (sigaction(number, NULL, &found) == 0)
        status = install_above(number, &found);
    if (status == SMP_OK)
        atomic_fetch_or(&installed.numbers, smp_signal_mask_bit(number));
    return status;
}

/* --- blocked signals --- */

enum { MASK_DIGITS = 16 };

uint64_t smp_signal_mask_parse(const char *digits)
{
    static const char hexadecimal[] = "0123456789abcdef";
    uint64_t mask = 0;

    for (int i = 0; i < MASK_DIGITS; i++) {
        const char *digit = digits[i] != '\0' ? strchr(hexadecimal, digits[i]) : NULL;
        if (digit == NULL)
            return 0;
        mask = mask << 4 | (uint64_t)(digit - hexadecimal);
    }
    return mask;
}

uint64_t smp_signal_mask_of_tid(int32_t tid)
{
    char digits[MASK_DIGITS + 1];

    return smp_task_file_find(tid, "status", "\nSigBlk:\t", digits, sizeof(digits))
               ? smp_signal_mask_parse(digits)
               : 0;
}

/* --- other libraries' handlers --- */

static bool is_function(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == smp_signal_handle;
}

/* dladdr() takes a data pointer. */
static const void *address_of(const struct sigaction *action)
{
    const void *address = NULL;

    memcpy(&address, &action->sa_handler, sizeof(address));
    return address;
}

static void name_taker(const struct sigaction *action, char *out, size_t size)
{
    Dl_info info;
    const char *name = "code without a file";

    if (action->sa_handler == SIG_DFL)
        name = "the default action";
    else if (action->sa_handler == SIG_IGN)
        name = "the signal is ignored";
    else if (dladdr(address_of(action), &info) != 0 && info.dli_fname != NULL)
        name = info.dli_fname;
    (void)snprintf(out, size, "%s", name);
}

/* Sends one of our signals to the calling thread and returns whether it reached our handler. The
 * signal is delivered before pthread_sigmask() returns. */
static bool passes_on(int number)
{
    struct smp_signal_mailbox *mailbox = smp_signals_take_mailbox();
    uint64_t cookie = 0;
    struct smp_signal_slot *slot = mailbox != NULL ? smp_signal_take(&cookie) : NULL;
    bool is_answered = true; /* without a slot the result is unknown, assume the best */
    sigset_t before;

    if (slot != NULL) {
        slot->target = (struct smp_walk_target){ 0 }; /* the handler cannot walk with it */
        slot->mailbox = mailbox;
        slot->capacity = 0;
        (void)pthread_sigmask(SIG_SETMASK, NULL, &before);
        const enum smp_status status =
            smp_signals_request_tid(number, smp_thread_own_tid(), slot, cookie);
        smp_signals_let_through();
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (status == SMP_OK)
            is_answered = smp_signals_end(cookie);
        smp_signal_release(cookie);
    }
    smp_signals_give_mailbox(mailbox);
    return is_answered;
}

static bool take_back(int number, const struct sigaction *taken)
{
    const bool is_safe = !is_function(taken) || smp_stay_mapped(address_of(taken));

    return is_safe && smp_signal_process.installs[number] < SMP_SIGNAL_INSTALLS &&
           install_above(number, taken) == SMP_OK;
}

static enum smp_signals_hold check_installed(int number, char *taker, size_t size)
{
    struct sigaction now;
    const bool was_lost = smp_signals_is_lost(number);

    if (sigaction(number, NULL, &now) != 0 || is_ours(&now) ||
        (!was_lost && is_function(&now) && passes_on(number))) {
        atomic_fetch_and(&installed.lost, ~smp_signal_mask_bit(number));
        return SMP_SIGNALS_HELD;
    }
    name_taker(&now, taker, size);
    if (!was_lost && take_back(number, &now))
        return SMP_SIGNALS_TAKEN_BACK;
    atomic_fetch_or(&installed.lost, smp_signal_mask_bit(number));
    return SMP_SIGNALS_LOST;
}

enum smp_signals_hold smp_signals_check(int number, char *taker, size_t size)
{
    enum smp_signals_hold hold = SMP_SIGNALS_HELD;

    (void)pthread_mutex_lock(&installed.mutex);
    if (smp_signals_is_installed(number))
        hold = check_installed(number, taker, size);
    (void)pthread_mutex_unlock(&installed.mutex);
    return hold;
}

enum smp_status smp_signals_install(int number)
{
    enum smp_status status = SMP_OK;
    char taker[1];

    if (number < 1 || number >= SMP_SIGNAL_NUMBERS)
        return SMP_EINVAL;
    (void)pthread_mutex_lock(&installed.mutex);
    if (!smp_signals_is_installed(number))
        status = install_for(number);
    else
        (void)check_installed(number, taker, sizeof(taker));
    (void)pthread_mutex_unlock(&installed.mutex);
    return status;
}

/* Insertion sort in place, because there are few numbers. */
static uint64_t median_of(uint32_t *times, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const uint32_t time = times[i];
        size_t at = i;
        for (; at > 0 && times[at - 1] > time; at--)
            times[at] = times[at - 1];
        times[at] = time;
    }
    return count > 0 ? times[count / 2] : 0;
}

void smp_signals_get_handler_cost(struct smp_handler_cost *out)
{
    uint32_t times[SMP_SIGNAL_TIMES];
    size_t count = 0;

    *out = (struct smp_handler_cost){ .signals = smp_signal_process.walks,
                                      .timed = smp_signal_process.timed,
                                      .timed_ns = smp_signal_process.timed_ns,
                                      .in_other_handlers = smp_signal_frame_walks() };
    for (size_t i = 0; i < SMP_SIGNAL_TIMES && i < out->timed; i++) {
        times[count] = smp_signal_process.times_ns[i];
        if (times[count] > 0) /* 0: the entry is not written yet */
            count++;
    }
    out->median_ns = median_of(times, count);
}

struct smp_signal_mailbox *smp_signals_take_mailbox(void)
{
    for (size_t i = 0; i < SMP_SIGNAL_MAILBOXES; i++) {
        bool free = false;
        if (atomic_compare_exchange_strong(&smp_signal_mailboxes[i].is_taken, &free, true))
            return &smp_signal_mailboxes[i];
    }
    return NULL;
}

void smp_signals_give_mailbox(struct smp_signal_mailbox *mailbox)
{
    if (mailbox != NULL)
        atomic_store(&mailbox->is_taken, false);
}

/* Signal 0 is only checked. Uses its own ids, because it runs in a child process. */
static bool send_no_signal(void)
{
    siginfo_t info = { .si_code = SI_TIMER };

    return syscall(SYS_rt_tgsigqueueinfo, syscall(SYS_getpid), syscall(SYS_gettid), 0, &info) == 0;
}

const char *smp_signals_refusal(void)
{
    return smp_syscall_filter_refusal(send_no_signal,
                                      "a filter of system calls forbids rt_tgsigqueueinfo");
}

/* Must follow the reading of the thread's state at once: it may begin to wait in native code. */
static enum smp_status send_signal(int number, int32_t tid, uint64_t cookie)
{
    siginfo_t info;

    memset(&info, 0, sizeof(info));
    info.si_signo = number;
    info.si_code = SI_TIMER;
    info.si_timerid = smp_signal_request_id();
    info.si_value.sival_ptr = (void *)(uintptr_t)cookie; /* NOLINT(performance-no-int-to-ptr) */
    if (syscall(SYS_rt_tgsigqueueinfo, smp_signal_process.pid, tid, number, &info) == 0)
        return SMP_OK;
    if (errno == EAGAIN)
        return SMP_EQUOTA;
    return errno == ESRCH ? SMP_EGONE : SMP_EVM;
}

enum smp_status smp_signals_request_tid(int number, int32_t tid, struct smp_signal_slot *slot,
                                        uint64_t cookie)
{
    smp_signal_post(slot);
    const enum smp_status status = send_signal(number, tid, cookie);
    if (status != SMP_OK)
        smp_signal_release(cookie);
    return status;
}

enum smp_status smp_signals_request(int number, const struct smp_thread *thread,
                                    struct smp_signal_slot *slot, uint64_t cookie)
{
    struct smp_signal_mailbox *mailbox = slot->mailbox;
    const int32_t tid = thread->os_tid;
    enum smp_status status = SMP_EGONE;

    atomic_store(&mailbox->sending_to, tid);
    if (thread->ended_ns == 0)
        status = smp_signals_request_tid(number, tid, slot, cookie);
    else
        smp_signal_release(cookie);
    atomic_store(&mailbox->sending_to, 0);
    return status;
}

/* Sleeps instead of spinning. A running thread answers within microseconds, but a thread without a
 * CPU answers after milliseconds and may need this very CPU. A wake-up costs about 10 us. */
bool smp_signals_pause(struct smp_signal_mailbox *mailbox, int64_t deadline_ns, int64_t *pause_ns)
{
    const int64_t left_ns = deadline_ns - smp_clock_ns();
    const struct timespec pause = { .tv_nsec = *pause_ns < left_ns ? *pause_ns : left_ns };

    if (left_ns <= 0 || atomic_load(&mailbox->pending) == 0)
        return false;
    (void)nanosleep(&pause, NULL);
    if (*pause_ns < LAST_PAUSE_NS)
        *pause_ns *= SLOWING_DOWN;
    return true;
}

void smp_signals_wait(struct smp_signal_mailbox *mailbox, int64_t deadline_ns)
{
    int64_t pause_ns = SMP_SIGNAL_FIRST_PAUSE_NS;

    while (smp_signals_pause(mailbox, deadline_ns, &pause_ns))
        ;
}

bool smp_signals_end(uint64_t cookie)
{
    if (smp_signal_abandon(cookie))
        return false;
    smp_signal_let_finish(cookie);
    return true;
}
