/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/safe_read.h"
#include "jvm/hotspot/method.h"
#include "support/fake_code.h"

static const int versions[] = { 17, 21, 25 };
enum { VERSION_COUNT = sizeof(versions) / sizeof(versions[0]), LONG = 400, PAGE = 4096 };

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
        struct smp_method_names names;
        assert_true(is_valid(layout, method));
        assert_int_equal(smp_method_id(layout, method), 0);
        fake_code_set_id(code, method, 0x1234567890);
        assert_int_equal(smp_method_id(layout, method), 0x1234567890);
        assert_true(smp_method_names(layout, method, &names));
        assert_string_equal(names.class_name, "com/acme/Outer$Inner");
        assert_string_equal(names.name, "run");
        assert_int_not_equal(names.const_method, 0);
        fake_code_destroy(code);
    }
}

static void test_names_that_are_too_long(void **state)
{
    struct fake_code *code = fake_code_create(25);
    struct smp_method_names names;
    char ascii[LONG + 1];
    char wide[LONG + 1];

    (void)state;
    memset(ascii, 'a', LONG);
    ascii[LONG] = 0;
    /* Characters of two bytes, of which the cut would take one apart. */
    for (size_t i = 0; i < LONG; i += 2)
        memcpy(wide + i, "\xc3\xa4", 2);
    wide[LONG] = 0;
    assert_true(
        smp_method_names(fake_code_layout(code), fake_code_method(code, ascii, wide, 1), &names));
    assert_int_equal(strlen(names.class_name), SMP_METHOD_NAME_BYTES - 1);
    assert_int_equal(strlen(names.name), SMP_METHOD_NAME_BYTES - 2);
    assert_memory_equal(names.name, wide, SMP_METHOD_NAME_BYTES - 2);
    fake_code_destroy(code);
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
    struct smp_method_names names;

    assert_false(is_valid(layout, method));
    assert_int_equal(smp_method_id(layout, method), 0);
    assert_false(smp_method_names(layout, method, &names));
    assert_int_equal(bci_of(layout, method, 0), -2);
}

static void test_words_that_are_no_methods(void **state)
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

/* Each word that leads from the method to its names, in turn something else. */
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
        fake_code_destroy(code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_and_names),
        cmocka_unit_test(test_names_that_are_too_long),
        cmocka_unit_test(test_byte_codes),
        cmocka_unit_test(test_words_that_are_no_methods),
        cmocka_unit_test(test_each_link_is_checked),
    };

    return cmocka_run_group_tests(tests, allow_reads, NULL);
}
