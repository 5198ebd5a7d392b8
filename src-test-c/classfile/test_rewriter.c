/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/rewriter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/random.h"
#include "classfile/moved_code.h"
#include "classfile/stack_map.h"
#include "support/class_builder.h"
#include "support/failing_alloc.h"
#include "support/rewritten_class.h"

enum { JAVA_17 = 61, JAVA_5 = 49, MOST_CODE = 65535, NO_ID = -1 };

static const struct smp_probe_hook hook = { .class_name = "java/lang/Hook",
                                            .enter = "enter",
                                            .exit = "exit",
                                            .enter_root = "enterRoot",
                                            .exit_root = "exitRoot",
                                            .reflected = "reflected",
                                            .caught = "caught" };

/* A class file before and after. */
struct run {
    uint8_t *bytes;
    struct smp_class_file before;
    struct smp_class_file after; /* open if rewritten is not NULL */
    struct smp_rewriter_method *methods;
    struct smp_bytes made;
    const uint8_t *rewritten; /* NULL: nothing was changed */
};

/* Takes over the bytes. All methods get ids from first_id on; root: every second method is a
 * root. */
static void open_run(struct run *run, uint8_t *bytes, size_t size, int32_t first_id, bool has_roots)
{
    *run = (struct run){ .bytes = bytes };
    assert_int_equal(smp_class_file_open(&run->before, bytes, size), SMP_OK);
    run->methods = calloc((size_t)run->before.method_count + 1, sizeof(*run->methods));
    assert_non_null(run->methods);
    for (int32_t i = 0; i < run->before.method_count; i++) {
        run->methods[i].id = first_id <= INT32_MAX - i ? first_id + i : INT32_MAX;
        run->methods[i].is_root = has_roots && i % 2 == 0;
    }
}

/* Compares the result with the original, whatever the results of the methods are. */
static void do_run(struct run *run)
{
    smp_bytes_init(&run->made, NULL, SMP_REWRITER_MOST_BYTES);
    assert_int_equal(smp_rewriter_run(&run->before, &hook, run->methods, &run->made), SMP_OK);
    if (run->made.length == 0)
        return;
    run->rewritten = (const uint8_t *)run->made.data;
    assert_int_equal(smp_class_file_open(&run->after, run->rewritten, run->made.length), SMP_OK);
    const char *wrong = rewritten_class_compare(&run->before, &run->after, run->methods, &hook);
    if (wrong != NULL)
        fail_msg("%.*s.%s", (int)run->before.name.length, run->before.name.bytes, wrong);
}

static void close_run(struct run *run)
{
    smp_class_file_close(&run->after);
    smp_class_file_close(&run->before);
    smp_bytes_fini(&run->made);
    free(run->methods);
    free(run->bytes);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

/* Rewrites a class with one method. The caller may have added constants to builder. */
static void run_method(struct run *run, struct class_builder *builder, const char *name,
                       const struct built_code *code, int32_t id)
{
    uint8_t *bytes = NULL;

    class_builder_method(builder, 0, name, "()V", code);
    const size_t size = class_builder_finish(builder, &bytes);
    open_run(run, bytes, size, id, false);
    do_run(run);
}

static enum smp_rewrite result_of(uint16_t major, const struct built_code *code, int32_t id)
{
    struct class_builder builder;
    struct run run;

    class_builder_init(&builder, major, "a/A", "a/Base");
    run_method(&run, &builder, "m", code, id);
    const enum smp_rewrite result = run.methods[0].result;
    assert_int_equal(run.rewritten != NULL, result == SMP_REWRITE_DONE);
    close_run(&run);
    return result;
}

#define CODE(array) (&(struct built_code){ .bytes = (array), .length = sizeof(array) })

static void compiled_classes_get_probes(void **state)
{
    static const int32_t ids[] = { 0, 3, 5, 6, 120, 127, 128, 32760, 32767, 32768, INT32_MAX };

    (void)state;
    for (const char *const *name = compiled_class_names(); *name != NULL; name++) {
        for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]) * 2; i++) {
            uint8_t *bytes = NULL;
            struct run run;
            const size_t size = compiled_class_read(*name, &bytes);
            open_run(&run, bytes, size, ids[i / 2], i % 2 == 1);
            do_run(&run);
            for (uint32_t k = 0; k < run.before.method_count; k++) {
                const bool has_code = run.before.methods[k].code.attribute != 0;
                assert_int_equal(run.methods[k].result,
                                 has_code ? SMP_REWRITE_DONE : SMP_REWRITE_NATIVE_OR_ABSTRACT);
                assert_int_equal(run.methods[k].has_handler, has_code);
            }
            close_run(&run);
        }
    }
}

static void only_chosen_methods_change(void **state)
{
    (void)state;
    for (const char *const *name = compiled_class_names(); *name != NULL; name++) {
        for (uint32_t each = 1; each < 4; each++) {
            uint8_t *bytes = NULL;
            struct run run;
            uint32_t done = 0;
            const size_t size = compiled_class_read(*name, &bytes);
            open_run(&run, bytes, size, 100, false);
            for (uint32_t i = 0; i < run.before.method_count; i++)
                run.methods[i].id = i % (each + 1) == each ? (int32_t)i : NO_ID;
            do_run(&run);
            for (uint32_t i = 0; i < run.before.method_count; i++) {
                done += run.methods[i].result == SMP_REWRITE_DONE ? 1 : 0;
                if (run.methods[i].id == NO_ID)
                    assert_int_equal(run.methods[i].result, SMP_REWRITE_NOT_PLANNED);
            }
            assert_int_equal(run.rewritten != NULL, done > 0);
            close_run(&run);
        }
    }
}

