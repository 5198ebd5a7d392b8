/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "counting/class_summary.h"
#include "support/class_builder.h"
#include "support/class_text.h"
#include "support/failing_alloc.h"
#include "support/graph_fixture.h"

enum { JAVA_17 = 61, CLASS_SUMMARY_TEXT_BYTES = 65536 };

#define INDEX(constant) (uint8_t)((constant) >> 8), (uint8_t)(constant)

/* A class with a method that makes each kind of call, a method without code, and a trivial one. */
static size_t build_class(uint8_t **bytes)
{
    struct class_builder b;
    uint16_t handles[2];

    class_builder_init(&b, JAVA_17, "com/acme/A", "com/acme/Base");
    const uint16_t one = class_builder_member(&b, SMP_CONSTANT_METHOD, "com/acme/S", "s", "()V");
    const uint16_t init =
        class_builder_member(&b, SMP_CONSTANT_METHOD, "com/acme/N", "<init>", "(J)V");
    const uint16_t virtual = class_builder_member(&b, SMP_CONSTANT_METHOD, "com/acme/V", "v",
                                                  "()V");
    const uint16_t interface =
        class_builder_member(&b, SMP_CONSTANT_INTERFACE_METHOD, "com/acme/I", "i", "()V");
    const uint16_t lambda =
        class_builder_member(&b, SMP_CONSTANT_METHOD, "com/acme/A", "lambda$0", "()V");
    handles[0] = class_builder_handle(&b, 6, lambda);  /* a handle of an invokestatic */
    handles[1] = class_builder_handle(&b, 5, virtual); /* a handle of an invokevirtual */
    const uint16_t row = class_builder_bootstrap(&b, handles, 2);
    const uint16_t dynamic = class_builder_dynamic(&b, SMP_CONSTANT_INVOKE_DYNAMIC, row);
    const uint8_t calls[] = { 184, INDEX(one),
                              183, INDEX(init), /**/
                              182, INDEX(virtual),
                              185, INDEX(interface),
                              1,   0, /**/
                              186, INDEX(dynamic),
                              0,   0,
                              177 };
    const uint8_t empty[] = { 177 };
    const uint8_t cut_off[] = { 184, INDEX(one), 184, 0 };

    class_builder_method(&b, SMP_ACCESS_STATIC, "calls", "()V",
                         &(struct built_code){ .bytes = calls, .length = sizeof(calls) });
    class_builder_method(&b, SMP_ACCESS_NATIVE, "none", "(I)V", &(struct built_code){ 0 });
    class_builder_method(&b, 0, "empty", "()V",
                         &(struct built_code){ .bytes = empty, .length = sizeof(empty) });
    class_builder_method(&b, 0, "cut", "()V",
                         &(struct built_code){ .bytes = cut_off, .length = sizeof(cut_off) });
    return class_builder_finish(&b, bytes);
}

static void write_slice(char *out, struct smp_slice slice)
{
    const size_t length = strlen(out);

    (void)snprintf(out + length, CLASS_SUMMARY_TEXT_BYTES - length, "%.*s", (int)slice.length,
                   slice.bytes);
}

/* Writes the summary in the notation of class_text.h. */
static void write_summary(char *out, const struct smp_class_summary *summary)
{
    out[0] = '\0';
    write_slice(out, summary->name);
    write_slice(out, slice_of(" :"));
    for (size_t i = 0; i <= summary->interface_count; i++) {
        write_slice(out, slice_of(" "));
        write_slice(out, i == 0 ? summary->super_name : summary->interfaces[i - 1]);
    }
    for (size_t m = 0; m < summary->method_count; m++) {
        const struct smp_method_summary *const method = &summary->methods[m];

        write_slice(out, slice_of(" |"));
        if ((method->access & SMP_ACCESS_STATIC) != 0)
            write_slice(out, slice_of(" static"));
        if ((method->access & SMP_ACCESS_NATIVE) != 0)
            write_slice(out, slice_of(" native"));
        write_slice(out, slice_of(method->is_trivial ? " trivial " : " "));
        write_slice(out, method->name);
        write_slice(out, method->descriptor);
        write_slice(out, slice_of(method->call_count > 0 ? " ->" : ""));
        for (size_t c = 0; c < method->call_count; c++) {
            write_slice(out, slice_of(" "));
            write_slice(out, method->calls[c].owner);
            write_slice(out, slice_of(method->calls[c].is_dispatched ? "*" : "#"));
            write_slice(out, method->calls[c].name);
            write_slice(out, method->calls[c].descriptor);
        }
    }
}

