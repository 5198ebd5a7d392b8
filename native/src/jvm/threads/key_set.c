/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/key_set.h"

#include <stdbool.h>

#include "base/random.h"
#include "jvm/agent/jdk.h"

#define MAP "java/util/concurrent/ConcurrentHashMap"
#define NODES "[L" MAP "$Node;"
#define RANDOM_RANGE ((double)(UINT64_C(1) << 53)) /* of smp_random_next */

enum {
    MOVED = -1,            /* the hash of a ForwardingNode */
    TREE = -2,             /* the hash of a TreeBin; hashes of keys are not negative */
    MOST_IN_BIN = 1 << 20, /* keys; a bin never has more */
    EXTRA_REFS = 16,       /* local references */
    TRIED_KEYS = 5         /* of the set that init makes */
};

struct visit {
    const struct smp_key_set *known;
    JNIEnv *env;
    double share;
    smp_on_key *on_key;
    void *context;
};

static double next_fraction(uint64_t *random)
{
    return (double)smp_random_next(random) / RANDOM_RANGE;
}

/* Takes ownership of the reference. */
static void visit_chain(const struct visit *visit, jobject node)
{
    JNIEnv *const env = visit->env;

    for (int i = 0; node != NULL && i < MOST_IN_BIN; i++) {
        jobject key = (*env)->GetObjectField(env, node, visit->known->key);
        jobject next = (*env)->GetObjectField(env, node, visit->known->next);
        if (key != NULL)
            visit->on_key(visit->context, env, key, visit->share);
        (*env)->DeleteLocalRef(env, key);
        (*env)->DeleteLocalRef(env, node);
        node = next;
    }
    (*env)->DeleteLocalRef(env, node);
}

/* Takes ownership of the bin's head. Returns the reference if the bin has moved, else NULL. */
static jobject visit_bin(const struct visit *visit, jobject head)
{
    JNIEnv *const env = visit->env;
    jint hash;

    if (head == NULL)
        return NULL;
    hash = (*env)->GetIntField(env, head, visit->known->hash);
    if (hash == MOVED)
        return head;
    if (hash >= 0) {
        visit_chain(visit, head);
        return NULL;
    }
    if (hash == TREE)
        visit_chain(visit, (*env)->GetObjectField(env, head, visit->known->tree_first));
    (*env)->DeleteLocalRef(env, head);
    return NULL;
}

/* The table is growing, and one bin has become two. Bins that have moved again are skipped. */
static void visit_moved(const struct visit *visit, jobject forwarding, jsize slot, jsize slots)
{
    JNIEnv *const env = visit->env;
    jobjectArray next = (*env)->GetObjectField(env, forwarding, visit->known->next_table);

    for (int64_t at = slot; next != NULL && at < (*env)->GetArrayLength(env, next); at += slots) {
        jobject bin = (*env)->GetObjectArrayElement(env, next, (jsize)at);
        (*env)->DeleteLocalRef(env, visit_bin(visit, bin));
    }
    (*env)->DeleteLocalRef(env, next);
}

static void visit_slot(const struct visit *visit, jobjectArray table, jsize slot, jsize slots)
{
    JNIEnv *const env = visit->env;
    jobject forwarding = visit_bin(visit, (*env)->GetObjectArrayElement(env, table, slot));

    if (forwarding == NULL)
        return;
    visit_moved(visit, forwarding, slot, slots);
    (*env)->DeleteLocalRef(env, forwarding);
}

/* Draws this many slots, each from a part of its own. */
static void visit_slots(const struct visit *visit, jobjectArray table, size_t count,
                        uint64_t *random)
{
    const jsize slots = (*visit->env)->GetArrayLength(visit->env, table);
    const double part = (double)slots / (double)count;

    for (size_t i = 0; i < count; i++) {
        const jsize slot = (jsize)(((double)i + next_fraction(random)) * part);
        visit_slot(visit, table, slot < slots ? slot : slots - 1, slots);
    }
}

static jobjectArray table_of(const struct smp_key_set *known, JNIEnv *env, jobject set)
{
    jobject map = (*env)->GetObjectField(env, set, known->map);
    jobjectArray table = map != NULL ? (*env)->GetObjectField(env, map, known->table) : NULL;

    (*env)->DeleteLocalRef(env, map);
    return table;
}

size_t smp_key_set_draw(const struct smp_key_set *known, JNIEnv *env, jobject set,
                        struct smp_key_draw draw, smp_on_key *on_key, void *context)
{
    struct visit visit = { known, env, draw.share, on_key, context };
    jobjectArray table = table_of(known, env, set);
    size_t count = 0;