static void entry_probes_pass_the_arguments_on(void **state)
{
    static const enum smp_probe_hands kinds[] = { SMP_HANDS_THIS, SMP_HANDS_THIS_AND_FIRST };

    (void)state;
    for (const char *const *name = compiled_class_names(); *name != NULL; name++) {
        for (uint32_t round = 0; round < 4; round++) { /* with and without probes */
            uint8_t *bytes = NULL;
            struct run run;
            const size_t size = compiled_class_read(*name, &bytes);
            open_run(&run, bytes, size, 40000, round == 1);
            for (uint32_t i = 0; i < run.before.method_count; i++) {
                run.methods[i].hands = kinds[(i + round) % 2];
                if (round >= 2)
                    run.methods[i].id = i % 3 == 0 && round == 3 ? (int32_t)i : NO_ID;
            }
            do_run(&run);
            for (uint32_t i = 0; i < run.before.method_count; i++) {
                const bool has_code = run.before.methods[i].code.attribute != 0;
                assert_int_equal(run.methods[i].result,
                                 has_code ? SMP_REWRITE_DONE : SMP_REWRITE_NATIVE_OR_ABSTRACT);
                assert_int_equal(run.methods[i].has_handler, has_code && run.methods[i].id >= 0);
            }
            close_run(&run);
        }
    }
}

static bool has_stack_map(const struct smp_class_file *file)
{
    struct smp_class_attribute attribute;

    for (uint32_t i = 0; i < file->method_count; i++) {
        struct smp_class_attributes list =
            smp_class_file_code_attributes(file, &file->methods[i].code);
        while (smp_class_file_next_attribute(file, &list, &attribute)) {
            if (smp_slice_is(attribute.name, "StackMapTable"))
                return true;
        }
    }
    return false;
}

static void old_class_files_have_no_stack_maps(void **state)
{
    (void)state;
    for (uint8_t major = 45; major <= 50; major++) {
        uint8_t *bytes = NULL;
        struct run run;
        const size_t size = compiled_class_read("OldCode", &bytes);
        bytes[5] = major == 45 ? 3 : 0;
        bytes[7] = major;
        open_run(&run, bytes, size, 1, false);
        do_run(&run);
        assert_true(has_stack_map(&run.before));
        assert_int_equal(has_stack_map(&run.after), major >= 50);
        for (uint32_t i = 0; i < run.before.method_count; i++)
            assert_true(run.methods[i].has_handler);
        close_run(&run);
    }
}

/* if_icmpeq 0; goto 6; return; the new code, byte by byte. */
static void jumps_to_the_start_and_to_returns_reach_the_probes(void **state)
{
    static const uint8_t code[] = { 0, 153, 255, 255, 167, 0, 3, 177 };
    static const uint8_t expected[] = {
        4,   184, 0,   0,        /* iconst_1, enter */
        0,   153, 255, 255,      /* nop, ifeq to the nop */
        167, 0,   3,             /* goto the probe */
        4,   184, 0,   0,   177, /* iconst_1, exit, return */
        4,   184, 0,   0,   191  /* the handler */
    };
    struct class_builder builder;
    struct run run;

    (void)state;
    class_builder_init(&builder, JAVA_5, "a/A", "a/Base");
    run_method(&run, &builder, "m", CODE(code), 1);
    assert_int_equal(run.methods[0].result, SMP_REWRITE_DONE);
    const struct smp_class_code *after = &run.after.methods[0].code;
    assert_int_equal(after->length, sizeof(expected));
    for (uint32_t i = 0; i < sizeof(expected); i++) {
        const bool is_index = i > 1 && (expected[i - 1] == 184 || expected[i - 2] == 184);
        if (!is_index)
            assert_int_equal(run.rewritten[after->bytes + i], expected[i]);
    }
    assert_int_equal(after->exception_count, 1);
    assert_int_equal(after->max_stack, 2);
    close_run(&run);
}

/* Returns how many bytes a method grows in addition to its probes of entry, exit and handler, with
 * id 3. */
static int32_t bytes_of_catches(const uint8_t *code, uint32_t length, const uint16_t (*rows)[4],
                                uint16_t count)
{
    const struct built_code built = { .bytes = code,
                                      .length = length,
                                      .exceptions = rows,
                                      .exception_count = count,
                                      .max_stack = 2 };
    struct class_builder builder;
    struct run run;

    class_builder_init(&builder, JAVA_5, "a/A", "a/Base");
    run_method(&run, &builder, "m", &built, 3); /* also compares with the naive version */
    assert_int_equal(run.methods[0].result, SMP_REWRITE_DONE);
    const int32_t more = (int32_t)run.after.methods[0].code.length - (int32_t)length - 4 - 4 - 5;
    close_run(&run);
    return more;
}

#define CATCHES(code, rows) \
    bytes_of_catches(code, sizeof(code), rows, sizeof(rows) / sizeof((rows)[0]))

/* The probe of a catch has 5 bytes. It is never placed where an exception of its own would lead
 * back to it. */
static void each_catch_whose_probe_cannot_loop_has_a_probe(void **state)
{
    /* nop; return; a handler of astore_1, nop, athrow; another of pop, nop, nop */
    static const uint8_t code[] = { 0, 177, 76, 0, 191, 87, 0, 191 };
    static const uint16_t one[][4] = { { 0, 1, 2, 0 } };
    static const uint16_t two[][4] = { { 0, 1, 2, 0 }, { 0, 1, 5, 0 } };
    static const uint16_t twice[][4] = { { 0, 1, 2, 0 }, { 1, 2, 2, 0 } };
    static const uint16_t finally_of_old[][4] = { { 0, 1, 2, 0 }, { 2, 3, 2, 0 } };
    static const uint16_t synchronized_code[][4] = { { 0, 1, 2, 0 }, { 2, 4, 2, 0 } };
    static const uint16_t covered_by_a_later_one[][4] = { { 0, 1, 2, 0 }, { 2, 5, 5, 0 } };
    static const uint16_t covered_by_an_earlier_one[][4] = { { 0, 1, 5, 0 }, { 5, 8, 2, 0 } };

    (void)state;
    assert_int_equal(CATCHES(code, one), 5);
    assert_int_equal(CATCHES(code, two), 10);
    assert_int_equal(CATCHES(code, twice), 5);
    assert_int_equal(CATCHES(code, finally_of_old), 5);
    assert_int_equal(CATCHES(code, synchronized_code), 0);
    assert_int_equal(CATCHES(code, covered_by_a_later_one), 10);
    assert_int_equal(CATCHES(code, covered_by_an_earlier_one), 5); /* only for handler 2 */
}

