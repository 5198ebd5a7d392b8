/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_facts.h - what is learnt of a thread from one asynchronous walk for the next: where its
 * stack lies, and which method all its stacks end in.
 *
 * A thread the JVM has started ends in its run(); of another (the main thread, a thread of native
 * code) the root is guessed from stacks that agree, and given up when they disagree as often.
 *
 * Owns     nothing.
 * Threads  any attached one; several sessions may learn at once.
 * Errors   none: what is not known is 0.
 * Cost     the first time some JNI calls, then a few loads.
 */
#ifndef SMP_VM_ASYNC_FACTS_H
#define SMP_VM_ASYNC_FACTS_H

#include <jni.h>

#include "vm/stack_walk.h"
#include "vm/vm_async.h"
#include "vm/vm_registry.h"

enum { SMP_FACTS_ROOT_SURE = 8 /* stacks with one root, until it is taken for the thread's */ };

/* All that is known of thread, which is the Thread object of these facts. */
struct smp_walk_target smp_async_facts_target(struct smp_vm_facts *facts,
                                              const struct smp_vm_async *async, JNIEnv *env,
                                              jobject thread);
/* The root JVMTI has told: this is it, whatever was guessed. */
void smp_async_facts_set_root(struct smp_vm_facts *facts, uint64_t root);
void smp_async_facts_learn_root(struct smp_vm_facts *facts, const struct smp_walk_answer *answer);
bool smp_async_facts_knows_stack(const struct smp_vm_facts *facts);

#endif
