/* SPDX-License-Identifier: Apache-2.0 */
#include "vm/vm_signal.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { STANDARD_OFFSET = 4 /* from SIGRTMIN */ };
#define NS_PER_SECOND 1000000000LL

static struct {
    pthread_mutex_t mutex;
    _Atomic uint64_t numbers; /* a bit for each that has the handler */
} installed = { .mutex = PTHREAD_MUTEX_INITIALIZER };

int smp_vm_signal_number(int wanted)
{
    return wanted != 0 ? wanted : SIGRTMIN + STANDARD_OFFSET;
}

static uint64_t bit_of(int number)
{
    return UINT64_C(1) << (number - 1);
}

bool smp_vm_signal_is_installed(int number)
{
    return number > 0 && number < SMP_SIGNAL_NUMBERS &&
           (atomic_load(&installed.numbers) & bit_of(number)) != 0;
}

/* The handler is not interrupted by another profiler's, but by faults: the JVM answers those. */
static void fill_mask(sigset_t *mask)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };

    (void)sigfillset(mask);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        (void)sigdelset(mask, faults[i]);
}

/* The JVM may unload us with our class loader; a handler must stay where it is. */
static bool stay_loaded(void)
{
    Dl_info us;

    return dladdr((const void *)&smp_signal_process, &us) != 0 && us.dli_fname != NULL &&
           (dlopen(us.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL ||
            dlopen(NULL, RTLD_LAZY) != NULL);
}

/*
 * Without SA_ONSTACK: a thread's alternate stack, made for its own handler, may be too small for a
 * walk, while Java keeps 80 KB free below its stack pointer.
 */
static enum smp_status install(int number)
{
    struct sigaction action = { .sa_sigaction = smp_signal_handle,
                                .sa_flags = SA_SIGINFO | SA_RESTART };

    if (!stay_loaded())
        return SMP_EVM;
    fill_mask(&action.sa_mask);
    smp_signal_process.pid = (int32_t)getpid();
    if (sigaction(number, NULL, &smp_signal_process.previous[number]) != 0 ||
        sigaction(number, &action, NULL) != 0)
        return SMP_EINVAL;
    atomic_fetch_or(&installed.numbers, bit_of(number));
    return SMP_OK;
}

enum smp_status smp_vm_signal_install(int number)
{
    enum smp_status status = SMP_OK;

    if (number < 1 || number >= SMP_SIGNAL_NUMBERS)
        return SMP_EINVAL;
    (void)pthread_mutex_lock(&installed.mutex);
    if (!smp_vm_signal_is_installed(number))
        status = install(number);
    (void)pthread_mutex_unlock(&installed.mutex);
    return status;
}

struct smp_signal_mailbox *smp_vm_signal_take_mailbox(void)
{
    for (size_t i = 0; i < SMP_SIGNAL_MAILBOXES; i++) {
        bool free = false;
        if (atomic_compare_exchange_strong(&smp_signal_mailboxes[i].is_taken, &free, true))
            return &smp_signal_mailboxes[i];
    }
    return NULL;
}

void smp_vm_signal_give_mailbox(struct smp_signal_mailbox *mailbox)
{
    if (mailbox != NULL)
        atomic_store(&mailbox->is_taken, false);
}

static enum smp_status send_signal(int number, int32_t tid, uint64_t cookie)
{
    siginfo_t info;

    memset(&info, 0, sizeof(info));
    info.si_signo = number;
    info.si_code = SI_QUEUE;
    info.si_pid = smp_signal_process.pid;
    info.si_uid = getuid();
    info.si_value.sival_ptr = (void *)(uintptr_t)cookie; /* NOLINT(performance-no-int-to-ptr) */
    if (syscall(SYS_rt_tgsigqueueinfo, smp_signal_process.pid, tid, number, &info) == 0)
        return SMP_OK;
    if (errno == EAGAIN)
        return SMP_EQUOTA;
    return errno == ESRCH ? SMP_EGONE : SMP_EVM;
}

enum smp_status smp_vm_signal_ask_tid(int number, int32_t tid, struct smp_signal_slot *slot,
                                      uint64_t cookie)
{
    smp_signal_post(slot);
    const enum smp_status status = send_signal(number, tid, cookie);
    if (status != SMP_OK)
        smp_signal_release(cookie);
    return status;
}

enum smp_status smp_vm_signal_ask(int number, const struct smp_thread *thread,
                                  struct smp_signal_slot *slot, uint64_t cookie)
{
    struct smp_signal_mailbox *mailbox = slot->mailbox;
    const int32_t tid = thread->os_tid;
    enum smp_status status = SMP_EGONE;

    atomic_store(&mailbox->sending_to, tid);
    if (thread->ended_ns == 0)
        status = smp_vm_signal_ask_tid(number, tid, slot, cookie);
    else
        smp_signal_release(cookie);
    atomic_store(&mailbox->sending_to, 0);
    return status;
}

/* The system call lets a signal that has been sent by now arrive. */
void smp_vm_signal_thread_ends(int32_t tid)
{
    for (size_t i = 0; i < SMP_SIGNAL_MAILBOXES; i++) {
        while (atomic_load(&smp_signal_mailboxes[i].sending_to) == tid)
            (void)sched_yield();
    }
    (void)syscall(SYS_gettid);
}

void smp_vm_signal_wait(struct smp_signal_mailbox *mailbox, int64_t deadline_ns)
{
    uint32_t pending = 0;

    atomic_store(&mailbox->is_waiting, true);
    for (pending = atomic_load(&mailbox->pending); pending != 0;
         pending = atomic_load(&mailbox->pending)) {
        const int64_t left_ns = deadline_ns - smp_clock_ns();
        if (left_ns <= 0)
            break;
        const struct timespec timeout = { .tv_sec = left_ns / NS_PER_SECOND,
                                          .tv_nsec = left_ns % NS_PER_SECOND };
        (void)syscall(SYS_futex, &mailbox->pending, FUTEX_WAIT_PRIVATE, pending, &timeout, NULL, 0);
    }
    atomic_store(&mailbox->is_waiting, false);
}
