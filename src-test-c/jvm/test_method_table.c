/* SPDX-License-Identifier: Apache-2.0 */
/* An entry is valid as long as the word of its id contains the method. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <jvmti.h>
#include <jvmticmlr.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/safe_read.h"
#include "hotspot/method_table.h"
#include "jvm/agent/agent.h"
#include "jvm/check/check.h"
#include "jvm/code/code_events.h"
#include "jvm/code/method_ids.h"
#include "support/fake_code.h"
#include "support/fake_vm.h"

enum {
    METHODS = 200,
    MANY = 4 * SMP_METHOD_TABLE_ENTRIES,
    STEPS = 20000,
    CONST_METHOD = 0x7000,
    METHOD_BYTES = 104, /* distance of two methods of a class */
    READERS = 2,
    ROUNDS = 20000
};

/* Ids are the addresses of these words. Methods are mere numbers here. */
static _Atomic uintptr_t words[MANY];

static uint64_t id_at(size_t index)
{
    return (uint64_t)(uintptr_t)&words[index];
}

static uintptr_t method_at(size_t index)
{
    return 0x7f0000001000 + index * METHOD_BYTES;
}

static int setup(void **state)
{
    (void)state;
    smp_method_table_empty();
    for (size_t i = 0; i < MANY; i++)
        atomic_store(&words[i], method_at(i));
    return smp_safe_read_refusal() == NULL ? 0 : -1;
}

static struct smp_known_method known_at(size_t index)
{
    return (struct smp_known_method){ .id = id_at(index),
                                      .const_method = CONST_METHOD + 8 * index,
                                      .code_bytes = (uint16_t)index,
                                      .is_native = index % 3 == 0 };
}

static void put(size_t index)
{
    const struct smp_known_method known = known_at(index);

    smp_method_table_put(method_at(index), &known);
}

static bool is_found(size_t index)
{
    struct smp_known_method found;

    return smp_method_table_find(method_at(index), &found) && found.id == id_at(index);
}

static void expect_all(size_t index)
{
    const struct smp_known_method known = known_at(index);
    struct smp_known_method found;

    assert_true(smp_method_table_find(method_at(index), &found));
    assert_int_equal(found.id, known.id);
    assert_int_equal(found.const_method, known.const_method);
    assert_int_equal(found.code_bytes, known.code_bytes);
    assert_int_equal(found.is_native, known.is_native);
}

static void nothing_is_known_at_first(void **state)
{
    struct smp_known_method found;

    (void)state;
    for (size_t i = 0; i < METHODS; i++)
        assert_false(is_found(i));
    assert_false(smp_method_table_find(0, &found));
    assert_false(smp_method_table_find(UINTPTR_MAX, &found));
}

static void a_method_that_is_put_is_found(void **state)
{
    (void)state;
    for (size_t i = 1; i < METHODS; i++) {
        put(i);
        expect_all(i);
    }
    smp_method_table_empty();
    for (size_t i = 0; i < METHODS; i++)
        assert_false(is_found(i));
}

/* The id comes first, the byte codes when they are wanted; afterwards the id alone adds
 * nothing. */
static void an_offer_keeps_known_byte_codes(void **state)
{
    struct smp_known_method found;

    (void)state;
    smp_method_table_offer(id_at(5));
    assert_true(smp_method_table_find(method_at(5), &found));
    assert_int_equal(found.id, id_at(5));
    assert_int_equal(found.const_method, 0);
    put(5);
    expect_all(5);
    smp_method_table_offer(id_at(5));
    smp_method_table_add(id_at(5));
    expect_all(5);
}

