/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/wait_rules.h"

#include "support/failing_alloc.h"

static void methods_of_the_jdk_are_known(void **state)
{
    static const struct {
        const char *class_name;
        const char *method_name;
        enum smp_wait_kind kind;
    } cases[] = {
        { "jdk.internal.misc.Unsafe", "park", SMP_WAIT_PASS },
        { "java.lang.Object", "wait0", SMP_WAIT_PASS },
        { "java.lang.Thread", "sleepNanos0", SMP_WAIT_PASS },
        { "java.lang.Thread", "join", SMP_WAIT_OTHER },
        { "java.lang.Thread", "yield0", SMP_WAIT_YIELD },
        { "java.util.concurrent.locks.ReentrantLock$Sync", "lock", SMP_WAIT_LOCK },
        { "java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock", "lock", SMP_WAIT_LOCK },
        { "java.util.concurrent.Semaphore", "acquire", SMP_WAIT_LOCK },
        { "java.util.concurrent.locks.AbstractQueuedSynchronizer", "acquire", SMP_WAIT_ACQUIRE },
        { "java.util.concurrent.locks.AbstractQueuedSynchronizer", "acquireSharedInterruptibly",
          SMP_WAIT_SHARED },
        { "java.util.concurrent.LinkedBlockingQueue", "take", SMP_WAIT_WORK },
        { "java.util.concurrent.LinkedBlockingQueue", "put", SMP_WAIT_OTHER },
        { "java.util.concurrent.ThreadPoolExecutor", "getTask", SMP_WAIT_WORK },
        { "sun.nio.ch.SocketDispatcher", "read0", SMP_WAIT_IO },
        { "sun.nio.ch.NioSocketImpl", "timedAccept", SMP_WAIT_ACCEPT },
        { "sun.nio.ch.NioSocketImpl", "park", SMP_WAIT_IO },
        { "sun.nio.ch.Net", "accept", SMP_WAIT_WORK },
        { "sun.nio.ch.EPoll", "wait", SMP_WAIT_WORK },
        { "com.acme.Work", "park", SMP_WAIT_OTHER },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(smp_wait_rules_kind_of(NULL, cases[i].class_name, cases[i].method_name),
                         cases[i].kind);
}

static void methods_that_wait_for_other_threads_are_known(void **state)
{
    (void)state;
    assert_true(smp_wait_rules_is_for_others("java.lang.Thread", "join"));
    assert_true(smp_wait_rules_is_for_others("java.util.concurrent.FutureTask", "get"));
    assert_true(smp_wait_rules_is_for_others("java.util.concurrent.CompletableFuture", "join"));
    assert_true(
        smp_wait_rules_is_for_others("java.util.concurrent.AbstractExecutorService", "invokeAll"));
    assert_true(
        smp_wait_rules_is_for_others("java.util.concurrent.StructuredTaskScopeImpl", "joinUntil"));
    assert_false(smp_wait_rules_is_for_others("java.lang.Thread", "sleep"));
    assert_false(smp_wait_rules_is_for_others("java.util.concurrent.Semaphore", "acquire"));
    assert_false(smp_wait_rules_is_for_others("com.acme.Thread", "join"));
}

static void the_jdk_is_known_by_its_packages(void **state)
{
    (void)state;
    assert_true(smp_wait_rules_is_jdk("java.lang.Thread"));
    assert_true(smp_wait_rules_is_jdk("com.sun.jndi.Ldap"));
    assert_false(smp_wait_rules_is_jdk("org.w3c.dom.Node"));
    assert_false(smp_wait_rules_is_jdk("com.sunny.App"));
    assert_false(smp_wait_rules_is_jdk("javafx.App"));
}

static void a_user_adds_methods_classes_and_packages(void **state)
{
    struct smp_wait_rules *rules = NULL;

    (void)state;
    assert_int_equal(
        smp_wait_rules_create(NULL, "com.acme.Driver.read, org.db", "com.acme.Loop", "", &rules),
        SMP_OK);
    assert_int_equal(smp_wait_rules_kind_of(rules, "com.acme.Driver", "read"), SMP_WAIT_USER_IO);
    assert_int_equal(smp_wait_rules_kind_of(rules, "com.acme.Driver", "readAll"), SMP_WAIT_OTHER);
    assert_int_equal(smp_wait_rules_kind_of(rules, "org.db.Net", "call"), SMP_WAIT_USER_IO);
    assert_int_equal(smp_wait_rules_kind_of(rules, "com.acme.Loop", "next"), SMP_WAIT_USER_IDLE);
    assert_int_equal(smp_wait_rules_kind_of(rules, "java.lang.Object", "wait"), SMP_WAIT_PASS);
    smp_wait_rules_destroy(rules);
}

static void frameworks_are_not_the_application_unless_they_have_the_main_class(void **state)
{
    struct smp_wait_rules *rules = NULL;
    struct smp_filter *filter = NULL;

    (void)state;
    assert_true(smp_wait_rules_is_application(NULL, NULL, "com.acme.Main"));
    assert_false(smp_wait_rules_is_application(NULL, NULL, "java.util.Timer"));
    assert_false(smp_wait_rules_is_application(NULL, NULL, "org.springframework.samples.App"));
    assert_int_equal(smp_wait_rules_create(NULL, "", "", "org.springframework.samples", &rules),
                     SMP_OK);
    assert_true(smp_wait_rules_is_application(rules, NULL, "org.springframework.samples.App"));
    assert_false(smp_wait_rules_is_application(rules, NULL, "org.springframework.core.Task"));
    assert_int_equal(smp_filter_create(NULL, "org.springframework.core", &filter), SMP_OK);
    assert_true(smp_wait_rules_is_application(rules, filter, "org.springframework.core.Task"));
    assert_false(smp_wait_rules_is_application(rules, filter, "com.acme.Main"));
    smp_filter_destroy(filter);
    smp_wait_rules_destroy(rules);
}

static enum smp_status create_and_destroy(void *self)
{
    struct smp_wait_rules *rules = NULL;
    const enum smp_status status = smp_wait_rules_create(self, "a.B.c", "", "d", &rules);

    smp_wait_rules_destroy(rules);
    return status;
}

static void without_memory_there_are_no_rules(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, 1 << 20);
    assert_true(failing_alloc_each_step(create_and_destroy, &quota).refused > 3);
    assert_int_equal(smp_quota_used(&quota), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_of_the_jdk_are_known),
        cmocka_unit_test(methods_that_wait_for_other_threads_are_known),
        cmocka_unit_test(the_jdk_is_known_by_its_packages),
        cmocka_unit_test(a_user_adds_methods_classes_and_packages),
        cmocka_unit_test(frameworks_are_not_the_application_unless_they_have_the_main_class),
        cmocka_unit_test(without_memory_there_are_no_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
