/* SPDX-License-Identifier: Apache-2.0 */
/* Which debug record applies to the release of a lock, in artificial code of C1, with a JVM that
 * has four methods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jvmti.h>
#include <jvmticmlr.h>
#include <string.h>

#include "jvm/code/code_map.h"
#include "jvm/code/monitor_exits.h"

#if defined(__x86_64__)

enum {
    STUB = 0x800, /* offsets in the artificial code */
    OTHER_STUB = 0x840,
    SIZE = 0x200,  /* of the compiled method */
    FIRST = 0x100, /* return addresses of calls of stubs, behind the method's own code */
    SECOND = 0x120,
    THIRD = 0x140,
    MOST_RECORDS = 8,
    MOST_FRAMES = 4,
    OUTER = 1, /* methods */
    LOCKED,    /* synchronized */
    PLAIN,
    WITH_BLOCK, /* its byte code releases a lock: */
    BEGIN = 2,
    FIRST_END = 13,
    LAST_END = 16
};

static uint8_t code[0x1000] __attribute__((aligned(64)));
static PCStackInfo places[MOST_RECORDS];
static jmethodID methods[MOST_RECORDS][MOST_FRAMES];
static jint bcis[MOST_RECORDS][MOST_FRAMES];
static jvmtiCompiledMethodLoadInlineRecord record;
static bool refuses;
static int live_pieces;

static jvmtiError JNICALL get_modifiers(jvmtiEnv *env, jmethodID method, jint *modifiers)
{
    (void)env;
    if (refuses)
        return JVMTI_ERROR_INVALID_METHODID;
    *modifiers = (uintptr_t)method == LOCKED ? 0x21 : 0x1;
    return JVMTI_ERROR_NONE;
}

/* The instructions that acquire and release (twice) a lock among nops; or a constant with the same
 * byte. */
static jvmtiError JNICALL get_bytecodes(jvmtiEnv *env, jmethodID method, jint *count,
                                        unsigned char **codes)
{
    static unsigned char with_block[32] = { [BEGIN] = 0xc2, [FIRST_END] = 0xc3, [LAST_END] = 0xc3 };
    static unsigned char plain[32] = { [FIRST_END] = 0x10, [FIRST_END + 1] = 0xc3 };

    (void)env;
    live_pieces++;
    *count = sizeof(plain);
    *codes = (uintptr_t)method == WITH_BLOCK ? with_block : plain;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
    (void)env;
    (void)memory;
    live_pieces--;
    return JVMTI_ERROR_NONE;
}

static struct jvmtiInterface_1_ functions = { .GetMethodModifiers = get_modifiers,
                                              .GetBytecodes = get_bytecodes,
                                              .Deallocate = deallocate };
static jvmtiEnv jvmti = &functions;

static uintptr_t at(size_t offset)
{
    return (uintptr_t)code + offset;
}

static void put_distance(size_t end, size_t target)
{
    const int32_t distance = (int32_t)target - (int32_t)end;

    memcpy(code + end - sizeof(distance), &distance, sizeof(distance));
}

/* A call of a stub that returns to back and continues elsewhere. */
static void put_call(size_t back, size_t stub, size_t continues_at)
{
    const long short_distance = (long)continues_at - (long)(back + 2);

    code[back - 5] = 0xe8;
    put_distance(back, stub);
    if (short_distance >= INT8_MIN && short_distance <= INT8_MAX) {
        code[back] = 0xeb;
        code[back + 1] = (uint8_t)short_distance;
    } else {
        code[back] = 0xe9;
        put_distance(back + 5, continues_at);
    }
}

/* A record: pairs of method and bci, innermost first, ended by a 0. Records are in the order of
 * their pcs. */
static void put_record(size_t offset, const jint *frames)
{
    const jint index = record.numpcs++;
    jint count = 0;

    for (; frames[2 * count] != 0; count++) {
        methods[index][count] = (jmethodID)(uintptr_t)frames[2 * count]; /* NOLINT */
        bcis[index][count] = frames[2 * count + 1];
    }
    places[index] = (PCStackInfo){ .pc = (void *)at(offset), /* NOLINT */
                                   .numstackframes = count,
                                   .methods = methods[index],
                                   .bcis = bcis[index] };
}