/* Its class is unloaded or redefined; then another class uses the same addresses. */
static void an_entry_ends_with_its_method(void **state)
{
    struct smp_known_method found;
    struct smp_known_method next = known_at(8);

    (void)state;
    put(7);
    atomic_store(&words[7], 0);
    assert_false(is_found(7));
    atomic_store(&words[7], method_at(9));
    assert_false(is_found(7));
    assert_false(is_found(9)); /* its own id is another one */
    atomic_store(&words[8], method_at(7));
    smp_method_table_put(method_at(7), &next);
    assert_true(smp_method_table_find(method_at(7), &found));
    assert_int_equal(found.id, id_at(8));
    assert_int_equal(found.code_bytes, 8);
    atomic_store(&words[7], method_at(7)); /* never happens: an id always belongs to one method */
    assert_true(smp_method_table_find(method_at(7), &found));
    assert_int_equal(found.id, id_at(8));
}

/* The address does not fit beside the length: then the byte codes are read each time. */
static void a_very_high_address_is_not_kept(void **state)
{
    static const uintptr_t addresses[] = { UINT64_C(1) << 48, UINT64_MAX - 7, 0x7001 };
    struct smp_known_method found;

    (void)state;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        struct smp_known_method known = known_at(i);
        known.const_method = addresses[i];
        smp_method_table_put(method_at(i), &known);
        assert_true(smp_method_table_find(method_at(i), &found));
        assert_int_equal(found.const_method, 0);
    }
}

static void words_that_are_no_ids_are_not_kept(void **state)
{
    struct smp_known_method found;

    (void)state;
    smp_method_table_offer(0);
    smp_method_table_add(0);
    smp_method_table_add(id_at(3) + 1);
    assert_false(is_found(3));
    atomic_store(&words[3], 0);
    smp_method_table_add(id_at(3)); /* its class has been unloaded */
    assert_false(smp_method_table_find(0, &found));
}

static size_t count_found(size_t from, size_t to)
{
    size_t found = 0;

    for (size_t i = from; i < to; i++)
        found += is_found(i) ? 1 : 0;
    return found;
}

/* Offers use only free places; put and add replace entries, dead methods first. */
static void a_full_table_keeps_methods_that_walks_have_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < MANY / 2; i++)
        smp_method_table_offer(id_at(i));
    const size_t first = count_found(0, MANY / 2);
    assert_in_range(first, SMP_METHOD_TABLE_ENTRIES * 3 / 4, SMP_METHOD_TABLE_ENTRIES);
    for (size_t i = MANY / 2; i < MANY; i++)
        smp_method_table_offer(id_at(i));
    assert_int_equal(count_found(0, MANY / 2), first);
    for (size_t i = MANY / 2; i < MANY; i++) {
        smp_method_table_add(id_at(i));
        assert_true(is_found(i));
    }
}

static void a_dead_method_is_replaced_first(void **state)
{
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < MANY / 2; i++)
        put(i);
    for (size_t i = 0; i < MANY / 2; i += 2)
        atomic_store(&words[i], 0);
    const size_t before = count_found(0, MANY / 2);
    for (size_t i = MANY / 2; i < MANY; i += 256)
        put(i);
    for (size_t i = MANY / 2; i < MANY; i += 256)
        found += is_found(i) ? 1 : 0;
    assert_int_equal(found, MANY / 2 / 256);
    /* Each took the place of a dead method, unless both of a pair were alive: a quarter of
     * them. */
    assert_in_range(count_found(0, MANY / 2), before - found / 2, before);
}

/* Compared with a list of the last operations: a method that is found is the right one. */
static void random_operations_match_a_list(void **state)
{
    uint64_t random = 11;

    (void)state;
    for (size_t step = 0; step < STEPS; step++) {
        const size_t i = 1 + smp_random_next(&random) % METHODS;
        struct smp_known_method found;
        switch (smp_random_next(&random) % 5) {
        case 0:
            put(i);
            break;
        case 1:
            smp_method_table_offer(id_at(i));
            break;
        case 2:
            smp_method_table_add(id_at(i));
            break;
        default:
            atomic_store(&words[i], smp_random_next(&random) % 2 == 0 ? 0 : method_at(i));
            break;
        }
        if (!smp_method_table_find(method_at(i), &found))
            continue;
        assert_int_equal(found.id, id_at(i));
        assert_int_equal(atomic_load(&words[i]), method_at(i));
        if (found.const_method != 0)
            expect_all(i);
    }
}

