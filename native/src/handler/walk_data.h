/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_data.h - the input of a walk in a handler (a target) and its output (an answer).
 *
 * Owns     no memory; pointers belong to the requester.
 * Threads  written by the requester before the signal, then by the interrupted thread.
 */
#ifndef SMP_HANDLER_WALK_DATA_H
#define SMP_HANDLER_WALK_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "hotspot/frame_types.h"
#include "hotspot/thread_layout.h"
#include "model/sample.h"
#include "model/walk_answer.h"

enum { SMP_JVM_NATIVE_BCI = -3 /* AsyncGetCallTrace's bci of a native method */ };

/* One frame as AsyncGetCallTrace writes it. */
struct smp_jvm_frame {
    int32_t bci;
    void *method;
};

/* An argument of AsyncGetCallTrace. */
struct smp_jvm_trace {
    void *env;
    int32_t count; /* or one of the codes below */
    struct smp_jvm_frame *frames;
};

typedef void smp_jvm_walk(struct smp_jvm_trace *trace, int32_t depth, void *context);

/* Codes of AsyncGetCallTrace, named as in its source. */
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
    SMP_OWN_WALK_ROOM = 2, /* memory of our own walk, as a multiple of its frames */
    SMP_WALK_EXTRA = 4     /* frames outside of a sample: a virtual thread's root, a leaf */
};

/* Describes a truncated stack, as in model/sample.h. */
struct smp_stack_cut {
    uint32_t root_count; /* frames of the root end; 0: unknown, or not truncated */
    uint32_t omitted;    /* 0: not truncated */
};

/*
 * Our own walk (hotspot/frames.h) for the handler. If a method has no id yet, its names and line
 * are copied to the end of the frames' memory. The frame gets the copy's mark, or NULL without
 * room. The sampler thread completes both. Such a method costs another 5 to 10 us.
 */
struct smp_own_walk {
    /* Walks from a complete frame. Returns the number of frames, leaf first, up to the thread's
     * root, or truncated as *cut says. SMP_OWN_WALK_FAILED: no whole stack. */
    int32_t (*walk)(const struct smp_own_walk *self, struct smp_frames_start from,
                    uintptr_t stack_high, struct smp_jvm_frame *frames, uint32_t capacity,
                    struct smp_stack_cut *cut);
    /* Finds the code that contains pc. Returns false if it is not the JVM's. */
    bool (*find)(const struct smp_own_walk *self, uintptr_t pc, struct smp_blob *out);
    /* Gets the id of a Method*, or the mark of its names, which are copied into the memory of a
     * finished walk, or 0 without room. Returns false if it is not a method. */
    bool (*id_of)(const struct smp_own_walk *self, uintptr_t method, struct smp_jvm_frame *frames,
                  uint32_t capacity, uint64_t *id);
    const struct smp_layout *layout;
    struct smp_frames_cache *cache;
    void *virtual_root;              /* the frame below those of a virtual thread; NULL: unknown */
    const struct smp_chunks *chunks; /* NULL: frames in the heap are not read */
    struct smp_frames_words *words;  /* NULL: not recorded, because the walked thread cannot move */
};

/*
 * The functions of the result may run on an interrupted thread: they do not lock, allocate or call
 * the JVM. layout and cache outlive it. virtual_root: the id of Continuation.enterSpecial, or 0.
 */
struct smp_own_walk smp_own_walk_make(const struct smp_layout *layout,
                                      struct smp_frames_cache *cache, uint64_t virtual_root);

/* Finds the counted call in which a thread is, in its handler. */
struct smp_walk_calls {
    struct smp_call_spot (*spot_of)(const void *state, int64_t java_id);
    const void *state; /* NULL: the thread counts no calls; never freed */
    int64_t java_id;
};

/* The known facts about the process and the thread before it is interrupted. The engine of the
 * walk is own or walk. If both are NULL, nothing is walked. */
struct smp_walk_target {
    const struct smp_own_walk *own;
    smp_jvm_walk *walk; /* AsyncGetCallTrace */
    struct smp_jvm_layout layout;
    void *env;             /* for walk; not NULL if walk is set */
    uintptr_t java_thread; /* 0: unknown */
    /* Not 0 after the thread's ThreadEnd, which runs on the thread itself. Not freed while the
     * handler runs. NULL: an internal thread that is alive. */
    const _Atomic int64_t *ended_ns;
    bool was_alive;      /* at the request; false: it may have ended long ago */
    uintptr_t stack_low; /* both 0 if unknown; our own walk then fails */
    uintptr_t stack_high;
    uintptr_t guard_end; /* end of the JVM's guard pages at stack_low; 0: none */
    /* The method in which all stacks of the thread end (AsyncGetCallTrace must); NULL: unknown. */
    void *root;
    struct smp_walk_calls calls;
};

static inline bool smp_walk_target_has_ended(const struct smp_walk_target *target)
{
    return target->ended_ns != NULL && *target->ended_ns != 0;
}

enum {
    SMP_WALK_SCAN_WORDS = 24,     /* above a stub's sp, searched for a return address */
    SMP_WALK_PUSHED_WORDS = 4,    /* registers that compiled code may push temporarily */
    SMP_WALK_KEPT_WORDS = 48,     /* registers saved by a barrier in code without a frame */
    SMP_WALK_RUNTIME_WORDS = 128, /* above the anchor's sp in a runtime stub */
    SMP_WALK_SAVED_WORDS = 96,    /* searched for a frame pointer saved by foreign code */
    SMP_WALK_FOREIGN_FRAMES = 32, /* frames of foreign code that are followed by frame pointers */
    SMP_WALK_ENTRY_WORDS = 8,     /* maximum words of an incomplete interpreted frame */
    SMP_WALK_PREFETCHED = 64,     /* frames whose memory is prefetched before the walk */
    /* Required stack of a walk; AsyncGetCallTrace used up to 12.3 KB (JDK 25). */
    SMP_WALK_ROOM_BYTES = 18432
};

struct smp_walk_answer {
    enum smp_answer answer;
    bool is_pseudo; /* frames[0] is a pseudo-frame, with a key of code_map.h */
    uint32_t first; /* the stack is frames[first .. first + count) */
    uint32_t count;
    struct smp_stack_cut cut;
    int32_t state;   /* of the thread; 0: unknown */
    bool in_handler; /* another handler was interrupted; the code that it interrupted is walked */
    void *root;      /* the last method of AsyncGetCallTrace's stack, even if it was refused */
    struct smp_call_spot spot;
};

#endif