#define PUT_RECORD(offset, ...) put_record(offset, (const jint[]){ __VA_ARGS__, 0 })

static void find_exits(void)
{
    smp_monitor_exits_make(&jvmti, code, SIZE, &record);
    assert_int_equal(live_pieces, 0);
}

/* Returns the pc at which the line of a call is recorded; 0: the JVM's next record applies. */
static size_t line_of(size_t back)
{
    const struct smp_code_piece *piece = smp_code_find(smp_code_enter(), at(back) - 1);
    const uint64_t pc = piece != NULL && piece->kind == SMP_CODE_CALL_SITE ? piece->id : 0;

    smp_code_leave();
    return pc != 0 ? (size_t)(pc - at(0)) : 0;
}

static int make(void **state)
{
    (void)state;
    memset(code, 0x90, sizeof(code));
    record = (jvmtiCompiledMethodLoadInlineRecord){ .header = { .kind = JVMTI_CMLR_INLINE_INFO },
                                                    .pcinfo = places };
    refuses = false;
    live_pieces = 0;
    if (smp_code_map_open() != SMP_OK)
        return -1;
    smp_code_map_add_method(at(0), SIZE, OUTER);
    smp_code_map_add_stub(at(STUB), 0x40, "monitorexit_nofpu Runtime1 stub");
    smp_code_map_add_stub(at(OTHER_STUB), 0x40, "fast_new_instance Runtime1 stub");
    return 0;
}

static int unmake(void **state)
{
    (void)state;
    smp_code_map_close();
    return 0;
}

static void test_an_inlined_synchronized_method(void **state)
{
    (void)state;
    PUT_RECORD(0x20, LOCKED, 4, OUTER, 10);
    PUT_RECORD(0x30, PLAIN, 7, LOCKED, 6, OUTER, 10);
    PUT_RECORD(0x50, OUTER, 14);
    PUT_RECORD(SECOND, OUTER, 20); /* the record that the JVM uses */
    put_call(FIRST, STUB, 0x40);
    put_call(SECOND, OTHER_STUB, 0x60);
    find_exits();
    assert_int_equal(line_of(FIRST), 0x20);
    assert_int_equal(line_of(SECOND), 0);
}

static void test_a_synchronized_block(void **state)
{
    (void)state;
    PUT_RECORD(0xb0, WITH_BLOCK, 3);
    PUT_RECORD(0xc0, WITH_BLOCK, 9);
    PUT_RECORD(0xc8, PLAIN, 1, WITH_BLOCK, 12);
    PUT_RECORD(0xd8, WITH_BLOCK, 15); /* after it */
    put_call(FIRST, STUB, 0xd0);      /* so near that the jump is short */
    find_exits();
    assert_int_equal(line_of(FIRST), 0xc0);
}

/* The method holds its lock neither before nor after the block. */
static void test_outside_of_a_block(void **state)
{
    (void)state;
    PUT_RECORD(0x20, LOCKED, 5, OUTER, 10);
    PUT_RECORD(0x30, PLAIN, 1, WITH_BLOCK, 1, LOCKED, 6, OUTER, 10);
    PUT_RECORD(0x50, LOCKED, 5, OUTER, 20);
    PUT_RECORD(0x60, PLAIN, 1, WITH_BLOCK, 20, LOCKED, 6, OUTER, 20);
    put_call(FIRST, STUB, 0x40);
    put_call(SECOND, STUB, 0x70);
    find_exits();
    assert_int_equal(line_of(FIRST), 0x20);
    assert_int_equal(line_of(SECOND), 0x50);
}

/* The only record of the method is that it waits for its lock. */
static void test_a_method_at_its_beginning(void **state)
{
    (void)state;
    PUT_RECORD(0x10, WITH_BLOCK, 4);
    PUT_RECORD(0x20, LOCKED, -1, WITH_BLOCK, 5);
    put_call(FIRST, STUB, 0x40);
    find_exits();
    assert_int_equal(line_of(FIRST), 0x20);
}

