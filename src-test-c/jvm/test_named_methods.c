/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "jvm/code/methods.h"
#include "jvm/code/named_methods.h"
#include "model/methods.h"
#include "support/failing_alloc.h"

#define METHOD ((uintptr_t)0x7f0000001000)
#define CONST_METHOD ((uintptr_t)0x7f0000002000)

enum { EPOCH = 7 };

static struct smp_named_methods *named;
static struct smp_named_method_texts texts;

static int setup(void **state)
{
    (void)state;
    return smp_named_methods_create(&named) == SMP_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    smp_named_methods_destroy(named);
    assert_int_equal(smp_alloc_live_bytes(), 0);
    return 0;
}

static struct smp_method_names names_of(const char *class_name, const char *name,
                                        uintptr_t const_method)
{
    struct smp_method_names names = { .const_method = const_method };

    (void)snprintf(names.class_name, sizeof(names.class_name), "%s", class_name);
    (void)snprintf(names.name, sizeof(names.name), "%s", name);
    return names;
}

static uint64_t add(uintptr_t method, const char *class_name, const char *name)
{
    const struct smp_method_names names = names_of(class_name, name, CONST_METHOD);

    return smp_named_methods_add(named, method, EPOCH, &names, false);
}

static uint64_t add_number(unsigned number)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "method%u", number);
    return add(METHOD + 8 * number, "com/acme/Made", name);
}

static void a_method_has_its_names(void **state)
{
    (void)state;
    const uint64_t key = add(METHOD, "com/acme/Shop$Till", "sell");
    assert_true(smp_named_methods_texts(named, key, &texts));
    assert_string_equal(texts.class_name, "com.acme.Shop$Till");
    assert_string_equal(texts.method_name, "sell");
    assert_false(texts.is_native);
}

static void a_key_is_no_id(void **state)
{
    (void)state;
    const uint64_t key = add(METHOD, "com/acme/Shop", "sell");
    assert_true(smp_named_methods_is_key(key));
    assert_false(smp_named_methods_is_key(0));
    assert_false(smp_named_methods_is_key(9));                            /* an id of JDK 26 */
    assert_false(smp_named_methods_is_key(UINT64_C(0x7fffffffffff)));     /* one of JDK 25 */
    assert_false(smp_named_methods_is_key(UINT64_C(0x0fffffffffffffff))); /* with an address tag */
    assert_false(smp_named_methods_is_key(SMP_METHODS_NO_ID));
}

static void an_address_finds_its_key(void **state)
{
    (void)state;
    assert_int_equal(smp_named_methods_find(named, METHOD, CONST_METHOD, EPOCH), 0);
    const uint64_t key = add(METHOD, "com/acme/Shop", "sell");
    assert_int_equal(smp_named_methods_find(named, METHOD, CONST_METHOD, EPOCH), key);
    assert_int_equal(smp_named_methods_find(named, METHOD, CONST_METHOD + 8, EPOCH), 0);
    assert_int_equal(smp_named_methods_find(named, METHOD + 8, CONST_METHOD, EPOCH), 0);
}

/* A class was unloaded, and another one's method lies in its place. */
static void an_address_that_is_used_again_gets_a_new_key(void **state)
{
    const struct smp_method_names other = names_of("com/acme/Bank", "pay", CONST_METHOD);

    (void)state;
    const uint64_t before = add(METHOD, "com/acme/Shop", "sell");
    assert_int_equal(smp_named_methods_find(named, METHOD, CONST_METHOD, EPOCH + 1), 0);
    const uint64_t after = smp_named_methods_add(named, METHOD, EPOCH + 1, &other, false);
    assert_int_not_equal(after, before);
    assert_int_equal(smp_named_methods_find(named, METHOD, CONST_METHOD, EPOCH + 1), after);
    assert_true(smp_named_methods_texts(named, before, &texts)); /* a sample may still have it */
    assert_string_equal(texts.class_name, "com.acme.Shop");
    assert_true(smp_named_methods_texts(named, after, &texts));
    assert_string_equal(texts.class_name, "com.acme.Bank");
}

/* The same method, seen again after another class was unloaded; and an overload. */
static void equal_names_have_one_key(void **state)
{
    const struct smp_method_names names = names_of("com/acme/Shop", "sell", CONST_METHOD);
    struct smp_named_methods_stats stats;

    (void)state;
    const uint64_t key = add(METHOD, "com/acme/Shop", "sell");
    assert_int_equal(smp_named_methods_add(named, METHOD, EPOCH + 1, &names, false), key);
    assert_int_equal(add(METHOD + 64, "com/acme/Shop", "sell"), key);
    assert_int_equal(smp_named_methods_find(named, METHOD + 64, CONST_METHOD, EPOCH), key);
    assert_int_not_equal(smp_named_methods_add(named, METHOD, EPOCH, &names, true), key);
    assert_int_not_equal(add(METHOD, "com/acme/Shop", "sel"), key);
    assert_int_not_equal(add(METHOD, "com/acme/Shops", "ell"), key);
    smp_named_methods_get_stats(named, &stats);
    assert_int_equal(stats.methods, 4);
}

