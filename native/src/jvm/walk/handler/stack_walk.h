/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_walk.h - walks the stack of the interrupted thread, in its signal handler, and recovers
 * what AsyncGetCallTrace alone does not walk.
 *
 * AsyncGetCallTrace believes the registers it is given. It fails where they do not describe a
 * complete frame, so it is given others, of which the interrupted ones leave no doubt:
 *
 *   pc in a method's prologue   the caller's: pc = return address - 1, sp above it; leaf: the
 *                               method itself, at its beginning
 *   pc in a method's epilogue   the same pc, sp where it was before the frame was taken down
 *   pc amid a method, registers the same pc, sp above them
 *   pushed for the moment
 *   pc in a stub, or in code    the caller's, at the first return address on the stack; leaf: the
 *   that is not Java's          stub's name. One that follows a call of this very stub goes first.
 *                               Here pc = beginning of the call, because its line is noted there
 *                               A stub, or a method, that calls into the JVM without a note of it
 *                               (a barrier of G1, say) is found by the frame pointers of the JVM's
 *                               functions, however many there are; so is the caller of that stub
 *   thread in the JVM           the frame the JVM noted (the anchor) is completed, or moved from a
 *                               runtime stub to its caller, for as long as the walk lasts
 *
 * Where another signal's handler was interrupted (signal_frame.h), all this is done with the
 * registers that handler had interrupted. They are copied: its frame is only read. Such a handler
 * is looked for where the thread was caught outside of the JVM's code, in full only while its state
 * is "in Java": in all other states AsyncGetCallTrace goes by the anchor, not by registers.
 *
 * A word is a return address only where it follows a call instruction in a method that is known
 * to code_view.h, or lies in the interpreter; or among code that is not known yet, where the JVM
 * itself must find a method. A stack that does not end in the thread's root
 * method, where that is known, is no stack.
 *
 * Reads of other memory cannot fault: words of the stack lie between the stack pointer and the end
 * of the thread's stack, both known beforehand, else nothing is recovered; code bytes lie in the
 * code cache, which the JVM never unmaps.
 *
 * Owns     nothing; all is the caller's.
 * Threads  the interrupted thread. Nothing here allocates, locks or calls anything but
 *          AsyncGetCallTrace, through a pointer.
 * Errors   an answer of jvm.h.
 * Cost     1-3 us at depth 50, some more per attempt of the recovery.
 */
#ifndef SMP_JVM_WALK_HANDLER_STACK_WALK_H
#define SMP_JVM_WALK_HANDLER_STACK_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "engine/jvm.h"
#include "jvm/hotspot/layout.h"

/* One frame as AsyncGetCallTrace writes it. */
struct smp_jvm_frame {
    int32_t bci;
    void *method;
};

/* What AsyncGetCallTrace gets and gives. */
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

/* What is known of the process and of the thread before it is interrupted. */
struct smp_walk_target {
    smp_jvm_walk *walk;
    struct smp_jvm_layout layout;
    void *env;             /* never NULL */
    uintptr_t java_thread; /* 0: not known */
    uintptr_t stack_low;   /* both 0: not known; then no page but that of sp is read */
    uintptr_t stack_high;
    void *root; /* the method every stack of the thread ends in; NULL: not known */
    /* No recovery: AsyncGetCallTrace gets only registers that the kernel has saved. */
    bool no_made_up_registers;
};

enum {
    SMP_WALK_SCAN_WORDS = 24,     /* looked at for a return address above a stub's sp */
    SMP_WALK_PUSHED_WORDS = 4,    /* registers that compiled code keeps on the stack for a while */
    SMP_WALK_RUNTIME_WORDS = 128, /* and above the noted sp of a runtime stub, which saves all
                                     registers */
    SMP_WALK_INTERPRETER_WORDS = 8, /* of a frame of the interpreter, up to its frame pointer */
    SMP_WALK_FOREIGN_FRAMES = 32, /* of code that is not Java's, followed by their frame pointers */
    SMP_WALK_FETCHED = 64,        /* frames whose memory is fetched before the walk */
    SMP_WALK_PAGE_BYTES = 4096,   /* the smallest there is */
    SMP_WALK_MIN_CAPACITY = 2
};

struct smp_walk_answer {
    enum smp_answer answer;
    int32_t raw;    /* what AsyncGetCallTrace said at first */
    bool has_leaf;  /* frames[0] is a pseudo-frame or method put before the walked ones */
    bool is_pseudo; /* it is a pseudo-frame: its method is a key of code_map.h */
    uint32_t first; /* the stack is frames[first .. first + count) */
    uint32_t count;
    /* Where count is 0: frames[1 .. 1 + rootless) are right as far as they go, but do not reach the
     * root. The JVM follows no frame that is to be deoptimised. */
    uint32_t rootless;
    uintptr_t sp;     /* of the interrupted thread; 0: it is on its alternate signal stack */
    int32_t state;    /* of the thread; 0: not known */
    bool in_handler;  /* another signal's handler was interrupted: what that one had interrupted is
                         walked */
    bool lacks_stack; /* the bounds of the stack were missed, whatever the answer */
    void *root;       /* what AsyncGetCallTrace's own stack ended in, taken or not */
};

/* frames[0 .. capacity): room for the answer; its content is undefined where there is no stack. The
 * registers in context are restored. */
void smp_stack_walk(const struct smp_walk_target *target, ucontext_t *context,
                    struct smp_jvm_frame *frames, uint32_t capacity,
                    struct smp_walk_answer *answer);

#endif