/* It releases its lock after all other code: the code before it is unrelated. */
static void test_an_exception_that_leaves_the_method(void **state)
{
    (void)state;
    PUT_RECORD(0x20, LOCKED, 4);
    PUT_RECORD(SECOND, PLAIN, 1, WITH_BLOCK, 5, LOCKED, 9);
    put_call(FIRST, STUB, 0x40);
    put_call(SECOND, OTHER_STUB, 0x50);
    put_call(THIRD + 0x20, STUB, THIRD);
    find_exits();
    assert_int_equal(line_of(FIRST), 0x20);
    assert_int_equal(line_of(THIRD + 0x20), 0);
}

/* Only the record of its beginning, behind the method's own code, has just this frame; a call of
 * the same method from another line is another frame. */
static void test_a_frame_that_is_recorded_elsewhere(void **state)
{
    (void)state;
    PUT_RECORD(0x20, LOCKED, 4, OUTER, 2);
    PUT_RECORD(0x30, PLAIN, 7, LOCKED, 6, OUTER, 10);
    PUT_RECORD(SECOND, LOCKED, 0, OUTER, 10);
    PUT_RECORD(THIRD, LOCKED, 8, OUTER, 10);
    put_call(FIRST, STUB, 0x40);
    find_exits();
    assert_int_equal(line_of(FIRST), SECOND);
}

/* Both locks are released after the same record: the inner one first. */
static void test_locks_released_together(void **state)
{
    (void)state;
    PUT_RECORD(0x20, WITH_BLOCK, 4);
    PUT_RECORD(0x30, LOCKED, 6, WITH_BLOCK, 10);
    PUT_RECORD(0x70, WITH_BLOCK, 14);
    PUT_RECORD(0x90, WITH_BLOCK, 18);
    put_call(FIRST, STUB, 0x40);
    put_call(SECOND, STUB, 0x60);
    put_call(THIRD, STUB, 0x80);
    find_exits();
    assert_int_equal(line_of(FIRST), 0x30);
    assert_int_equal(line_of(SECOND), 0x20);
    assert_int_equal(line_of(THIRD), 0x70);
}

static void test_other_calls_are_not_corrected(void **state)
{
    (void)state;
    PUT_RECORD(0x30, PLAIN, 6, OUTER, 10); /* neither can hold a lock */
    PUT_RECORD(0x50, LOCKED, 6, OUTER, 10);
    PUT_RECORD(SECOND, LOCKED, 7, OUTER, 10); /* this call has its own record */
    put_call(FIRST, STUB, 0x40);
    put_call(SECOND, STUB, 0x60);
    put_call(THIRD, STUB, 0x10);               /* there is no record before it */
    put_call(THIRD + 0x20, STUB, SIZE + 0x10); /* it continues outside the method */
    put_call(SIZE, STUB, 0x60);                /* the jump is not part of it */
    find_exits();
    assert_int_equal(line_of(FIRST), 0);
    assert_int_equal(line_of(SECOND), 0);
    assert_int_equal(line_of(THIRD), 0);
    assert_int_equal(line_of(THIRD + 0x20), 0);
    assert_int_equal(line_of(SIZE), 0);
    record.numpcs = 0;
    find_exits();
}

static void test_a_jvm_that_refuses(void **state)
{
    (void)state;
    refuses = true;
    PUT_RECORD(0x20, LOCKED, 4, OUTER, 10);
    put_call(FIRST, STUB, 0x40);
    find_exits();
    assert_int_equal(line_of(FIRST), 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, make, unmake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_inlined_synchronized_method),
        TEST(test_a_synchronized_block),
        TEST(test_outside_of_a_block),
        TEST(test_a_method_at_its_beginning),
        TEST(test_an_exception_that_leaves_the_method),
        TEST(test_a_frame_that_is_recorded_elsewhere),
        TEST(test_locks_released_together),
        TEST(test_other_calls_are_not_corrected),
        TEST(test_a_jvm_that_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 0;
}

#endif
