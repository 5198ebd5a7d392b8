/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_data.h - what a walk in a handler is given, and what it returns.
 *
 * Owns     no memory: pointers are the requester's.
 * Threads  filled by the requester before the signal, by the interrupted thread afterwards.
 */
#ifndef SMP_HANDLER_WALK_DATA_H
#define SMP_HANDLER_WALK_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/jvm.h"
#include "hotspot/frame_types.h"
#include "hotspot/thread_layout.h"

enum { SMP_JVM_NATIVE_BCI = -3 /* how AsyncGetCallTrace marks a native method */ };

/* One frame as AsyncGetCallTrace writes it. */
struct smp_jvm_frame {
    int32_t bci;
    void *method;
};

/* The argument of AsyncGetCallTrace. */
struct smp_jvm_trace {
    void *env;
    int32_t count; /* or one of the codes below */
    struct smp_jvm_frame *frames;
};

typedef void smp_jvm_walk(struct smp_jvm_trace *trace, int32_t depth, void *context);

/* Its codes, as its source names them. */
enum {
    SMP_JVM_NO_JAVA_FRAME = 0,
    SMP_JVM_NO_CLASS_LOAD = -1,
    SMP_JVM_GC_ACTIVE = -2,
    SMP_JVM_UNKNOWN_NOT_JAVA = -3,
    SMP_JVM_NOT_WALKABLE_NOT_JAVA = -4,
    SMP_JVM_UNKNOWN_JAVA = -5,
    SMP_JVM_NOT_WALKABLE_JAVA = -6,
    SMP_JVM_UNKNOWN_STATE = -7,
    SMP_JVM_THREAD_EXIT = -8,
    SMP_JVM_DEOPT = -9
};

enum {
    SMP_OWN_WALK_FAILED = -1,
    SMP_OWN_WALK_ROOM = 2, /* the room it needs, of that of the frames which it keeps */
    SMP_WALK_EXTRA = 4     /* frames that are no part of a sample: a virtual thread's end, a leaf */
};

/* Of a stack without enough room: as in model/sample.h. */
struct smp_stack_cut {
    uint32_t root_count; /* frames of the root's end; 0: the root is not known, or nothing is cut */
    uint32_t omitted;    /* 0: nothing is cut */
};

/* Walks that read memory only: hotspot/frames.h. */
struct smp_own_walk {
    /* From a complete frame: frames written, leaf first, up to the thread's root, or cut as *cut
     * says. SMP_OWN_WALK_FAILED: no whole stack. */
    int32_t (*walk)(const struct smp_own_walk *self, struct smp_frames_start from,
                    uintptr_t stack_high, struct smp_jvm_frame *frames, uint32_t capacity,
                    struct smp_stack_cut *cut);
    /* The code that pc lies in. False: it is not the JVM's. */
    bool (*find)(const struct smp_own_walk *self, uintptr_t pc, struct smp_blob *out);
    /* The id of a Method*, or the mark of its names, copied into the memory of a walk that is over
     * (hotspot/frame_names.h); 0: no room for them. False: it is no method. */
    bool (*id_of)(const struct smp_own_walk *self, uintptr_t method, struct smp_jvm_frame *frames,
                  uint32_t capacity, uint64_t *id);
    const struct smp_layout *layout;
    struct smp_frames_cache *cache;
    void
        *virtual_root; /* a virtual thread's frames stand on that of this method; NULL: not known */
    const struct smp_chunks *chunks; /* NULL: its frames in the heap are not read in this JVM */
    struct smp_frames_words *words; /* NULL: the walked thread stands still, so they are not kept */
};

/* Where a thread is that counts its calls: for its own handler. */
struct smp_walk_calls {
    struct smp_call_spot (*spot_of)(const void *state, int64_t java_id);
    const void *state; /* NULL: it counts none; never freed */
    int64_t java_id;
};

/* What is known of the process and of the thread before it is interrupted. */
struct smp_walk_target {
    smp_jvm_walk *walk; /* NULL: must not be called in this JVM */
    struct smp_jvm_layout layout;
    void *env;             /* never NULL */
    uintptr_t java_thread; /* 0: not known */
    /* Not freed while the handler runs. NULL: a thread of ours, which lives. It has ended from its
     * ThreadEnd on, which it runs itself: what it does not know yet has not happened. */
    const struct smp_thread *thread;
    bool was_alive;      /* when the request was made; false: it may have ended long ago */
    uintptr_t stack_low; /* both 0: not known; then the JVM walks */
    uintptr_t stack_high;
    uintptr_t guard_end; /* the JVM's guard pages at stack_low end here; 0: there are none */
    void *root;          /* the method every stack of the thread ends in; NULL: not known */
    const struct smp_own_walk *own; /* NULL: not usable in this JVM; then the JVM walks */
    struct smp_walk_calls calls;
};

enum {
    SMP_WALK_SCAN_WORDS = 24,     /* searched for a return address above a stub's sp */
    SMP_WALK_PUSHED_WORDS = 4,    /* registers that compiled code keeps on the stack for a while */
    SMP_WALK_KEPT_WORDS = 48,     /* the same in code without a frame, for a collector's barrier */
    SMP_WALK_RUNTIME_WORDS = 128, /* searched above the anchor's sp in a runtime stub, which saves
                                     all registers */
    SMP_WALK_SAVED_WORDS = 96,    /* searched for the frame pointer that such code has saved */
    SMP_WALK_FOREIGN_FRAMES = 32, /* of code that is not Java's, followed by their frame pointers */
    SMP_WALK_ENTRY_WORDS = 8,     /* of an interpreted frame that is being made, at most */
    SMP_WALK_PREFETCHED = 64,     /* frames whose memory is prefetched before the walk */
    /* Of stack, for a walk and for AsyncGetCallTrace: 12.3 KB were the most measured (JDK 25). */
    SMP_WALK_ROOM_BYTES = 18432
};

struct smp_walk_answer {
    enum smp_answer answer;
    bool has_leaf;  /* frames[0] is a pseudo-frame or method put before the walked ones */
    bool is_pseudo; /* it is a pseudo-frame: its method is a key of code_map.h */
    uint32_t first; /* the stack is frames[first .. first + count) */
    uint32_t count;
    struct smp_stack_cut cut;
    /* Where count is 0: frames[1 .. 1 + rootless), of the JVM's walk, are right as far as they go,
     * but do not reach the root. It follows no frame that is to be deoptimised. */
    uint32_t rootless;
    int32_t state;   /* of the thread; 0: not known */
    bool in_handler; /* another signal's handler was interrupted: what that one had interrupted is
                        walked */
    void *root;      /* what the stack ended in, even if it was refused; NULL: not known */
    struct smp_call_spot spot;
};

#endif
