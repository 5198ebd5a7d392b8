/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmti_status.h - converts a JVMTI error to a status.
 *
 * Callers must expect SMP_EGONE and SMP_EPHASE from any call: the thread may have ended, or the
 * JVM may be shutting down.
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
