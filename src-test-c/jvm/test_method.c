/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/safe_read.h"
#include "hotspot/method.h"
#include "support/fake_code.h"

static const int versions[] = { 17, 21, 25 };
enum { VERSION_COUNT = sizeof(versions) / sizeof(versions[0]), LONG = 400, PAGE = 4096 };

static _Alignas(uintptr_t) char room[4 * LONG];
static const struct smp_method_copy *const copy = (const void *)room;

static void expect_texts(const char *class_name, const char *name, const char *file)
{
    char expected[4 * LONG];
    const int length = snprintf(expected, sizeof(expected), "%s%s%s", class_name, name, file);

    assert_int_equal(copy->class_bytes, strlen(class_name));
    assert_int_equal(copy->name_bytes, strlen(name));
    assert_int_equal(copy->file_bytes, strlen(file));
    assert_memory_equal(copy->texts, expected, (size_t)length);
}

static int allow_reads(void **state)
{
    (void)state;
    return smp_safe_read_refusal() == NULL ? 0 : -1;
}

static bool is_valid(const struct smp_layout *layout, uintptr_t method)
{
    struct smp_method_code code;

    return smp_method_code(layout, method, &code);
}

static int32_t bci_of(const struct smp_layout *layout, uintptr_t method, uintptr_t bcp)
{
    struct smp_method_code code;

    return smp_method_code(layout, method, &code) ? smp_method_code_bci(&code, bcp) : -2;
}

static void test_ids_and_names(void **state)
{
    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_code *code = fake_code_create(versions[v]);
        const struct smp_layout *layout = fake_code_layout(code);
        const uintptr_t method = fake_code_method(code, "com/acme/Outer$Inner", "run", 0);
        assert_true(is_valid(layout, method));
        assert_int_equal(smp_method_id(layout, method), 0);
        fake_code_set_id(code, method, 0x1234567890);
        assert_int_equal(smp_method_id(layout, method), 0x1234567890);
        assert_true(smp_method_copy(layout, method, 0, room, sizeof(room)) > 0);
        expect_texts("com/acme/Outer$Inner", "run", "");
        fake_code_destroy(code);
    }
}

static void test_byte_codes(void **state)
{
    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_code *code = fake_code_create(versions[v]);
        const struct smp_layout *layout = fake_code_layout(code);
        const uintptr_t method = fake_code_method(code, "app/Main", "run", 1);
        const uintptr_t bcp = fake_code_bcp(code, method, 0);
        assert_int_equal(bci_of(layout, method, bcp), 0);
        assert_int_equal(bci_of(layout, method, bcp + FAKE_BYTE_CODES - 1), FAKE_BYTE_CODES - 1);
        assert_int_equal(bci_of(layout, method, bcp + FAKE_BYTE_CODES), -2);
        assert_int_equal(bci_of(layout, method, bcp - 1), -2);
        assert_int_equal(bci_of(layout, method, 0), -2);
        fake_code_set_native(code, method);
        assert_int_equal(bci_of(layout, method, 0), -1);
        fake_code_destroy(code);
    }
}

static void expect_nothing(const struct smp_layout *layout, uintptr_t method)
{
    assert_false(is_valid(layout, method));
    assert_int_equal(smp_method_id(layout, method), 0);
    assert_int_equal(smp_method_copy(layout, method, 0, room, sizeof(room)), 0);
    assert_int_equal(bci_of(layout, method, 0), -2);
}

static void test_words_that_are_no_methods_are_rejected(void **state)
{
    struct fake_code *code = fake_code_create(25);
    const struct smp_layout *layout = fake_code_layout(code);
    const uintptr_t method = fake_code_method(code, "app/Main", "run", 1);
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_ptr_not_equal(page, MAP_FAILED);
    expect_nothing(layout, 0);
    expect_nothing(layout, 8);
    expect_nothing(layout, method + 1);
    expect_nothing(layout, method + 8);
    expect_nothing(layout, UINTPTR_MAX - 7);
    expect_nothing(layout, (uintptr_t)page);
    expect_nothing(layout, (uintptr_t)(page + PAGE - 8));
    (void)munmap(page, PAGE);
    expect_nothing(layout, (uintptr_t)page);
    fake_code_destroy(code);
}

/* Replaces each word on the way from the method to its names, one at a time. */
static void test_each_link_is_checked(void **state)
{
    static const uintptr_t wrong[] = { 0, 8, 4097, UINTPTR_MAX - 7 };

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_code *code = fake_code_create(versions[v]);
        const struct smp_layout *layout = fake_code_layout(code);
        const uintptr_t method = fake_code_method(code, "app/Main", "run", 1);
        uintptr_t *to_const = (uintptr_t *)(method + layout->method.const_method);
        uintptr_t *to_pool = (uintptr_t *)(*to_const + layout->const_method.pool);
        uintptr_t *links[] = { to_const, to_pool, (uintptr_t *)(*to_pool + layout->pool.tags) };
        uint32_t *length = (uint32_t *)(*to_pool + layout->pool.length);
        uint32_t *words = (uint32_t *)(*to_const + layout->const_method.words);
        for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
            const uintptr_t saved = *links[i];
            for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
                *links[i] = wrong[k];
                expect_nothing(layout, method);
            }
            *links[i] = saved;
        }
        ++*length; /* not as long as its tags */
        expect_nothing(layout, method);
        --*length;
        *words = 3; /* no room for its byte codes */
        expect_nothing(layout, method);
        *words = 9 << 16; /* nine byte codes, read as the upper half of the size */
        expect_nothing(layout, method);
        fake_code_destroy(code);
    }
}

