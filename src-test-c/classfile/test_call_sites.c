/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/call_sites.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/class_builder.h"

enum { TEXT_BYTES = 8192, JAVA_17 = 61 };

/* The calls of a method as text, in order. */
struct listed_calls {
    char text[TEXT_BYTES];
    size_t length;
    size_t count;
    size_t most; /* the walk ends after this many calls */
};

static bool list_call(void *self, const struct smp_class_call_site *site)
{
    static const char *const kinds[] = { "virtual",     "special", "static", "interface",
                                         "initialiser", "new",     "string", "by name" };
    struct listed_calls *calls = self;

    const int written =
        snprintf(calls->text + calls->length, TEXT_BYTES - calls->length, "%u %s%s %.*s.%.*s%.*s\n",
                 site->pc, site->is_handle ? "handle " : "", kinds[site->kind],
                 (int)site->method.owner.length, site->method.owner.bytes,
                 (int)site->method.name.length, site->method.name.bytes,
                 (int)site->method.descriptor.length, site->method.descriptor.bytes);
    calls->length += (size_t)written;
    assert_true(calls->length < TEXT_BYTES);
    return ++calls->count != calls->most;
}

static void assert_calls(struct class_builder *builder, const uint8_t *code, uint32_t length,
                         const char *expected)
{
    struct listed_calls calls = { .most = 0 };
    struct smp_class_file file;
    uint8_t *bytes = NULL;

    class_builder_method(builder, 0, "m", "()V",
                         &(struct built_code){ .bytes = code, .length = length });
    const size_t size = class_builder_finish(builder, &bytes);
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
    assert_true(smp_class_each_call_site(&file, &file.methods[0], list_call, &calls));
    assert_string_equal(calls.text, expected);
    /* The walk ends after the call whose callback ends it. */
    for (size_t most = 1; most <= calls.count; most++) {
        struct listed_calls some = { .most = most };
        assert_false(smp_class_each_call_site(&file, &file.methods[0], list_call, &some));
        assert_int_equal(some.count, most);
    }
    smp_class_file_close(&file);
    free(bytes);
}

#define INDEX(constant) (uint8_t)((constant) >> 8), (uint8_t)(constant)

static void each_kind_of_call_is_found(void **state)
{
    struct class_builder b;

    (void)state;
    class_builder_init(&b, JAVA_17, "a/A", "a/Base");
    const uint16_t one = class_builder_member(&b, SMP_CONSTANT_METHOD, "a/B", "one", "()V");
    const uint16_t init = class_builder_member(&b, SMP_CONSTANT_METHOD, "a/B", "<init>", "(J)V");
    const uint16_t clone =
        class_builder_member(&b, SMP_CONSTANT_METHOD, "[I", "clone", "()Ljava/lang/Object;");
    const uint16_t of =
        class_builder_member(&b, SMP_CONSTANT_INTERFACE_METHOD, "a/I", "of", "()La/I;");
    const uint16_t field = class_builder_member(&b, SMP_CONSTANT_FIELD, "a/B", "f", "I");
    const uint8_t code[] = { 184, INDEX(one),   183, INDEX(init),        /**/
                             182, INDEX(clone), 185, INDEX(of),    1, 0, /**/
                             184, INDEX(of),    178, INDEX(field),       /**/
                             182, INDEX(one),   177 };
    assert_calls(
        &b, code, sizeof(code),
        "0 static a/B.one()V\n3 special a/B.<init>(J)V\n"
        "6 virtual [I.clone()Ljava/lang/Object;\n9 interface a/I.of()La/I;\n"
        "14 static a/I.of()La/I;\n17 initialiser a/B.<clinit>()V\n20 virtual a/B.one()V\n");
}