/* Jumps, switches and returns may be the first instruction of a handler. */
static void a_catch_may_begin_with_any_instruction(void **state)
{
    static const uint8_t jump[] = { 0, 177, 167, 255, 254 };
    static const uint8_t back[] = { 167, 0, 4, 177, 191 };
    static const uint8_t ends[] = { 0, 177, 176 };
    static const uint8_t wide[] = { 0, 177, 200, 255, 255, 255, 254 };
    static const uint8_t makes[] = { 0, 177, 187, 0, 1, 191 };
    static const uint16_t rows[][4] = { { 0, 1, 2, 0 } };
    static const uint16_t last[][4] = { { 0, 3, 4, 0 } };

    (void)state;
    assert_int_equal(CATCHES(jump, rows), 5);
    assert_int_equal(CATCHES(back, last), 5);
    assert_int_equal(CATCHES(ends, rows), 5 + 4);
    assert_int_equal(CATCHES(wide, rows), 5);
    assert_int_equal(CATCHES(makes, rows), 5);
}

/* A method with very many handlers gets all other probes. */
static void too_many_handlers_have_no_probes(void **state)
{
    static uint16_t rows[SMP_CATCH_MOST_ROWS + 1][4];
    static const uint8_t code[] = { 0, 177, 191 };

    (void)state;
    for (uint32_t i = 0; i <= SMP_CATCH_MOST_ROWS; i++) {
        rows[i][1] = 1;
        rows[i][2] = 2;
    }
    assert_int_equal(bytes_of_catches(code, sizeof(code), rows, SMP_CATCH_MOST_ROWS), 5);
    assert_int_equal(bytes_of_catches(code, sizeof(code), rows, SMP_CATCH_MOST_ROWS + 1), 0);
}

static void switches_keep_their_alignment(void **state)
{
    (void)state;
    for (uint32_t nops = 0; nops < 4; nops++) {
        for (uint32_t rows = 1; rows < 4; rows++) {
            for (int32_t id = 1; id < 1000; id = id * 30) { /* probes of 4, 5 and 6 bytes */
                uint8_t code[128] = { 0 };
                uint32_t length = nops;
                code[length++] = 170; /* tableswitch: all rows lead to the return or to 0 */
                const uint32_t pc = nops;
                length = (length + 3) / 4 * 4;
                const uint32_t end = length + 12 + 4 * rows;
                code[length + 3] = (uint8_t)(end - pc);
                code[length + 11] = (uint8_t)(rows - 1);
                for (uint32_t i = 0; i < rows; i++) {
                    const uint32_t row = length + 12 + 4 * i;
                    memset(code + row, i % 2 == 0 ? 0 : 255, 3);
                    code[row + 3] = (uint8_t)(i % 2 == 0 ? end - pc : 0u - pc);
                    if (i % 2 == 1 && pc == 0)
                        memset(code + row, 0, 4);
                }
                code[end] = 177;
                const struct built_code built = { .bytes = code, .length = end + 1 };
                assert_int_equal(result_of(JAVA_17, &built, id), SMP_REWRITE_DONE);
            }
        }
    }
}

static void a_method_may_have_the_maximum_size(void **state)
{
    /* With id 3: 4 bytes at the entry, 4 before the return, 5 for the handler. */
    enum { FITS = MOST_CODE - 13 };
    uint8_t *code = calloc(1, MOST_CODE);

    (void)state;
    assert_non_null(code);
    for (uint32_t length = FITS - 2; length <= MOST_CODE; length += length < FITS + 2 ? 1 : 8000) {
        const struct built_code built = { .bytes = code, .length = length };
        code[length - 1] = 177;
        assert_int_equal(result_of(JAVA_17, &built, 3),
                         length <= FITS ? SMP_REWRITE_DONE : SMP_REWRITE_TOO_LARGE);
        code[length - 1] = 0;
    }
    memset(code, 177, MOST_CODE); /* each return gets a probe */
    assert_int_equal(
        result_of(JAVA_17, &(struct built_code){ .bytes = code, .length = MOST_CODE }, 3),
        SMP_REWRITE_TOO_LARGE);
    free(code);
}

/* Methods that were already longer get their probes. */
static void probes_do_not_lift_a_method_over_the_size_limit_of_the_jit(void **state)
{
    enum { MOST_COMPILED = 8000, FITS = MOST_COMPILED - 13 };
    uint8_t *code = calloc(1, MOST_CODE);

    (void)state;
    assert_non_null(code);
    for (uint32_t length = FITS - 2; length < MOST_COMPILED + 3; length++) {
        const struct built_code built = { .bytes = code, .length = length };
        code[length - 1] = 177;
        assert_int_equal(result_of(JAVA_17, &built, 3), length <= FITS || length > MOST_COMPILED
                                                            ? SMP_REWRITE_DONE
                                                            : SMP_REWRITE_TOO_LARGE);
        code[length - 1] = 0;
    }
    free(code);
}

static void a_full_stack_has_no_room(void **state)
{
    static const uint8_t code[] = { 177 };
    struct built_code built = { .bytes = code, .length = 1, .max_stack = 65535 };

    (void)state;
    assert_int_equal(result_of(JAVA_17, &built, 3), SMP_REWRITE_TOO_LARGE);
    built.max_stack = 65534;
    assert_int_equal(result_of(JAVA_17, &built, 3), SMP_REWRITE_DONE);
}

