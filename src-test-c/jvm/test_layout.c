/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "hotspot/layout.h"
#include "hotspot/machine_code.h"
#include "support/fake_libjvm.h"

static const int versions[] = { 17, 21, 25 };
enum { VERSION_COUNT = sizeof(versions) / sizeof(versions[0]), ABSURD = 1 << 20 };

/* Rows that may be missing, because only walks through native code that calls Java need them. */
static bool is_optional(const struct smp_export *entry)
{
    static const char *const texts[] = { "_kind", "_frame_data_offset", "jfa",
                                         "CodeBlobKind::Upcall", "_state" };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (entry->name != NULL && strcmp(entry->name, texts[i]) == 0)
            return true;
    }
    return false;
}

/* Rows in the lists of JDKs that store the same data differently. */
static bool is_of_another_way(int version, const struct smp_export *entry)
{
    return version < 25 && entry->name != NULL && strcmp(entry->name, "_data_offset") == 0;
}

static bool find(struct fake_libjvm *libjvm, int version, struct smp_layout *layout, char *reason)
{
    const struct smp_exports exports = fake_libjvm_exports(libjvm);

    return smp_layout_find(&exports, version, layout, reason);
}

static void test_every_known_jdk_is_complete(void **state)
{
    static const uint32_t states[] = { 315, 332, 219 };
    struct smp_layout layout;
    char reason[SMP_LAYOUT_REASON_BYTES];

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_libjvm *libjvm = fake_libjvm_create(versions[v]);
        assert_true(find(libjvm, versions[v], &layout, reason));
        assert_string_equal(reason, "");
        assert_int_equal(layout.version, versions[v]);
        assert_int_equal(layout.compressed_base, versions[v] < 20 ? 0 : 1);
        assert_int_equal(layout.upcall.is_known, versions[v] == 25);
        assert_int_equal(layout.nmethod.state, states[v]);
        fake_libjvm_destroy(libjvm);
    }
}

static void test_the_layout_has_the_numbers_of_the_lists(void **state)
{
    struct smp_layout layout;
    char reason[SMP_LAYOUT_REASON_BYTES];
    struct fake_libjvm *libjvm = fake_libjvm_create(17);

    (void)state;
    fake_libjvm_entry(libjvm, "CodeCache", "_heaps")->value = (uintptr_t)&layout;
    assert_true(find(libjvm, 17, &layout, reason));
    assert_int_equal(layout.thread.anchor, 656);
    assert_int_equal(layout.heap.list, (uintptr_t)&layout);
    assert_int_equal(layout.heap.block_bytes, 16);
    assert_int_equal(layout.blob.code_start, 32);
    assert_int_equal(layout.blob.code_start_offset, 0);
    assert_int_equal(layout.blob.frame_complete, 20);
    assert_int_equal(layout.blob.frame_complete_short, 0);
    assert_int_equal(layout.nmethod.scopes, 120);
    assert_int_equal(layout.nmethod.outside, 0);
    assert_int_equal(layout.const_method.bytes, 48);
    fake_libjvm_destroy(libjvm);

    libjvm = fake_libjvm_create(25);
    assert_true(find(libjvm, 25, &layout, reason));
    assert_int_equal(layout.blob.code_start, 0);
    assert_int_equal(layout.blob.code_start_offset, 36);
    assert_int_equal(layout.blob.frame_complete_short, 54);
    assert_int_equal(layout.nmethod.scopes, 0);
    assert_int_equal(layout.nmethod.outside, 96);
    assert_int_equal(layout.nmethod.deopt_offset, 176);
    assert_int_equal(layout.upcall.kind, 11);
    fake_libjvm_destroy(libjvm);
}

/* On some processors libjvm does not export numbers that are only compared. */
static bool is_dispensable_number(const struct smp_export *entry)
{
    return entry->type == NULL && !SMP_SLOTS_ARE_EXPORTED;
}

static const char *name_of(const struct smp_export *entry)
{
    return entry->name != NULL ? entry->name : entry->type;
}

/* Each required row in turn is missing, has another type, or an impossible offset. */
static void test_each_row_is_required(void **state)
{
    struct smp_layout layout;
    char reason[SMP_LAYOUT_REASON_BYTES];
    size_t refused = 0;

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_libjvm *libjvm = fake_libjvm_create(versions[v]);
        for (size_t i = 0; i < fake_libjvm_count(libjvm); i++) {
            const struct smp_export *entry = fake_libjvm_at(libjvm, i);
            if (is_of_another_way(versions[v], entry) || is_dispensable_number(entry))
                continue;
            fake_libjvm_hide(libjvm, i, true);
            if (find(libjvm, versions[v], &layout, reason)) {
                assert_true(is_optional(entry));
                assert_true(!layout.upcall.is_known || layout.nmethod.state == 0);
            } else {
                assert_non_null(strstr(reason, name_of(entry)));
                assert_int_equal(strncmp(reason, "no ", 3), 0);
                refused++;
            }
            fake_libjvm_hide(libjvm, i, false);
        }
        assert_true(find(libjvm, versions[v], &layout, reason));
        fake_libjvm_destroy(libjvm);
    }
    assert_true(refused > (size_t)VERSION_COUNT * 50);
}