static void handles_of_dynamic_calls_and_constants_are_found(void **state)
{
    struct class_builder b;
    uint16_t handles[7];

    (void)state;
    class_builder_init(&b, JAVA_17, "a/A", "a/Base");
    const uint16_t method = class_builder_member(&b, SMP_CONSTANT_METHOD, "a/B", "m", "()V");
    const uint16_t field = class_builder_member(&b, SMP_CONSTANT_FIELD, "a/B", "f", "I");
    for (uint16_t kind = 5; kind <= 9; kind++)
        handles[kind - 5] = class_builder_handle(&b, (uint8_t)kind, method);
    handles[5] = class_builder_handle(&b, 1, field);
    handles[6] = class_builder_utf8(&b, "no handle");
    const uint16_t row = class_builder_bootstrap(&b, handles, 7);
    const uint16_t call = class_builder_dynamic(&b, SMP_CONSTANT_INVOKE_DYNAMIC, row);
    const uint16_t constant = class_builder_dynamic(&b, SMP_CONSTANT_DYNAMIC,
                                                    class_builder_bootstrap(&b, handles + 1, 1));
    const uint16_t nested = class_builder_dynamic(
        &b, SMP_CONSTANT_DYNAMIC,
        class_builder_bootstrap(&b, (const uint16_t[]){ handles[0], constant, handles[2] }, 3));
    const uint8_t code[] = { 186, INDEX(call),       0,  0, 19, INDEX(nested),
                             20,  INDEX(handles[3]), 18, 1, 177 };
    assert_calls(&b, code, sizeof(code),
                 "0 handle virtual a/B.m()V\n0 handle static a/B.m()V\n0 handle special a/B.m()V\n"
                 "0 new a/B.<new>\n0 handle special a/B.m()V\n0 handle interface a/B.m()V\n"
                 "5 handle virtual a/B.m()V\n5 handle static a/B.m()V\n5 handle special a/B.m()V\n"
                 "8 new a/B.<new>\n8 handle special a/B.m()V\n");
}

static void objects_and_strings_are_found(void **state)
{
    struct class_builder b;

    (void)state;
    class_builder_init(&b, JAVA_17, "a/A", "a/Base");
    const uint16_t made = class_builder_class(&b, "a/B");
    const uint16_t array = class_builder_class(&b, "[La/B;");
    const uint16_t string = class_builder_string(&b, "a name");
    const uint16_t other = class_builder_class(&b, "a/C");
    const uint8_t code[] = { 187, INDEX(made),  19,  INDEX(array),  19, INDEX(string),
                             19,  INDEX(other), 187, INDEX(string), 177 };
    assert_calls(&b, code, sizeof(code), "0 new a/B.<new>\n6 string .a name\n9 new a/C.<new>\n");
}

/* Names of a dynamic language's calls, but not of the JDK's calls, whose strings are texts. */
static void names_of_dynamic_language_calls_are_found(void **state)
{
    static const char *const owners[] = { "org/lang/Indy", "java/lang/invoke/StringConcatFactory" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct class_builder b;

        class_builder_init(&b, JAVA_17, "a/A", "a/Base");
        b.bootstrap_method = class_builder_handle(
            &b, 6, class_builder_member(&b, SMP_CONSTANT_METHOD, owners[i], "bootstrap", "()V"));
        b.dynamic_type = "(La/B;I)V";
        const uint16_t row = class_builder_bootstrap(
            &b, (const uint16_t[]){ class_builder_string(&b, "m"), b.this_class }, 2);
        const uint16_t call = class_builder_dynamic(&b, SMP_CONSTANT_INVOKE_DYNAMIC, row);
        const uint8_t code[] = { 186, INDEX(call), 0, 0, 177 };
        assert_calls(&b, code, sizeof(code), i == 0 ? "0 by name .m(La/B;I)V\n" : "");
    }
}

static void circular_constants_end_the_walk(void **state)
{
    struct class_builder b;
    uint16_t arguments[3];

    (void)state;
    class_builder_init(&b, JAVA_17, "a/A", "a/Base");
    const uint16_t constant = class_builder_dynamic(&b, SMP_CONSTANT_DYNAMIC, 0);
    arguments[0] = arguments[1] = arguments[2] = constant; /* refers to itself */
    (void)class_builder_bootstrap(&b, arguments, 3);
    const uint16_t nowhere = class_builder_dynamic(&b, SMP_CONSTANT_DYNAMIC, 500);
    const uint8_t code[] = { 19, INDEX(constant), 19, INDEX(nowhere), 177 };
    assert_calls(&b, code, sizeof(code), "");
}

