/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/class_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "support/class_builder.h"
#include "support/failing_alloc.h"

static const uint8_t return_only[] = { 177 };
static const struct built_code empty = { .bytes = return_only, .length = 1 };

static size_t build_small(uint8_t **out)
{
    struct class_builder builder;

    class_builder_init(&builder, 61, "a/Small", "a/Base");
    class_builder_method(&builder, SMP_ACCESS_STATIC, "one", "(IJ)V", &empty);
    class_builder_method(&builder, 0, "two", "()V", &(struct built_code){ 0 });
    return class_builder_finish(&builder, out);
}

static const struct smp_class_method *method_called(const struct smp_class_file *file,
                                                    const char *name)
{
    for (uint32_t i = 0; i < file->method_count; i++) {
        if (smp_slice_is(file->methods[i].name, name))
            return &file->methods[i];
    }
    fail_msg("no method %s", name);
    return NULL;
}

static void names_and_methods_are_found(void **state)
{
    uint8_t *bytes = NULL;
    const size_t size = build_small(&bytes);
    struct smp_class_file file;

    (void)state;
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
    assert_int_equal(file.major, 61);
    assert_true(smp_slice_is(file.name, "a/Small"));
    assert_true(smp_slice_is(file.super_name, "a/Base"));
    assert_int_equal(file.method_count, 2);
    const struct smp_class_method *one = method_called(&file, "one");
    assert_true(smp_slice_is(one->descriptor, "(IJ)V"));
    assert_int_equal(one->access, SMP_ACCESS_STATIC);
    assert_int_equal(one->code.length, 1);
    assert_int_equal(bytes[one->code.bytes], 177);
    assert_int_equal(method_called(&file, "two")->code.attribute, 0);
    assert_int_equal(method_called(&file, "two")->code.length, 0);
    smp_class_file_close(&file);
    smp_class_file_close(&file);
    free(bytes);
}

static void class_files_of_javac_are_read(void **state)
{
    uint8_t *bytes = NULL;
    const size_t size = compiled_class_read("RetransformedCode$Chosen", &bytes);
    struct smp_class_file file;
    struct smp_class_attribute attribute;
    bool has_lines = false;

    (void)state;
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
    assert_true(
        smp_slice_is(file.super_name, "com/incapsula/sampler/testing/RetransformedCode$Base"));
    assert_true(smp_slice_is(file.source_file, "RetransformedCode.java"));
    const struct smp_class_method *init = method_called(&file, "<init>");
    struct smp_class_attributes list = smp_class_file_code_attributes(&file, &init->code);
    while (smp_class_file_next_attribute(&file, &list, &attribute))
        has_lines = has_lines || smp_slice_is(attribute.name, "LineNumberTable");
    assert_true(has_lines);
    smp_class_file_close(&file);
    free(bytes);
    const size_t body_size = compiled_class_read("RetransformedCode$Body", &bytes);
    assert_int_equal(smp_class_file_open(&file, bytes, body_size), SMP_OK);
    assert_true((method_called(&file, "run")->access & SMP_ACCESS_ABSTRACT) != 0);
    list = smp_class_file_code_attributes(&file, &method_called(&file, "run")->code);
    assert_false(smp_class_file_next_attribute(&file, &list, &attribute));
    smp_class_file_close(&file);
    free(bytes);
}

static void interfaces_are_listed(void **state)
{
    static const uint8_t head[] = {
        0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 0, 7,                          /* 6 constants */
        1,    0,    1,    'A',  7, 0, 1,                                    /* class A: 2 */
        1,    0,    1,    'I',  7, 0, 3, 1,  0, 1, 'J', 7, 0, 5,            /* I: 4, J: 6 */
        2,    0,    0,    2,    0, 0, 0, 2,  0, 4, 0,   6, 0, 0, 0, 0, 0, 0 /* no members */
    };
    struct smp_class_file file;

    (void)state;
    assert_int_equal(smp_class_file_open(&file, head, sizeof(head)), SMP_OK);
    assert_int_equal(file.interface_count, 2);
    assert_true(smp_slice_is(smp_class_file_interface_name(&file, 0), "I"));
    assert_true(smp_slice_is(smp_class_file_interface_name(&file, 1), "J"));
    assert_null(file.super_name.bytes);
    smp_class_file_close(&file);
}

static void members_and_texts_of_another_kind_are_not_found(void **state)
{
    struct class_builder builder;
    struct smp_class_file file;
    struct smp_class_member member;
    uint8_t *bytes = NULL;

    (void)state;
    class_builder_init(&builder, 61, "a/A", "a/B");
    const uint16_t text = class_builder_utf8(&builder, "text");
    const uint16_t field = class_builder_member(&builder, SMP_CONSTANT_FIELD, "[I", "length", "I");
    const uint16_t handle = class_builder_handle(&builder, 1, field);
    const size_t size = class_builder_finish(&builder, &bytes);
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
    assert_true(smp_class_file_member(&file, field, &member));
    assert_true(smp_slice_is(member.owner, "[I"));
    assert_true(smp_slice_is(member.name, "length"));
    assert_true(smp_slice_is(member.descriptor, "I"));
    assert_false(smp_class_file_member(&file, text, &member));
    assert_false(smp_class_file_member(&file, 0, &member));
    assert_false(smp_class_file_member(&file, 65535, &member));
    assert_null(smp_class_file_utf8(&file, handle).bytes);
    assert_null(smp_class_file_class_name(&file, text).bytes);
    assert_int_equal(smp_class_file_tag(&file, 65535), 0);
    smp_class_file_close(&file);
    free(bytes);
}

