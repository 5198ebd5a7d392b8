/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/class_name.h"

struct name_case {
    const char *name;
    const char *expected;
};

static void check(const struct name_case *cases, size_t count)
{
    char name[200];

    for (size_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof(name), "%s", cases[i].name);
        smp_class_name_simplify(name);
        assert_string_equal(name, cases[i].expected);
    }
}

static void test_numbers_of_generated_names_are_removed(void **state)
{
    static const struct name_case cases[] = {
        /* Names of JDK 17 and 25, and their spelling in JVMTI's signatures. */
        { "a.T$$Lambda$14/0x00007f63c8004800", "a.T$$Lambda" },
        { "a.T$$Lambda/0x0000000009040218", "a.T$$Lambda" },
        { "a.T$$Lambda.0x0000000009040218", "a.T$$Lambda" },
        { "a.T$$Lambda+0x0000000009040218", "a.T$$Lambda" },
        { "a.T$$Lambda$14", "a.T$$Lambda" },
        { "a.Hidden/0x0000000800c03000", "a.Hidden" },
        { "java.lang.invoke.LambdaForm$MH/0x00007f63c8006000", "java.lang.invoke.LambdaForm$MH" },
        { "java.lang.invoke.LambdaForm$DMH/0x00007f63c8006000", "java.lang.invoke.LambdaForm$DMH" },
        { "java.lang.invoke.LambdaForm$DMH017", "java.lang.invoke.LambdaForm$DMH" },
        { "java.lang.String$$StringConcat/0x0000000009040218", "java.lang.String$$StringConcat" },
        { "jdk.internal.reflect.GeneratedMethodAccessor17",
          "jdk.internal.reflect.GeneratedMethodAccessor" },
        { "jdk.internal.reflect.GeneratedConstructorAccessor3",
          "jdk.internal.reflect.GeneratedConstructorAccessor" },
        { "sun.reflect.GeneratedSerializationConstructorAccessor5",
          "sun.reflect.GeneratedSerializationConstructorAccessor" },
        { "$Proxy12", "$Proxy" },
        { "com.sun.proxy.$Proxy12", "com.sun.proxy.$Proxy" },
        { "com.acme.$Proxy3", "com.acme.$Proxy" },
        { "jdk.proxy2.$Proxy12", "jdk.proxy.$Proxy" },
        { "jdk.proxy13.$Proxy4", "jdk.proxy.$Proxy" },
        { "a.B$$EnhancerBySpringCGLIB$$1a2b3c4d", "a.B$$EnhancerBySpringCGLIB" },
        { "a.B$$EnhancerBySpringCGLIB$$1a2b3c4d_2", "a.B$$EnhancerBySpringCGLIB" },
        { "a.B$$EnhancerByCGLIB$$f00", "a.B$$EnhancerByCGLIB" },
        { "a.B$$EnhancerBySpringCGLIB$$1a2b$$FastClassBySpringCGLIB$$3c4d",
          "a.B$$EnhancerBySpringCGLIB$$FastClassBySpringCGLIB" },
        { "a.B$$SpringCGLIB$$0", "a.B$$SpringCGLIB" },
        { "a.B$$SpringCGLIB$$FastClass$$1", "a.B$$SpringCGLIB$$FastClass" },
        { "a.B$ByteBuddy$k3XvQz9a", "a.B$ByteBuddy" },
        { "a.B$ByteBuddy$kkXvQzaa$auxiliary$Ab3dEf7h", "a.B$ByteBuddy$auxiliary" },
        { "a.B$HibernateProxy$aB3dE6gH", "a.B$HibernateProxy" },
        { "a.B$MockitoMock$1234567890", "a.B$MockitoMock" },
        { "a.B$MockitoMock$1234567890$auxiliary$Ab3dEf7h", "a.B$MockitoMock$auxiliary" },
        { "a.B_$$_jvst1a2_3", "a.B_$$_jvst" },
        { "a.B_$$_javassist_12", "a.B_$$_javassist_" },
    };

    (void)state;
    check(cases, sizeof(cases) / sizeof(cases[0]));
}

static void test_names_from_source_are_kept(void **state)
{
    static const char *const names[] = {
        "com.acme.Base64",
        "com.acme.Http2",
        "com.acme.v2.Order",
        "com.acme.Outer$1",
        "com.acme.Outer$Inner$2",
        "com.acme.Outer$Proxy12",
        "com.acme.My$Proxy",
        "com.acme.GeneratedMethodAccessor17",
        "com.acme.LambdaForm$MH12",
        "com.acme.Lambda$14",
        "com.acme.Order$ByteBuddy$Strategy",
        "com.acme.Order$ByteBuddy$Outer1",
        "com.acme.B$MockitoMock$Inner",
        "com.acme.B$$SpringCGLIB$$Inner",
        "com.acme.x0x12",
        "com.acme.0x12.Order",
        "com.acme.Hex0x12",
        "java.lang.invoke.LambdaForm$1",
        "java.lang.invoke.BoundMethodHandle$Species_L3",
        "java.lang.invoke.Invokers$Holder",
        "jdk.proxy2.Order",
        "jdk.proxying2.$Proxies",
        "jdk.internal.reflect.DirectMethodHandleAccessor",
        "jdk.internal.reflect.GeneratedMethodAccessor",
        "Work1",
        "0",
        "/0x",
        "$",
        "$$Lambda$",
        "",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check(&(const struct name_case){ names[i], names[i] }, 1);
}

static void classes_of_the_library_are_known(void **state)
{
    static const char *const own[] = {
        "java.lang.ThreadsSamplerHook",
        "threadsampler.HookNatives",
        "com.incapsula.sampler.ThreadsSampler",
        "com.incapsula.sampler.ThreadsSampler$Surroundings",
        "com.incapsula.sampler.SamplingReport",
        "com.incapsula.sampler.internal.engine.NativeBridge",
        "com.incapsula.sampler.internal.engine.NativeHandle$$Lambda",
    };
    static const char *const others[] = {
        "",
        "com.incapsula.sampler",
        "com.incapsula.sampler.ThreadsSamplerTest",
        "com.incapsula.sampler.outputer.PrintStreamSamplingOutputer",
        "com.incapsula.sampler.internals.X",
        "java.lang.ThreadsSamplerHooks",
        "com.acme.com.incapsula.sampler.internal.X",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        assert_true(smp_class_name_is_own(own[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(smp_class_name_is_own(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_of_the_library_are_known),
        cmocka_unit_test(test_numbers_of_generated_names_are_removed),
        cmocka_unit_test(test_names_from_source_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
