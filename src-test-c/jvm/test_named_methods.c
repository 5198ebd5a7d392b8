/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "hotspot/frames.h"
#include "jvm/code/methods.h"
#include "jvm/code/named_methods.h"
#include "model/methods.h"
#include "support/failing_alloc.h"

enum { ROOM_BYTES = 2 * SMP_NAMED_METHODS_LONGEST, LINE = 31, FIRST_LINE = 28 };

static struct smp_named_methods *named;
static struct smp_method_info info;
static _Alignas(uintptr_t) char room[ROOM_BYTES];

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

/* A copy as walks make it. file NULL: no source file. */
static struct smp_method_copy *make_copy(const char *class_name, const char *name, const char *file,
                                         int32_t line)
{
    struct smp_method_copy *copy = (struct smp_method_copy *)(void *)room;

    *copy = (struct smp_method_copy){ .line = line,
                                      .first_line = line > 0 ? FIRST_LINE : 0,
                                      .class_bytes = (uint16_t)strlen(class_name),
                                      .name_bytes = (uint16_t)strlen(name),
                                      .file_bytes = file == NULL ? 0 : (uint16_t)strlen(file) };
    memcpy(copy->texts, class_name, copy->class_bytes);
    memcpy(copy->texts + copy->class_bytes, name, copy->name_bytes);
    if (file != NULL)
        memcpy(copy->texts + copy->class_bytes + copy->name_bytes, file, copy->file_bytes);
    return copy;
}

static uint64_t add(const char *class_name, const char *name, const char *file, int32_t line)
{
    return smp_named_methods_add(named, make_copy(class_name, name, file, line));
}

static uint64_t add_number(unsigned number)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "method%u", number);
    return add("com/acme/Made", name, "Made.java", LINE);
}

static void a_key_has_its_names_and_its_line(void **state)
{
    (void)state;
    const uint64_t key = add("com/acme/Shop$Till", "sell", "Shop.java", LINE);
    assert_true(smp_named_methods_find(named, key, &info));
    assert_string_equal(info.class_name, "com.acme.Shop$Till");
    assert_string_equal(info.method_name, "sell");
    assert_string_equal(info.file, "Shop.java");
    assert_false(info.is_native);
    assert_int_equal(info.line_count, 2);
    assert_int_equal(info.lines[0].start_bci, 0);
    assert_int_equal(info.lines[0].line, LINE);
    assert_int_equal(info.lines[1].line, FIRST_LINE);
    assert_true(smp_named_methods_find(named, add("A", "b", NULL, 0), &info));
    assert_null(info.file);
}

static void a_key_cannot_be_mistaken_for_an_id(void **state)
{
    (void)state;
    const uint64_t key = add("com/acme/Shop", "sell", NULL, LINE);
    assert_true(smp_named_methods_is_key(key));
    assert_false(smp_named_methods_is_key(0));
    assert_false(smp_named_methods_is_key(9));                            /* an id of JDK 26 */
    assert_false(smp_named_methods_is_key(UINT64_C(0x7fffffffffff)));     /* one of JDK 25 */
    assert_false(smp_named_methods_is_key(UINT64_C(0x0fffffffffffffff))); /* with an address tag */
    assert_false(smp_named_methods_is_key(SMP_METHODS_NO_ID));
}

static void equal_copies_have_one_key(void **state)
{
    struct smp_method_copy *native = NULL;
    const uint64_t key = add("com/acme/Shop", "sell", "Shop.java", LINE);

    (void)state;
    assert_int_equal(add("com/acme/Shop", "sell", "Shop.java", LINE), key);
    assert_int_not_equal(add("com/acme/Shop", "sell", "Shop.java", LINE + 1), key);
    assert_int_not_equal(add("com/acme/Shop", "sell", NULL, LINE), key);
    assert_int_not_equal(add("com/acme/Shop", "sel", "lShop.java", LINE), key);
    assert_int_not_equal(add("com/acme/Shops", "ell", "Shop.java", LINE), key);
    native = make_copy("com/acme/Shop", "sell", "Shop.java", LINE);
    native->is_native = true;
    assert_int_not_equal(smp_named_methods_add(named, native), key);
    assert_int_equal(smp_named_methods_count(named), 6);
}

static void names_are_made_readable(void **state)
{
    (void)state;
    assert_true(smp_named_methods_find(
        named, add("com/acme/Shop$$Lambda+0x0000000800c03000", "run", NULL, 0), &info));
    assert_string_equal(info.class_name, "com.acme.Shop$$Lambda/0x0000000800c03000");
    assert_true(smp_named_methods_find(named, add("C+", "+0x", NULL, 0), &info));
    assert_string_equal(info.class_name, "C+");
    assert_true(smp_named_methods_find(
        named, add("A", "a\xED\xA0\xBD\xED\xB8\x80", NULL, 0) /* U+1F600 */, &info));
    assert_string_equal(info.method_name, "a\xF0\x9F\x98\x80");
}