static void test_a_class_becomes_a_summary(void **state)
{
    static const char EXPECTED[] =
        "com/acme/A : com/acme/Base "
        "| static calls()V -> com/acme/S#s()V com/acme/N#<init>(J)V com/acme/V*v()V "
        "com/acme/I*i()V com/acme/A#lambda$0()V com/acme/V*v()V "
        "| static native none(I)V | trivial empty()V | cut()V -> com/acme/S#s()V";
    struct smp_class_summary_reader reader = { 0 };
    const struct smp_class_summary *summary = NULL;
    struct smp_class_file file;
    uint8_t *bytes = NULL;
    const size_t size = build_class(&bytes);
    static char text[CLASS_SUMMARY_TEXT_BYTES];

    (void)state;
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
    for (uint64_t loader = 1; loader <= 2; loader++) {
        assert_int_equal(smp_class_summary_reader_read(&reader, &file, loader, &summary), SMP_OK);
        assert_int_equal(summary->loader, loader);
        assert_int_equal(summary->source_file.length, 0);
        write_summary(text, summary);
        assert_string_equal(text, EXPECTED);
    }
    smp_class_file_close(&file);
    free(bytes);
    smp_class_summary_reader_fini(&reader);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

/* In a method that looks up methods by name, each string may be a method's name, in its own class
 * or in a class that the method refers to. In other methods no string is one. */
static void test_methods_are_looked_up_by_name(void **state)
{
    static const char EXPECTED[] =
        "com/acme/A : com/acme/Base "
        "| looks()V -> com/acme/B#<new> "
        "java/lang/invoke/MethodHandles$Lookup*findStatic()V com/acme/A#one com/acme/B#one "
        "| not()V -> com/acme/B#<new> | dynamic()V -> com/acme/A#m com/acme/D#m";
    struct smp_class_summary_reader reader = { 0 };
    const struct smp_class_summary *summary = NULL;
    static char text[CLASS_SUMMARY_TEXT_BYTES];
    struct smp_class_file file;
    struct class_builder b;
    uint8_t *bytes = NULL;

    (void)state;
    class_builder_init(&b, JAVA_17, "com/acme/A", "com/acme/Base");
    const uint16_t find = class_builder_member(
        &b, SMP_CONSTANT_METHOD, "java/lang/invoke/MethodHandles$Lookup", "findStatic", "()V");
    const uint16_t other = class_builder_class(&b, "com/acme/B");
    const uint16_t string = class_builder_string(&b, "one");
    const uint8_t code[] = { 19, INDEX(other), 19, INDEX(string), 182, INDEX(find), 177 };
    const uint8_t no_find[] = { 19, INDEX(other), 19, INDEX(string), 177 };
    class_builder_method(&b, 0, "looks", "()V",
                         &(struct built_code){ .bytes = code, .length = sizeof(code) });
    class_builder_method(&b, 0, "not", "()V",
                         &(struct built_code){ .bytes = no_find, .length = sizeof(no_find) });
    b.bootstrap_method = class_builder_handle(
        &b, 6, class_builder_member(&b, SMP_CONSTANT_METHOD, "org/lang/Indy", "boot", "()V"));
    b.dynamic_type = "(Lcom/acme/D;I)V";
    const uint16_t names[] = { class_builder_string(&b, "m") };
    const uint16_t call = class_builder_dynamic(&b, SMP_CONSTANT_INVOKE_DYNAMIC,
                                                class_builder_bootstrap(&b, names, 1));
    const uint8_t dynamic[] = { 186, INDEX(call), 0, 0, 186, INDEX(call), 0, 0, 177 };
    class_builder_method(&b, 0, "dynamic", "()V",
                         &(struct built_code){ .bytes = dynamic, .length = sizeof(dynamic) });
    const size_t size = class_builder_finish(&b, &bytes);
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
    assert_int_equal(smp_class_summary_reader_read(&reader, &file, 1, &summary), SMP_OK);
    write_summary(text, summary);
    assert_string_equal(text, EXPECTED);
    for (size_t i = 0; i < summary->methods[0].call_count; i++)
        assert_int_equal(summary->methods[0].calls[i].is_made, i != 1);
    smp_class_file_close(&file);
    free(bytes);
    smp_class_summary_reader_fini(&reader);
}

/* Tests the whole way from a class file to a plan. */
static void test_a_class_file_gets_a_plan(void **state)
{
    struct smp_class_summary_reader reader = { 0 };
    const struct smp_class_summary *summary = NULL;
    struct graph_fixture fixture;
    struct smp_method_probe plan[4];
    struct smp_class_file file;
    uint8_t *bytes = NULL;
    const size_t size = build_class(&bytes);
    uint32_t loaded = 0;

    (void)state;
    graph_fixture_begin(&fixture, SMP_INSTRUMENTATION_EAGER, "com.acme.A.calls()", "", 0, 0);
    graph_load(&fixture, "com/acme/V | v()V");
    graph_load(&fixture, "com/acme/Sub : com/acme/V | v()V");
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
    assert_int_equal(smp_class_summary_reader_read(&reader, &file, 1, &summary), SMP_OK);
    assert_int_equal(smp_call_graph_load(fixture.graph, summary, &loaded), SMP_OK);
    /* Nothing refers to the class file any more. */
    smp_class_file_close(&file);
    free(bytes);
    smp_class_summary_reader_fini(&reader);
    assert_int_equal(smp_call_graph_plan(fixture.graph, loaded, plan, 4), 1);
    assert_true(plan[0].is_root);
    assert_int_equal(plan[0].id, graph_id(&fixture, "com/acme/A.calls()V"));
    assert_true(graph_id(&fixture, "com/acme/Sub.v()V") >= 0);
    graph_load(&fixture, "com/acme/S | static s()V");
    assert_true(graph_id(&fixture, "com/acme/S.s()V") >= 0);
    graph_fixture_end(&fixture);
}

/* Class files of javac have interfaces, and bodies of lambdas, which are found through their
 * handles. */
static void test_compiled_classes(void **state)
{
    static char text[CLASS_SUMMARY_TEXT_BYTES];
    struct smp_class_summary_reader reader = { 0 };

    (void)state;
    for (const char *const *name = compiled_class_names(); *name != NULL; name++) {
        const struct smp_class_summary *summary = NULL;
        struct smp_class_file file;
        uint8_t *bytes = NULL;
        const size_t size = compiled_class_read(*name, &bytes);
        size_t calls = 0;

        assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
        assert_int_equal(smp_class_summary_reader_read(&reader, &file, 1, &summary), SMP_OK);
        assert_int_equal(summary->method_count, file.method_count);
        for (size_t m = 0; m < summary->method_count; m++) {
            if (summary->methods[m].call_count > 0)
                assert_ptr_equal(summary->methods[m].calls,
                                 (struct smp_call_summary *)reader.calls.items + calls);
            calls += summary->methods[m].call_count;
        }
        assert_int_equal(calls, reader.call_count);
        if (strcmp(*name, "RetransformedCode") == 0) {
            assert_int_equal(summary->source_file.length, strlen("RetransformedCode.java"));
            assert_memory_equal(summary->source_file.bytes, "RetransformedCode.java",
                                summary->source_file.length);
            write_summary(text, summary);
            assert_non_null(strstr(text, "RetransformedCode#lambda$lambdas$"));
            assert_non_null(strstr(text, " java/util/function/IntUnaryOperator*andThen("));
        }
        smp_class_file_close(&file);
        free(bytes);
    }
    smp_class_summary_reader_fini(&reader);
}

static enum smp_status read_once(void *self)
{
    struct smp_class_summary_reader reader = { 0 };
    const struct smp_class_summary *summary = NULL;
    const enum smp_status status = smp_class_summary_reader_read(&reader, self, 1, &summary);

    if (status != SMP_OK)
        assert_null(summary);
    smp_class_summary_reader_fini(&reader);
    return status;
}

static void test_each_allocation_of_the_reader_may_fail(void **state)
{
    struct smp_class_file file;
    uint8_t *bytes = NULL;
    const size_t size = compiled_class_read("RetransformedCode", &bytes);

    (void)state;
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);

    const struct failing_alloc_steps steps = failing_alloc_each_step(read_once, &file);

    assert_true(steps.refused >= 3);
    assert_int_equal(steps.survived, 0);
    smp_class_file_close(&file);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_class_becomes_a_summary),
        cmocka_unit_test(test_methods_are_looked_up_by_name),
        cmocka_unit_test(test_a_class_file_gets_a_plan),
        cmocka_unit_test(test_compiled_classes),
        cmocka_unit_test(test_each_allocation_of_the_reader_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
