/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepare_event.h - the JVM's event ClassPrepare, on while any of its users wants it.
 *
 * Threads  any.
 * Errors   a JVM that is not live is not called.
 * Cost     one JVMTI call where the event goes on or off.
 */
#ifndef SMP_JVM_CODE_PREPARE_EVENT_H
#define SMP_JVM_CODE_PREPARE_EVENT_H

#include <stdbool.h>

enum smp_prepare_user { SMP_PREPARE_METHOD_IDS = 1, SMP_PREPARE_CALLS = 2 };

void smp_prepare_event_set(enum smp_prepare_user user, bool on);

#endif
