/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "counting/symbols.h"
#include "support/class_text.h"
#include "support/failing_alloc.h"

enum { TEXTS = 3000, STEPS = 60000 };

static uint32_t intern(struct smp_symbols *symbols, const char *text)
{
    return smp_symbols_intern(symbols, slice_of(text));
}

static void test_a_text_is_one_symbol_while_it_is_held(void **state)
{
    struct smp_memory_budget budget = { .max_bytes = 1 << 20 };
    struct smp_symbols symbols;

    (void)state;
    smp_symbols_init(&symbols, &budget);
    assert_int_equal(smp_symbols_find(&symbols, slice_of("a")), 0);

    const uint32_t a = intern(&symbols, "a");
    const uint32_t empty = intern(&symbols, "");
    const uint32_t longer = intern(&symbols, "ab");

    assert_true(a != 0 && empty != 0 && longer != 0);
    assert_true(a != empty && a != longer && empty != longer);
    assert_int_equal(intern(&symbols, "a"), a);
    assert_int_equal(smp_symbols_find(&symbols, (struct smp_slice){ "abc", 2 }), longer);
    assert_string_equal(smp_symbols_at(&symbols, longer)->text, "ab");
    smp_symbols_release(&symbols, a);
    assert_int_equal(smp_symbols_find(&symbols, slice_of("a")), a);
    smp_symbols_release(&symbols, a);
    assert_int_equal(smp_symbols_find(&symbols, slice_of("a")), 0);
    smp_symbols_release(&symbols, 0);
    smp_symbols_fini(&symbols);
    assert_int_equal(budget.used_bytes, 0);
}

/* Compared with an array of hold counts. */
static void test_random_holds(void **state)
{
    struct smp_memory_budget budget = { .max_bytes = 16 << 20 };
    struct smp_symbols symbols;
    static unsigned holds[TEXTS];
    static uint32_t names[TEXTS];
    uint64_t random = 11;
    size_t live = 0;
    char text[16];

    (void)state;
    smp_symbols_init(&symbols, &budget);
    for (unsigned i = 0; i < STEPS; i++) {
        const unsigned which = (unsigned)(smp_random_next(&random) % TEXTS);
        const bool adds = smp_random_next(&random) % 100 < (i < STEPS / 2 ? 70 : 30);

        (void)snprintf(text, sizeof(text), "text%u", which);
        assert_int_equal(smp_symbols_find(&symbols, slice_of(text)),
                         holds[which] > 0 ? names[which] : 0);
        if (adds) {
            names[which] = intern(&symbols, text);
            live += holds[which]++ == 0;
        } else if (holds[which] > 0) {
            smp_symbols_release(&symbols, names[which]);
            live -= --holds[which] == 0;
        }
        assert_int_equal(symbols.pool.count, live);
    }
    smp_symbols_fini(&symbols);
    assert_int_equal(budget.used_bytes, 0);
}

static enum smp_status intern_some(void *self)
{
    struct smp_memory_budget budget = { .max_bytes = 1 << 20 };
    struct smp_symbols symbols;
    enum smp_status status = SMP_OK;
    char text[16];

    (void)self;
    smp_symbols_init(&symbols, &budget);
    for (unsigned i = 0; i < 300 && status == SMP_OK; i++) {
        (void)snprintf(text, sizeof(text), "text%u", i);
        if (intern(&symbols, text) == 0)
            status = SMP_ENOMEM;
    }
    smp_symbols_fini(&symbols);
    return status;
}

static void test_each_allocation_of_symbols_may_fail(void **state)
{
    const struct failing_alloc_steps steps = failing_alloc_each_step(intern_some, NULL);

    (void)state;
    /* 300 texts, four sizes of the table, four of the pool. */
    assert_int_equal(steps.refused, 308);
    assert_int_equal(steps.survived, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_text_is_one_symbol_while_it_is_held),
        cmocka_unit_test(test_random_holds),
        cmocka_unit_test(test_each_allocation_of_symbols_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
