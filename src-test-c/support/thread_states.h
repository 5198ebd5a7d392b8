/* SPDX-License-Identifier: Apache-2.0 */
/* thread_states.h - the numbers of the states of threads, up to JDK 27 and from 28 on. */
#ifndef SMP_SUPPORT_THREAD_STATES_H
#define SMP_SUPPORT_THREAD_STATES_H

#include "hotspot/thread_layout.h"

/* Up to JDK 27. An odd state is the transition from the state below it to another one. */
enum {
    STATE_IN_NATIVE = 4,
    STATE_FROM_NATIVE = 5,
    STATE_IN_VM = 6,
    STATE_FROM_VM = 7,
    STATE_IN_JAVA = 8,
    STATE_BLOCKED = 10
};

#define STATES_UNTIL_27                                                               \
    {                                                                                 \
        .in_native = STATE_IN_NATIVE, .in_vm = STATE_IN_VM, .in_java = STATE_IN_JAVA, \
        .blocked = STATE_BLOCKED                                                      \
    }
#define STATES_SINCE_28                                        \
    {                                                          \
        .in_native = 2, .in_vm = 3, .in_java = 4, .blocked = 5 \
    }

#endif
