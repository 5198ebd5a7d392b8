/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmti_status.h - what a refusal of JVMTI means to the core.
 *
 * Wrong phase and dead thread are ordinary life: a thread may end between any two calls, and the
 * JVM may be on its way out.
 *
 * Owns     nothing.
 * Threads  any.
 * Errors   none.
 * Cost     constant.
 */
#ifndef SMP_JVM_AGENT_JVMTI_STATUS_H
#define SMP_JVM_AGENT_JVMTI_STATUS_H

#include <jvmti.h>

#include "base/status.h"

SMP_CHECKED enum smp_status smp_jvmti_status(jvmtiError error);

#endif