static void code_that_is_cut_off_ends_the_walk(void **state)
{
    static const uint8_t code[] = { 177, 184, 0 };
    struct listed_calls calls = { .most = 0 };
    struct class_builder b;
    struct smp_class_file file;
    uint8_t *bytes = NULL;

    (void)state;
    class_builder_init(&b, JAVA_17, "a/A", "a/Base");
    class_builder_method(&b, 0, "m", "()V",
                         &(struct built_code){ .bytes = code, .length = sizeof(code) });
    class_builder_method(&b, 0, "native", "()V", &(struct built_code){ 0 });
    const size_t size = class_builder_finish(&b, &bytes);
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
    assert_false(smp_class_each_call_site(&file, &file.methods[0], list_call, &calls));
    assert_true(smp_class_each_call_site(&file, &file.methods[1], list_call, &calls));
    assert_int_equal(calls.count, 0);
    smp_class_file_close(&file);
    free(bytes);
}

static void calls_of_compiled_code_are_found(void **state)
{
    struct listed_calls calls = { .most = 0 };
    struct smp_class_file file;
    uint8_t *bytes = NULL;

    (void)state;
    const size_t size = compiled_class_read("RetransformedCode", &bytes);
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
    for (uint32_t i = 0; i < file.method_count; i++) {
        if (smp_slice_is(file.methods[i].name, "lambdas"))
            assert_true(smp_class_each_call_site(&file, &file.methods[i], list_call, &calls));
    }
#define OWN "com/incapsula/sampler/testing/RetransformedCode"
    assert_non_null(strstr(calls.text, " handle static " OWN ".lambda$lambdas$"));
    assert_non_null(strstr(calls.text, " handle static " OWN ".loop(I)I\n"));
    assert_non_null(strstr(calls.text, " interface java/util/function/IntUnaryOperator.andThen("));
    assert_non_null(strstr(calls.text, " virtual java/lang/StringBuilder.length()I\n"));
    smp_class_file_close(&file);
    free(bytes);
}

static bool is_trivial(const uint8_t *code, uint32_t length)
{
    struct class_builder b;
    struct smp_class_file file;
    uint8_t *bytes = NULL;

    class_builder_init(&b, JAVA_17, "a/A", "a/Base");
    class_builder_method(&b, 0, "m", "()V",
                         &(struct built_code){ .bytes = code, .length = length });
    const size_t size = class_builder_finish(&b, &bytes);
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
    const bool result = smp_class_method_is_trivial(&file, &file.methods[0]);
    smp_class_file_close(&file);
    free(bytes);
    return result;
}