/* ---------------------------------------------------------------------------- threads at once */

static _Atomic bool is_over;

/* Methods with the same two places, because the table is small: each write replaces one of the
 * others. */
static void *write_many(void *self)
{
    uint64_t random = (uintptr_t)self;

    for (size_t round = 0; round < ROUNDS; round++) {
        put(1 + smp_random_next(&random) % (MANY - 1));
        if (round % 4096 == 0)
            smp_method_table_empty();
    }
    return NULL;
}

static void *read_many(void *self)
{
    uint64_t random = (uintptr_t)self;
    size_t wrong = 0;

    while (!atomic_load(&is_over)) {
        const size_t i = 1 + smp_random_next(&random) % (MANY - 1);
        const struct smp_known_method known = known_at(i);
        struct smp_known_method found;
        if (smp_method_table_find(method_at(i), &found) &&
            (found.id != known.id || found.const_method != known.const_method ||
             found.code_bytes != known.code_bytes || found.is_native != known.is_native))
            wrong++;
    }
    return (void *)wrong; /* NOLINT(performance-no-int-to-ptr) */
}

static void readers_see_complete_entries(void **state)
{
    pthread_t writers[2];
    pthread_t readers[READERS];

    (void)state;
    atomic_store(&is_over, false);
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_many, (void *)(i + 1)), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_many, (void *)(i + 77)), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(writers[i], NULL), 0);
    atomic_store(&is_over, true);
    for (size_t i = 0; i < READERS; i++) {
        void *wrong = NULL;
        assert_int_equal(pthread_join(readers[i], &wrong), 0);
        assert_null(wrong);
    }
}

/* ----------------------------------------------------------------------------- the JVM's events */

static jmethodID jvm_id(size_t index)
{
    return (jmethodID)(uintptr_t)id_at(index); /* NOLINT(performance-no-int-to-ptr) */
}

static struct fake_code *code;

/* A JVM whose layout was found; the version does not matter to the table. */
static void begin_jvm(int version)
{
    fake_vm_setup();
    code = fake_code_create(version);
    const struct smp_exports exports = fake_code_exports(code);
    assert_int_equal(smp_agent_open(), SMP_OK);
    assert_int_equal(smp_hotspot_find(&exports, version), SMP_OK);
}

static void end_jvm(void)
{
    smp_method_ids_close();
    smp_agent_close();
    smp_hotspot_forget();
    fake_code_destroy(code);
    fake_vm_teardown();
}

static void prepare_class(const jmethodID *methods, jint count)
{
    fake_vm.class_ids = methods;
    fake_vm.class_methods = count;
    fake_vm.callbacks.ClassPrepare(smp_agent_jvmti(), fake_vm_jni(), NULL, NULL);
}

static void methods_of_prepared_classes_are_known(void **state)
{
    const jmethodID methods[] = { jvm_id(10), jvm_id(11), NULL, jvm_id(12) };

    (void)state;
    begin_jvm(25);
    smp_method_ids_open(fake_vm_jni());
    prepare_class(methods, 4);
    for (size_t i = 10; i <= 12; i++)
        assert_true(is_found(i));
    smp_hotspot_refuse("for a test");
    const jmethodID more[] = { jvm_id(13) };
    prepare_class(more, 1);
    assert_false(is_found(13));
    end_jvm();
    assert_false(is_found(10));
}

