/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of the AArch64 headers, which are included under other names beside those of the
 * current processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include "hotspot/machine_code.h"

#if defined(__x86_64__)

#define SMP_SLOTS_ARE_EXPORTED AARCH64_SLOTS_ARE_EXPORTED
#define SMP_SLOT_SENDER_SP AARCH64_SLOT_SENDER_SP
#define SMP_SLOT_METHOD AARCH64_SLOT_METHOD
#define SMP_SLOT_BCP AARCH64_SLOT_BCP
#define SMP_SLOT_CALL_WRAPPER AARCH64_SLOT_CALL_WRAPPER
#define smp_frame_slots_caller_sp aarch64_caller_sp
#define SMP_PROLOGUE_BYTES AARCH64_PROLOGUE_BYTES
#define SMP_CALL_LONGEST AARCH64_CALL_LONGEST
#define SMP_LEAVE_BEFORE AARCH64_LEAVE_BEFORE
#define SMP_LEAVE_BEHIND AARCH64_LEAVE_BEHIND
#define SMP_PUSHED_BEFORE AARCH64_PUSHED_BEFORE
#define SMP_PUSHED_BEHIND AARCH64_PUSHED_BEHIND
#define smp_machine_code_rest aarch64_rest
#define smp_machine_code_frame aarch64_frame
#define smp_machine_code_follows_call aarch64_follows_call
#define smp_machine_code_jump_target aarch64_jump_target
#define smp_machine_code_next_leaf_call aarch64_next_leaf_call
#define smp_machine_code_next_outlined_call aarch64_next_outlined_call
#define smp_machine_code_frame_size aarch64_frame_size
#define smp_machine_code_behind_barrier aarch64_behind_barrier
#define smp_machine_code_pushed aarch64_pushed
#define smp_machine_code_pushed_at aarch64_pushed_at
#define smp_machine_code_is_direct_call aarch64_is_direct_call
#define smp_machine_code_jumps_to_handler aarch64_jumps_to_handler
#define smp_machine_code_returns_to_frame aarch64_returns_to_frame
#define smp_machine_code_behind_call aarch64_behind_call
#define smp_machine_code_poll_load aarch64_poll_load
#define smp_machine_code_stub_return aarch64_stub_return
#define smp_machine_code_kept_at aarch64_kept_at
#include "hotspot/machine_code_aarch64.h"

enum { NOP = 0xd503201f, SUB_0x40 = 0xd10103ff, STP_AT_0x30 = 0xa9037bfd, STP_DOWN = 0xa9bf7bfd };

static void an_interpreted_callers_sp_may_be_below_its_frame(void **state)
{
    (void)state;
    assert_int_equal(aarch64_caller_sp(0x1000, 0x2000), 0x2010);
    assert_int_equal(aarch64_caller_sp(0x2000, 0x2000), 0x2010);
    assert_int_equal(aarch64_caller_sp(0x2010, 0x2000), 0x2010);
    assert_int_equal(aarch64_caller_sp(0x2040, 0x2000), 0x2040);
}

static void a_return_is_recognised(void **state)
{
    static const uint32_t code[] = { NOP, 0xd65f03c0 };

    (void)state;
    assert_int_equal(aarch64_rest((uintptr_t)&code[0], 0, UINTPTR_MAX), SMP_REST_FRAME);
    assert_int_equal(aarch64_rest((uintptr_t)&code[1], 0, UINTPTR_MAX), SMP_REST_RETURN);
}

static void exceptions_are_not_followed(void **state)
{
    static const uint32_t code[] = { 0x94000001, NOP };
    struct smp_call call = { 0 };

    (void)state;
    assert_false(aarch64_is_direct_call((uintptr_t)code, UINTPTR_MAX, &call));
    assert_false(aarch64_jumps_to_handler((uintptr_t)code));
    assert_false(aarch64_returns_to_frame((uintptr_t)code));
}

static void a_safepoint_poll_is_recognised(void **state)
{
    static const uint32_t code[] = { 0xf9401b88, 0xb940011f, NOP }; /* by x8 */
    static const uint32_t other[] = { 0xf9401b88, 0xb940013f };     /* by x9 */
    static const uint32_t field[] = { 0xf9401808, 0xb940011f };     /* of x0 */
    const uintptr_t at = (uintptr_t)code;

    (void)state;
    assert_int_equal(aarch64_poll_load(at, at + sizeof(code)), 4);
    assert_int_equal(aarch64_poll_load(at + 4, at + sizeof(code)), 0);
    assert_int_equal(aarch64_poll_load(at + 2, at + sizeof(code)), 0);
    assert_int_equal(aarch64_poll_load(at, at + 7), 0);
    assert_int_equal(aarch64_poll_load(at, at - 1), 0);
    assert_int_equal(aarch64_poll_load((uintptr_t)other, UINTPTR_MAX), 0);
    assert_int_equal(aarch64_poll_load((uintptr_t)field, UINTPTR_MAX), 0);
    assert_int_equal(aarch64_behind_call(at, at + sizeof(code)), at);
}