/* Each byte becomes three. */
static void the_longest_texts_have_room(void **state)
{
    enum { EACH = SMP_NAMED_METHODS_LONGEST / 2 };
    struct smp_method_copy *copy = make_copy("A", "b", NULL, 0);

    (void)state;
    memset(copy->texts, 0xff, SMP_NAMED_METHODS_LONGEST + 1);
    copy->class_bytes = copy->name_bytes = EACH;
    assert_true(smp_named_methods_find(named, smp_named_methods_add(named, copy), &info));
    assert_int_equal(strlen(info.class_name), 3 * EACH);
    assert_int_equal(strlen(info.method_name), 3 * EACH);
    copy->file_bytes = 1;
    assert_int_equal(smp_named_methods_add(named, copy), 0);
}

/* Entries of the last two generations are found, older ones are unknown. */
static void a_full_generation_is_forgotten_after_the_next_one(void **state)
{
    enum { MANY = 3 * SMP_NAMED_METHODS_GENERATION };
    static uint64_t keys[MANY];
    char expected[32];

    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        keys[i] = add_number(i);
        assert_true(smp_named_methods_is_key(keys[i]));
        assert_true(smp_named_methods_find(named, keys[i], &info));
    }
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(expected, sizeof(expected), "method%u", i);
        assert_int_equal(smp_named_methods_find(named, keys[i], &info),
                         i >= SMP_NAMED_METHODS_GENERATION);
        if (i >= SMP_NAMED_METHODS_GENERATION)
            assert_string_equal(info.method_name, expected);
    }
    assert_int_equal(smp_named_methods_count(named), 2 * SMP_NAMED_METHODS_GENERATION);
    /* Seen again, it gets a new key. */
    const uint64_t again = add_number(0);
    assert_int_not_equal(again, keys[0]);
    assert_true(smp_named_methods_find(named, again, &info));
    assert_string_equal(info.method_name, "method0");
    assert_false(smp_named_methods_find(named, keys[0], &info));
}

static void long_texts_also_fill_a_generation(void **state)
{
    enum { LENGTH = 1000 };
    char name[LENGTH + 1];

    (void)state;
    memset(name, 'n', LENGTH);
    name[LENGTH] = '\0';
    for (unsigned i = 0; i < 3 * SMP_NAMED_METHODS_TEXT_BYTES / LENGTH; i++) {
        (void)snprintf(name, 10, "%09u", i);
        name[9] = 'n';
        assert_true(smp_named_methods_find(named, add("com/acme/Shop", name, NULL, LINE), &info));
        assert_string_equal(info.method_name, name);
    }
    assert_true(smp_named_methods_count(named) < 2 * SMP_NAMED_METHODS_TEXT_BYTES / LENGTH);
}

static void a_key_that_add_never_returned_is_unknown(void **state)
{
    (void)state;
    assert_false(smp_named_methods_find(named, SMP_NAMED_METHOD_BIT | 1024, &info));
    const uint64_t key = add("com/acme/Shop", "sell", NULL, LINE);
    assert_false(smp_named_methods_find(named, key + 1, &info));
    assert_false(smp_named_methods_find(named, key & ~SMP_NAMED_METHOD_BIT, &info));
    assert_false(smp_named_methods_find(named, SMP_METHODS_NO_ID, &info));
}

/* --- the marks of a sample --- */

static void marks_become_keys(void **state)
{
    struct smp_frame frames[] = {
        { .method = SMP_FRAME_NAME_BIT | (uintptr_t)room, .bci = 5 },
        { .method = 4711, .bci = 6 },
        { .method = 0, .bci = 7 },
        { .method = SMP_FRAME_NAME_BIT | (uintptr_t)(room + ROOM_BYTES), .bci = 8 },
        { .method = SMP_FRAME_NAME_BIT | 9, .bci = SMP_BCI_PSEUDO },
    };
    struct smp_frame without[] = { frames[0], frames[1] };
    struct smp_sample sample = { .frames = frames, .count = 5 };

    (void)state;
    const uint64_t key = add("com/acme/Shop", "sell", "Shop.java", LINE);
    smp_named_methods_take(named, &sample, room, ROOM_BYTES);
    assert_int_equal(frames[0].method, key);
    assert_int_equal(frames[0].bci, 5);
    assert_int_equal(frames[1].method, 4711);
    assert_int_equal(frames[2].method, 0);
    assert_int_equal(frames[3].method, 0); /* outside the buffer */
    assert_int_equal(frames[4].method, SMP_FRAME_NAME_BIT | 9);
    sample = (struct smp_sample){ .frames = without, .count = 2 };
    smp_named_methods_take(NULL, &sample, room, ROOM_BYTES);
    assert_int_equal(without[0].method, 0);
    assert_int_equal(without[1].method, 4711);
}

