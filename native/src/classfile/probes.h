/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probes.h - the instructions that are added to a method, their constants, and the possible
 * results.
 *
 * A probe pushes the method's id and calls a static method of the hook class:
 *
 *   iconst_0 ... iconst_5 | bipush id | sipush id | ldc_w index     1 to 3 bytes
 *   invokestatic Hook.enter(I)V                                     3 bytes
 *
 * The probe of a catch (moved_code.h) also passes the exception, or null:
 *
 *   dup | aconst_null                                               1 byte
 *   iconst_0 ... | ldc_w index                                      1 to 3 bytes
 *   invokestatic Hook.caught(Object, I)V                            3 bytes
 *
 * The entry of an instance method may hand out objects, after its probe if it has one:
 *
 *   aload_0, aload_1 | aconst_null                                  2 bytes
 *   invokestatic Hook.reflected(Object, Object)V                    3 bytes
 *
 * The constants are added after the class's own: some for all methods, and one for each id above
 * 32,767.
 *
 * Owns     no memory.
 * Threads  one at a time for each pool.
 * Errors   a method whose constants do not fit into the pool gets no probe.
 * Cost     constant.
 */
#ifndef SMP_CLASSFILE_PROBES_H
#define SMP_CLASSFILE_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* The result for a method: done, or the reason why it was left alone. X(code, text): the text
 * follows "left alone, ". */
#define SMP_REWRITE_MAP(X)                                       \
    X(NOT_PLANNED, "not chosen")                                 \
    X(DONE, "instrumented")                                      \
    X(NATIVE_OR_ABSTRACT, "native or abstract")                  \
    X(TOO_LARGE, "too large")                                    \
    X(JUMP_TOO_FAR, "a jump does not reach its target any more") \
    X(UNKNOWN_CODE, "its byte code is not understood")           \
    X(NO_ROOM_IN_POOL, "its class has no room for more constants")

enum smp_rewrite {
#define X(code, text) SMP_REWRITE_##code,
    SMP_REWRITE_MAP(X)
#undef X
        SMP_REWRITE_COUNT
};

/* The objects that a method's entry hands out. */
enum smp_probe_hands {
    SMP_HANDS_NOTHING,
    SMP_HANDS_THIS,          /* and null */
    SMP_HANDS_THIS_AND_FIRST /* the first parameter is a reference */
};

/* The static methods that probes call. They take the id; reflected takes two Objects, caught an
 * Object and the id. Texts are modified UTF-8; a text that no probe needs may be NULL. */
struct smp_probe_hook {
    const char *class_name; /* as java/lang/ThreadsSamplerHook */
    const char *enter;
    const char *exit;
    const char *enter_root;
    const char *exit_root;
    const char *reflected;
    const char *caught;
};

/* Constants that not every class needs. */
struct smp_probe_needs {
    bool roots;
    bool hands;
    bool catches;
};

/* The indexes of the constants that are added to a class. */
struct smp_probe_pool {
    uint32_t hook;
    uint32_t throwable; /* the class */
    uint32_t stack_map; /* the text StackMapTable */
    uint32_t enter;
    uint32_t exit;
    uint32_t enter_root;
    uint32_t exit_root;
    uint32_t reflected;
    uint32_t caught;
    uint32_t number; /* for the next id that is too large for an instruction */
    uint32_t end;    /* the last index plus one */
};

/* The probes of one method. */
struct smp_probe {
    uint8_t push[3];
    uint32_t push_length; /* 0: only hands out objects */
    uint32_t enter;
    uint32_t exit;
    uint32_t caught;
    uint32_t reflected;
    enum smp_probe_hands hands;
};

/* Writes all constants but the numbers. The caller sets pool->end to the class's own count. */
void smp_probe_pool_write(struct smp_probe_pool *pool, const struct smp_probe_hook *hook,
                          struct smp_probe_needs needs, struct smp_bytes *out);
/* Adds the id to the pool if it is too large for an instruction, and if there is room. */
void smp_probe_number_write(struct smp_probe_pool *pool, int32_t id, struct smp_bytes *out);
/* Makes the probes of a method; called in the order of smp_probe_number_write. id below 0: they
 * only hand out objects. Returns false if there was no room for the constants. */
bool smp_probe_make(struct smp_probe_pool *pool, int32_t id, bool is_root,
                    enum smp_probe_hands hands, struct smp_probe *out);

void smp_probe_enter_write(const struct smp_probe *probe, struct smp_bytes *out);
/* Writes nothing without an id. */
void smp_probe_exit_write(const struct smp_probe *probe, struct smp_bytes *out);
/* Passes the exception, which is on the stack, or null. */
void smp_probe_caught_write(const struct smp_probe *probe, bool has_exception,
                            struct smp_bytes *out);
uint32_t smp_probe_caught_length(const struct smp_probe *probe);

#endif
