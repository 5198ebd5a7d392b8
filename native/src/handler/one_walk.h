/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_walk.h - a walk that is under way: what its parts in the handler share.
 *
 * Threads  the interrupted thread.
 * Cost     whole: constant. call_jvm: that of AsyncGetCallTrace.
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
    ucontext_t *context;       /* of what is walked: registers that the kernel has saved */
    const ucontext_t *handler; /* what another handler had interrupted, in its frame, or NULL */
    struct smp_jvm_frame *frames;
    uint32_t capacity;
    struct smp_registers at; /* as interrupted */
    bool is_alive;           /* the JVM's object of this thread may be read */
    struct smp_walk_answer *answer;
    ucontext_t *copy; /* room for that of handler */
};

/*
 * Of a stack that AsyncGetCallTrace gave. A single frame without a byte code index is one whose
 * caller was not found. A full buffer hides the root.
 */
static inline bool smp_walk_is_whole(const struct smp_walk *walk, int32_t count)
{
    const struct smp_jvm_frame *frames = walk->frames + 1;
    const void *root = walk->target->root;

    if (count <= 0)
        return false;
    if ((uint32_t)count + 1 >= walk->capacity)
        return true;
    if (root != NULL)
        return frames[count - 1].method == root;
    return count > 1 || frames[0].bci != -1;
}

/*
 * The heap may be read: a collection waits for a thread that runs Java code or the JVM's own, so it
 * moves no object before this handler has returned.
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
    /* It is not known; but nothing else than Java runs in compiled code. */
    return own->find(own, walk->at.pc, &blob) && blob.kind == SMP_BLOB_COMPILED ? own->chunks
                                                                                : NULL;
}

/* Room is left before the walked frames for a leaf. */
static inline int32_t smp_walk_call_jvm(struct smp_walk *walk)
{
    struct smp_jvm_trace trace = { .env = walk->target->env, .frames = walk->frames + 1 };

    walk->target->walk(&trace, (int32_t)walk->capacity - 1, walk->context);
    return trace.count;
}

#endif
