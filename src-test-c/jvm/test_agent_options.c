/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "jvm/agent/agent_options.h"
#include "support/failing_alloc.h"

static void assert_jar(const char *options, const char *expected)
{
    char *value = NULL;

    assert_int_equal(smp_agent_option(options, "jar", &value), SMP_OK);
    if (expected == NULL)
        assert_null(value);
    else
        assert_string_equal(value, expected);
    smp_free(NULL, value);
}

static void the_first_part_with_the_key_is_used(void **state)
{
    (void)state;
    assert_jar("start,jar=/a.jar,jar=/b.jar", "/a.jar");
    assert_jar("jar=/a.jar", "/a.jar");
    assert_jar("interval=5ms, jar = /a b.jar ,file=x", "/a b.jar");
    assert_jar("jar:/a.jar", "/a.jar");
    assert_jar("file=jar=/x,jar:/a=b.jar", "/a=b.jar");
}

static void without_the_key_there_is_no_value(void **state)
{
    (void)state;
    assert_jar("", NULL);
    assert_jar(",,", NULL);
    assert_jar("jar", NULL);
    assert_jar("start,jars=/a.jar,file=/jar=x", NULL);
    assert_jar("file=x\\,jar=/a.jar", NULL);
}

static void escapes_follow_the_grammar(void **state)
{
    (void)state;
    assert_jar("jar=/a\\,b.jar", "/a,b.jar");
    assert_jar("file=c:\\\\,jar=/a.jar", "/a.jar");
    assert_jar("jar=/a\\b.jar\\", "/a\\b.jar\\");
    assert_jar("jar=\\\\\\,,x=y", "\\,");
    assert_jar("jar=", "");
}

static enum smp_status attempt(void *self)
{
    char *value = NULL;
    const enum smp_status status = smp_agent_option("start,jar=/a.jar", "jar", &value);

    (void)self;
    if (status != SMP_OK)
        assert_null(value);
    smp_free(NULL, value);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_int_equal(failing_alloc_each_step(attempt, NULL).refused, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_part_with_the_key_is_used),
        cmocka_unit_test(without_the_key_there_is_no_value),
        cmocka_unit_test(escapes_follow_the_grammar),
        cmocka_unit_test(each_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
