/* SPDX-License-Identifier: Apache-2.0 */
/* Objects, classes and names in the JVM's layout, in memory of the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/safe_read.h"
#include "hotspot/object_class.h"

enum { MARK_SHIFT = 42, UNMAPPED = 4096, NARROW_SHIFT = 3, Z_SHIFT = 13 };

struct symbol {
    uint32_t hash;
    uint16_t length;
    char body[64];
};

static struct {
    uintptr_t mark;
    union {
        uintptr_t pointer;
        uint32_t narrow;
    } class_word;
} object;

static struct {
    _Alignas(64) uintptr_t padding[3];
    uintptr_t name;
} class;

static struct symbol symbol;
static uintptr_t bad_mask;
static uintptr_t load_shift;
static uintptr_t narrow_base;
static uint32_t narrow_shift;
static struct smp_object_layout layout;

static void set_name(const char *name)
{
    symbol.length = (uint16_t)strlen(name);
    memcpy(symbol.body, name, symbol.length);
}

static int setup(void **state)
{
    (void)state;
    if (smp_safe_read_refusal() != NULL)
        return -1;
    set_name("com/acme/Cart");
    class.name = (uintptr_t)&symbol;
    object.class_word.pointer = (uintptr_t) & class;
    bad_mask = load_shift = narrow_base = narrow_shift = 0;
    layout = (struct smp_object_layout){
        .references = SMP_REFERENCE_PLAIN,
        .classes = SMP_CLASS_POINTER,
        .bad_mask = (uintptr_t)&bad_mask,
        .load_shift = (uintptr_t)&load_shift,
        .narrow_base = (uintptr_t)&narrow_base,
        .narrow_shift = (uintptr_t)&narrow_shift,
        .class_at = (uint32_t)((char *)&object.class_word - (char *)&object),
        .mark_shift = MARK_SHIFT,
        .name = (uint32_t)((char *)&class.name - (char *)&class),
        .length = offsetof(struct symbol, length),
        .body = offsetof(struct symbol, body),
    };
    return 0;
}

static void check_name(const char *expected)
{
    char name[32];

    assert_true(smp_object_class_name(&layout, (uintptr_t)&object, name, sizeof(name)));
    assert_string_equal(name, expected);
}

static void check_no_name(void)
{
    char name[32];

    assert_false(smp_object_class_name(&layout, (uintptr_t)&object, name, sizeof(name)));
}

static void a_plain_reference_is_an_address(void **state)
{
    uintptr_t word = 4711;

    (void)state;
    assert_int_equal(smp_object_address(&layout, (uintptr_t)&word), 4711);
    assert_int_equal(smp_object_address(&layout, 0), 0);
    assert_int_equal(smp_object_address(&layout, UNMAPPED), 0);
    layout.references = SMP_REFERENCE_UNKNOWN;
    assert_int_equal(smp_object_address(&layout, (uintptr_t)&word), 0);
}

static void a_coloured_reference_is_valid_while_its_colour_is_good(void **state)
{
    uintptr_t word = 0x4711 | 1U << 20;

    (void)state;
    layout.references = SMP_REFERENCE_MASKED;
    bad_mask = 1U << 21;
    assert_int_equal(smp_object_address(&layout, (uintptr_t)&word), word);
    bad_mask = 1U << 20;
    assert_int_equal(smp_object_address(&layout, (uintptr_t)&word), 0);
}

static void a_shifted_reference_has_its_address_above_the_colour(void **state)
{
    uintptr_t word = (uintptr_t)0x4711 << Z_SHIFT | 1;

    (void)state;
    layout.references = SMP_REFERENCE_SHIFTED;
    load_shift = Z_SHIFT;
    bad_mask = 2;
    assert_int_equal(smp_object_address(&layout, (uintptr_t)&word), 0x4711);
    bad_mask = 1;
    assert_int_equal(smp_object_address(&layout, (uintptr_t)&word), 0);
    bad_mask = 0;
    load_shift = 64; /* being written, or an impossible value */
    assert_int_equal(smp_object_address(&layout, (uintptr_t)&word), 0);
}

static void a_class_is_found_by_each_kind_of_header(void **state)
{
    (void)state;
    check_name("com.acme.Cart");

    narrow_base = (uintptr_t) & class - 64;
    narrow_shift = NARROW_SHIFT;
    object.class_word.narrow = 64 >> NARROW_SHIFT;
    layout.classes = SMP_CLASS_NARROW;
    check_name("com.acme.Cart");

    object.mark = (uintptr_t)(64 >> NARROW_SHIFT) << MARK_SHIFT | 1;
    layout.classes = SMP_CLASS_IN_MARK;
    layout.class_at = 0;
    check_name("com.acme.Cart");

    object.mark = 1;
    check_no_name();
    object.mark = (uintptr_t)8 << MARK_SHIFT;
    narrow_shift = 64;
    check_no_name();
    layout.classes = SMP_CLASS_UNKNOWN;
    check_no_name();
}

static void unmapped_memory_has_no_name(void **state)
{
    char name[32];

    (void)state;
    assert_false(smp_object_class_name(&layout, 0, name, sizeof(name)));
    assert_false(smp_object_class_name(&layout, UNMAPPED, name, sizeof(name)));
    object.class_word.pointer = UNMAPPED;
    check_no_name();
    object.class_word.pointer = 0;
    check_no_name();
    object.class_word.pointer = (uintptr_t) & class;
    class.name = UNMAPPED;
    check_no_name();
    class.name = 0;
    check_no_name();
    class.name = (uintptr_t)&symbol;
    layout.classes = SMP_CLASS_NARROW;
    layout.class_at = UINT32_MAX - 8;
    check_no_name();
}

static void a_name_is_cut_and_has_no_control_characters(void **state)
{
    char name[9];

    (void)state;
    assert_true(smp_object_class_name(&layout, (uintptr_t)&object, name, sizeof(name)));
    assert_string_equal(name, "com.acme");
    assert_false(smp_object_class_name(&layout, (uintptr_t)&object, name, 0));
    assert_false(smp_object_class_name(&layout, (uintptr_t)&object, name, 1));
    set_name("com/acm\xc3\xa9");
    assert_true(smp_object_class_name(&layout, (uintptr_t)&object, name, sizeof(name)));
    assert_string_equal(name, "com.acm"); /* without half of a character */
    set_name("com\nacme");
    check_no_name();
    set_name("");
    check_no_name();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_plain_reference_is_an_address, setup),
        cmocka_unit_test_setup(a_coloured_reference_is_valid_while_its_colour_is_good, setup),
        cmocka_unit_test_setup(a_shifted_reference_has_its_address_above_the_colour, setup),
        cmocka_unit_test_setup(a_class_is_found_by_each_kind_of_header, setup),
        cmocka_unit_test_setup(unmapped_memory_has_no_name, setup),
        cmocka_unit_test_setup(a_name_is_cut_and_has_no_control_characters, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
