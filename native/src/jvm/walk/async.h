/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async.h - chooses the engine that walks threads, once at start.
 *
 *   OWN                    our own walk, in the handler and from outside (outside.h). It requires
 *                          the layout of the JVM's thread object and passed checks (check/check.h)
 *   ASYNC_GET_CALL_TRACE   the second choice, for running threads; JVMTI walks waiting threads.
 *                          Not used with value classes (JDK 28, preview), because it crashes there
 *   JVMTI                  the last choice, or if no signal can be used: all walks are handshakes
 *
 * If a later check refuses our own walk (smp_hotspot_refuse), all sessions continue with the next
 * engine; CPU timers do so when their samples are drained and their targets are renewed.
 *
 *   code events on, replay for existing code ─► layout of the JVM's thread object, check.h: prove
 *     ─► signal handler ─► self-test: walks of two known stacks ─► usable
 *
 * The walk of the caller's stack must equal JVMTI's. The walk of an internal thread that hashes
 * numbers must have the hash method as its leaf. After a mismatch only JVMTI is left; see
 * smp_async_refusal.
 *
 * Owns     while open, the JVM's code events and code_map.h.
 * Threads  open, close: any attached thread, see once.h. The getters: any, while open.
 * Errors   open: SMP_EUNSUPPORTED: no walk is usable; close must be called nevertheless.
 *          SMP_ETHREAD: no thread for the self-test; close must not be called.
 * Cost     the first open: some milliseconds, for the events of all existing code.
 */
#ifndef SMP_JVM_WALK_ASYNC_H
#define SMP_JVM_WALK_ASYNC_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "handler/walk_data.h"
#include "hotspot/thread_layout.h"

enum { SMP_ASYNC_REFUSAL_BYTES = 384 /* for the reasons of all engines */ };

/*
 * signal is a number or 0; sessions may have different ones. Called after smp_agent_open; close is
 * called before smp_agent_close.
 */
SMP_CHECKED enum smp_status smp_async_open(int signal);
void smp_async_close(void);

bool smp_async_is_usable(void);
/* Copies for each walk why it is not usable. "" while one is usable, or before the first open. */
void smp_async_refusal(char out[SMP_ASYNC_REFUSAL_BYTES]);

/* Copies why stacks of virtual threads lack the frames that are in the heap; "" if they do not, or
 * if no virtual thread is in use. */
void smp_async_chunks_refusal(char out[SMP_ASYNC_REFUSAL_BYTES]);

/* Frames of virtual threads in the heap are not read any more. */
void smp_async_cut_virtual_threads(const char *reason);

struct smp_async {
    int signal;
    smp_jvm_walk *walk; /* NULL: it does not exist, or it must not be called */
    struct smp_thread_layout layout;
};

const struct smp_async *smp_async_get(void);
/* Returns whether frames of virtual threads in the heap are read. */
bool smp_async_reads_heap(void);
/* Data for the next walk; NULL if the engine is not OWN. */
const struct smp_own_walk *smp_async_own_walk(void);
/* Returns whether the engine is OWN. */
bool smp_async_walks_by_itself(void);
/* Copies why the engine is not OWN, or "" if it is. */
void smp_async_own_refusal(char out[SMP_ASYNC_REFUSAL_BYTES]);
/* The signal of a session that opened with wanted, or another session's if wanted failed. */
int smp_async_signal(int wanted);

/* Hook of agent.h: handlers do nothing from here on. Waits for running handlers. */
void smp_async_vm_dies(void);

#endif
