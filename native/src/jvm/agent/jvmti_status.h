/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmti_status.h - an error of JVMTI as a status of the core.
 *
 * Wrong phase and dead thread are ordinary: a thread may end between any two calls, and the JVM may
 * be shutting down.
 *
 * Threads  any.
 * Cost     constant.
 */
#ifndef SMP_JVM_AGENT_JVMTI_STATUS_H
#define SMP_JVM_AGENT_JVMTI_STATUS_H

#include <jvmti.h>

#include "base/status.h"

SMP_CHECKED enum smp_status smp_jvmti_status(jvmtiError error);

#endif
