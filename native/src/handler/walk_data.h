/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_data.h - the input of a walk in a handler (its target), and its output (an answer).
 *
 * Owns     no memory: pointers are the requester's.
 * Threads  filled by the requester before the signal, by the interrupted thread afterwards.
 */
#ifndef SMP_HANDLER_WALK_DATA_H
#define SMP_HANDLER_WALK_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "hotspot/frame_types.h"
#include "hotspot/thread_layout.h"
#include "model/sample.h"
#include "model/walk_answer.h"

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

/* Codes of AsyncGetCallTrace, as its source names them. */
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
    SMP_OWN_WALK_ROOM = 2, /* our own walk needs so many times the room of the frames it keeps */
    SMP_WALK_EXTRA = 4     /* frames that are no part of a sample: a virtual thread's end, a leaf */
};

/* The parts of a stack that did not fit, as in model/sample.h. */
struct smp_stack_cut {
    uint32_t root_count; /* frames of the root's end; 0: the root is not known, or nothing is cut */
    uint32_t omitted;    /* 0: nothing is cut */
};

/*
 * Walks that read memory only: hotspot/frames.h for the handler. If a method has no id yet, its
 * names and line are copied to the end of the frames' memory, and the frame gets the mark of the
 * copy, or NULL if there is no room. The sampler thread completes both. A method without an id
 * costs 5 to 10 us more.
 */
struct smp_own_walk {
    /* From a complete frame: frames written, leaf first, up to the thread's root, or cut as *cut
     * says. SMP_OWN_WALK_FAILED: no whole stack. */
    int32_t (*walk)(const struct smp_own_walk *self, struct smp_frames_start from,
                    uintptr_t stack_high, struct smp_jvm_frame *frames, uint32_t capacity,
                    struct smp_stack_cut *cut);
    /* The code that pc lies in. False: the code is not the JVM's. */
    bool (*find)(const struct smp_own_walk *self, uintptr_t pc, struct smp_blob *out);
    /* The id of a Method*, or the mark of its names, which are copied into the memory of a finished
     * walk (hotspot/frames.h); 0: no room for them. False: method is none. */
    bool (*id_of)(const struct smp_own_walk *self, uintptr_t method, struct smp_jvm_frame *frames,
                  uint32_t capacity, uint64_t *id);
    const struct smp_layout *layout;
    struct smp_frames_cache *cache;
    void *virtual_root;              /* the frame below a virtual thread's own; NULL: not known */
    const struct smp_chunks *chunks; /* NULL: frames in the heap are not read in this JVM */
    struct smp_frames_words *words;  /* NULL: not kept, because the walked thread stands still */
};

/*
 * The functions of the result run on an interrupted thread: they take no lock, allocate nothing and
 * do not call the JVM. layout and cache outlive it. virtual_root: the id of
 * Continuation.enterSpecial; 0: not known.
 */
struct smp_own_walk smp_own_walk_make(const struct smp_layout *layout,
                                      struct smp_frames_cache *cache, uint64_t virtual_root);

/* For a thread that counts its calls: how its handler finds the counted call that it is in. */
struct smp_walk_calls {
    struct smp_call_spot (*spot_of)(const void *state, int64_t java_id);
    const void *state; /* NULL: the thread counts none; never freed */
    int64_t java_id;
};

/* The data of the process and of the thread that are known before the thread is interrupted. own or
 * walk is set: the engine of the walk. If neither is, nothing is walked. */
struct smp_walk_target {
    const struct smp_own_walk *own;
    smp_jvm_walk *walk; /* AsyncGetCallTrace */
    struct smp_jvm_layout layout;
    void *env;             /* for walk, and then not NULL */
    uintptr_t java_thread; /* 0: not known */
    /* Not 0 from the thread's ThreadEnd on, which it runs itself. Not freed while the handler runs.
     * NULL: a thread of ours, which lives. */
    const _Atomic int64_t *ended_ns;
    bool was_alive;      /* when the request was made; false: it may have ended long ago */
    uintptr_t stack_low; /* both 0: not known; then our own walk fails */
    uintptr_t stack_high;
    uintptr_t guard_end; /* the JVM's guard pages at stack_low end here; 0: there are none */
    /* The method every stack of the thread ends in, which AsyncGetCallTrace must reach; NULL: not
     * known. */
    void *root;
    struct smp_walk_calls calls;
};

static inline bool smp_walk_target_has_ended(const struct smp_walk_target *target)
{
    return target->ended_ns != NULL && *target->ended_ns != 0;
}

enum {
    SMP_WALK_SCAN_WORDS = 24,     /* searched for a return address above a stub's sp */
    SMP_WALK_PUSHED_WORDS = 4,    /* registers that compiled code keeps on the stack for a while */
    SMP_WALK_KEPT_WORDS = 48,     /* the same for a collector's barrier in code without a frame */
    SMP_WALK_RUNTIME_WORDS = 128, /* searched above the anchor's sp in a runtime stub, which saves
                                     all registers */
    SMP_WALK_SAVED_WORDS = 96,    /* searched for the frame pointer that foreign code has saved */
    SMP_WALK_FOREIGN_FRAMES = 32, /* frames of foreign code, followed by frame pointers */
    SMP_WALK_ENTRY_WORDS = 8,     /* most words of an interpreted frame that is being made */
    SMP_WALK_PREFETCHED = 64,     /* frames whose memory is prefetched before the walk */
    /* Stack that a walk needs; AsyncGetCallTrace used 12.3 KB at most (JDK 25). */
    SMP_WALK_ROOM_BYTES = 18432
};

struct smp_walk_answer {
    enum smp_answer answer;
    bool is_pseudo; /* frames[0] is a pseudo-frame: its method is a key of code_map.h */
    uint32_t first; /* the stack is frames[first .. first + count) */
    uint32_t count;
    struct smp_stack_cut cut;
    int32_t state;   /* of the thread; 0: not known */
    bool in_handler; /* another handler was interrupted; the code below it is walked */
    void *root;      /* what AsyncGetCallTrace's stack ended in, even if it was refused, or NULL */
    struct smp_call_spot spot;
};

#endif
