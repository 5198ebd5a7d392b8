/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_set.h - draws keys of a ConcurrentHashMap.KeySetView at random, without going through all of
 * them: by reading random slots of its table.
 *
 *   set.map.table[slot] ─► Node ─next─► Node ...                a bin: its keys are drawn together
 *                      ├─► TreeBin.first ─► TreeNode ...        a bin with many keys
 *                      └─► ForwardingNode.nextTable[slot], [slot + slots]     the table grows
 *
 * Each slot is read with the same probability, so each key is drawn with that probability. The
 * slots of one draw are spread: the table is cut into equal parts, and one slot of each part is
 * read.
 *
 * JNI reads the fields, whatever the JDK's modules export. No Java code runs, but for size(), and
 * nothing is allocated on the Java heap. Keys that come or go meanwhile may be drawn or not.
 *
 * Owns     ids of fields and methods; they last, as the JDK's own classes are never unloaded.
 * Threads  any attached one.
 * Errors   init: SMP_EUNSUPPORTED, this JDK's map is another one; SMP_ENOMEM.
 * Cost     draw: about 0.1 us for each slot, more for each key; five local references at a time.
 */
#ifndef SMP_JVM_THREADS_KEY_SET_H
#define SMP_JVM_THREADS_KEY_SET_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct smp_key_set {
    jfieldID map;
    jfieldID table;
    jfieldID hash;
    jfieldID key;
    jfieldID next;
    jfieldID tree_first;
    jfieldID next_table;
    jmethodID size;
};

/* key is valid during the call. share: the probability with which each key is drawn. */
typedef void smp_on_key(void *context, JNIEnv *env, jobject key, double share);

struct smp_key_draw {
    double share;     /* the wanted probability; from 1 on each key is visited once */
    size_t most;      /* the most slots that are read; lowers the probability */
    uint64_t *random; /* random.h */
};

/* Also makes a set and checks that a draw finds its keys. */
SMP_CHECKED enum smp_status smp_key_set_init(JNIEnv *env, struct smp_key_set *out);
/* Returns the number of keys; negative if it is unknown. set: a KeySetView, as in draw. */
int64_t smp_key_set_size(const struct smp_key_set *known, JNIEnv *env, jobject set);
/* Returns how many slots were read. */
size_t smp_key_set_draw(const struct smp_key_set *known, JNIEnv *env, jobject set,
                        struct smp_key_draw draw, smp_on_key *on_key, void *context);

#endif