/* --- without memory --- */

static void without_memory_there_is_no_key(void **state)
{
    struct failing_alloc failing;

    (void)state;
    failing_alloc_arm(&failing, 1, 1);
    assert_int_equal(add_number(0), 0);
    assert_int_equal(failing_alloc_disarm(&failing), 1);
    const uint64_t first = add_number(0);
    for (unsigned i = 1; i < SMP_NAMED_METHODS_GENERATION; i++)
        (void)add_number(i);
    failing_alloc_arm(&failing, 1, 1); /* the second generation */
    assert_int_equal(add_number(SMP_NAMED_METHODS_GENERATION), 0);
    assert_int_equal(failing_alloc_disarm(&failing), 1);
    assert_true(smp_named_methods_find(named, first, &info));
    assert_int_equal(add_number(0), first); /* known entries are still found */
}

static enum smp_status create_and_add(void *self)
{
    struct smp_named_methods *made = NULL;
    enum smp_status status = smp_named_methods_create(&made);

    (void)self;
    if (status == SMP_OK && smp_named_methods_add(made, make_copy("A", "b", NULL, 1)) == 0)
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
    (void)state;
    assert_int_equal(
        source.resolve(source.self, add("com/acme/Shop", "sell", "Shop.java", LINE), &info),
        SMP_OK);
    assert_string_equal(info.class_name, "com.acme.Shop");
    source.release(source.self, &info);
    assert_int_equal(source.resolve(source.self, SMP_NAMED_METHOD_BIT, &info), SMP_EVM);
}

/* The JVM's names for a method with an id. */
static enum smp_status resolve_by_id(void *self, uint64_t method, struct smp_method_info *out)
{
    static const struct smp_line lines[] = { { 0, FIRST_LINE }, { 5, LINE }, { 9, LINE + 1 } };

    (void)self;
    (void)method;
    *out = (struct smp_method_info){ .class_name = "com.acme.Shop$$Lambda/0x0000000800c09000",
                                     .method_name = "sell",
                                     .file = "Shop.java",
                                     .lines = lines,
                                     .line_count = 3 };
    return SMP_OK;
}

static void release_nothing(void *self, struct smp_method_info *out)
{
    (void)self;
    (void)out;
}

/* They are one row, whichever was seen first; a tree has one node per location. */
static void a_frame_without_an_id_is_the_same_row_as_one_with_it(void **state)
{
    static const struct smp_name_source by_id = { .resolve = resolve_by_id,
                                                  .release = release_nothing };
    const struct smp_frame with_id = { .method = 4711, .bci = 7 };

    (void)state;
    for (int id_first = 0; id_first < 2; id_first++) {
        struct smp_methods *table = NULL;
        struct smp_location_view view;
        struct smp_bytes text;
        uint32_t first = 0;
        const struct smp_frame without = { .method = add("com/acme/Shop$$Lambda+0x0000000800c03000",
                                                         "sell", "Shop.java", LINE),
                                           .bci = 7 };
        assert_int_equal(smp_methods_create(NULL, SMP_METHODS_MIN_BYTES, NULL, &table), SMP_OK);
        if (id_first)
            first = smp_methods_locate(table, &by_id, &with_id);
        else
            first = smp_methods_locate(table, &source, &without);
        assert_int_equal(smp_methods_locate(table, &by_id, &with_id), first);
        assert_int_equal(smp_methods_locate(table, &source, &without), first);
        smp_methods_view(table, first, &view);
        assert_int_equal(view.start_line, FIRST_LINE);
        smp_bytes_init(&text, NULL, 1024);
        smp_methods_frame_text(table, first, &text);
        assert_string_equal(smp_bytes_text(&text), "com.acme.Shop$$Lambda.sell(Shop.java:31)");
        smp_bytes_fini(&text);
        smp_methods_release(table);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SOURCE_TEST(name) cmocka_unit_test_setup_teardown(name, setup_source, teardown_source)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_key_has_its_names_and_its_line),
        TEST(a_key_cannot_be_mistaken_for_an_id),
        TEST(equal_copies_have_one_key),
        TEST(names_are_made_readable),
        TEST(the_longest_texts_have_room),
        TEST(a_full_generation_is_forgotten_after_the_next_one),
        TEST(long_texts_also_fill_a_generation),
        TEST(a_key_that_add_never_returned_is_unknown),
        TEST(marks_become_keys),
        TEST(without_memory_there_is_no_key),
        TEST(each_allocation_may_fail),
        SOURCE_TEST(the_name_source_knows_the_keys),
        SOURCE_TEST(a_frame_without_an_id_is_the_same_row_as_one_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