static void names_are_made_readable(void **state)
{
    (void)state;
    assert_true(smp_named_methods_texts(
        named, add(METHOD, "com/acme/Shop$$Lambda+0x0000000800c03000", "run"), &texts));
    assert_string_equal(texts.class_name, "com.acme.Shop$$Lambda/0x0000000800c03000");
    assert_true(smp_named_methods_texts(named, add(METHOD, "C+", "+0x"), &texts));
    assert_string_equal(texts.class_name, "C+");
    assert_true(smp_named_methods_texts(
        named, add(METHOD, "A", "a\xED\xA0\xBD\xED\xB8\x80") /* U+1F600 */, &texts));
    assert_string_equal(texts.method_name, "a\xF0\x9F\x98\x80");
}

/* Not even a NUL at the end; each byte grows to three. */
static void the_longest_names_have_room(void **state)
{
    struct smp_method_names names = { .const_method = CONST_METHOD };

    (void)state;
    memset(names.class_name, 0xff, sizeof(names.class_name));
    memset(names.name, 0xff, sizeof(names.name));
    const uint64_t key = smp_named_methods_add(named, METHOD, EPOCH, &names, false);
    assert_true(smp_named_methods_texts(named, key, &texts));
    assert_int_equal(strlen(texts.class_name), 3 * SMP_METHOD_NAME_BYTES);
    assert_int_equal(strlen(texts.method_name), 3 * SMP_METHOD_NAME_BYTES);
}

/* All methods of the last two generations can be resolved, older ones are unknown. */
static void a_full_generation_is_forgotten_after_the_next_one(void **state)
{
    enum { MANY = 3 * SMP_NAMED_METHODS_GENERATION };
    static uint64_t keys[MANY];
    struct smp_named_methods_stats stats;
    char expected[32];

    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        keys[i] = add_number(i);
        assert_true(smp_named_methods_is_key(keys[i]));
        assert_true(smp_named_methods_texts(named, keys[i], &texts));
    }
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(expected, sizeof(expected), "method%u", i);
        assert_int_equal(smp_named_methods_texts(named, keys[i], &texts),
                         i >= SMP_NAMED_METHODS_GENERATION);
        if (i >= SMP_NAMED_METHODS_GENERATION)
            assert_string_equal(texts.method_name, expected);
    }
    smp_named_methods_get_stats(named, &stats);
    assert_int_equal(stats.methods, 2 * SMP_NAMED_METHODS_GENERATION);
    assert_int_equal(stats.forgotten, SMP_NAMED_METHODS_GENERATION);
    /* Seen again it gets a new key. */
    const uint64_t again = add_number(0);
    assert_int_not_equal(again, keys[0]);
    assert_true(smp_named_methods_texts(named, again, &texts));
    assert_string_equal(texts.method_name, "method0");
    assert_false(smp_named_methods_texts(named, keys[0], &texts));
}

/* Addresses of one name, and long names, fill a generation too. */
static void no_table_overflows(void **state)
{
    char name[SMP_METHOD_NAME_BYTES];
    uint64_t key = 0;

    (void)state;
    for (unsigned i = 0; i < 3 * SMP_NAMED_METHODS_ADDRESSES; i++)
        key = add(METHOD + 8 * i, "com/acme/Shop", "sell");
    assert_true(smp_named_methods_texts(named, key, &texts));
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    for (unsigned i = 0; i < 3 * SMP_NAMED_METHODS_TEXT_BYTES / SMP_METHOD_NAME_BYTES; i++) {
        (void)snprintf(name, 10, "%09u", i);
        name[9] = 'n';
        key = add(METHOD, "com/acme/Shop", name);
        assert_true(smp_named_methods_texts(named, key, &texts));
        assert_string_equal(texts.method_name, name);
    }
}

static void a_key_that_was_never_handed_out_is_unknown(void **state)
{
    (void)state;
    assert_false(smp_named_methods_texts(named, SMP_NAMED_METHOD_BIT | 1024, &texts));
    const uint64_t key = add(METHOD, "com/acme/Shop", "sell");
    assert_false(smp_named_methods_texts(named, key + 1, &texts));
    assert_false(smp_named_methods_texts(named, key & ~SMP_NAMED_METHOD_BIT, &texts));
    assert_false(smp_named_methods_texts(named, SMP_METHODS_NO_ID, &texts));
}

