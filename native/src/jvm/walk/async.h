/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async.h - whether, and how, this JVM lets a running thread walk itself.
 *
 *   events for code on, past code told again ─► AsyncGetCallTrace there? ─► layout of the JVM's
 *   thread object ─► signal handler ─► two known stacks walked ─► usable
 *
 * The two stacks: that of the caller, in native code, must be the one JVMTI tells; that of a thread
 * of ours, which hashes numbers meanwhile, must end in that. Whatever does not come out right
 * is a reason to refuse, which is told.
 *
 * From JDK 28 on AsyncGetCallTrace gets only registers that the kernel has saved: nothing is
 * recovered there, and the engine says so.
 *
 * Owns     the JVM's events for code while open; vm_code.
 * Threads  any attached one; open and close as once.h. The getters: any, while open.
 * Errors   open returns SMP_EUNSUPPORTED where it refuses; the close is owed all the same.
 * SMP_ETHREAD where the system gives no thread to try it with: then none is owed. Cost     the
 * first open: the events of all code made so far, some milliseconds.
 */
#ifndef SMP_JVM_WALK_ASYNC_H
#define SMP_JVM_WALK_ASYNC_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "jvm/hotspot/layout.h"
#include "jvm/walk/handler/stack_walk.h"

enum { SMP_ASYNC_REFUSAL_BYTES = 160 };

/*
 * signal: 0, or a number; sessions may have different ones. After smp_agent_open; close before
 * smp_agent_close.
 */
SMP_CHECKED enum smp_status smp_async_open(int signal);
void smp_async_close(void);

bool smp_async_is_usable(void);
/* Why not; "" while usable or never tried. Copied. */
void smp_async_refusal(char out[SMP_ASYNC_REFUSAL_BYTES]);

struct smp_async {
    int signal;
    smp_jvm_walk *walk;
    struct smp_layout layout;
    bool has_virtual_threads;
    bool no_made_up_registers; /* in this JVM AsyncGetCallTrace gets none (version.h) */
};

const struct smp_async *smp_async_get(void);
/* The number to send for a session that has opened with wanted: where that cannot be had, another
 * session's. */
int smp_async_signal(int wanted);

/* The JVM is going: from here on handlers do nothing. Waits for those that are walking. */
void smp_async_vm_dies(void);

#endif
