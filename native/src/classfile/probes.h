/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probes.h - the instructions that are put into a method, and the constants they need.
 *
 * A probe pushes the method's id and calls a static method of the hook class:
 *
 *   iconst_0 ... iconst_5 | bipush id | sipush id | ldc_w index     1 to 3 bytes
 *   invokestatic Hook.enter(I)V                                     3 bytes
 *
 * Where the method catches an exception (catch_places.h), the probe has that one as well:
 *
 *   dup | aconst_null                                               1 byte
 *   iconst_0 ... | ldc_w index                                      1 to 3 bytes
 *   invokestatic Hook.caught(Object, I)V                            3 bytes
 *
 * The entry of an instance method may hand out what it has got, behind its probe if it has one:
 *
 *   aload_0, aload_1 | aconst_null                                  2 bytes
 *   invokestatic Hook.reflected(Object, Object)V                    3 bytes
 *
 * The constants stand behind those that the class has: some for all methods, and one for each id
 * above 32,767.
 *
 * Owns     no memory.
 * Threads  one at a time for each pool.
 * Errors   where a constant finds no room in the pool: a method gets no probe.
 * Cost     constant.
 */
#ifndef SMP_CLASSFILE_PROBES_H
#define SMP_CLASSFILE_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classfile/byte_writer.h"

enum {
    SMP_PROBE_MOST_BYTES = 6,
    SMP_PROBE_CAUGHT_BYTES = SMP_PROBE_MOST_BYTES + 1,
    SMP_PROBE_HAND_BYTES = 5,
    SMP_PROBE_STACK = 1, /* what a probe needs of the stack, beside what lies on it */
    SMP_PROBE_CAUGHT_STACK = 2,
    SMP_PROBE_HAND_STACK = 2 /* at the entry, where nothing lies on it */
};

/* What the entry hands out. */
enum smp_probe_hands {
    SMP_HANDS_NOTHING,
    SMP_HANDS_THIS,          /* and null */
    SMP_HANDS_THIS_AND_FIRST /* the first parameter is a reference */
};

/* What probes call: static methods with the descriptor (I)V, but for reflected, which takes two
 * Objects, and caught, which takes an Object and an int. Texts are modified UTF-8. */
struct smp_probe_hook {
    const char *class_name; /* as java/lang/ThreadsSamplerHook */
    const char *enter;
    const char *exit;
    const char *enter_root;
    const char *exit_root;
    const char *reflected;
    const char *caught;
};

/* The constants added to a pool. */
struct smp_probe_pool {
    const struct smp_probe_hook *hook;
    uint32_t first;   /* index of the first one added */
    uint32_t roots;   /* of those that only roots need; 0: none */
    uint32_t hands;   /* of those that handing out needs; 0: none */
    uint32_t caught;  /* of those that catching needs; 0: none */
    uint32_t numbers; /* of the first number */
    uint32_t end;     /* one more than the index of the last */
};

struct smp_probe {
    uint8_t enter[SMP_PROBE_MOST_BYTES + SMP_PROBE_HAND_BYTES];
    uint8_t exit[SMP_PROBE_MOST_BYTES];
    uint8_t caught[SMP_PROBE_CAUGHT_BYTES];
    uint32_t enter_length;  /* 0: there is no probe */
    uint32_t exit_length;   /* 0: it only hands out */
    uint32_t caught_length; /* 0: the method catches nothing */
};

/* Which constants a class needs beside those of all methods. */
struct smp_probe_needs {
    bool roots;
    bool hands;
    bool catches;
};

/* pool_count: of the class as it is. False: no room for what all methods need. */
bool smp_probe_pool_init(struct smp_probe_pool *pool, const struct smp_probe_hook *hook,
                         uint32_t pool_count, struct smp_probe_needs needs);
/* False: no room for the id. The ids of numbers are written by the caller, in this order. */
bool smp_probe_make(struct smp_probe_pool *pool, int32_t id, bool is_root, struct smp_probe *out);
/* Adds to the entry. out is zero, or was made. */
void smp_probe_add_hands(const struct smp_probe_pool *pool, enum smp_probe_hands hands,
                         struct smp_probe *out);
/* Of a method that catches; out was made. */
void smp_probe_add_caught(const struct smp_probe_pool *pool, struct smp_probe *out);
/* Writes it: with the exception, which is on the stack, or with null. */
void smp_probe_caught_write(const struct smp_probe *probe, bool has_exception,
                            struct smp_byte_writer *writer);
/* Does the id stand in the pool? */
bool smp_probe_is_number(int32_t id);

/* At most, in bytes, with the numbers of the probes that were made. */
size_t smp_probe_pool_bytes(const struct smp_probe_pool *pool);
void smp_probe_pool_write(const struct smp_probe_pool *pool, struct smp_byte_writer *writer);
void smp_probe_number_write(int32_t id, struct smp_byte_writer *writer);

/* Indexes of the class java.lang.Throwable and of the text StackMapTable. */
uint32_t smp_probe_pool_throwable(const struct smp_probe_pool *pool);
uint32_t smp_probe_pool_stack_map(const struct smp_probe_pool *pool);

#endif
