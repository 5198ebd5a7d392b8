/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_events.h - two of the JVM's events: a class has been unloaded, and a class is prepared.
 *
 * ClassUnload counts epochs: what was read from a Method* is believed for one epoch, because the
 * JVM frees the methods of an unloaded class and reuses their addresses. The event comes from a
 * thread of the JVM's own, a little after the class is gone, so an old epoch may stay current for
 * some milliseconds. A wrong name also needs another method at the same two addresses in that time.
 *
 * ClassPrepare is on while any of its users wants it.
 *
 * Owns     the event ClassUnload while open.
 * Threads  open and close: one at a time, attached. prepare: any. The epoch: any, signal handlers
 *          included.
 * Errors   without the event ClassUnload, and while closed, each call returns a new epoch: nothing
 *          is believed. A JVM that is not live is not called.
 * Cost     the epoch: one load. A class that is unloaded: one addition on the JVM's thread.
 *          prepare: one JVMTI call if the event goes on or off.
 */
#ifndef SMP_JVM_CODE_CLASS_EVENTS_H
#define SMP_JVM_CODE_CLASS_EVENTS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns false if this JVM has no such event. Call close in both cases. */
bool smp_class_unload_open(jvmtiEnv *jvmti);
/* jvmti NULL: the JVM is not live. */
void smp_class_unload_close(jvmtiEnv *jvmti);

/* Never returns 0. Read the epoch before the data that it guards. */
uint64_t smp_class_unload_epoch(void);

enum smp_prepare_user { SMP_PREPARE_METHOD_IDS = 1, SMP_PREPARE_CALLS = 2 };

void smp_prepare_event_set(enum smp_prepare_user user, bool on);

#endif
