/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <string.h>

#include "jvm/agent/agent.h"
#include "jvm/threads/threads.h"
#include "support/failing_alloc.h"
#include "support/fake_vm.h"

static struct fake_vm_reader reader;
static struct fake_string other;
static void *seen;
static char name[64];
static bool changed;

static int open_it(void)
{
    reader = (struct fake_vm_reader){ .accept = FAKE_VM_MAX_POLLED };
    seen = NULL;
    changed = false;
    memset(name, '?', sizeof(name) - 1);
    if (smp_agent_open() != SMP_OK)
        return -1;
    fake_vm_poll(&reader);
    return reader.count == 1 ? 0 : -1;
}

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    return open_it();
}

static int setup_without_field(void **state)
{
    (void)state;
    fake_vm_setup();
    fake_vm.no_name_field = true;
    return open_it();
}

static int teardown(void **state)
{
    const struct smp_thread_source source = smp_threads_source();

    (void)state;
    source.forget(source.self, seen);
    fake_vm_drop_all(&reader);
    smp_agent_close();
    fake_vm_teardown();
    return 0;
}

static enum smp_status read_name(void)
{
    const struct smp_thread_source source = smp_threads_source();

    return source.name(source.self, reader.threads[0], &seen, name, sizeof(name), &changed);
}

/* The two tests without the field must be first, because the id is kept once it is found. */
static void without_the_field_jvmti_has_the_name(void **state)
{
    (void)state;
    assert_int_equal(read_name(), SMP_OK);
    assert_true(changed);
    assert_string_equal(name, "main");
    strcpy(name, "untouched");
    assert_int_equal(read_name(), SMP_OK);
    assert_false(changed);
    assert_string_equal(name, "untouched");
    fake_vm.main_thread.jvmti_name = "renamed \xC0\x80";
    assert_int_equal(read_name(), SMP_OK);
    assert_true(changed);
    assert_string_equal(name, "renamed \xEF\xBF\xBD");
}

static void without_the_field_jvmti_may_refuse(void **state)
{
    (void)state;
    fake_vm.errors[FAKE_GetThreadInfo] = JVMTI_ERROR_OUT_OF_MEMORY;
    assert_int_equal(read_name(), SMP_ENOMEM);
    fake_vm.errors[FAKE_GetThreadInfo] = JVMTI_ERROR_THREAD_NOT_ALIVE;
    assert_int_equal(read_name(), SMP_EGONE);
}

static void a_name_is_read_again_only_when_it_is_another_string(void **state)
{
    (void)state;
    assert_int_equal(read_name(), SMP_OK);
    assert_true(changed);
    assert_string_equal(name, "main");
    strcpy(name, "untouched");
    assert_int_equal(read_name(), SMP_OK);
    assert_false(changed);
    assert_string_equal(name, "untouched");
    fake_string_set(&other, "renamed");
    fake_vm.main_thread.name = &other;
    assert_int_equal(read_name(), SMP_OK);
    assert_true(changed);
    assert_string_equal(name, "renamed");
}

static void a_name_that_does_not_fit_is_cut(void **state)
{
    char text[2000];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    fake_string_set(&other, text);
    fake_vm.main_thread.name = &other;
    assert_int_equal(read_name(), SMP_OK);
    assert_int_equal(strlen(name), sizeof(name) - 1);
    assert_string_equal(name + sizeof(name) - 4, "\xE2\x80\xA6");
}

static void a_long_name_uses_the_heap(void **state)
{
    const struct smp_thread_source source = smp_threads_source();
    struct failing_alloc failing;
    char text[2000];
    char large[4000];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    fake_string_set(&other, text);
    fake_vm.main_thread.name = &other;
    failing_alloc_arm(&failing, 1, 1);
    assert_int_equal(
        source.name(source.self, reader.threads[0], &seen, large, sizeof(large), &changed),
        SMP_ENOMEM);
    (void)failing_alloc_disarm(&failing);
    assert_int_equal(
        source.name(source.self, reader.threads[0], &seen, large, sizeof(large), &changed), SMP_OK);
    assert_true(changed);
    assert_string_equal(large, text);
}

static void a_name_in_utf16_becomes_utf8(void **state)
{
    static const jchar units[] = { 0xE9, 0xD83D, 0xDE00, 0xD83D };

    (void)state;
    fake_string_set(&other, "");
    memcpy(other.units, units, sizeof(units));
    other.length = 4;
    fake_vm.main_thread.name = &other;
    assert_int_equal(read_name(), SMP_OK);
    assert_string_equal(name, "\xC3\xA9\xF0\x9F\x98\x80\xEF\xBF\xBD");
}

static void a_thread_without_a_name_has_an_empty_one(void **state)
{
    (void)state;
    fake_vm.main_thread.name = NULL;
    assert_int_equal(read_name(), SMP_OK);
    assert_true(changed);
    assert_string_equal(name, "");
}

static void a_name_without_a_reference_is_read_again(void **state)
{
    (void)state;
    fake_vm.refuse_global = true;
    assert_int_equal(read_name(), SMP_OK);
    assert_true(changed);
    assert_null(seen);
    fake_vm.refuse_global = false;
    assert_int_equal(read_name(), SMP_OK);
    assert_true(changed);
    assert_int_equal(read_name(), SMP_OK);
    assert_false(changed);
}

static void an_ended_thread_is_gone(void **state)
{
    (void)state;
    fake_vm_thread_end(&fake_vm.main_thread);
    assert_int_equal(read_name(), SMP_EGONE);
}

static void no_name_is_read_after_vm_death(void **state)
{
    (void)state;
    fake_vm_death();
    assert_int_equal(read_name(), SMP_EPHASE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_the_field_jvmti_has_the_name, setup_without_field,
                                        teardown),
        cmocka_unit_test_setup_teardown(without_the_field_jvmti_may_refuse, setup_without_field,
                                        teardown),
        TEST(a_name_is_read_again_only_when_it_is_another_string),
        TEST(a_name_that_does_not_fit_is_cut),
        TEST(a_long_name_uses_the_heap),
        TEST(a_name_in_utf16_becomes_utf8),
        TEST(a_thread_without_a_name_has_an_empty_one),
        TEST(a_name_without_a_reference_is_read_again),
        TEST(an_ended_thread_is_gone),
        TEST(no_name_is_read_after_vm_death),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
