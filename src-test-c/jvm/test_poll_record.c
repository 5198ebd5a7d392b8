/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <string.h>

#include "base/safe_read.h"
#include "hotspot/code.h"
#include "hotspot/machine_code.h"
#include "support/fake_code.h"

enum { ROOM = 32 };

#if defined(__x86_64__)

static const struct {
    uint8_t bytes[ROOM];
    uint32_t size;
    uint32_t distance; /* distance from the load to the test; 0: no poll */
} shapes[] = {
    { { 0x4d, 0x8b, 0x57, 0x30, 0x41, 0x85, 0x02 }, 7, 4 },              /* r10 */
    { { 0x49, 0x8b, 0x47, 0x30, 0x85, 0x00 }, 6, 4 },                    /* rax */
    { { 0x4d, 0x8b, 0x97, 0x40, 0x03, 0, 0, 0x41, 0x85, 0x02 }, 10, 7 }, /* far off */
    { { 0x4d, 0x8b, 0x67, 0x30, 0x41, 0x85, 0x04, 0x24 }, 8, 4 },        /* r12 */
    { { 0x4d, 0x8b, 0x6f, 0x30, 0x41, 0x85, 0x45, 0x00 }, 8, 4 },        /* r13 */
    { { 0x49, 0x8b, 0x6f, 0x30, 0x85, 0x45, 0x00 }, 7, 4 },              /* rbp */
    { { 0x49, 0x8b, 0x9f, 0x40, 0x03, 0, 0, 0x85, 0x03 }, 9, 7 },        /* rbx, far off */
    { { 0x4d, 0x8b, 0x57, 0x30, 0x41, 0x85, 0x03 }, 7, 0 },              /* another register */
    { { 0x4d, 0x8b, 0x57, 0x30, 0x85, 0x02 }, 6, 0 },                    /* rdx */
    { { 0x4d, 0x8b, 0x67, 0x30, 0x41, 0x85, 0x04, 0x25 }, 8, 0 },        /* not r12 alone */
    { { 0x4d, 0x8b, 0x57, 0x30, 0x41, 0x89, 0x02 }, 7, 0 },              /* a store */
    { { 0x4d, 0x8b, 0x97, 0x68, 0x04, 0, 0, 0x4d, 0x8b, 0x1a }, 10, 0 }, /* currentThread() */
    { { 0x4d, 0x8b, 0x56, 0x30, 0x41, 0x85, 0x02 }, 7, 0 },              /* by r14 */
    { { 0x45, 0x8b, 0x57, 0x30, 0x41, 0x85, 0x02 }, 7, 0 },              /* of four bytes */
    { { 0x48, 0x8b, 0x47, 0x30, 0x85, 0x00 }, 6, 0 },                    /* by rdi */
    { { 0x4d, 0x89, 0x57, 0x30, 0x41, 0x85, 0x02 }, 7, 0 },              /* not loaded */
    { { 0x4d, 0x8b, 0x17, 0x41, 0x85, 0x02 }, 6, 0 },                    /* without offset */
    /* mov %rax, %r11; sub %r11, %rbx; inc %ebp lie between. */
    { { 0x4d, 0x8b, 0x97, 0x48, 0x03, 0, 0, 0x4c, 0x8b, 0xd8, 0x4c, 0x2b, 0xdb, 0xff, 0xc5, 0x41,
        0x85, 0x02 },
      18,
      15 },
    { { 0x49, 0x8b, 0x47, 0x30, 0x90, 0x85, 0x00 }, 7, 0 }, /* of a register without a prefix */
    { { 0x4d, 0x8b, 0x57, 0x30, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
        0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x41, 0x85, 0x02 },
      24,
      0 }, /* too far */
};

#else

static const struct {
    uint32_t bytes[ROOM / sizeof(uint32_t)];
    uint32_t size;
    uint32_t distance;
} shapes[] = {
    { { 0xf9401b88, 0xb940011f }, 8, 4 }, /* ldr x8, [x28, #48]; ldr wzr, [x8] */
    { { 0xf9401b88, 0xb940013f }, 8, 0 },
};

#endif

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* The code also ends before each byte of the poll: nothing beyond its end is read. */
static void test_polls_are_recognized(void **state)
{
    uint32_t code[2 * ROOM / sizeof(uint32_t)];
    const uintptr_t pc = (uintptr_t)code;

    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        memset(code, 0, sizeof(code));
        memcpy(code, shapes[i].bytes, shapes[i].size);
        assert_int_equal(smp_machine_code_poll_load(pc, pc + sizeof(code)), shapes[i].distance);
        for (uint32_t size = 0; size < shapes[i].size; size++)
            assert_int_equal(smp_machine_code_poll_load(pc, pc + size), 0);
    }
    assert_int_equal(smp_machine_code_poll_load(pc, pc - 1), 0);
}

