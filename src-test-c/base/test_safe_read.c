/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/safe_read.h"
#include "support/seccomp.h"

enum { SIZE = 4096, PERMITTED = 0, WRONG_TEXT = 1, READS_ANYWAY = 2 };

static void test_mapped_memory_is_read(void **state)
{
    static char from[SIZE];
    char to[SIZE] = { 0 };

    (void)state;
    assert_null(smp_safe_read_refusal());
    memset(from, 'x', sizeof(from));
    assert_true(smp_safe_read(to, (uintptr_t)from, sizeof(from)));
    assert_memory_equal(to, from, sizeof(from));
}

static void test_unmapped_memory_is_not_read(void **state)
{
    char to[SIZE];
    char *page = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_null(smp_safe_read_refusal());
    assert_ptr_not_equal(page, MAP_FAILED);
    assert_int_equal(mprotect(page + SIZE, SIZE, PROT_NONE), 0);
    errno = EXDEV;
    assert_false(smp_safe_read(to, 0, 8));
    assert_false(smp_safe_read(to, UINTPTR_MAX - 3, 8));
    assert_false(smp_safe_read(to, (uintptr_t)(page + SIZE), 8));
    /* All or nothing. */
    assert_false(smp_safe_read(to, (uintptr_t)(page + SIZE - 4), 8));
    assert_true(smp_safe_read(to, (uintptr_t)(page + SIZE - 8), 8));
    assert_int_equal(errno, EXDEV);
    (void)munmap(page, 2 * SIZE);
    assert_false(smp_safe_read(to, (uintptr_t)page, 8));
}

static void test_several_places_at_once(void **state)
{
    static const uint32_t words[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    uint32_t to[SMP_SAFE_PARTS + 1] = { 0 };
    struct smp_safe_part parts[SMP_SAFE_PARTS + 1];

    (void)state;
    assert_null(smp_safe_read_refusal());
    for (size_t i = 0; i <= SMP_SAFE_PARTS; i++)
        parts[i] = (struct smp_safe_part){ &to[i], (uintptr_t)&words[i], sizeof(words[i]) };
    assert_true(smp_safe_read_parts(parts, 0));
    assert_true(smp_safe_read_parts(parts, SMP_SAFE_PARTS));
    assert_memory_equal(to, words, SMP_SAFE_PARTS * sizeof(words[0]));
    assert_int_equal(to[SMP_SAFE_PARTS], 0);
    assert_false(smp_safe_read_parts(parts, SMP_SAFE_PARTS + 1));
    /* All or nothing. */
    for (size_t i = 0; i < SMP_SAFE_PARTS; i++) {
        const uintptr_t saved = parts[i].address;
        parts[i].address = 8;
        assert_false(smp_safe_read_parts(parts, SMP_SAFE_PARTS));
        parts[i].address = saved;
    }
}

static void test_each_system_call_counts_once(void **state)
{
    const uint32_t from[] = { 1, 2 };
    uint32_t to[2];
    const struct smp_safe_part parts[] = { { &to[0], (uintptr_t)&from[0], sizeof(from[0]) },
                                           { &to[1], (uintptr_t)&from[1], sizeof(from[1]) } };
    _Atomic uint64_t calls = 0;

    (void)state;
    assert_null(smp_safe_read_refusal());
    smp_safe_read_count_calls(&calls);
    assert_true(smp_safe_read_parts(parts, 2));
    assert_int_equal(calls, 1);
    assert_false(smp_safe_read(to, 8, 8));
    assert_int_equal(calls, 2);
    smp_safe_read_count_calls(NULL);
    assert_true(smp_safe_read(to, (uintptr_t)from, sizeof(from)));
    assert_int_equal(calls, 2);
}

static bool refuse(const char **refusal)
{
    *refusal = "for a test";
    return false;
}

static void test_nothing_is_read_where_it_is_not_permitted(void **state)
{
    const uint64_t from = 1;
    uint64_t to = 0;

    (void)state;
    smp_safe_read_set_trial(refuse);
    assert_false(smp_safe_read(&to, (uintptr_t)&from, sizeof(from)));
    assert_string_equal(smp_safe_read_refusal(), "for a test");
    assert_false(smp_safe_read(&to, (uintptr_t)&from, sizeof(from)));
    smp_safe_read_set_trial(NULL);
    /* Nothing is read before a trial. */
    assert_false(smp_safe_read(&to, (uintptr_t)&from, sizeof(from)));
    assert_null(smp_safe_read_refusal());
    assert_true(smp_safe_read(&to, (uintptr_t)&from, sizeof(from)));
}

static int try_read(void)
{
    const uint64_t from = 1;
    uint64_t to = 0;
    const char *const refusal = smp_safe_read_refusal();

    if (smp_safe_read(&to, (uintptr_t)&from, sizeof(from)) != (refusal == NULL))
        return READS_ANYWAY;
    if (refusal == NULL)
        return PERMITTED;
    return strcmp(refusal, "a filter of system calls forbids process_vm_readv") == 0 ? EACCES
                                                                                     : WRONG_TEXT;
}

static int under_filter(uint32_t action)
{
    smp_safe_read_set_trial(NULL); /* the child tries it again */
    return seccomp_run(SYS_process_vm_readv, action, try_read);
}

static void test_under_filters_of_system_calls(void **state)
{
    const int permitted = under_filter(SECCOMP_RET_ALLOW);

    (void)state;
    if (permitted == SECCOMP_NO_FILTER)
        skip();
    assert_int_equal(permitted, PERMITTED);
    assert_int_equal(under_filter(SECCOMP_RET_ERRNO | EPERM), EACCES);
    /* The filter kills a child that makes the call; this process survives. */
    assert_int_equal(under_filter(SECCOMP_RET_KILL_PROCESS), EACCES);
    assert_int_equal(under_filter(SECCOMP_RET_TRAP), EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mapped_memory_is_read),
        cmocka_unit_test(test_unmapped_memory_is_not_read),
        cmocka_unit_test(test_several_places_at_once),
        cmocka_unit_test(test_each_system_call_counts_once),
        cmocka_unit_test(test_nothing_is_read_where_it_is_not_permitted),
        cmocka_unit_test(test_under_filters_of_system_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