    if (table == NULL)
        return 0; /* no key yet */
    const size_t slots = (size_t)(*env)->GetArrayLength(env, table);
    if (visit.share * (double)slots > (double)draw.most)
        visit.share = (double)draw.most / (double)slots;
    if (visit.share >= 1) {
        visit.share = 1;
        for (count = 0; count < slots; count++)
            visit_slot(&visit, table, (jsize)count, (jsize)slots);
    } else {
        /* Rounded at random, so that the mean is right. */
        count = (size_t)(visit.share * (double)slots + next_fraction(draw.random));
        visit_slots(&visit, table, count, draw.random);
    }
    (*env)->DeleteLocalRef(env, table);
    return count;
}

int64_t smp_key_set_size(const struct smp_key_set *known, JNIEnv *env, jobject set)
{
    const jint size = (*env)->CallIntMethod(env, set, known->size);

    if (!(*env)->ExceptionCheck(env))
        return size;
    (*env)->ExceptionClear(env);
    return -1;
}

/* ----------------------------------------------------------------------------------------- init */

static bool find_ids(JNIEnv *env, struct smp_key_set *out)
{
    jclass view = smp_jdk_class(env, MAP "$CollectionView");
    jclass map = smp_jdk_class(env, MAP);
    jclass node = smp_jdk_class(env, MAP "$Node");
    jclass tree = smp_jdk_class(env, MAP "$TreeBin");
    jclass forwarding = smp_jdk_class(env, MAP "$ForwardingNode");

    *out = (struct smp_key_set){
        .map = smp_jdk_field(env, view, "map", "L" MAP ";"),
        .table = smp_jdk_field(env, map, "table", NODES),
        .hash = smp_jdk_field(env, node, "hash", "I"),
        .key = smp_jdk_field(env, node, "key", "Ljava/lang/Object;"),
        .next = smp_jdk_field(env, node, "next", "L" MAP "$Node;"),
        .tree_first = smp_jdk_field(env, tree, "first", "L" MAP "$TreeNode;"),
        .next_table = smp_jdk_field(env, forwarding, "nextTable", NODES),
        .size = smp_jdk_method(env, view, "size", "()I"),
    };
    return out->map != NULL && out->table != NULL && out->hash != NULL && out->key != NULL &&
           out->next != NULL && out->tree_first != NULL && out->next_table != NULL &&
           out->size != NULL;
}

static void count_key(void *context, SMP_UNUSED JNIEnv *env, SMP_UNUSED jobject key,
                      SMP_UNUSED double share)
{
    (*(int *)context)++;
}

/* The keys are classes, which exist anyway. An exception means no memory for the set. */
static enum smp_status find_own_keys(JNIEnv *env, const struct smp_key_set *known)
{
    static const char *const names[TRIED_KEYS] = { MAP, MAP "$Node", MAP "$TreeBin",
                                                   "java/lang/Thread", "java/lang/Object" };
    jclass map = smp_jdk_class(env, MAP);
    jclass collection = smp_jdk_class(env, "java/util/Collection");
    jmethodID make = smp_jdk_static_method(env, map, "newKeySet", "()L" MAP "$KeySetView;");
    jmethodID add = smp_jdk_method(env, collection, "add", "(Ljava/lang/Object;)Z");
    jobject set = NULL;
    uint64_t random = 1;
    int found = 0;

    if (make == NULL || add == NULL)
        return SMP_EUNSUPPORTED;
    set = (*env)->CallStaticObjectMethod(env, map, make);
    for (int i = 0; i < TRIED_KEYS && !(*env)->ExceptionCheck(env); i++)
        (void)(*env)->CallBooleanMethod(env, set, add, smp_jdk_class(env, names[i]));
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        return SMP_ENOMEM;
    }
    (void)smp_key_set_draw(known, env, set,
                           (struct smp_key_draw){ .share = 1, .most = SIZE_MAX, .random = &random },
                           count_key, &found);
    return found == TRIED_KEYS && smp_key_set_size(known, env, set) == TRIED_KEYS
               ? SMP_OK
               : SMP_EUNSUPPORTED;
}

enum smp_status smp_key_set_init(JNIEnv *env, struct smp_key_set *out)
{
    enum smp_status status = SMP_EUNSUPPORTED;

    if (!smp_local_frame_push(env, EXTRA_REFS + TRIED_KEYS))
        return SMP_ENOMEM;
    if (find_ids(env, out))
        status = find_own_keys(env, out);
    smp_local_frame_pop(env);
    return status;
}
