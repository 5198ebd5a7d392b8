/* SPDX-License-Identifier: Apache-2.0 */
#include "model/counting_account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_alloc.h"

static struct smp_counting_account *make_account(void)
{
    struct smp_counting_account *account = NULL;

    assert_int_equal(smp_counting_account_create(NULL, &account), SMP_OK);
    return account;
}

static void assert_listed(const struct smp_counting_account *account, enum smp_counting counting,
                          size_t index, const char *name)
{
    assert_true(index < smp_counting_account_listed(account, counting));
    assert_string_equal(smp_counting_account_name_at(account, counting, index), name);
}

static void figures_add_up(void **state)
{
    struct smp_counting_account *account = make_account();

    (void)state;
    for (int i = 0; i < SMP_COUNTING_COUNT; i++) {
        assert_int_equal(smp_counting_account_figure(account, (enum smp_counting)i), 0);
        smp_counting_account_add(account, (enum smp_counting)i, (uint64_t)i);
        smp_counting_account_add(account, (enum smp_counting)i, 5);
        assert_int_equal(smp_counting_account_figure(account, (enum smp_counting)i), i + 5);
        assert_true(strlen(smp_counting_text((enum smp_counting)i)) > 0);
        assert_true(strlen(smp_counting_text((enum smp_counting)i)) < 100);
    }
    assert_string_equal(smp_counting_code(SMP_COUNTING_LEFT_ALONE), "LEFT_ALONE");
    smp_counting_account_destroy(account);
}

static void a_name_is_listed_once_per_figure(void **state)
{
    struct smp_counting_account *account = make_account();

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_true(smp_counting_account_name(account, SMP_COUNTING_LEFT_ALONE, "a.A.x"));
        assert_true(smp_counting_account_name(account, SMP_COUNTING_LEFT_ALONE, "a.A.y"));
        assert_true(smp_counting_account_name(account, SMP_COUNTING_DROPPED, "a.A.x"));
    }
    assert_int_equal(smp_counting_account_listed(account, SMP_COUNTING_LEFT_ALONE), 2);
    assert_listed(account, SMP_COUNTING_LEFT_ALONE, 0, "a.A.x");
    assert_listed(account, SMP_COUNTING_LEFT_ALONE, 1, "a.A.y");
    assert_int_equal(smp_counting_account_listed(account, SMP_COUNTING_DROPPED), 1);
    assert_int_equal(smp_counting_account_listed(account, SMP_COUNTING_EXCLUDED), 0);
    smp_counting_account_destroy(account);
}

static void the_list_and_its_names_are_limited(void **state)
{
    struct smp_counting_account *account = make_account();
    char name[1000];

    (void)state;
    for (int i = 0; i < 3 * SMP_MAX_COUNTING_NAMES; i++) {
        (void)snprintf(name, sizeof(name), "a.A.m%d", i);
        assert_true(smp_counting_account_name(account, SMP_COUNTING_DROPPED, name));
    }
    assert_int_equal(smp_counting_account_listed(account, SMP_COUNTING_DROPPED),
                     SMP_MAX_COUNTING_NAMES);
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_true(smp_counting_account_name(account, SMP_COUNTING_LEFT_ALONE, name));
    assert_true(smp_counting_account_name(account, SMP_COUNTING_LEFT_ALONE, name));
    assert_int_equal(smp_counting_account_listed(account, SMP_COUNTING_LEFT_ALONE), 1);
    const char *const kept = smp_counting_account_name_at(account, SMP_COUNTING_LEFT_ALONE, 0);
    assert_int_equal(strlen(kept), SMP_MAX_COUNTING_NAME_BYTES);
    assert_string_equal(kept + SMP_MAX_COUNTING_NAME_BYTES - 4, "x\xe2\x80\xa6");
    name[SMP_MAX_COUNTING_NAME_BYTES] = '\0'; /* exactly the maximum */
    assert_true(smp_counting_account_name(account, SMP_COUNTING_LEFT_ALONE, name));
    assert_listed(account, SMP_COUNTING_LEFT_ALONE, 1, name);
    smp_counting_account_destroy(account);
}

/* Counts of events are added; of states the highest value is kept. */
static void a_merged_account_has_the_figures_and_names_of_both(void **state)
{
    struct smp_counting_account *to = make_account();
    struct smp_counting_account *from = make_account();

    (void)state;
    smp_counting_account_add(to, SMP_COUNTING_INSTRUMENTED, 80);
    smp_counting_account_add(from, SMP_COUNTING_INSTRUMENTED, 90);
    smp_counting_account_add(to, SMP_COUNTING_DROPPED, 4);
    smp_counting_account_add(from, SMP_COUNTING_DROPPED, 3);
    smp_counting_account_add(to, SMP_COUNTING_BATCHES, 2);
    smp_counting_account_add(from, SMP_COUNTING_BATCHES, 5);
    assert_true(smp_counting_account_name(to, SMP_COUNTING_DROPPED, "a.A.x"));
    assert_true(smp_counting_account_name(from, SMP_COUNTING_DROPPED, "a.A.y"));
    assert_true(smp_counting_account_name(from, SMP_COUNTING_DROPPED, "a.A.x"));
    assert_int_equal(smp_counting_account_merge(to, from), SMP_OK);
    smp_counting_account_destroy(from);
    assert_int_equal(smp_counting_account_figure(to, SMP_COUNTING_INSTRUMENTED), 90);
    assert_int_equal(smp_counting_account_figure(to, SMP_COUNTING_DROPPED), 4);
    assert_int_equal(smp_counting_account_figure(to, SMP_COUNTING_BATCHES), 7);
    assert_int_equal(smp_counting_account_listed(to, SMP_COUNTING_DROPPED), 2);
    assert_listed(to, SMP_COUNTING_DROPPED, 1, "a.A.y");
    smp_counting_account_destroy(to);
}

