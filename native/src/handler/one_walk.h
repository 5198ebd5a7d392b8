/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_walk.h - the state of one walk, which its parts in the handler share.
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
    ucontext_t *context;       /* registers that the kernel has saved, of the code that is walked */
    const ucontext_t *handler; /* in another handler's frame, what it had interrupted; or NULL */
    struct smp_jvm_frame *frames;
    uint32_t capacity;
    struct smp_registers at; /* as interrupted */
    bool is_alive;           /* the JVM's object of this thread may be read */
    struct smp_walk_answer *answer;
    ucontext_t *copy; /* room for a copy of handler */
};

/*
 * NULL: the heap must not be read. A collection waits for a thread that runs Java code or the JVM's
 * own, so it moves no object before this handler has returned.
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
    /* The state is not known; but a thread in compiled code runs Java. */
    return own->find(own, walk->at.pc, &blob) && blob.kind == SMP_BLOB_COMPILED ? own->chunks
                                                                                : NULL;
}

#endif