static void test_each_fields_type_is_checked(void **state)
{
    struct smp_layout layout;
    char reason[SMP_LAYOUT_REASON_BYTES];

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_libjvm *libjvm = fake_libjvm_create(versions[v]);
        for (size_t i = 0; i < fake_libjvm_count(libjvm); i++) {
            struct smp_export *entry = fake_libjvm_at(libjvm, i);
            const struct smp_export saved = *entry;
            if (saved.type_string == NULL || is_optional(entry) ||
                is_of_another_way(versions[v], entry))
                continue;
            entry->type_string = "long double";
            assert_false(find(libjvm, versions[v], &layout, reason));
            assert_non_null(strstr(reason, saved.name));
            assert_non_null(strstr(reason, "is a long double, expected "));
            entry->type_string = NULL;
            assert_false(find(libjvm, versions[v], &layout, reason));
            *entry = saved;
        }
        fake_libjvm_destroy(libjvm);
    }
}

static void test_each_number_is_checked(void **state)
{
    struct smp_layout layout;
    char reason[SMP_LAYOUT_REASON_BYTES];

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_libjvm *libjvm = fake_libjvm_create(versions[v]);
        for (size_t i = 0; i < fake_libjvm_count(libjvm); i++) {
            struct smp_export *entry = fake_libjvm_at(libjvm, i);
            const uint64_t saved = entry->value;
            if (is_optional(entry) || is_of_another_way(versions[v], entry))
                continue;
            entry->value = entry->is_static ? 0 : ABSURD;
            assert_false(find(libjvm, versions[v], &layout, reason));
            assert_non_null(strstr(reason, name_of(entry)));
            entry->value = saved;
        }
        /* A pointer at an unaligned offset. */
        fake_libjvm_entry(libjvm, "CodeBlob", "_name")->value += 1;
        assert_false(find(libjvm, versions[v], &layout, reason));
        fake_libjvm_destroy(libjvm);
    }
}

/* In a smaller type some of its fields would not be read. */
static void test_each_field_is_inside_its_type(void **state)
{
    static const char *const types[] = { "Method", "ConstMethod", "ConstantPool" };
    struct smp_layout layout;
    char reason[SMP_LAYOUT_REASON_BYTES];

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        struct fake_libjvm *libjvm = fake_libjvm_create(versions[v]);
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
            struct smp_export *type = fake_libjvm_entry(libjvm, types[i], NULL);
            const uint64_t saved = type->value;
            type->value = 8;
            assert_false(find(libjvm, versions[v], &layout, reason));
            assert_non_null(strstr(reason, types[i]));
            assert_non_null(strstr(reason, ", and its type has 8 bytes"));
            type->value = saved;
        }
        assert_true(find(libjvm, versions[v], &layout, reason));
        fake_libjvm_destroy(libjvm);
    }
}

static void test_missing_lists_disable_the_layout(void **state)
{
    static const char *const symbols[] = { "gHotSpotVMStructs",
                                           "gHotSpotVMTypes",
                                           "gHotSpotVMIntConstants",
                                           "gHotSpotVMStructEntryArrayStride",
                                           "gHotSpotVMStructEntryTypeStringOffset",
                                           "gHotSpotVMTypeEntrySizeOffset",
                                           "gHotSpotVMIntConstantEntryValueOffset" };
    struct smp_layout layout;
    char reason[SMP_LAYOUT_REASON_BYTES];
    struct fake_libjvm *libjvm = fake_libjvm_create(25);

    (void)state;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        fake_libjvm_hide_symbol(libjvm, symbols[i]);
        assert_false(find(libjvm, 25, &layout, reason));
        assert_string_equal(reason, "libjvm does not export its fields");
    }
    fake_libjvm_destroy(libjvm);
    /* This program has no libjvm. */
    assert_false(smp_layout_find(NULL, 25, &layout, reason));
    assert_string_equal(reason, "libjvm does not export its fields");
}

static void test_a_reason_names_the_missing_row(void **state)
{
    struct smp_layout layout;
    char reason[SMP_LAYOUT_REASON_BYTES];
    struct fake_libjvm *libjvm = fake_libjvm_create(25);

    (void)state;
    fake_libjvm_entry(libjvm, "CodeBlob", "_size")->type_string = "short";
    assert_false(find(libjvm, 25, &layout, reason));
    assert_string_equal(reason, "the field CodeBlob::_size is a short, expected int");
    fake_libjvm_entry(libjvm, "CodeBlob", "_size")->type_string = "int";
    fake_libjvm_entry(libjvm, "PcDesc", NULL)->value = 24;
    assert_false(find(libjvm, 25, &layout, reason));
    assert_string_equal(reason, "the type PcDesc has 24 bytes, expected 16");
    fake_libjvm_destroy(libjvm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_known_jdk_is_complete),
        cmocka_unit_test(test_the_layout_has_the_numbers_of_the_lists),
        cmocka_unit_test(test_each_row_is_required),
        cmocka_unit_test(test_each_fields_type_is_checked),
        cmocka_unit_test(test_each_number_is_checked),
        cmocka_unit_test(test_each_field_is_inside_its_type),
        cmocka_unit_test(test_missing_lists_disable_the_layout),
        cmocka_unit_test(test_a_reason_names_the_missing_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
