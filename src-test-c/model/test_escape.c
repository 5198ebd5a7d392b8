/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/escape.h"

static void test_texts(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        { "", "" },
        { "worker-1, a\\b", "worker-1, a\\b" },
        { "a\nb", "a\\nb" },
        { "\r\t", "\\r\\t" },
        { "\x1b[31m", "\\u001b[31m" },
        { "\x7f", "\\u007f" },
        { "\xc2\x80 \xc2\x85 \xc2\x9f", "\\u0080 \\u0085 \\u009f" },
        { "\xc2\xa0\xc3\xb6", "\xc2\xa0\xc3\xb6" },
        { "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa",
          "\xe2\x80\xa7\\u2028\\u2029\xe2\x80\xaa" },
        { "\xf0\x9f\x98\x80\n", "\xf0\x9f\x98\x80\\n" },
        /* Cut characters do not read past the end. */
        { "\xe2", "\xe2" },
        { "\xe2\x80", "\xe2\x80" },
        { "\xc2", "\xc2" },
    };
    struct smp_bytes out;

    (void)state;
    smp_bytes_init(&out, NULL, 1000);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        smp_bytes_clear(&out);
        smp_escape_put(&out, cases[i].text);
        assert_string_equal(smp_bytes_text(&out), cases[i].expected);
    }
    smp_bytes_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
