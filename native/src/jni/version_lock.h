/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version_lock.h - cores of different versions do not sample the same JVM at the same time: each
 * would have its events and handlers, and would sample the threads of the other.
 *
 * Threads  any.
 * Errors   SMP_EUNSUPPORTED with a message that names the other one's file, and both versions where
 *          they differ.
 * Cost     begin: a pass over the list of mapped files.
 */
#ifndef SMP_JNI_VERSION_LOCK_H
#define SMP_JNI_VERSION_LOCK_H

#include "base/status.h"
#include "model/options.h"

/* For each session that is started; paired with end where it is SMP_OK. */
SMP_CHECKED enum smp_status smp_version_lock_begin(char message[SMP_OPTIONS_MESSAGE_BYTES]);
void smp_version_lock_end(void);

#endif