static void a_jump_that_would_be_too_far_leaves_the_method_unchanged(void **state)
{
    uint8_t *code = calloc(1, MOST_CODE);
    const uint8_t small[] = { 177 };
    struct class_builder builder;
    struct run run;
    uint8_t *bytes = NULL;

    (void)state;
    assert_non_null(code);
    code[0] = 167; /* goto 32767, over two returns */
    code[1] = 127;
    code[2] = 255;
    code[10] = code[20] = code[32767] = 177;
    class_builder_init(&builder, JAVA_17, "a/A", "a/Base");
    class_builder_method(&builder, 0, "far", "()V",
                         &(struct built_code){ .bytes = code, .length = 32768 });
    class_builder_method(&builder, 0, "small", "()V", CODE(small));
    code[2] = 240; /* 15 bytes less: two probes of 4 bytes fit */
    code[32752] = 177;
    class_builder_method(&builder, 0, "near", "()V",
                         &(struct built_code){ .bytes = code, .length = 32768 });
    const size_t size = class_builder_finish(&builder, &bytes);
    open_run(&run, bytes, size, 3, false);
    do_run(&run);
    assert_int_equal(run.methods[0].result, SMP_REWRITE_JUMP_TOO_FAR);
    assert_false(run.methods[0].has_handler);
    assert_int_equal(run.methods[1].result, SMP_REWRITE_DONE);
    assert_int_equal(run.methods[2].result, SMP_REWRITE_DONE);
    close_run(&run);
    free(code);
}

static void no_class_file_is_written_if_no_method_changes(void **state)
{
    uint8_t *code = calloc(1, MOST_CODE);

    (void)state;
    assert_non_null(code);
    memcpy(code, "\247\177\377", 3); /* goto 32767 */
    code[10] = code[32767] = 177;
    const struct built_code built = { .bytes = code, .length = 32768 };
    assert_int_equal(result_of(JAVA_17, &built, 3), SMP_REWRITE_JUMP_TOO_FAR);
    free(code);
}

static void code_that_is_not_understood_is_unchanged(void **state)
{
    static const uint8_t subroutine[] = { 168, 0, 4, 177, 87, 177 };
    static const uint8_t wide_subroutine[] = { 201, 0, 0, 0, 6, 177, 87, 177 };
    static const uint8_t ret[] = { 169, 1 };
    static const uint8_t wide_ret[] = { 196, 169, 0, 1 };
    static const uint8_t unknown[] = { 203, 177 };
    static const uint8_t cut_off[] = { 177, 17, 1 };
    static const uint8_t within[] = { 167, 0, 1, 177 };
    static const uint8_t before[] = { 167, 255, 255, 177 };
    static const uint8_t behind[] = { 167, 0, 4, 177 };
    static const uint8_t wide_behind[] = { 200, 127, 255, 255, 255, 177 };
    static const uint8_t bad_switch[] = { 170, 0, 0, 0, 0, 0, 0, 2, 0, 0,  0,
                                          0,   0, 0, 0, 0, 0, 0, 0, 0, 177 };

    (void)state;
    assert_int_equal(result_of(JAVA_5, CODE(subroutine), 3), SMP_REWRITE_UNKNOWN_CODE);
    assert_int_equal(result_of(JAVA_5, CODE(wide_subroutine), 3), SMP_REWRITE_UNKNOWN_CODE);
    assert_int_equal(result_of(JAVA_5, CODE(ret), 3), SMP_REWRITE_UNKNOWN_CODE);
    assert_int_equal(result_of(JAVA_5, CODE(wide_ret), 3), SMP_REWRITE_UNKNOWN_CODE);
    assert_int_equal(result_of(JAVA_17, CODE(unknown), 3), SMP_REWRITE_UNKNOWN_CODE);
    assert_int_equal(result_of(JAVA_17, CODE(cut_off), 3), SMP_REWRITE_UNKNOWN_CODE);
    assert_int_equal(result_of(JAVA_17, CODE(within), 3), SMP_REWRITE_UNKNOWN_CODE);
    assert_int_equal(result_of(JAVA_17, CODE(before), 3), SMP_REWRITE_UNKNOWN_CODE);
    assert_int_equal(result_of(JAVA_17, CODE(behind), 3), SMP_REWRITE_UNKNOWN_CODE);
    assert_int_equal(result_of(JAVA_17, CODE(wide_behind), 3), SMP_REWRITE_UNKNOWN_CODE);
    assert_int_equal(result_of(JAVA_17, CODE(bad_switch), 3), SMP_REWRITE_UNKNOWN_CODE);
}

