/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_walk.h - the state of one walk, shared by its parts in the handler.
 *
 * Threads  the interrupted thread.
 * Cost     constant.
 */
#ifndef SMP_HANDLER_ONE_WALK_H
#define SMP_HANDLER_ONE_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "handler/code_view.h"
#include "handler/registers.h"
#include "handler/walk_data.h"
#include "hotspot/code.h"

struct smp_walk {
    const struct smp_walk_target *target;
    const struct smp_code_view *code;
    ucontext_t *context;       /* saved registers of the code that is walked */
    const ucontext_t *handler; /* registers in another handler's frame, or NULL */
    struct smp_jvm_frame *frames;
    uint32_t capacity;
    struct smp_registers at; /* where the walk starts */
    bool is_alive;           /* the JVM's thread object may be read */
    struct smp_walk_answer *answer;
    ucontext_t *copy; /* buffer for a copy of handler */
};

/*
 * Returns NULL if the heap must not be read. A garbage collection waits for threads in Java or in
 * the JVM, so no object moves before the handler of such a thread has returned.
 */
static inline const struct smp_chunks *smp_walk_chunks(const struct smp_walk *walk)
{
    const struct smp_own_walk *own = walk->target->own;
    const struct smp_jvm_states *states = &walk->target->layout.states;
    const int32_t state = walk->answer->state;
    struct smp_blob blob;

    if (own->chunks == NULL)
        return NULL;
    if (state != 0)
        return state == states->in_java || state == states->in_vm ? own->chunks : NULL;
    /* The state is unknown, but a thread in compiled code runs Java. */
    return own->find(own, walk->at.pc, &blob) && blob.kind == SMP_BLOB_COMPILED ? own->chunks
                                                                                : NULL;
}

#endif
