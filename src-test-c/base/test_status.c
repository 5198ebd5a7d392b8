/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void each_status_has_its_own_text(void **state)
{
    (void)state;
    for (int one = 0; one < SMP_STATUS_COUNT; one++) {
        assert_true(strlen(smp_status_text((enum smp_status)one)) > 0);
        for (int other = 0; other < one; other++)
            assert_string_not_equal(smp_status_text((enum smp_status)one),
                                    smp_status_text((enum smp_status)other));
    }
}

static void texts_belong_to_their_codes(void **state)
{
    (void)state;
    assert_int_equal(SMP_OK, 0);
    assert_string_equal(smp_status_text(SMP_EQUOTA), "memory limit reached");
    assert_string_equal(smp_status_text(SMP_EUNSUPPORTED), "not supported on this JVM");
}

static void texts_are_sentence_parts(void **state)
{
    (void)state;
    for (int i = 0; i < SMP_STATUS_COUNT; i++) {
        const char *text = smp_status_text((enum smp_status)i);
        assert_int_not_equal(text[strlen(text) - 1], '.');
    }
}

static void an_unknown_number_has_a_text(void **state)
{
    (void)state;
    assert_string_equal(smp_status_text(SMP_STATUS_COUNT), "unknown status");
    assert_string_equal(smp_status_text((enum smp_status)1000), "unknown status");
    assert_string_equal(smp_status_text((enum smp_status) - 1), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_status_has_its_own_text),
        cmocka_unit_test(texts_belong_to_their_codes),
        cmocka_unit_test(texts_are_sentence_parts),
        cmocka_unit_test(an_unknown_number_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