static void exception_tables_that_are_wrong_are_not_understood(void **state)
{
    static const uint8_t code[] = { 17, 0, 1, 87, 177, 191 };
    static const uint16_t rows[][4] = { { 0, 4, 5, 0 }, { 1, 4, 5, 0 }, { 0, 2, 5, 0 },
                                        { 0, 7, 5, 0 }, { 0, 4, 6, 0 }, { 0, 6, 5, 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct built_code built = {
            .bytes = code, .length = sizeof(code), .exceptions = &rows[i], .exception_count = 1
        };
        assert_int_equal(result_of(JAVA_17, &built, 3),
                         i == 0 || i == 5 ? SMP_REWRITE_DONE : SMP_REWRITE_UNKNOWN_CODE);
    }
}

static void a_full_constant_pool_leaves_the_class_unchanged(void **state)
{
    static const uint8_t code[] = { 177 };

    (void)state;
    /* The class has 7 constants including its method; probes need 12, and one more for a
     * large id. */
    for (uint32_t room = 10; room < 15; room++) {
        for (int32_t id = 3; id < 100000; id += 40000) {
            struct class_builder builder;
            struct run run;
            class_builder_init(&builder, JAVA_17, "a/A", "a/Base");
            while (builder.pool_count + 3 + room < SMP_CLASS_MAX_POOL)
                class_builder_integer(&builder, 1);
            run_method(&run, &builder, "m", CODE(code), id);
            assert_int_equal(run.before.pool_count, SMP_CLASS_MAX_POOL - room);
            assert_int_equal(run.methods[0].result, room >= (id > 32767 ? 13 : 12)
                                                        ? SMP_REWRITE_DONE
                                                        : SMP_REWRITE_NO_ROOM_IN_POOL);
            close_run(&run);
        }
    }
}

/* Only the first id that is too large for an instruction gets a constant. */
static void methods_without_room_for_their_id_are_unchanged(void **state)
{
    static const uint8_t code[] = { 177 };
    struct class_builder builder;
    struct run run;
    uint8_t *bytes = NULL;

    (void)state;
    class_builder_init(&builder, JAVA_17, "a/A", "a/Base");
    for (int i = 0; i < 3; i++)
        class_builder_method(&builder, 0, "m", "()V", CODE(code));
    while (builder.pool_count + 13 < SMP_CLASS_MAX_POOL)
        class_builder_integer(&builder, 1);
    const size_t size = class_builder_finish(&builder, &bytes);
    open_run(&run, bytes, size, 40000, false);
    run.methods[2].id = 32767;
    do_run(&run);
    assert_int_equal(run.methods[0].result, SMP_REWRITE_DONE);
    assert_int_equal(run.methods[1].result, SMP_REWRITE_NO_ROOM_IN_POOL);
    assert_int_equal(run.methods[2].result, SMP_REWRITE_DONE);
    close_run(&run);
}

/* Builds constructors, from these constants. */
struct constructor {
    struct class_builder builder;
    uint16_t base; /* of the superclass */
    uint16_t own;
    uint16_t other;
    uint16_t other_class;
};

static void init_constructor(struct constructor *out, uint16_t major)
{
    class_builder_init(&out->builder, major, "a/A", "a/Base");
    out->base = class_builder_member(&out->builder, SMP_CONSTANT_METHOD, "a/Base", "<init>", "()V");
    out->own = class_builder_member(&out->builder, SMP_CONSTANT_METHOD, "a/A", "<init>", "(I)V");
    out->other =
        class_builder_member(&out->builder, SMP_CONSTANT_METHOD, "a/Other", "<init>", "()V");
    out->other_class = class_builder_class(&out->builder, "a/Other");
}

/* Returns where the old code's handler begins; -1: there is no handler. */
static int32_t handler_of(struct constructor *constructor, const struct built_code *code)
{
    struct run run;
    int32_t start = -1;

    run_method(&run, &constructor->builder, "<init>", code, 3);
    assert_int_equal(run.methods[0].result, SMP_REWRITE_DONE);
    if (run.methods[0].has_handler) {
        const struct smp_class_code *after = &run.after.methods[0].code;
        const uint32_t row = after->exceptions + 8u * (after->exception_count - 1u);
        start = smp_class_u2(run.rewritten + row) - 4; /* before it is the entry probe */
    }
    close_run(&run);
    return start;
}

#define INDEX(constant) (uint8_t)((constant) >> 8), (uint8_t)(constant)

static void a_constructors_handler_begins_after_super(void **state)
{
    struct constructor c;

    (void)state;
    init_constructor(&c, JAVA_17);
    const uint8_t plain[] = { 42, 183, INDEX(c.base), 177 };
    assert_int_equal(handler_of(&c, CODE(plain)), 4);
    init_constructor(&c, JAVA_5);
    const uint8_t own[] = { 42, 4, 183, INDEX(c.own), 177 };
    assert_int_equal(handler_of(&c, CODE(own)), 5);
    /* super() with an object created for it, and one created afterwards. */
    init_constructor(&c, JAVA_17);
    const uint8_t made[] = { 42,
                             187,
                             INDEX(c.other_class),
                             89,
                             183,
                             INDEX(c.other),
                             183,
                             INDEX(c.base),
                             187,
                             INDEX(c.other_class),
                             183,
                             INDEX(c.other),
                             177 };
    assert_int_equal(handler_of(&c, CODE(made)), 11);
    /* A jump before super() whose target is before super(). */
    init_constructor(&c, JAVA_5);
    const uint8_t chosen[] = { 42, 27, 153, 0, 4, 4, 87, 183, INDEX(c.base), 177 };
    assert_int_equal(handler_of(&c, CODE(chosen)), 10);
}

/* If super() throws, no root has begun, because no probe could report its end. */
static void a_root_constructor_begins_after_super(void **state)
{
    struct constructor c;
    struct run run;
    uint8_t *bytes = NULL;

    (void)state;
    init_constructor(&c, JAVA_5);
    /* A jump back to the first instruction, one to the instruction after super(), and an early
     * return. */
    const uint8_t code[] = { 0, 27, 153, 255, 254, 42, 183, INDEX(c.base), 27, 153, 255, 255, 177 };
    class_builder_method(&c.builder, 0, "<init>", "()V", CODE(code));
    const uint8_t plain[] = { 42, 183, INDEX(c.base), 177 };
    const uint8_t nothing[] = { 177 };
    class_builder_method(&c.builder, 0, "m", "()V", CODE(nothing));
    class_builder_method(&c.builder, 0, "<init>", "(J)V", CODE(plain));
    const size_t size = class_builder_finish(&c.builder, &bytes);
    open_run(&run, bytes, size, 3, true);
    do_run(&run); /* also compares with the naive version */
    for (int32_t i = 0; i < 3; i += 2) {
        const struct smp_class_code *after = &run.after.methods[i].code;
        const uint8_t *const at = run.rewritten + after->bytes;
        const uint32_t from =
            smp_class_u2(run.rewritten + after->exceptions + 8u * (after->exception_count - 1u));
        assert_true(run.methods[i].has_handler);
        assert_int_equal(at[0], 0);
        /* super(), then one byte that pushes the id, and the hook */
        assert_int_equal(at[from - 7], 183);
        assert_int_equal(at[from - 3], 184);
    }
    close_run(&run);
}

static void if_super_is_unknown_a_constructor_has_no_handler(void **state)
{
    struct constructor c;

    (void)state;
    init_constructor(&c, JAVA_17); /* no super() at all: java.lang.Object's constructor */
    const uint8_t none[] = { 177 };
    assert_int_equal(handler_of(&c, CODE(none)), -1);
    init_constructor(&c, JAVA_17); /* a constructor of another class */
    const uint8_t other[] = { 42, 183, INDEX(c.other), 177 };
    assert_int_equal(handler_of(&c, CODE(other)), -1);
    init_constructor(&c, JAVA_17); /* an object that is never initialised */
    const uint8_t left[] = { 187, INDEX(c.other_class), 87, 42, 183, INDEX(c.base), 177 };
    assert_int_equal(handler_of(&c, CODE(left)), -1);
    init_constructor(&c, JAVA_5); /* a jump past one of two calls */
    const uint8_t past[] = {
        27, 153, 0, 8, 42, 183, INDEX(c.base), 177, 42, 183, INDEX(c.base), 177
    };
    assert_int_equal(handler_of(&c, CODE(past)), -1);
    init_constructor(&c, JAVA_5); /* a jump to the instruction after it */
    const uint8_t to_end[] = { 27, 153, 0, 7, 42, 183, INDEX(c.base), 177 };
    assert_int_equal(handler_of(&c, CODE(to_end)), -1);
    init_constructor(&c, JAVA_17); /* super() is the last instruction */
    const uint8_t last[] = { 42, 183, INDEX(c.base) };
    assert_int_equal(handler_of(&c, CODE(last)), -1);
}

static void a_constructor_with_an_exception_handler_past_super_gets_none(void **state)
{
    static const uint16_t rows[][4] = { { 0, 1, 5, 0 }, { 1, 4, 5, 0 }, { 4, 5, 5, 0 } };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct constructor c;
        init_constructor(&c, JAVA_5);
        const uint8_t code[] = { 42, 183, INDEX(c.base), 177, 191 };
        const struct built_code built = {
            .bytes = code, .length = sizeof(code), .exceptions = &rows[i], .exception_count = 1
        };
        assert_int_equal(handler_of(&c, &built), i == 2 ? 4 : -1);
    }
}