/* -------------------------------------------------------------------------------------- copies */

static void test_a_copy_has_names_file_and_line(void **state)
{
    static const struct smp_line lines[] = { { 0, 12 }, { 5, 14 }, { 40, 900 }, { 44, 13 } };

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_code *code = fake_code_create(versions[v]);
        const struct smp_layout *layout = fake_code_layout(code);
        const uintptr_t method = fake_code_method(code, "com/acme/Shop", "sell", 0);
        size_t used = smp_method_copy(layout, method, 41, room, sizeof(room));
        assert_int_equal(used % sizeof(uintptr_t), 0);
        assert_in_range(used, offsetof(struct smp_method_copy, texts) + 17, sizeof(room));
        expect_texts("com/acme/Shop", "sell", "");
        assert_int_equal(copy->line, 0);
        assert_int_equal(copy->first_line, 0);
        assert_false(copy->is_native);
        fake_code_set_file(code, method, "Shop.java");
        fake_code_set_lines(code, method, lines, sizeof(lines) / sizeof(lines[0]));
        assert_true(smp_method_copy(layout, method, 41, room, sizeof(room)) > used);
        expect_texts("com/acme/Shop", "sell", "Shop.java");
        assert_int_equal(copy->line, 900);
        assert_int_equal(copy->first_line, 12);
        fake_code_set_native(code, method);
        assert_true(smp_method_copy(layout, method, -1, room, sizeof(room)) > 0);
        assert_int_equal(copy->line, 0);
        assert_true(copy->is_native);
        fake_code_destroy(code);
    }
}

/* A cut name would make a separate row. */
static void test_a_copy_is_never_cut(void **state)
{
    struct fake_code *code = fake_code_create(25);
    const struct smp_layout *layout = fake_code_layout(code);
    char name[LONG + 1];
    uintptr_t method = 0;

    (void)state;
    memset(name, 'n', LONG);
    name[LONG] = 0;
    method = fake_code_method(code, "app/Main", name, 0);
    fake_code_set_file(code, method, "Main.java");
    const size_t used = smp_method_copy(layout, method, 0, room, sizeof(room));
    expect_texts("app/Main", name, "Main.java");
    for (size_t bytes = 0; bytes < sizeof(room); bytes++) {
        memset(room, 0x5a, sizeof(room));
        assert_int_equal(smp_method_copy(layout, method, 0, room, bytes), bytes < used ? 0 : used);
        for (size_t i = bytes; i < sizeof(room); i++)
            assert_int_equal(room[i], 0x5a);
    }
    fake_code_destroy(code);
}

/* A frame without a name is better than a frame with a wrong line. */
static void test_nothing_is_copied_if_the_table_of_lines_is_damaged(void **state)
{
    struct fake_code *code = fake_code_create(25);
    const struct smp_layout *layout = fake_code_layout(code);
    const uintptr_t method = fake_code_method(code, "app/Main", "run", 0);
    const struct smp_line line = { 0, 9 };

    (void)state;
    fake_code_set_lines(code, method, &line, 1);
    assert_true(smp_method_copy(layout, method, 0, room, sizeof(room)) > 0);
    const uintptr_t start = fake_code_bcp(code, method, FAKE_BYTE_CODES);
    const uintptr_t const_method = *(uintptr_t *)(method + layout->method.const_method);
    const uint32_t words = *(uint32_t *)(const_method + layout->const_method.words);
    memset((char *)start, 9, const_method + words * sizeof(uintptr_t) - start);
    assert_int_equal(smp_method_copy(layout, method, 0, room, sizeof(room)), 0);
    fake_code_destroy(code);
}

static void test_nothing_is_copied_if_a_name_is_no_symbol(void **state)
{
    struct fake_code *code = fake_code_create(25);
    const struct smp_layout *layout = fake_code_layout(code);
    const uintptr_t method = fake_code_method(code, "app/Main", "run", 0);
    const uintptr_t pool = *(uintptr_t *)(*(uintptr_t *)(method + layout->method.const_method) +
                                          layout->const_method.pool);
    uint16_t *file = (uint16_t *)(pool + layout->pool.source_file);

    (void)state;
    fake_code_set_file(code, method, "Main.java");
    *file += 1; /* an empty entry */
    assert_int_equal(smp_method_copy(layout, method, 0, room, sizeof(room)), 0);
    *file = 7; /* after the last entry */
    assert_int_equal(smp_method_copy(layout, method, 0, room, sizeof(room)), 0);
    assert_int_equal(smp_method_copy(layout, method + 8, 0, room, sizeof(room)), 0);
    fake_code_destroy(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_and_names),
        cmocka_unit_test(test_byte_codes),
        cmocka_unit_test(test_words_that_are_no_methods_are_rejected),
        cmocka_unit_test(test_each_link_is_checked),
        cmocka_unit_test(test_a_copy_has_names_file_and_line),
        cmocka_unit_test(test_a_copy_is_never_cut),
        cmocka_unit_test(test_nothing_is_copied_if_the_table_of_lines_is_damaged),
        cmocka_unit_test(test_nothing_is_copied_if_a_name_is_no_symbol),
    };

    return cmocka_run_group_tests(tests, allow_reads, NULL);
}
