/* SPDX-License-Identifier: Apache-2.0 */
/* Also runs inside signal handlers; see pauses.h. */
#include "handler/pauses.h"

#include <stdatomic.h>
#include <stdbool.h>

static struct {
    _Atomic bool is_taken;
    _Atomic int64_t longest_ns[SMP_PAUSE_COUNT];
} sessions[SMP_PAUSES_SESSIONS];

void smp_pauses_note(enum smp_pause kind, int64_t ns)
{
    if (ns < SMP_PAUSE_LEAST_NS)
        return;
    for (int i = 0; i < SMP_PAUSES_SESSIONS; i++) {
        int64_t longest_ns = atomic_load(&sessions[i].longest_ns[kind]);
        while (longest_ns < ns &&
               !atomic_compare_exchange_weak(&sessions[i].longest_ns[kind], &longest_ns, ns))
            ;
    }
}

int smp_pauses_open(void)
{
    for (int i = 0; i < SMP_PAUSES_SESSIONS; i++) {
        bool is_taken = false;
        if (!atomic_compare_exchange_strong(&sessions[i].is_taken, &is_taken, true))
            continue;
        for (int kind = 0; kind < SMP_PAUSE_COUNT; kind++)
            atomic_store(&sessions[i].longest_ns[kind], 0);
        return i;
    }
    return SMP_PAUSES_SESSIONS;
}

void smp_pauses_close(int session)
{
    if (session < SMP_PAUSES_SESSIONS)
        atomic_store(&sessions[session].is_taken, false);
}

int64_t smp_pauses_take(int session, enum smp_pause kind)
{
    return session < SMP_PAUSES_SESSIONS ? atomic_exchange(&sessions[session].longest_ns[kind], 0)
                                         : 0;
}