/* Writes one attribute of code. Returns its length. */
static size_t make_attribute(uint8_t *out, uint16_t name, const uint8_t *bytes, size_t length)
{
    const uint8_t head[] = { INDEX(name), 0, 0, INDEX(length) };

    memcpy(out, head, sizeof(head));
    memcpy(out + sizeof(head), bytes, length);
    return sizeof(head) + length;
}

static struct built_code with_table(const uint8_t *code, uint32_t length, uint8_t *room,
                                    uint16_t name, const uint8_t *table, size_t table_length)
{
    return (struct built_code){ .bytes = code,
                                .length = length,
                                .attributes = room,
                                .attributes_length =
                                    make_attribute(room, name, table, table_length),
                                .attribute_count = 1 };
}

static void frames_after_super_must_agree(void **state)
{
    static const uint8_t initialised[] = { 0, 1, 255, 0, 5, 0, 0, 0, 0 };
    static const uint8_t uninitialised[] = { 0, 1, 255, 0, 5, 0, 1, 6, 0, 0 };
    static const uint8_t inherited[] = { 0, 1, 5 };
    static const uint8_t broken[] = { 0, 1, 200 };
    static const struct {
        const uint8_t *table;
        size_t length;
        int32_t start;
    } cases[] = { { initialised, sizeof(initialised), 4 },
                  { uninitialised, sizeof(uninitialised), -1 },
                  { inherited, sizeof(inherited), -1 } };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct constructor c;
        uint8_t room[64];
        init_constructor(&c, JAVA_17);
        const uint16_t name = class_builder_utf8(&c.builder, "StackMapTable");
        const uint8_t code[] = { 42, 183, INDEX(c.base), 177, 177 };
        const struct built_code built =
            with_table(code, sizeof(code), room, name, cases[i].table, cases[i].length);
        assert_int_equal(handler_of(&c, &built), cases[i].start);
    }
    struct class_builder builder;
    struct run run;
    uint8_t room[64];
    class_builder_init(&builder, JAVA_17, "a/A", "a/Base");
    const uint8_t code[] = { 177 };
    const struct built_code built =
        with_table(code, 1, room, class_builder_utf8(&builder, "StackMapTable"), broken, 3);
    run_method(&run, &builder, "m", &built, 3);
    assert_int_equal(run.methods[0].result, SMP_REWRITE_UNKNOWN_CODE);
    close_run(&run);
}

/* Frames are so far apart that a probe between them makes them extended. One has an object created
 * at 0; one lists fields that are not set yet. */
static void frames_move_and_grow(void **state)
{
    uint8_t code[200] = { 187, 0, 2 };
    const uint8_t table[] = { 0,       5,             /**/
                              62,                     /* at 62: same */
                              64 + 62, 8, 0, 0,       /* at 125, an object made at 0 */
                              63,                     /* at 189 */
                              246,     0, 1, 0, 3, 0, /* at 190 */
                              251,     0, 3 /* at 194 */ };
    struct class_builder builder;
    struct run run;
    uint8_t room[64];
    struct smp_stack_map map;
    struct smp_frame frame;
    struct smp_class_attribute attribute;

    (void)state;
    code[50] = code[100] = code[150] = code[199] = 177;
    for (uint16_t major = 50; major < 73; major += 11) {
        class_builder_init(&builder, major, "a/A", "a/Base");
        const struct built_code built =
            with_table(code, sizeof(code), room, class_builder_utf8(&builder, "StackMapTable"),
                       table, sizeof(table));
        run_method(&run, &builder, "m", &built, 300);
        assert_int_equal(run.methods[0].result, SMP_REWRITE_DONE);
        struct smp_class_attributes list =
            smp_class_file_code_attributes(&run.after, &run.after.methods[0].code);
        assert_true(smp_class_file_next_attribute(&run.after, &list, &attribute));
        smp_stack_map_init(&map, run.rewritten + attribute.bytes, attribute.length, 0);
        assert_true(smp_stack_map_next(&map, &frame));
        assert_int_equal(frame.type, SMP_FRAME_SAME_EXTENDED);
        assert_int_equal(frame.pc, 62 + 6 + 6);
        assert_true(smp_stack_map_next(&map, &frame));
        assert_int_equal(frame.type, SMP_FRAME_STACK_1_EXTENDED);
        assert_int_equal(smp_class_u2(frame.types + 1), 6); /* after the probe */
        assert_true(smp_stack_map_next(&map, &frame));
        assert_true(smp_stack_map_next(&map, &frame));
        assert_int_equal(frame.base - frame.start, 5);
        close_run(&run);
    }
}

