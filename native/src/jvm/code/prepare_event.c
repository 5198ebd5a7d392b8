/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/code/prepare_event.h"

#include <stdatomic.h>

#include "jvm/agent/agent.h"

static _Atomic unsigned users;

static void set_mode(bool on)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();

    if (smp_agent_is_live())
        (void)(*jvmti)->SetEventNotificationMode(jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                                 JVMTI_EVENT_CLASS_PREPARE, NULL);
}

/* Two users may change it at once: the one that comes last sees what both want. */
void smp_prepare_event_set(enum smp_prepare_user user, bool on)
{
    bool wanted = false;

    if (on)
        (void)atomic_fetch_or(&users, (unsigned)user);
    else
        (void)atomic_fetch_and(&users, ~(unsigned)user);
    do {
        wanted = atomic_load(&users) != 0;
        set_mode(wanted);
    } while ((atomic_load(&users) != 0) != wanted);
}
