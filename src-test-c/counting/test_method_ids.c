/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "counting/method_ids.h"
#include "support/class_text.h"

struct names {
    struct smp_memory_budget budget;
    struct smp_symbols symbols;
    struct smp_method_ids ids;
};

static void begin(struct names *names, uint32_t limit)
{
    names->budget = (struct smp_memory_budget){ .max_bytes = 1 << 20 };
    smp_symbols_init(&names->symbols, &names->budget);
    smp_method_ids_init(&names->ids, &names->budget, &names->symbols, limit);
}

static void end(struct names *names)
{
    smp_method_ids_fini(&names->ids);
    smp_symbols_fini(&names->symbols);
    assert_int_equal(names->budget.used_bytes, 0);
}

/* Only the id holds the names. */
static int32_t take(struct names *names, const char *class_name, const char *signature)
{
    const uint32_t of_class = smp_symbols_intern(&names->symbols, slice_of(class_name));
    const uint32_t method = smp_symbols_intern(&names->symbols, slice_of(signature));
    const int32_t id = smp_method_ids_reserve(&names->ids)
                           ? smp_method_ids_take(&names->ids, of_class, method)
                           : -1;

    smp_symbols_release(&names->symbols, of_class);
    smp_symbols_release(&names->symbols, method);
    return id;
}

static bool is_odd(void *self, int32_t id)
{
    (void)self;
    return id % 2 != 0;
}

static bool is_even(void *self, int32_t id)
{
    return !is_odd(self, id);
}

static void test_ids_count_up_from_0_and_name_their_method(void **state)
{
    struct names names;
    struct smp_slice slice;
    char text[64];

    (void)state;
    begin(&names, 10);
    assert_int_equal(take(&names, "com/acme/Order$Line", "add.(ILjava/lang/String;)V"), 0);
    assert_int_equal(take(&names, "Main", "<init>.()V"), 1);
    slice = smp_method_ids_name(&names.ids, 0).class_name;
    assert_memory_equal(slice.bytes, "com/acme/Order$Line", slice.length);
    slice = smp_method_ids_name(&names.ids, 0).method_name;
    assert_int_equal(slice.length, 3);
    assert_memory_equal(slice.bytes, "add", 3);
    slice = smp_method_ids_name(&names.ids, 0).descriptor;
    assert_int_equal(slice.length, strlen("(ILjava/lang/String;)V"));
    assert_memory_equal(slice.bytes, "(ILjava/lang/String;)V", slice.length);
    smp_method_text(text, sizeof(text), smp_method_ids_name(&names.ids, 0).class_name,
                    smp_method_ids_name(&names.ids, 0).method_name);
    assert_string_equal(text, "com.acme.Order$Line.add");
    smp_method_text(text, sizeof(text), smp_method_ids_name(&names.ids, 1).class_name,
                    smp_method_ids_name(&names.ids, 1).method_name);
    assert_string_equal(text, "Main.<init>");
    smp_method_text(text, 24, smp_method_ids_name(&names.ids, 0).class_name,
                    smp_method_ids_name(&names.ids, 0).method_name);
    assert_string_equal(text, "com.acme.Ord\xe2\x80\xa6.add"); /* 15 bytes of the class name */
    assert_null(smp_method_ids_at(&names.ids, 2));
    assert_null(smp_method_ids_at(&names.ids, -1));
    end(&names);
}

/* The id holds the file as it holds the names. */
static void test_an_id_has_the_source_file_of_its_class(void **state)
{
    struct names names;
    struct smp_slice slice;
    uint32_t file = 0;

    (void)state;
    begin(&names, 10);
    assert_int_equal(take(&names, "com/acme/Order$Line", "add.()V"), 0);
    assert_int_equal(smp_method_ids_name(&names.ids, 0).source_file.length, 0);
    for (int i = 0; i < 3; i++) {
        const char *const text = i == 1 ? "Line.java" : "Order.java";
        file = smp_symbols_intern(&names.symbols, slice_of(text));
        smp_method_ids_set_source(&names.ids, 0, file);
        smp_symbols_release(&names.symbols, file);
    }
    smp_method_ids_retire(&names.ids, 0);
    slice = smp_method_ids_name(&names.ids, 0).source_file;
    assert_int_equal(slice.length, strlen("Order.java"));
    assert_memory_equal(slice.bytes, "Order.java", slice.length);
    assert_int_equal(smp_symbols_find(&names.symbols, slice_of("Line.java")), 0);
    assert_int_equal(smp_method_ids_recycle(&names.ids, is_even, NULL), 0);
    assert_int_equal(smp_method_ids_recycle(&names.ids, is_odd, NULL), 1);
    assert_int_equal(smp_symbols_find(&names.symbols, slice_of("Order.java")), 0);
    end(&names);
}

static void test_ids_are_reused_only_after_recycle(void **state)
{
    struct names names;

    (void)state;
    begin(&names, 4);
    for (int32_t id = 0; id < 4; id++)
        assert_int_equal(take(&names, "A", "a.()V"), id);
    assert_int_equal(take(&names, "A", "a.()V"), -1);
    for (int32_t id = 0; id < 4; id++)
        smp_method_ids_retire(&names.ids, id);
    assert_int_equal(take(&names, "A", "a.()V"), -1);
    assert_int_equal(names.ids.retired, 4);
    assert_int_equal(smp_method_ids_recycle(&names.ids, is_odd, NULL), 2);
    assert_int_equal(smp_method_ids_recycle(&names.ids, is_odd, NULL), 0);
    assert_int_equal(names.ids.retired, 2);
    assert_int_equal(smp_method_ids_at(&names.ids, 1)->state, SMP_METHOD_RETIRED);
    assert_int_equal(take(&names, "B", "b.()V") % 2, 0);
    assert_int_equal(take(&names, "B", "b.()V") % 2, 0);
    assert_int_equal(take(&names, "B", "b.()V"), -1);
    end(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_count_up_from_0_and_name_their_method),
        cmocka_unit_test(test_an_id_has_the_source_file_of_its_class),
        cmocka_unit_test(test_ids_are_reused_only_after_recycle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
