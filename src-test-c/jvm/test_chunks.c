/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "hotspot/chunks.h"
#include "jvm/code/continuations.h"
#include "support/fake_libjvm.h"

enum { FLAGS = 7 };

/* The JVM's list of its options. */
struct flag {
    const char *name;
    uint64_t unused;
    const bool *value;
};

struct jvm {
    struct fake_libjvm *libjvm;
    bool values[FLAGS];
    struct flag flags[FLAGS];
    const struct flag *list;
    size_t count;
    uintptr_t base;
    int32_t shift;
    int32_t klass_offset;
    size_t first_added;
};

static const char *const names[FLAGS] = {
    "UseSerialGC",     "UseParallelGC",         "UseG1GC", "UseZGC", "UseCompressedOops",
    "UseShenandoahGC", "UseStringDeduplication"
};
enum { SERIAL, PARALLEL, G1, Z, COMPRESSED, SHENANDOAH };

static void jvm_open(struct jvm *jvm, bool is_new)
{
    const struct smp_export added[] = {
        { "CompressedOops", is_new ? "_base" : "_narrow_oop._base", "address", true,
          (uintptr_t)&jvm->base },
        { "CompressedOops", is_new ? "_shift" : "_narrow_oop._shift", "int", true,
          (uintptr_t)&jvm->shift },
        { "java_lang_Class", "_klass_offset", "int", true, (uintptr_t)&jvm->klass_offset },
        { "JVMFlag", "flags", "JVMFlag*", true, (uintptr_t)&jvm->list },
        { "JVMFlag", "numFlags", "size_t", true, (uintptr_t)&jvm->count },
        { "JVMFlag", "_name", "const char*", false, offsetof(struct flag, name) },
        { "JVMFlag", "_addr", NULL, false, offsetof(struct flag, value) },
        { "JVMFlag", NULL, NULL, false, sizeof(struct flag) },
        { "Klass", "_layout_helper", "jint", false, 8 },
    };

    memset(jvm, 0, sizeof(*jvm));
    jvm->libjvm = fake_libjvm_create(is_new ? 25 : 21);
    jvm->first_added = fake_libjvm_count(jvm->libjvm);
    for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
        fake_libjvm_add(jvm->libjvm, &added[i]);
    for (size_t i = 0; i < FLAGS; i++)
        jvm->flags[i] = (struct flag){ .name = names[i], .value = &jvm->values[i] };
    jvm->list = jvm->flags;
    jvm->count = FLAGS;
    jvm->base = 0x7000000;
    jvm->shift = 3;
}

static bool find(struct jvm *jvm, struct smp_chunks *out, char reason[SMP_CHUNKS_REASON_BYTES])
{
    const struct smp_exports exports = fake_libjvm_exports(jvm->libjvm);

    memset(out, 0, sizeof(*out));
    reason[0] = '\0';
    return smp_chunks_find_references(&exports, out, reason);
}

static void test_only_collectors_that_stop_all_threads_are_supported(void **state)
{
    char reason[SMP_CHUNKS_REASON_BYTES];
    struct smp_chunks chunks;
    struct jvm jvm;

    (void)state;
    for (int is_new = 0; is_new < 2; is_new++) {
        for (size_t collector = SERIAL; collector <= Z; collector++) {
            jvm_open(&jvm, is_new != 0);
            jvm.values[collector] = true;
            jvm.values[COMPRESSED] = is_new == 0;
            if (collector == Z) {
                assert_false(find(&jvm, &chunks, reason));
                assert_string_equal(reason, "this collector moves objects while threads run");
            } else {
                assert_true(find(&jvm, &chunks, reason));
                assert_string_equal(reason, "");
                assert_int_equal(chunks.reference.is_compressed, is_new == 0);
                assert_int_equal(chunks.reference.base, 0x7000000);
                assert_int_equal(chunks.reference.shift, 3);
            }
            fake_libjvm_destroy(jvm.libjvm);
        }
    }
}

static void test_each_export_is_required(void **state)
{
    char reason[SMP_CHUNKS_REASON_BYTES];
    struct smp_chunks chunks;
    struct jvm jvm;

    (void)state;
    for (int is_new = 0; is_new < 2; is_new++) {
        jvm_open(&jvm, is_new != 0);
        jvm.values[G1] = true;
        for (size_t i = jvm.first_added; i < fake_libjvm_count(jvm.libjvm); i++) {
            struct smp_export *entry = fake_libjvm_at(jvm.libjvm, i);
            const struct smp_export saved = *entry;
            fake_libjvm_hide(jvm.libjvm, i, true);
            assert_false(find(&jvm, &chunks, reason));
            assert_int_equal(strncmp(reason, "no ", 3), 0);
            assert_non_null(strstr(reason, saved.type));
            fake_libjvm_hide(jvm.libjvm, i, false);
            if (saved.type_string != NULL) {
                entry->type_string = "long double";
                assert_false(find(&jvm, &chunks, reason));
                *entry = saved;
            }
            entry->value = saved.is_static ? 0 : 1 << 20;
            assert_false(find(&jvm, &chunks, reason));
            *entry = saved;
            assert_true(find(&jvm, &chunks, reason));
        }
        fake_libjvm_destroy(jvm.libjvm);
    }
}

static void test_impossible_references_disable_chunks(void **state)
{
    char reason[SMP_CHUNKS_REASON_BYTES];
    struct smp_chunks chunks;
    struct jvm jvm;

    (void)state;
    jvm_open(&jvm, true);
    jvm.values[G1] = true;
    jvm.shift = 64;
    assert_false(find(&jvm, &chunks, reason));
    assert_string_equal(reason, "references cannot be read");
    fake_libjvm_destroy(jvm.libjvm);
    /* This program has no libjvm. */
    assert_false(smp_chunks_find_references(NULL, &chunks, reason));
    assert_string_equal(reason, "no CompressedOops::_base");
}

static void test_a_jdk_without_virtual_threads(void **state)
{
    const struct smp_layout layout = { .version = 17 };
    char reason[SMP_CHUNKS_REASON_BYTES];
    struct smp_chunks chunks;

    (void)state;
    assert_false(smp_continuations_find(&layout, NULL, &chunks, reason));
    assert_string_equal(reason, "this JDK has no virtual threads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_collectors_that_stop_all_threads_are_supported),
        cmocka_unit_test(test_each_export_is_required),
        cmocka_unit_test(test_impossible_references_disable_chunks),
        cmocka_unit_test(test_a_jdk_without_virtual_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