static void each_reason_has_its_own_figure(void **state)
{
    const enum smp_counting code = SMP_COUNTING_CALLS_WITHOUT_PLACE;
    struct smp_counting_account *to = make_account();
    struct smp_counting_account *from = make_account();

    (void)state;
    assert_true(smp_counting_account_add_for(to, code, "deep", 0));
    assert_int_equal(smp_counting_account_listed(to, code), 0);
    assert_true(smp_counting_account_add_for(to, code, "deep", 9));
    assert_true(smp_counting_account_add_for(to, code, "full", 1));
    assert_true(smp_counting_account_add_for(to, code, "deep", 3));
    assert_listed(to, code, 0, "deep: 12");
    assert_listed(to, code, 1, "full: 1");
    assert_int_equal(smp_counting_account_unlisted(to, code), 0);
    smp_counting_account_add(to, code, 5);
    assert_int_equal(smp_counting_account_unlisted(to, code), 5);
    assert_true(smp_counting_account_add_for(from, code, "full", UINT64_C(10000000000000000000)));
    assert_true(smp_counting_account_add_for(from, code, "ful", 2));
    assert_int_equal(smp_counting_account_merge(to, from), SMP_OK);
    assert_int_equal(smp_counting_account_figure(to, code), UINT64_C(10000000000000000020));
    assert_listed(to, code, 1, "full: 10000000000000000001");
    assert_listed(to, code, 2, "ful: 2");
    assert_int_equal(smp_counting_account_unlisted(to, code), 5);
    smp_counting_account_destroy(from);
    smp_counting_account_destroy(to);
}

/* A state at the end of an interval is no longer valid if a later interval does not mention it. */
static void figures_at_the_end_come_from_the_later_account(void **state)
{
    struct smp_counting_account *to = make_account();
    struct smp_counting_account *from = make_account();

    (void)state;
    smp_counting_account_add(to, SMP_COUNTING_ROOTS_WITHOUT_CALLS, 2);
    assert_true(smp_counting_account_name(to, SMP_COUNTING_ROOTS_WITHOUT_CALLS, "a.A.x"));
    assert_true(smp_counting_account_name(to, SMP_COUNTING_ROOTS_WITHOUT_CALLS, "a.A.y"));
    smp_counting_account_add(from, SMP_COUNTING_ROOTS_WITHOUT_CALLS, 1);
    assert_true(smp_counting_account_name(from, SMP_COUNTING_ROOTS_WITHOUT_CALLS, "a.A.y"));
    assert_int_equal(smp_counting_account_merge(to, from), SMP_OK);
    assert_int_equal(smp_counting_account_figure(to, SMP_COUNTING_ROOTS_WITHOUT_CALLS), 1);
    assert_int_equal(smp_counting_account_listed(to, SMP_COUNTING_ROOTS_WITHOUT_CALLS), 1);
    assert_listed(to, SMP_COUNTING_ROOTS_WITHOUT_CALLS, 0, "a.A.y");
    smp_counting_account_destroy(from);
    smp_counting_account_destroy(to);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static enum smp_status make_and_merge(void *self)
{
    struct smp_counting_account *to = NULL;
    enum smp_status status = smp_counting_account_create(NULL, &to);

    if (status == SMP_OK)
        status = smp_counting_account_merge(to, self);
    smp_counting_account_destroy(to);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    struct smp_counting_account *from = make_account();
    struct failing_alloc failing;

    (void)state;
    assert_true(smp_counting_account_name(from, SMP_COUNTING_DROPPED, "a.A.x"));
    assert_true(smp_counting_account_name(from, SMP_COUNTING_TRIVIAL, "a.A.y"));
    assert_int_equal(failing_alloc_each_step(make_and_merge, from).refused, 3);
    failing_alloc_arm(&failing, 1, 1);
    assert_false(smp_counting_account_name(from, SMP_COUNTING_DROPPED, "a.A.z"));
    assert_int_equal(failing_alloc_disarm(&failing), 1);
    assert_int_equal(smp_counting_account_listed(from, SMP_COUNTING_DROPPED), 1);
    smp_counting_account_destroy(from);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_add_up),
        cmocka_unit_test(a_name_is_listed_once_per_figure),
        cmocka_unit_test(the_list_and_its_names_are_limited),
        cmocka_unit_test(a_merged_account_has_the_figures_and_names_of_both),
        cmocka_unit_test(each_reason_has_its_own_figure),
        cmocka_unit_test(figures_at_the_end_come_from_the_later_account),
        cmocka_unit_test(each_allocation_may_be_refused),
    };
    return cmocka_run_group_tests_name("counting_account", tests, NULL, NULL);
}