/* The first frame's distance is its offset: it is in the type up to 63, otherwise in 16 bits. */
static void small_frame_distances_are_part_of_the_type(void **state)
{
    uint8_t code[80] = { 0 };

    (void)state;
    code[sizeof(code) - 1] = 177;
    for (uint8_t pc = 50; pc < 64; pc++) {
        for (uint32_t has_value = 0; has_value < 2; has_value++) {
            const uint8_t table[] = { 0, 1, (uint8_t)(pc + 64 * has_value), 1 };
            struct class_builder builder;
            struct run run;
            uint8_t room[64];
            class_builder_init(&builder, JAVA_17, "a/A", "a/Base");
            const struct built_code built =
                with_table(code, sizeof(code), room, class_builder_utf8(&builder, "StackMapTable"),
                           table, 3 + has_value);
            run_method(&run, &builder, "m", &built, 3);
            assert_int_equal(run.methods[0].result, SMP_REWRITE_DONE);
            const uint8_t *frame = run.rewritten + run.after.methods[0].code.attributes + 10;
            const uint32_t moved = pc + 4u;
            if (moved < 64) {
                assert_int_equal(frame[0], moved + 64 * has_value);
            } else {
                assert_int_equal(frame[0], has_value != 0 ? SMP_FRAME_STACK_1_EXTENDED
                                                          : SMP_FRAME_SAME_EXTENDED);
                assert_int_equal(smp_class_u2(frame + 1), moved);
            }
            close_run(&run);
        }
    }
}

static void offsets_of_frames_must_be_instructions(void **state)
{
    static const uint8_t within[] = { 0, 1, 1 };
    static const uint8_t behind[] = { 0, 1, 40 };
    static const uint8_t made_within[] = { 0, 1, 64 + 3, 8, 0, 2 };
    static const uint8_t code[] = { 17, 0, 0, 177 };
    static const struct {
        const uint8_t *table;
        size_t length;
    } cases[] = { { within, 3 }, { behind, 3 }, { made_within, 6 } };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct class_builder builder;
        struct run run;
        uint8_t room[64];
        class_builder_init(&builder, JAVA_17, "a/A", "a/Base");
        const struct built_code built =
            with_table(code, sizeof(code), room, class_builder_utf8(&builder, "StackMapTable"),
                       cases[i].table, cases[i].length);
        run_method(&run, &builder, "m", &built, 3);
        assert_int_equal(run.methods[0].result, SMP_REWRITE_UNKNOWN_CODE);
        close_run(&run);
    }
}

/* The class has one method with one attribute of this name. */
static void assert_table(const char *name, const uint8_t *table, size_t length,
                         enum smp_rewrite result, const uint8_t *expected)
{
    static const uint8_t code[] = { 17, 0, 0, 87, 177 };
    struct class_builder builder;
    struct run run;
    struct smp_class_attribute attribute;
    uint8_t room[64];

    class_builder_init(&builder, JAVA_5, "a/A", "a/Base");
    const struct built_code built =
        with_table(code, sizeof(code), room, class_builder_utf8(&builder, name), table, length);
    run_method(&run, &builder, "m", &built, 300);
    assert_int_equal(run.methods[0].result, result);
    if (result == SMP_REWRITE_DONE) {
        struct smp_class_attributes list =
            smp_class_file_code_attributes(&run.after, &run.after.methods[0].code);
        assert_int_equal(smp_class_file_next_attribute(&run.after, &list, &attribute),
                         expected != NULL);
        if (expected != NULL)
            assert_memory_equal(run.rewritten + attribute.bytes, expected, length);
    }
    close_run(&run);
}

static void tables_for_debuggers_move(void **state)
{
    static const uint8_t lines[] = { 0, 4, 0, 0, 0, 1, 0, 3, 0, 2, 0, 4, 0, 3, 0, 2, 0, 9 };
    static const uint8_t moved_lines[] = { 0, 4, 0, 0, 0, 1, 0, 9, 0, 2, 0, 10, 0, 3, 0, 6, 0, 9 };
    static const uint8_t variables[] = { 0, 2, 0, 0, 0, 5, 0, 1, 0, 2, 0,
                                         0, 0, 3, 0, 1, 0, 1, 0, 2, 0, 1 };
    static const uint8_t moved_variables[] = { 0, 2, 0, 0, 0, 17, 0, 1, 0, 2, 0,
                                               0, 0, 9, 0, 1, 0,  1, 0, 2, 0, 1 };
    static const uint8_t odd[] = { 0, 1, 2 };
    static const uint8_t line_behind[] = { 0, 1, 0, 5, 0, 1 };
    static const uint8_t variable_behind[] = { 0, 1, 0, 3, 0, 3, 0, 1, 0, 2, 0, 0 };

    (void)state;
    assert_table("LineNumberTable", lines, sizeof(lines), SMP_REWRITE_DONE, moved_lines);
    assert_table("LocalVariableTable", variables, sizeof(variables), SMP_REWRITE_DONE,
                 moved_variables);
    assert_table("LocalVariableTypeTable", variables, sizeof(variables), SMP_REWRITE_DONE,
                 moved_variables);
    assert_table("Unknown", odd, sizeof(odd), SMP_REWRITE_DONE, odd);
    assert_table("RuntimeVisibleTypeAnnotations", odd, sizeof(odd), SMP_REWRITE_DONE, NULL);
    assert_table("RuntimeInvisibleTypeAnnotations", odd, sizeof(odd), SMP_REWRITE_DONE, NULL);
    assert_table("LineNumberTable", odd, sizeof(odd), SMP_REWRITE_UNKNOWN_CODE, NULL);
    assert_table("LineNumberTable", odd, 0, SMP_REWRITE_UNKNOWN_CODE, NULL);
    assert_table("LocalVariableTable", odd, sizeof(odd), SMP_REWRITE_UNKNOWN_CODE, NULL);
    assert_table("LineNumberTable", line_behind, sizeof(line_behind), SMP_REWRITE_UNKNOWN_CODE,
                 NULL);
    assert_table("LocalVariableTable", variable_behind, sizeof(variable_behind),
                 SMP_REWRITE_UNKNOWN_CODE, NULL);
}

