/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of the frame rule's description, on the reference others are measured against. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/reference_frame_rule.h"

/* stack: one character a frame, leaf first; M is monitored, anything else is library code. */
static size_t first_kept(const char *stack, bool filter_is_empty)
{
    bool monitored[16] = { false };
    size_t count = 0;
    for (; stack[count] != '\0'; count++)
        monitored[count] = stack[count] == 'M';
    return reference_frame_rule_first_kept(monitored, count, filter_is_empty);
}

static void library_call_keeps_its_first_method(void **state)
{
    (void)state;
    assert_int_equal(first_kept("lllMl", false), 2);
    assert_int_equal(first_kept("lM", false), 0);
    assert_int_equal(first_kept("llMlMl", false), 1);
}

static void monitored_leaf_keeps_everything(void **state)
{
    (void)state;
    assert_int_equal(first_kept("MllMl", false), 0);
    assert_int_equal(first_kept("M", false), 0);
}

static void unmonitored_stack_keeps_its_root(void **state)
{
    (void)state;
    assert_int_equal(first_kept("llll", false), 3);
    assert_int_equal(first_kept("l", false), 0);
}

static void empty_filter_keeps_everything(void **state)
{
    (void)state;
    assert_int_equal(first_kept("llll", true), 0);
    assert_int_equal(first_kept("llMl", true), 0);
}

static void empty_stack_has_nothing_to_keep(void **state)
{
    (void)state;
    assert_int_equal(first_kept("", false), 0);
    assert_int_equal(first_kept("", true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_call_keeps_its_first_method),
        cmocka_unit_test(monitored_leaf_keeps_everything),
        cmocka_unit_test(unmonitored_stack_keeps_its_root),
        cmocka_unit_test(empty_filter_keeps_everything),
        cmocka_unit_test(empty_stack_has_nothing_to_keep),
    };
    return cmocka_run_group_tests_name("reference_frame_rule", tests, NULL, NULL);
}
