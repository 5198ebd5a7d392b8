/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_unload.h - how often classes have been unloaded: what is remembered of a Method* is
 * believed for one epoch.
 *
 * The JVM frees the methods of an unloaded class, and uses their addresses again. Its event
 * ClassUnload comes from a thread of its own, a little after the class is gone. So for some
 * milliseconds an old epoch may still be current; a wrong belief also needs another method in that
 * time at the same two addresses.
 *
 * Owns     the JVM's event while open.
 * Threads  open and close: one at a time, attached. The epoch: any, signal handlers included.
 * Errors   without the event, and while closed, each epoch is a new one: nothing is believed.
 * Cost     the epoch: one load. A class that is unloaded: one addition on the JVM's thread.
 */
#ifndef SMP_JVM_CODE_CLASS_UNLOAD_H
#define SMP_JVM_CODE_CLASS_UNLOAD_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* False: this JVM has no such event. close is due in both cases. */
bool smp_class_unload_open(jvmtiEnv *jvmti);
/* jvmti NULL: the JVM is not live. */
void smp_class_unload_close(jvmtiEnv *jvmti);

/* Read it before what is to be believed. Never 0. */
uint64_t smp_class_unload_epoch(void);

#endif