static enum smp_status attempt_run(void *self)
{
    const struct run *run = self;
    struct smp_bytes made;

    smp_bytes_init(&made, NULL, SMP_REWRITER_MOST_BYTES);
    const enum smp_status status = smp_rewriter_run(&run->before, &hook, run->methods, &made);
    smp_bytes_fini(&made);
    return status;
}

static void a_refused_allocation_leaves_nothing(void **state)
{
    uint8_t *bytes = NULL;
    struct run run;

    (void)state;
    const size_t size = compiled_class_read("RetransformedCode", &bytes);
    open_run(&run, bytes, size, 3, true);
    const struct failing_alloc_steps steps = failing_alloc_each_step(attempt_run, &run);
    assert_true(steps.refused >= 2);
    assert_true(steps.survived <= 1); /* without its first memory the result grows step by step */
    close_run(&run);
}

/* Every class file that smp_class_file_open accepts is rewritten correctly or left unchanged,
 * whatever bytes were changed. */
static void any_change_is_survived(void **state)
{
    uint64_t random = 7;
    uint32_t results[SMP_REWRITE_COUNT] = { 0 };

    (void)state;
    for (const char *const *name = compiled_class_names(); *name != NULL; name++) {
        uint8_t *bytes = NULL;
        const size_t size = compiled_class_read(*name, &bytes);
        for (size_t round = 0; round < 2000; round++) {
            struct smp_class_file file;
            struct run run;
            uint8_t *const changed = compiled_class_changed(bytes, size, &random);
            if (smp_class_file_open(&file, changed, size) != SMP_OK) {
                free(changed);
                continue;
            }
            smp_class_file_close(&file);
            open_run(&run, changed, size, (int32_t)(smp_random_next(&random) % 40000), true);
            do_run(&run);
            for (uint32_t i = 0; i < run.before.method_count; i++)
                results[run.methods[i].result]++;
            close_run(&run);
        }
        free(bytes);
    }
    assert_true(results[SMP_REWRITE_DONE] > 1000);
    assert_true(results[SMP_REWRITE_UNKNOWN_CODE] > 100);
}

static void each_result_has_a_text(void **state)
{
    (void)state;
    for (enum smp_rewrite i = 0; i < SMP_REWRITE_COUNT; i++) {
        assert_true(strlen(smp_rewrite_text(i)) > 3);
        for (enum smp_rewrite k = 0; k < i; k++)
            assert_string_not_equal(smp_rewrite_text(i), smp_rewrite_text(k));
    }
    assert_string_equal(smp_rewrite_text(SMP_REWRITE_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_classes_get_probes),
        cmocka_unit_test(only_chosen_methods_change),
        cmocka_unit_test(entry_probes_pass_the_arguments_on),
        cmocka_unit_test(old_class_files_have_no_stack_maps),
        cmocka_unit_test(jumps_to_the_start_and_to_returns_reach_the_probes),
        cmocka_unit_test(each_catch_whose_probe_cannot_loop_has_a_probe),
        cmocka_unit_test(a_catch_may_begin_with_any_instruction),
        cmocka_unit_test(too_many_handlers_have_no_probes),
        cmocka_unit_test(switches_keep_their_alignment),
        cmocka_unit_test(a_method_may_have_the_maximum_size),
        cmocka_unit_test(probes_do_not_lift_a_method_over_the_size_limit_of_the_jit),
        cmocka_unit_test(a_full_stack_has_no_room),
        cmocka_unit_test(a_jump_that_would_be_too_far_leaves_the_method_unchanged),
        cmocka_unit_test(no_class_file_is_written_if_no_method_changes),
        cmocka_unit_test(code_that_is_not_understood_is_unchanged),
        cmocka_unit_test(exception_tables_that_are_wrong_are_not_understood),
        cmocka_unit_test(a_full_constant_pool_leaves_the_class_unchanged),
        cmocka_unit_test(methods_without_room_for_their_id_are_unchanged),
        cmocka_unit_test(a_constructors_handler_begins_after_super),
        cmocka_unit_test(a_root_constructor_begins_after_super),
        cmocka_unit_test(if_super_is_unknown_a_constructor_has_no_handler),
        cmocka_unit_test(a_constructor_with_an_exception_handler_past_super_gets_none),
        cmocka_unit_test(frames_after_super_must_agree),
        cmocka_unit_test(frames_move_and_grow),
        cmocka_unit_test(small_frame_distances_are_part_of_the_type),
        cmocka_unit_test(offsets_of_frames_must_be_instructions),
        cmocka_unit_test(tables_for_debuggers_move),
        cmocka_unit_test(a_refused_allocation_leaves_nothing),
        cmocka_unit_test(any_change_is_survived),
        cmocka_unit_test(each_result_has_a_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