static void without_memory_it_refuses_and_counts(void **state)
{
    struct failing_alloc failing;
    struct smp_named_methods_stats stats;

    (void)state;
    failing_alloc_arm(&failing, 1, 1);
    assert_int_equal(add(METHOD, "com/acme/Shop", "sell"), 0);
    assert_int_equal(failing_alloc_disarm(&failing), 1);
    smp_named_methods_get_stats(named, &stats);
    assert_int_equal(stats.refused, 1);
    const uint64_t first = add_number(0);
    for (unsigned i = 1; i < SMP_NAMED_METHODS_GENERATION; i++)
        (void)add_number(i);
    failing_alloc_arm(&failing, 1, 1); /* the second generation */
    assert_int_equal(add_number(SMP_NAMED_METHODS_GENERATION), 0);
    assert_int_equal(failing_alloc_disarm(&failing), 1);
    smp_named_methods_get_stats(named, &stats);
    assert_int_equal(stats.refused, 2);
    assert_true(smp_named_methods_texts(named, first, &texts));
}

static enum smp_status create_and_add(void *self)
{
    const struct smp_method_names names = names_of("com/acme/Shop", "sell", CONST_METHOD);
    struct smp_named_methods *made = NULL;
    enum smp_status status = smp_named_methods_create(&made);

    (void)self;
    if (status == SMP_OK && smp_named_methods_add(made, METHOD, EPOCH, &names, false) == 0)
        status = SMP_ENOMEM;
    smp_named_methods_destroy(made);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_int_equal(failing_alloc_each_step(create_and_add, NULL).refused, 2);
}

/* --- through the name source --- */

static struct smp_jvm_methods *methods;
static struct smp_name_source source;
static struct smp_method_info info;

static int setup_source(void **state)
{
    (void)state;
    if (smp_jvm_methods_create(&methods) != SMP_OK)
        return -1;
    source = smp_jvm_methods_source(methods);
    named = smp_jvm_methods_named(methods);
    return 0;
}

static int teardown_source(void **state)
{
    (void)state;
    smp_jvm_methods_destroy(methods);
    assert_int_equal(smp_alloc_live_bytes(), 0);
    return 0;
}

/* Even without a JVM. */
static void the_name_source_knows_the_keys(void **state)
{
    const struct smp_method_names native = names_of("java/lang/Object", "wait0", CONST_METHOD);

    (void)state;
    assert_int_equal(source.resolve(source.self, add(METHOD, "com/acme/Shop", "sell"), &info),
                     SMP_OK);
    assert_string_equal(info.class_name, "com.acme.Shop");
    assert_string_equal(info.method_name, "sell");
    assert_null(info.file);
    assert_null(info.lines);
    assert_false(info.is_native);
    source.release(source.self, &info);
    assert_int_equal(source.resolve(source.self,
                                    smp_named_methods_add(named, METHOD, EPOCH, &native, true),
                                    &info),
                     SMP_OK);
    assert_true(info.is_native);
    source.release(source.self, &info);
    assert_int_equal(source.resolve(source.self, SMP_NAMED_METHOD_BIT, &info), SMP_EVM);
}

/* The text of the frame, with names as everywhere. */
static void a_report_shows_them(void **state)
{
    struct smp_methods *table = NULL;
    struct smp_bytes text;
    struct smp_frame frame = { .bci = 5 };

    (void)state;
    assert_int_equal(smp_methods_create(NULL, SMP_METHODS_MIN_BYTES, NULL, &table), SMP_OK);
    smp_bytes_init(&text, NULL, 1024);
    frame.method = add(METHOD, "com/acme/Shop$$Lambda+0x0000000800c03000", "sell");
    const uint32_t location = smp_methods_locate(table, &source, &frame);
    smp_methods_frame_text(table, location, &text);
    assert_string_equal(smp_bytes_text(&text), "com.acme.Shop$$Lambda.sell(Unknown Source)");
    /* Another hidden class of the same line: one row. */
    frame.method = add(METHOD, "com/acme/Shop$$Lambda+0x0000000800c04000", "sell");
    assert_int_equal(smp_methods_locate(table, &source, &frame), location);
    smp_bytes_fini(&text);
    smp_methods_release(table);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SOURCE_TEST(name) cmocka_unit_test_setup_teardown(name, setup_source, teardown_source)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_method_has_its_names),
        TEST(a_key_is_no_id),
        TEST(an_address_finds_its_key),
        TEST(an_address_that_is_used_again_gets_a_new_key),
        TEST(equal_names_have_one_key),
        TEST(names_are_made_readable),
        TEST(the_longest_names_have_room),
        TEST(a_full_generation_is_forgotten_after_the_next_one),
        TEST(no_table_overflows),
        TEST(a_key_that_was_never_handed_out_is_unknown),
        TEST(without_memory_it_refuses_and_counts),
        TEST(each_allocation_may_fail),
        SOURCE_TEST(the_name_source_knows_the_keys),
        SOURCE_TEST(a_report_shows_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
