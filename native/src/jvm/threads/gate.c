/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/gate.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define NS_PER_MS INT64_C(1000000)

/* These bits are above the number of readers. */
enum {
    CLOSED = 1 << 16,
    UNSURE = 1 << 17,
    SLEEPS = 1 << 18,   /* a thread sleeps until the last reader leaves */
    GIVEN_UP = 1 << 19, /* that thread has stopped waiting */
    READERS = CLOSED - 1
};

_Static_assert((int)SMP_GATE_READERS < (int)READERS, "the readers' number fits its bits");
_Static_assert(sizeof(struct smp_gate) == sizeof(uint32_t), "the kernel looks at 32 bits");

struct smp_gate smp_gate_process;

static void pause_cpu(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void smp_gate_init_unsure(struct smp_gate *gate)
{
    atomic_store(&gate->word, UNSURE);
}

void smp_gate_confirm(struct smp_gate *gate)
{
    if (smp_gate_is_unsure(gate))
        atomic_fetch_and(&gate->word, ~(uint32_t)UNSURE);
}

bool smp_gate_is_unsure(const struct smp_gate *gate)
{
    return (atomic_load(&gate->word) & UNSURE) != 0;
}

bool smp_gate_enter(struct smp_gate *gate)
{
    uint32_t word = atomic_load(&gate->word);

    do {
        if ((word & (CLOSED | UNSURE)) != 0 || (word & READERS) == SMP_GATE_READERS)
            return false;
    } while (!atomic_compare_exchange_weak(&gate->word, &word, word + 1));
    return true;
}

/* The woken thread may have freed the gate. Waking up a freed word does no harm. */
bool smp_gate_leave(struct smp_gate *gate)
{
    const uint32_t before = atomic_fetch_sub(&gate->word, 1);

    if ((before & SLEEPS) != 0 && (before & READERS) == 1)
        (void)syscall(SYS_futex, &gate->word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    return (before & GIVEN_UP) == 0;
}

void smp_gate_close(struct smp_gate *gate)
{
    atomic_fetch_or(&gate->word, CLOSED);
}

void smp_gate_open(struct smp_gate *gate)
{
    atomic_fetch_and(&gate->word, ~(uint32_t)(CLOSED | SLEEPS | GIVEN_UP));
}

/*
 * Sleeps until the word changes, at most SMP_GATE_SLEEP_MS. Returns the time slept, but no more
 * than that: while the process is stopped (by a signal, in a frozen container, with its machine),
 * so are its readers, which must get their time afterwards.
 */
static int64_t sleep_until_changed(struct smp_gate *gate, uint32_t word)
{
    const int64_t most_ns = SMP_GATE_SLEEP_MS * NS_PER_MS;
    const struct timespec most = { .tv_nsec = (long)most_ns };
    const int64_t start_ns = smp_clock_ns();

    (void)syscall(SYS_futex, &gate->word, FUTEX_WAIT_PRIVATE, word, &most, NULL, 0);
    const int64_t slept_ns = smp_clock_ns() - start_ns;
    return slept_ns < most_ns ? slept_ns : most_ns;
}

static bool is_read(uint32_t word)
{
    return (word & READERS) != 0;
}

bool smp_gate_wait(struct smp_gate *gate, int64_t most_ms)
{
    int64_t left_ns = most_ms * NS_PER_MS;
    uint32_t word = atomic_load(&gate->word);

    for (unsigned i = 0; is_read(word) && i < SMP_GATE_SPINS; i++) {
        pause_cpu();
        word = atomic_load(&gate->word);
    }
    if (!is_read(word))
        return true;
    (void)sched_yield(); /* the reader may wait for this CPU */
    word = atomic_fetch_or(&gate->word, SLEEPS) | SLEEPS;
    while (is_read(word)) {
        if (left_ns <= 0)
            return !is_read(atomic_fetch_or(&gate->word, GIVEN_UP));
        left_ns -= sleep_until_changed(gate, word);
        word = atomic_load(&gate->word);
    }
    return true;
}