/* The part has its own memory, so that a read past its end is reported. */
static enum smp_status open_part(const uint8_t *bytes, size_t size)
{
    uint8_t *part = malloc(size > 0 ? size : 1);
    struct smp_class_file file;

    assert_non_null(part);
    if (size > 0)
        memcpy(part, bytes, size);
    const enum smp_status status = smp_class_file_open(&file, part, size);
    smp_class_file_close(&file);
    free(part);
    return status;
}

static void each_part_of_a_file_is_malformed(void **state)
{
    (void)state;
    for (const char *const *name = compiled_class_names(); *name != NULL; name++) {
        uint8_t *bytes = NULL;
        const size_t size = compiled_class_read(*name, &bytes);
        for (size_t part = 0; part < size; part++)
            assert_int_equal(open_part(bytes, part), SMP_EINVAL);
        assert_int_equal(open_part(bytes, size), SMP_OK);
        bytes = realloc(bytes, size + 1);
        assert_non_null(bytes);
        bytes[size] = 0;
        assert_int_equal(open_part(bytes, size + 1), SMP_EINVAL);
        free(bytes);
    }
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void what_it_has_accepted_can_be_read(const struct smp_class_file *file)
{
    const struct smp_slice source = file->source_file;

    if (source.bytes != NULL)
        assert_true((const uint8_t *)source.bytes + source.length <= file->bytes + file->size);
    for (uint32_t i = 0; i < file->method_count; i++) {
        const struct smp_class_code *code = &file->methods[i].code;
        struct smp_class_attributes list = smp_class_file_code_attributes(file, code);
        struct smp_class_attribute attribute;
        uint32_t sum = code->length > 0 ? file->bytes[code->bytes + code->length - 1] : 0;
        while (smp_class_file_next_attribute(file, &list, &attribute)) {
            assert_true((size_t)attribute.bytes + attribute.length <= code->end);
            sum += attribute.length > 0 ? file->bytes[attribute.bytes + attribute.length - 1] : 0;
        }
        assert_true(sum < UINT32_MAX);
    }
    for (uint32_t i = 0; i < file->interface_count; i++)
        assert_non_null(smp_class_file_interface_name(file, (uint16_t)i).bytes);
}

static void any_change_is_survived(void **state)
{
    uint64_t random = 1;
    size_t accepted = 0;

    (void)state;
    for (const char *const *name = compiled_class_names(); *name != NULL; name++) {
        uint8_t *bytes = NULL;
        const size_t size = compiled_class_read(*name, &bytes);
        for (size_t round = 0; round < 3000; round++) {
            struct smp_class_file file;
            uint8_t *const changed = compiled_class_changed(bytes, size, &random);
            if (smp_class_file_open(&file, changed, size) == SMP_OK) {
                accepted++;
                what_it_has_accepted_can_be_read(&file);
            }
            smp_class_file_close(&file);
            free(changed);
        }
        free(bytes);
    }
    assert_true(accepted > 1000);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void unknown_forms_are_malformed(void **state)
{
    uint8_t *bytes = NULL;
    const size_t size = build_small(&bytes);
    const uint8_t major = bytes[7];

    (void)state;
    bytes[7] = 44; /* older than Java */
    assert_int_equal(open_part(bytes, size), SMP_EINVAL);
    bytes[7] = 45; /* 45.0 */
    assert_int_equal(open_part(bytes, size), SMP_EINVAL);
    bytes[5] = 3; /* 45.3 */
    assert_int_equal(open_part(bytes, size), SMP_OK);
    bytes[5] = 0;
    bytes[7] = 200; /* a future version */
    assert_int_equal(open_part(bytes, size), SMP_OK);
    bytes[7] = major;
    for (uint32_t tag = 0; tag < 256; tag++) {
        bytes[10] = (uint8_t)tag; /* of the first constant, which is the text a/Small */
        assert_int_equal(open_part(bytes, size), tag == SMP_CONSTANT_UTF8 ? SMP_OK : SMP_EINVAL);
    }
    free(bytes);
}

/* A long needs a second index as well. */
static void a_long_takes_two_indexes(void **state)
{
    uint8_t bytes[] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 0, 5, /* five indexes: */
                        1,    0,    1,    'a',  7, 0, 1, 5,  0, 0, 0, 0, 0, 0, 0,
                        9,    0,    0,    0,    2, 0, 2, 0,  0, 0, 0, 0, 0, 0, 0 };
    struct smp_class_file file;

    (void)state;
    assert_int_equal(smp_class_file_open(&file, bytes, sizeof(bytes)), SMP_OK);
    smp_class_file_close(&file);
    bytes[9] = 4;
    assert_int_equal(smp_class_file_open(&file, bytes, sizeof(bytes)), SMP_EINVAL);
}

static void code_and_flags_must_agree(void **state)
{
    uint8_t *bytes = NULL;
    const size_t size = build_small(&bytes);
    struct smp_class_file file;

    (void)state;
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
    const uint32_t one = file.methods[0].start;
    const uint32_t two = file.methods[1].start;
    smp_class_file_close(&file);
    bytes[one] |= SMP_ACCESS_NATIVE >> 8;
    assert_int_equal(open_part(bytes, size), SMP_EINVAL);
    bytes[one] = 0;
    assert_int_equal(open_part(bytes, size), SMP_OK);
    bytes[two] = 0;
    assert_int_equal(open_part(bytes, size), SMP_EINVAL);
    free(bytes);
}

static void a_code_attribute_has_no_bytes_after_its_parts(void **state)
{
    static const uint8_t more[] = { 0, 0, 0 };

    (void)state;
    for (size_t length = 0; length < 3; length++) {
        struct built_code code = empty;
        struct class_builder builder;
        uint8_t *bytes = NULL;
        code.attributes = more;
        code.attributes_length = length;
        class_builder_init(&builder, 61, "a/A", "a/B");
        class_builder_method(&builder, 0, "m", "()V", &code);
        const size_t size = class_builder_finish(&builder, &bytes);
        assert_int_equal(open_part(bytes, size), length == 0 ? SMP_OK : SMP_EINVAL);
        free(bytes);
    }
}

static enum smp_status attempt_open(void *self)
{
    struct smp_class_file file;
    uint8_t *bytes = NULL;
    const size_t size = compiled_class_read(self, &bytes);
    const enum smp_status status = smp_class_file_open(&file, bytes, size);

    smp_class_file_close(&file);
    free(bytes);
    return status;
}

static void constants_alone_are_read(void **state)
{
    enum { START = 10 }; /* offset after magic, version and count */
    struct smp_class_file whole;
    struct smp_class_file pool;
    uint8_t *bytes = NULL;
    const size_t size = compiled_class_read(compiled_class_names()[0], &bytes);

    (void)state;
    assert_int_equal(smp_class_file_open(&whole, bytes, size), SMP_OK);
    const size_t end = whole.pool_end;
    const uint16_t count = whole.pool_count;
    assert_int_equal(smp_class_file_open_pool(&pool, bytes, end, START, count), SMP_OK);
    assert_int_equal(pool.method_count, 0);
    for (uint16_t i = 0; i < count; i++) {
        struct smp_class_member one;
        struct smp_class_member other;
        const bool is_member = smp_class_file_member(&whole, i, &one);
        assert_int_equal(smp_class_file_tag(&pool, i), smp_class_file_tag(&whole, i));
        assert_int_equal(smp_class_file_member(&pool, i, &other), is_member);
        if (is_member)
            assert_true(smp_slice_equals(one.owner, other.owner) &&
                        smp_slice_equals(one.name, other.name));
    }
    smp_class_file_close(&pool);
    assert_int_equal(smp_class_file_open_pool(&pool, bytes, end - 1, START, count), SMP_EINVAL);
    assert_int_equal(smp_class_file_open_pool(&pool, bytes, end + 1, START, count), SMP_EINVAL);
    assert_int_equal(smp_class_file_open_pool(&pool, bytes, end, START, 0), SMP_EINVAL);
    assert_int_equal(smp_class_file_open_pool(&pool, bytes, end, 0, count), SMP_EINVAL);
    assert_int_equal(smp_class_file_open_pool(&pool, bytes, 1, 2, 1), SMP_EINVAL);
    assert_int_equal(smp_class_file_open_pool(&pool, bytes, 1, 1, 1), SMP_OK);
    smp_class_file_close(&pool);
    smp_class_file_close(&whole);
    free(bytes);
}

static void a_refused_allocation_leaves_nothing(void **state)
{
    (void)state;
    const struct failing_alloc_steps steps =
        failing_alloc_each_step(attempt_open, (void *)(uintptr_t) "RetransformedCode");
    assert_int_equal(steps.refused, 2);
    assert_int_equal(steps.survived, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_methods_are_found),
        cmocka_unit_test(class_files_of_javac_are_read),
        cmocka_unit_test(interfaces_are_listed),
        cmocka_unit_test(members_and_texts_of_another_kind_are_not_found),
        cmocka_unit_test(each_part_of_a_file_is_malformed),
        cmocka_unit_test(any_change_is_survived),
        cmocka_unit_test(unknown_forms_are_malformed),
        cmocka_unit_test(a_long_takes_two_indexes),
        cmocka_unit_test(code_and_flags_must_agree),
        cmocka_unit_test(a_code_attribute_has_no_bytes_after_its_parts),
        cmocka_unit_test(constants_alone_are_read),
        cmocka_unit_test(a_refused_allocation_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