#define TRIVIAL(...) \
    is_trivial((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void trivial_methods_are_known(void **state)
{
    (void)state;
    assert_true(TRIVIAL(177));                        /* empty */
    assert_true(TRIVIAL(42, 180, 0, 1, 172));         /* return this.f */
    assert_true(TRIVIAL(42, 180, 0, 1, 176));         /* of any type */
    assert_true(TRIVIAL(178, 0, 1, 173));             /* return F */
    assert_true(TRIVIAL(42, 176));                    /* return this */
    assert_true(TRIVIAL(27, 172));                    /* return a */
    assert_true(TRIVIAL(21, 9, 172));                 /* a later one */
    assert_true(TRIVIAL(42, 27, 181, 0, 1, 177));     /* this.f = a */
    assert_true(TRIVIAL(42, 31, 181, 0, 1, 42, 176)); /* and return this */
    assert_true(TRIVIAL(42, 25, 4, 181, 0, 1, 177));  /* a later one */
    assert_true(TRIVIAL(26, 179, 0, 1, 177));         /* F = a */
}

static void other_methods_are_not_trivial(void **state)
{
    (void)state;
    assert_false(TRIVIAL(0, 177));
    assert_false(TRIVIAL(42, 176, 0));
    assert_false(TRIVIAL(42, 180, 0, 1, 172, 177));
    assert_false(TRIVIAL(42, 180, 0, 1, 0));
    assert_false(TRIVIAL(42, 180, 0, 1, 4, 96, 172)); /* this.f + 1 */
    assert_false(TRIVIAL(42, 43, 180, 0, 1, 172));
    assert_false(TRIVIAL(43, 180, 0, 1, 172)); /* of another object, which may be null */
    assert_false(TRIVIAL(178, 0, 1, 180, 0, 1, 172));
    assert_false(TRIVIAL(42, 182, 0, 1, 172)); /* a call */
    assert_false(TRIVIAL(42, 183, 0, 1, 177)); /* a constructor */
    assert_false(TRIVIAL(42, 27, 181, 0, 1, 43, 176));
    assert_false(TRIVIAL(26, 179, 0, 1, 42, 176));
    assert_false(TRIVIAL(26, 179, 0, 1));
    assert_false(TRIVIAL(42));
    assert_false(TRIVIAL(42, 27));
    assert_false(TRIVIAL(21));
    assert_false(TRIVIAL(178, 0, 1));
    assert_false(TRIVIAL(191));
    assert_false(is_trivial(NULL, 0)); /* native */
}

static bool passes_on(uint16_t access, const char *name, const char *super)
{
    static const uint8_t code[] = { 177 };
    struct class_builder builder;
    struct smp_class_file file;
    uint8_t *bytes = NULL;

    class_builder_init(&builder, 61, "a/A", super);
    class_builder_method(&builder, access, name, "()V",
                         &(struct built_code){ .bytes = code, .length = sizeof(code) });
    const size_t size = class_builder_finish(&builder, &bytes);
    assert_int_equal(smp_class_file_open(&file, bytes, size), SMP_OK);
    const bool result = smp_class_method_passes_on(&file, &file.methods[0]);
    smp_class_file_close(&file);
    free(bytes);
    return result;
}

static void compiler_generated_bridges_are_known(void **state)
{
    enum { STATIC = 0x0008, BRIDGE = 0x0040, ADDED = 0x1000 };
    const char *const goes_on = "kotlin/coroutines/jvm/internal/ContinuationImpl";

    (void)state;
    assert_true(passes_on(BRIDGE | ADDED, "compare", "a/B"));
    assert_true(passes_on(STATIC | ADDED, "access$000", "a/B"));
    assert_true(passes_on(STATIC | ADDED, "total$default", "a/B"));
    assert_true(passes_on(STATIC, "total_aroundBody0", "a/B"));
    assert_true(passes_on(STATIC, "total_aroundBody11$advice", "a/B"));
    assert_true(passes_on(0, "invokeSuspend", goes_on));
    assert_false(passes_on(ADDED, "compare", "a/B"));
    assert_false(passes_on(STATIC | ADDED, "lambda$total$0", "a/B"));
    assert_false(passes_on(ADDED, "total$default", "a/B"));
    assert_false(passes_on(STATIC, "total$default", "a/B"));
    assert_false(passes_on(STATIC, "access$000", "a/B"));
    assert_false(passes_on(STATIC, "_aroundBody0", "a/B"));
    assert_false(passes_on(STATIC, "total_aroundBody", "a/B"));
    assert_false(passes_on(STATIC, "total_aroundBodyA", "a/B"));
    assert_false(passes_on(0, "invokeSuspend", "kotlin/coroutines/jvm/internal/SuspendLambda"));
    assert_false(passes_on(0, "total", goes_on));
}

static bool count_call(void *self, const struct smp_class_call_site *site)
{
    size_t *count = self;

    *count += site->method.owner.length > 0 ? 1 : 0;
    return true;
}

static void any_change_is_survived(void **state)
{
    uint64_t random = 3;
    size_t count = 0;
    size_t trivial = 0;

    (void)state;
    for (const char *const *name = compiled_class_names(); *name != NULL; name++) {
        uint8_t *bytes = NULL;
        const size_t size = compiled_class_read(*name, &bytes);
        for (size_t round = 0; round < 2000; round++) {
            struct smp_class_file file;
            uint8_t *const changed = compiled_class_changed(bytes, size, &random);
            if (smp_class_file_open(&file, changed, size) == SMP_OK) {
                for (uint32_t i = 0; i < file.method_count; i++) {
                    (void)smp_class_each_call_site(&file, &file.methods[i], count_call, &count);
                    trivial += smp_class_method_is_trivial(&file, &file.methods[i]) ? 1 : 0;
                }
            }
            smp_class_file_close(&file);
            free(changed);
        }
        free(bytes);
    }
    assert_true(count > 1000);
    assert_true(trivial < count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_call_is_found),
        cmocka_unit_test(handles_of_dynamic_calls_and_constants_are_found),
        cmocka_unit_test(objects_and_strings_are_found),
        cmocka_unit_test(names_of_dynamic_language_calls_are_found),
        cmocka_unit_test(circular_constants_end_the_walk),
        cmocka_unit_test(code_that_is_cut_off_ends_the_walk),
        cmocka_unit_test(calls_of_compiled_code_are_found),
        cmocka_unit_test(trivial_methods_are_known),
        cmocka_unit_test(other_methods_are_not_trivial),
        cmocka_unit_test(compiler_generated_bridges_are_known),
        cmocka_unit_test(any_change_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
