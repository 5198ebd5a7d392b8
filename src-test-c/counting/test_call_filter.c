/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "counting/call_filter.h"
#include "support/class_text.h"

static bool passes(const char *list, struct smp_slice class_name)
{
    struct smp_call_filter filter;

    assert_true(smp_call_filter_open(&filter, NULL, list));
    const bool result = smp_call_filter_passes(&filter, class_name);
    smp_call_filter_close(&filter, NULL);
    return result;
}

static void test_which_classes_pass(void **state)
{
    static const struct {
        const char *list;
        const char *class_name;
        bool expected;
    } cases[] = {
        { "", "com/acme/A", true },
        { "", "A", true },
        { "", "java/util/List", false },
        { "", "javax/sql/DataSource", false },
        { "", "jdk/proxy2/$Proxy12", false },
        { "", "sun/misc/Unsafe", false },
        { "", "com/sun/proxy/$Proxy1", false },
        { "", "javafx/A", true },
        { "", "com/sunny/A", true },
        { " , ", "java/util/List", false },
        { "com.acme", "com/acme/A", true },
        { "com.acme", "com/acme/sub/A", true },
        { "com.acme", "com/acme", true },
        { "com.acme", "com/acme$1", true },
        { "com.acme", "com/acmetools/A", false },
        { "com.acme", "org/lib/A", false },
        { "com.acme", "java/util/List", false },
        { "com.acme, org.lib", "org/lib/A", true },
        { "com.acme, -com.acme.util", "com/acme/A", true },
        { "com.acme, -com.acme.util", "com/acme/util/A", false },
        { "-com.acme.util,com.acme", "com/acme/util/A", false },
        { "-com.acme.util", "com/acme/A", true },
        { "-com.acme.util", "com/acme/util/A", false },
        { "-com.acme.util", "java/util/List", false },
        { "java.util, com.acme", "java/util/List", true },
        { "java.util, com.acme", "java/lang/String", false },
        { "*", "java/lang/String", true },
        { "*, -java", "java/lang/String", false },
        { "*, -java", "org/lib/A", true },
        { "com.ac*", "com/acmetools/A", true },
        { "com.acme.", "com/acme/A", true },
        { "com.acme.", "com/acme", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (passes(cases[i].list, slice_of(cases[i].class_name)) != cases[i].expected)
            fail_msg("\"%s\" on %s is not %d", cases[i].list, cases[i].class_name,
                     cases[i].expected);
    }
}

/* Only the given length is read, and names may be longer than any prefix. */
static void test_long_names(void **state)
{
    static char name[5000];
    static char prefix[1001];

    (void)state;
    assert_false(passes("com.acme", (struct smp_slice){ "com/acme", 7 }));
    memset(name, 'x', sizeof(name));
    memcpy(name, "com/acme/", 9);
    assert_true(passes("com.acme", (struct smp_slice){ name, sizeof(name) }));
    name[8] = 'x';
    assert_false(passes("com.acme", (struct smp_slice){ name, sizeof(name) }));

    /* A prefix of the maximum length, and the byte after it. */
    memset(name, 'p', sizeof(name));
    memset(prefix, 'p', sizeof(prefix) - 1);
    assert_true(passes(prefix, (struct smp_slice){ name, 1000 }));
    name[1000] = '/';
    assert_true(passes(prefix, (struct smp_slice){ name, sizeof(name) }));
    name[1000] = 'p';
    assert_false(passes(prefix, (struct smp_slice){ name, sizeof(name) }));
}

static void test_classes_that_are_never_instrumented(void **state)
{
    static const struct {
        const char *class_name;
        bool expected;
    } cases[] = {
        { "java/lang/Thread", true },
        { "java/lang/Thread$FieldHolder", true },
        { "java/lang/ThreadGroup", false },
        { "java/lang/ThreadsSamplerHook", true },
        { "java/lang/VirtualThread", true },
        { "java/lang/BaseVirtualThread", true },
        { "java/lang/invoke/MethodHandle", true },
        { "java/lang/invoked/X", false },
        { "jdk/internal/misc/Unsafe", true },
        { "jdk/internal/misc/UnsafeX", false },
        { "jdk/internal/vm/Continuation", true },
        { "com/incapsula/sampler/ThreadsSampler", true },
        { "com/incapsula/sampler", false },
        { "com/incapsula/other/A", false },
        { "com/acme/A", false },
        { "", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (smp_call_filter_is_never(slice_of(cases[i].class_name)) != cases[i].expected)
            fail_msg("%s is not %d", cases[i].class_name, cases[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_classes_pass),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_classes_that_are_never_instrumented),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