static void test_only_offsets_in_the_code_are_searched(void **state)
{
    uint32_t code[2 * ROOM / sizeof(uint32_t)] = { 0 };
    const uintptr_t start = (uintptr_t)code;
    const struct smp_blob blob = { .code = start, .end = start + sizeof(code) };

    (void)state;
    memcpy((char *)code + 4, shapes[0].bytes, shapes[0].size);
    assert_int_equal(smp_code_poll_record(&blob, 4), 4 + (int32_t)shapes[0].distance);
    assert_int_equal(smp_code_poll_record(&blob, 0), 0);
    assert_int_equal(smp_code_poll_record(&blob, -1), 0);
    assert_int_equal(smp_code_poll_record(&blob, (int32_t)sizeof(code)), 0);
    assert_int_equal(smp_code_poll_record(&blob, INT32_MAX), 0);
}

/* From JDK 21 on a call's own record is after the nop that follows it. */
static void test_the_nop_after_a_call_belongs_to_the_call(void **state)
{
    static const uint8_t code[] = { 0x0f, 0x1f, 0x84, 0x00, 1, 2, 3, 4, 0x0f, 0x1f, 0x40, 0x00 };
    const uintptr_t back = (uintptr_t)code;
    const uintptr_t end = back + sizeof(code);
    const uintptr_t bytes = smp_machine_code_behind_call(back, end) - back;

    (void)state;
#if defined(__x86_64__)
    assert_int_equal(bytes, 8);
#else
    assert_int_equal(bytes, 0); /* calls are not searched */
#endif
    assert_int_equal(smp_machine_code_behind_call(back, back + 7), back); /* truncated */
    assert_int_equal(smp_machine_code_behind_call(back + 8, end), back + 8);
}

/* As C2 writes them: a leaf call up to 0x20, "the thread's object", the poll. */
static void test_a_leaf_call_has_the_record_of_the_next_poll(void **state)
{
    static const int versions[] = { 17, 21, 25 };
    struct smp_raw_frame frames[3];
    struct smp_blob blob;

    (void)state;
    for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
        struct fake_code *code = fake_code_create(versions[v]);
        const struct smp_layout *layout = fake_code_layout(code);
        const uintptr_t outer = fake_code_method(code, "app/Main", "run", 1);
        const uintptr_t other = fake_code_method(code, "app/Main", "enter", 2);
        const uintptr_t loop = fake_code_method(code, "app/Main", "wait", 3);
        const int32_t poll = 0x20 + (int32_t)shapes[0].distance;
        const struct fake_record records[] = {
            { .pc = 0x10, .count = 1, .frames = { { outer, 9 } } },
            { .pc = 0x20, .count = 2, .frames = { { other, 6 }, { outer, 1 } } },
            { .pc = poll, .count = 2, .frames = { { loop, 27 }, { outer, 90 } } },
        };
        const uintptr_t start = fake_code_compile(code, outer, 8, records, 3);
        assert_true(smp_blob_find(layout, start, &blob));
        assert_int_equal(smp_code_frames_near(layout, &blob, start + 0x18, frames, 3), 2);
        assert_int_equal(frames[0].method, other);
        memcpy((void *)(start + 0x20), shapes[0].bytes, shapes[0].size); /* NOLINT */
        assert_int_equal(smp_code_frames_near(layout, &blob, start + 0x18, frames, 3), 2);
        assert_int_equal(frames[0].method, loop);
        assert_int_equal(frames[0].bci, 27);
        assert_int_equal(frames[1].bci, 90);
        assert_int_equal(smp_code_frames_near(layout, &blob, start + 0x10, frames, 3), 1);
        /* A record at exactly this address belongs to the JVM. */
        assert_int_equal(smp_code_frames(layout, &blob, start + 0x20, frames, 3), 2);
        assert_int_equal(frames[0].method, other);
        fake_code_destroy(code);
    }
}

static int allow_reads(void **state)
{
    (void)state;
    return smp_safe_read_refusal() == NULL ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polls_are_recognized),
        cmocka_unit_test(test_only_offsets_in_the_code_are_searched),
        cmocka_unit_test(test_the_nop_after_a_call_belongs_to_the_call),
        cmocka_unit_test(test_a_leaf_call_has_the_record_of_the_next_poll),
    };

    return cmocka_run_group_tests(tests, allow_reads, NULL);
}