/* The method itself and all methods inlined in it. */
static void compiled_methods_are_known(void **state)
{
    jmethodID first[] = { jvm_id(20) };
    jmethodID inner[] = { jvm_id(21), jvm_id(21), jvm_id(22), jvm_id(20) };
    jmethodID deeper[] = { jvm_id(25), jvm_id(26), jvm_id(22), jvm_id(20) };
    jmethodID caller[] = { jvm_id(22), jvm_id(20) };
    jmethodID other_caller[] = { jvm_id(22), jvm_id(27) };
    jint bcis[] = { 0, 0, 0, 0 };
    PCStackInfo pcs[] = { { .numstackframes = 1, .methods = first, .bcis = bcis },
                          { .numstackframes = 4, .methods = inner, .bcis = bcis },
                          { .numstackframes = 4, .methods = deeper, .bcis = bcis },
                          { .numstackframes = 2, .methods = caller, .bcis = bcis },
                          { .numstackframes = 2, .methods = other_caller, .bcis = bcis } };
    jvmtiCompiledMethodLoadInlineRecord record = { .header = { .kind = JVMTI_CMLR_INLINE_INFO },
                                                   .numpcs = 5,
                                                   .pcinfo = pcs };
    const jvmtiCompiledMethodLoadRecordHeader other = { .kind = JVMTI_CMLR_DUMMY,
                                                        .next = &record.header };
    static const uint8_t bytes[64]; /* its code, outside the JVM's code heap */

    (void)state;
    begin_jvm(25);
    smp_code_events_on_load(smp_agent_jvmti(), jvm_id(23), sizeof(bytes), bytes, 0, NULL, &other);
    for (size_t i = 20; i <= 27; i++)
        assert_int_equal(is_found(i), i != 24);
    assert_true(smp_hotspot_is_refused());
    smp_code_events_on_load(smp_agent_jvmti(), jvm_id(24), sizeof(bytes), bytes, 0, NULL, NULL);
    assert_false(is_found(24));
    end_jvm();
}

/* There an id is a number: nothing may be read through it. */
static void ids_of_later_jdks_are_not_kept(void **state)
{
    struct smp_layout layout = { .version = SMP_METHOD_TABLE_LAST_JDK };

    (void)state;
    assert_true(smp_method_table_serves(&layout));
    layout.version++;
    assert_false(smp_method_table_serves(&layout));
}

/* A JVM of an old version may have such ids, too: the first one decides, and nothing is read
 * through it. */
static void ids_that_are_no_pointers_are_not_kept(void **state)
{
    static const uint64_t numbers[] = { 17, 4096, UINT64_MAX - 7 };

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        smp_method_table_empty();
        smp_method_table_add(numbers[i]);
        smp_method_table_offer(numbers[(i + 1) % 3]);
        smp_method_table_add(id_at(2));
        assert_false(is_found(2));
    }
    smp_method_table_empty();
    smp_method_table_add(0);
    smp_method_table_add(id_at(2));
    smp_method_table_add(17);
    assert_true(is_found(2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_known_at_first, setup),
        cmocka_unit_test_setup(a_method_that_is_put_is_found, setup),
        cmocka_unit_test_setup(ids_that_are_no_pointers_are_not_kept, setup),
        cmocka_unit_test_setup(an_offer_keeps_known_byte_codes, setup),
        cmocka_unit_test_setup(an_entry_ends_with_its_method, setup),
        cmocka_unit_test_setup(a_very_high_address_is_not_kept, setup),
        cmocka_unit_test_setup(words_that_are_no_ids_are_not_kept, setup),
        cmocka_unit_test_setup(a_full_table_keeps_methods_that_walks_have_seen, setup),
        cmocka_unit_test_setup(a_dead_method_is_replaced_first, setup),
        cmocka_unit_test_setup(random_operations_match_a_list, setup),
        cmocka_unit_test_setup(readers_see_complete_entries, setup),
        cmocka_unit_test_setup(methods_of_prepared_classes_are_known, setup),
        cmocka_unit_test_setup(compiled_methods_are_known, setup),
        cmocka_unit_test_setup(ids_of_later_jdks_are_not_kept, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
