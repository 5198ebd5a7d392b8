/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async.h - the engine that walks threads: chosen once, at start.
 *
 *   OWN                    our own walk, in the handler and from outside (outside.h). It needs the
 *                          layout of the JVM's thread object and a proven walk (check/check.h)
 *   ASYNC_GET_CALL_TRACE   else, for threads that run. Waiting threads are walked by JVMTI. Not
 *                          with value classes (JDK 28, preview): there AsyncGetCallTrace crashes
 *   JVMTI                  else, or if no signal can be used: all walks are handshakes
 *
 * No walk uses two engines. If a check that runs later refuses our own walk (smp_hotspot_refuse),
 * all sessions go on with the next engine. Only a CPU timer may walk by ourselves once more, until
 * its samples are drained and its target is renewed.
 *
 *   events for code on, those of code made before ─► layout of the JVM's thread object, our own
 *   walk proven ─► signal handler ─► self-test: two known stacks walked ─► usable
 *
 * The two stacks: that of the caller, in native code, must equal JVMTI's; that of an internal
 * thread, which hashes numbers meanwhile, must end in that method. Any mismatch leaves JVMTI; see
 * smp_async_refusal.
 *
 * Owns     the JVM's events for code while open; code_map.h.
 * Threads  any attached one; open and close as once.h. The getters: any, while open.
 * Errors   open: SMP_EUNSUPPORTED if it refuses; close must be called nevertheless. SMP_ETHREAD if
 *          the system starts no thread for the self-test: then close must not be called.
 * Cost     the first open: the events of all code made so far, some milliseconds.
 */
#ifndef SMP_JVM_WALK_ASYNC_H
#define SMP_JVM_WALK_ASYNC_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "handler/walk_data.h"
#include "hotspot/thread_layout.h"

enum { SMP_ASYNC_REFUSAL_BYTES = 384 /* of all walks together */ };

/*
 * signal: 0, or a number; sessions may have different ones. After smp_agent_open; close before
 * smp_agent_close.
 */
SMP_CHECKED enum smp_status smp_async_open(int signal);
void smp_async_close(void);

bool smp_async_is_usable(void);
/* Copies why no walk is usable, for each; "" while one is usable, or before the first open. */
void smp_async_refusal(char out[SMP_ASYNC_REFUSAL_BYTES]);

/* Copies why stacks of virtual threads are cut at the place where they parked; "" if they are not
 * cut, or no virtual thread is in use. */
void smp_async_chunks_refusal(char out[SMP_ASYNC_REFUSAL_BYTES]);

/* From now on frames of virtual threads in the heap are not read, while the library is loaded. */
void smp_async_cut_virtual_threads(const char *reason);

struct smp_async {
    int signal;
    smp_jvm_walk *walk; /* NULL: not there, or it must not be called */
    struct smp_thread_layout layout;
};

const struct smp_async *smp_async_get(void);
/* Are frames of virtual threads read that lie in the heap? */
bool smp_async_reads_heap(void);
/* For the next walk; NULL: the engine is another one. */
const struct smp_own_walk *smp_async_own_walk(void);
/* Is the engine OWN? */
bool smp_async_walks_by_itself(void);
/* Copies why the engine is not OWN; "": it is. */
void smp_async_own_refusal(char out[SMP_ASYNC_REFUSAL_BYTES]);
/* The number to send for a session that opened with wanted: another session's if wanted could not
 * be installed. */
int smp_async_signal(int wanted);

/* Hook of agent.h: from here on handlers do nothing. Waits for handlers that walk. */
void smp_async_vm_dies(void);

#endif
