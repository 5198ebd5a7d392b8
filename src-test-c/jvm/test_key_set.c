/* SPDX-License-Identifier: Apache-2.0 */
/* Keys drawn from the table of a ConcurrentHashMap, which consists of C structs here. */
#include "jvm/threads/key_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"

enum { SLOTS = 64, MAX_KEYS = 256, DRAWS = 40000, MOVED = -1, TREE = -2, RESERVED = -3 };

/* A node of any kind, an array, a map or a set. A reference is the address of the object. */
struct object {
    jint hash;
    struct object *key; /* a key is an object whose hash is its number */
    struct object *next;
    struct object *first;
    struct object *next_table;
    struct object *map;
    struct object *table;
    size_t length;
    struct object *elements[2 * SLOTS];
};

static struct object keys[MAX_KEYS];
static struct object nodes[MAX_KEYS];
static struct object table;
static struct object map;
static struct object set;
static long refs; /* local references */
static uint64_t drawn[MAX_KEYS];
static double last_share;

/* Field ids are offsets. */
#define FIELD(name) ((jfieldID)(void *)offsetof(struct object, name))
static const struct smp_key_set known = {
    .map = FIELD(map),
    .table = FIELD(table),
    .hash = FIELD(hash),
    .key = FIELD(key),
    .next = FIELD(next),
    .tree_first = FIELD(first),
    .next_table = FIELD(next_table),
};

static jobject reference(struct object *object)
{
    refs += object != NULL;
    return (jobject)(void *)object;
}

static jobject JNICALL get_object_field(JNIEnv *env, jobject object, jfieldID field)
{
    (void)env;
    return reference(*(struct object **)(void *)((char *)(void *)object + (size_t)field));
}

static jint JNICALL get_int_field(JNIEnv *env, jobject object, jfieldID field)
{
    (void)env;
    assert_int_equal((size_t)field, offsetof(struct object, hash));
    return ((struct object *)(void *)object)->hash;
}

static jsize JNICALL get_array_length(JNIEnv *env, jarray array)
{
    (void)env;
    return (jsize)((struct object *)(void *)array)->length;
}

static jobject JNICALL get_object_array_element(JNIEnv *env, jobjectArray array, jsize index)
{
    struct object *object = (struct object *)(void *)array;

    (void)env;
    assert_in_range(index, 0, object->length - 1);
    return reference(object->elements[index]);
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject object)
{
    (void)env;
    refs -= object != NULL;
}

static const struct JNINativeInterface_ functions = {
    .GetObjectField = get_object_field,
    .GetIntField = get_int_field,
    .GetArrayLength = get_array_length,
    .GetObjectArrayElement = get_object_array_element,
    .DeleteLocalRef = delete_local_ref,
};
static const struct JNINativeInterface_ *env_functions = &functions;

static int setup(void **state)
{
    (void)state;
    memset(keys, 0, sizeof(keys));
    memset(nodes, 0, sizeof(nodes));
    memset(drawn, 0, sizeof(drawn));
    table = (struct object){ .length = SLOTS };
    map = (struct object){ .table = &table };
    set = (struct object){ .map = &map };
    refs = 0;
    for (int i = 0; i < MAX_KEYS; i++)
        keys[i].hash = i;
    return 0;
}

static struct object *node_of(int key, struct object *next)
{
    nodes[key] = (struct object){ .hash = key, .key = &keys[key], .next = next };
    return &nodes[key];
}

static void put(struct object *into, size_t slot, int key)
{
    into->elements[slot] = node_of(key, into->elements[slot]);
}

static void on_key(void *context, JNIEnv *env, jobject key, double share)
{
    (void)context;
    (void)env;
    drawn[((struct object *)(void *)key)->hash]++;
    last_share = share;
}

static size_t draw(double share, size_t most, uint64_t *random)
{
    const struct smp_key_draw how = { .share = share, .most = most, .random = random };
    const size_t count = smp_key_set_draw(&known, (JNIEnv *)(void *)&env_functions,
                                          (jobject)(void *)&set, how, on_key, NULL);

    assert_int_equal(refs, 0);
    return count;
}

static void assert_drawn_once(int first, int end)
{
    for (int i = 0; i < MAX_KEYS; i++)
        assert_int_equal(drawn[i], i >= first && i < end);
}

static void all_keys_are_found_once(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (int i = 0; i < 50; i++)
        put(&table, (size_t)(i * i % SLOTS), i);
    assert_int_equal(draw(1, SIZE_MAX, &random), SLOTS);
    assert_drawn_once(0, 50);
    memset(drawn, 0, sizeof(drawn));
    (void)draw(7.5, SIZE_MAX, &random);
    assert_drawn_once(0, 50);
    assert_true(last_share == 1);
}

static void a_map_without_a_table_has_no_keys(void **state)
{
    uint64_t random = 1;

    (void)state;
    map.table = NULL;
    assert_int_equal(draw(1, SIZE_MAX, &random), 0);
    assert_drawn_once(0, 0);
}

/* A key alone in its bin, keys that share one, and keys in neighbouring bins are drawn equally
 * often. */
static void each_key_is_drawn_with_the_same_probability(void **state)
{
    static const double shares[] = { 0.004, 0.1, 0.37, 0.9 };
    uint64_t random = 99;

    (void)state;
    for (int i = 0; i < 40; i++)
        put(&table, (size_t)(i < 20 ? i : i < 32 ? 21 : SLOTS - 1), i);
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        const double expected = DRAWS * shares[i];
        memset(drawn, 0, sizeof(drawn));
        for (int j = 0; j < DRAWS; j++)
            (void)draw(shares[i], SIZE_MAX, &random);
        for (int key = 0; key < 40; key++) {
            /* Five standard deviations. */
            const double difference = (double)drawn[key] - expected;
            assert_true(difference * difference < 25 * expected + 1);
        }
        assert_true(last_share == shares[i]);
    }
}

static void a_limit_of_slots_lowers_the_probability(void **state)
{
    uint64_t random = 7;
    size_t looked_at = 0;

    (void)state;
    put(&table, 5, 0);
    for (int i = 0; i < DRAWS; i++)
        looked_at += draw(1, 16, &random);
    assert_true(last_share == 0.25);
    assert_in_range(drawn[0], DRAWS / 4 - 500, DRAWS / 4 + 500);
    assert_in_range(looked_at, 16 * DRAWS, 17 * DRAWS);
}

static void bins_that_are_trees_moved_or_reserved(void **state)
{
    struct object next = { .length = 2 * SLOTS };
    struct object tree = { .hash = TREE };
    struct object moved = { .hash = MOVED, .next_table = &next };
    struct object moved_on = { .hash = MOVED, .next_table = &next };
    struct object reserved = { .hash = RESERVED };
    uint64_t random = 1;

    (void)state;
    for (int i = 0; i < 10; i++)
        tree.first = node_of(i, tree.first);
    table.elements[3] = &tree;
    table.elements[9] = &moved; /* the bin was split into two */
    put(&next, 9, 10);
    put(&next, 9 + SLOTS, 11);
    put(&next, 10, 20); /* its old bin has not moved yet */
    table.elements[12] = &moved;
    next.elements[12] = &moved_on; /* left out */
    put(&next, 12 + SLOTS, 12);
    table.elements[13] = &reserved;
    (void)draw(1, SIZE_MAX, &random);
    assert_drawn_once(0, 13);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(all_keys_are_found_once),
        TEST(a_map_without_a_table_has_no_keys),
        TEST(each_key_is_drawn_with_the_same_probability),
        TEST(a_limit_of_slots_lowers_the_probability),
        TEST(bins_that_are_trees_moved_or_reserved),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
