/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/lock_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "support/failing_alloc.h"

enum { MANY = 40, NAME_BYTES = 128 };

static const char *name_at(int i, char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "com.acme.Lock%d", i);
    return name;
}

static void each_name_has_one_id(void **state)
{
    struct smp_lock_names names;
    char name[NAME_BYTES];
    uint32_t ids[MANY];

    (void)state;
    smp_lock_names_init(&names, NULL);
    for (int i = 0; i < MANY; i++) {
        ids[i] = smp_lock_names_find(&names, name_at(i, name));
        assert_int_equal(ids[i], i + 1);
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(smp_lock_names_find(&names, name_at(i, name)), ids[i]);
        assert_string_equal(smp_lock_names_text(&names, ids[i]), name);
    }
    assert_string_equal(smp_lock_names_text(&names, 0), SMP_OTHER_LOCKS_NAME);
    smp_lock_names_fini(&names);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void names_beyond_the_limit_share_the_id_of_other_locks(void **state)
{
    struct smp_lock_names names;
    char name[NAME_BYTES];

    (void)state;
    smp_lock_names_init(&names, NULL);
    for (int i = 0; i < SMP_MAX_LOCK_NAMES; i++)
        assert_int_equal(smp_lock_names_find(&names, name_at(i, name)), i + 1);
    assert_int_equal(smp_lock_names_find(&names, "one.more"), 0);
    assert_int_equal(smp_lock_names_find(&names, name_at(0, name)), 1);
    smp_lock_names_fini(&names);

    smp_lock_names_init(&names, NULL);
    names.budget.max_bytes = 2 * 1024;
    for (int i = 0; i < SMP_MAX_LOCK_NAMES; i++)
        (void)smp_lock_names_find(&names, name_at(i, name));
    assert_in_range(names.count, 1, 4 * MANY);
    assert_true(names.budget.used_bytes <= names.budget.max_bytes);
    smp_lock_names_fini(&names);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

/* SMP_ENOMEM: a name got no id. */
static enum smp_status name_many(void *self)
{
    struct smp_lock_names names;
    char name[NAME_BYTES];
    size_t unnamed = 0;

    (void)self;
    smp_lock_names_init(&names, NULL);
    for (int i = 0; i < MANY; i++)
        unnamed += smp_lock_names_find(&names, name_at(i, name)) == 0;
    for (int i = 0; i < MANY; i++) {
        const uint32_t id = smp_lock_names_find(&names, name_at(i, name));
        if (id != 0)
            assert_string_equal(smp_lock_names_text(&names, id), name);
    }
    smp_lock_names_fini(&names);
    return unnamed == 0 ? SMP_OK : SMP_ENOMEM;
}

static void without_memory_names_share_the_id_of_other_locks(void **state)
{
    struct failing_alloc_steps steps;

    (void)state;
    steps = failing_alloc_each_step(name_many, NULL);
    assert_true(steps.refused > MANY);
    assert_int_equal(steps.survived, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_has_one_id),
        cmocka_unit_test(names_beyond_the_limit_share_the_id_of_other_locks),
        cmocka_unit_test(without_memory_names_share_the_id_of_other_locks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