static void no_arguments_are_pushed(void **state)
{
    (void)state;
    assert_int_equal(aarch64_pushed(0), 0);
    assert_int_equal(aarch64_pushed_at(0), 0);
    assert_int_equal(aarch64_kept_at(0, 0, 0), 0);
}

static void a_stubs_return_address_is_in_its_register(void **state)
{
    (void)state;
    assert_int_equal(aarch64_stub_return(0x1004, 0x1000, 0x2000, 0x2010), 0);
}

static void small_frames_are_measured(void **state)
{
    static const uint32_t code[] = { NOP, SUB_0x40, STP_AT_0x30, NOP };
    const struct smp_code_frame frame = aarch64_frame(code, sizeof(code));

    (void)state;
    assert_int_equal(frame.bytes, 0x40);
    assert_int_equal(frame.pushed_at, 12);
    assert_int_equal(frame.lowered_at, 12);
    assert_int_equal(aarch64_frame(code, 8).bytes, 0); /* truncated */
}

static void larger_frames_are_measured(void **state)
{
    /* sub sp, sp, #0x5f0, without and with mov x29, sp */
    static const uint32_t plain[] = { NOP, STP_DOWN, 0xd117c3ff, NOP };
    static const uint32_t with_mov[] = { STP_DOWN, 0x910003fd, 0xd117c3ff, NOP };
    static const uint32_t none[] = { STP_DOWN, NOP, NOP, NOP };
    struct smp_code_frame frame = aarch64_frame(plain, sizeof(plain));

    (void)state;
    assert_int_equal(frame.bytes, 0x600);
    assert_int_equal(frame.pushed_at, 8);
    assert_int_equal(frame.lowered_at, 12);
    frame = aarch64_frame(with_mov, sizeof(with_mov));
    assert_int_equal(frame.bytes, 0x600);
    assert_int_equal(frame.pushed_at, 4);
    assert_int_equal(frame.lowered_at, 12);
    assert_int_equal(aarch64_frame(with_mov, 8).bytes, 0);
    assert_int_equal(aarch64_frame(none, sizeof(none)).bytes, 0);
}

static void calls_and_branches_are_decoded(void **state)
{
    static const uint32_t code[] = { 0x94000003, 0x97fffffe, 0xd63f0120, 0x14000002, NOP };
    const uintptr_t at = (uintptr_t)code;
    struct smp_call call;

    (void)state;
    assert_true(aarch64_follows_call(at + 4, &call)); /* bl forwards, bl backwards, blr x9 */
    assert_int_equal(call.start, at);
    assert_int_equal(call.target, at + 12);
    assert_true(aarch64_follows_call(at + 8, &call));
    assert_int_equal(call.target, at - 4);
    assert_true(aarch64_follows_call(at + 12, &call));
    assert_int_equal(call.target, 0);
    assert_false(aarch64_follows_call(at + 20, &call));
    assert_int_equal(aarch64_jump_target(at + 12), at + 20);
    assert_int_equal(aarch64_jump_target(at + 16), 0);
}

static void calls_after_a_methods_code_are_found(void **state)
{
    /* bl after it, nop; bl after it, b to its start; bl, bl; b, b; bl, b after it */
    static const uint32_t code[] = { 0x94000040, NOP,        0x94000040, 0x17fffffd, 0x94000040,
                                     0x94000040, 0x14000001, 0x14000001, 0x94000040, 0x14000040 };
    const uintptr_t at = (uintptr_t)code;
    struct smp_outlined_call call = { 0 };

    (void)state;
    assert_int_equal(aarch64_next_outlined_call(code, sizeof(code), 0, &call), 12);
    assert_int_equal(call.target, at + 8 + 0x100);
    assert_int_equal(call.continues_at, at);
    assert_int_equal(aarch64_next_outlined_call(code, sizeof(code), 12, &call), 12);
    assert_int_equal(aarch64_next_outlined_call(code, sizeof(code), 13, &call), 24);
    assert_int_equal(call.target, at + 20 + 0x100);
    assert_int_equal(aarch64_next_outlined_call(code, sizeof(code), 25, &call), 0);
    assert_int_equal(aarch64_next_outlined_call(code, 12, 0, &call), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interpreted_callers_sp_may_be_below_its_frame),
        cmocka_unit_test(a_return_is_recognised),
        cmocka_unit_test(exceptions_are_not_followed),
        cmocka_unit_test(a_safepoint_poll_is_recognised),
        cmocka_unit_test(no_arguments_are_pushed),
        cmocka_unit_test(a_stubs_return_address_is_in_its_register),
        cmocka_unit_test(small_frames_are_measured),
        cmocka_unit_test(larger_frames_are_measured),
        cmocka_unit_test(calls_and_branches_are_decoded),
        cmocka_unit_test(calls_after_a_methods_code_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 0;
}

#endif
