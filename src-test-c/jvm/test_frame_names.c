/* SPDX-License-Identifier: Apache-2.0 */
/* Frames whose methods have no id: the names that a walk copies, also in the handler's form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/safe_read.h"
#include "handler/walk_data.h"
#include "hotspot/frames.h"
#include "support/fake_code.h"

enum { CAPACITY = 512, ROOM_BYTES = 16 * 1024, FIRST_LINE = 50, VIRTUAL_ROOT = 77 };

static struct {
    struct fake_code *code;
    const struct smp_layout *layout;
    struct smp_raw_frame raw[CAPACITY];
    uint64_t ids[CAPACITY];
    struct smp_frames out;
    _Alignas(uintptr_t) char room[ROOM_BYTES];
} vm;

static int setup(void **state)
{
    (void)state;
    vm.code = fake_code_create(25);
    vm.layout = fake_code_layout(vm.code);
    fake_stack_enter(vm.code);
    return smp_safe_read_refusal() == NULL ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    fake_code_destroy(vm.code);
    return 0;
}

/* Line FIRST_LINE + i is the line of byte code 10 * i. */
static uintptr_t make_method(const char *name, uint64_t id)
{
    const uintptr_t method = fake_code_method(vm.code, "com/acme/Shop", name, id);
    struct smp_line lines[8];

    for (int32_t i = 0; i < 8; i++)
        lines[i] = (struct smp_line){ .start_bci = 10 * i, .line = FIRST_LINE + i };
    fake_code_set_file(vm.code, method, "Shop.java");
    fake_code_set_lines(vm.code, method, lines, 8);
    return method;
}

static void walk(size_t room_bytes)
{
    vm.out = (struct smp_frames){ .raw = vm.raw, .ids = vm.ids, .capacity = CAPACITY };
    smp_frames_walk(vm.layout, NULL, fake_stack_start(vm.code), fake_stack_high(vm.code), &vm.out);
    assert_int_equal(vm.out.end, SMP_FRAMES_ROOT);
    memset(vm.room, 0x5a, sizeof(vm.room));
    smp_frame_names_copy(vm.layout, &vm.out, vm.room, room_bytes);
}

static void expect_copy(uint64_t id, const void *room, size_t bytes, const char *name, int32_t line)
{
    const struct smp_method_copy *copy = smp_frame_name_of(id, room, bytes);

    assert_non_null(copy);
    assert_int_equal(copy->name_bytes, strlen(name));
    assert_memory_equal(copy->texts + copy->class_bytes, name, strlen(name));
    assert_int_equal(copy->line, line);
    assert_int_equal(copy->first_line, FIRST_LINE);
}

static void frames_without_an_id_get_names(void **state)
{
    const uintptr_t with_id = make_method("main", 4711);
    const uintptr_t without = make_method("sell", 0);
    const uintptr_t other = make_method("pay", 0);

    (void)state;
    fake_stack_interpreted(vm.code, with_id, 0, 0);
    fake_stack_interpreted(vm.code, without, 31, 0);
    fake_stack_interpreted(vm.code, other, 79, 0);
    walk(ROOM_BYTES);
    assert_int_equal(vm.out.count, 3);
    expect_copy(vm.ids[0], vm.room, ROOM_BYTES, "pay", FIRST_LINE + 7);
    expect_copy(vm.ids[1], vm.room, ROOM_BYTES, "sell", FIRST_LINE + 3);
    assert_int_equal(vm.ids[2], 4711);
    assert_null(smp_frame_name_of(vm.ids[2], vm.room, ROOM_BYTES));
    assert_null(smp_frame_name_of(0, vm.room, ROOM_BYTES));
}

static void a_mark_outside_the_buffer_is_ignored(void **state)
{
    (void)state;
    fake_stack_interpreted(vm.code, make_method("sell", 0), 31, 0);
    walk(ROOM_BYTES);
    assert_non_null(smp_frame_name_of(vm.ids[0], vm.room, ROOM_BYTES));
    assert_null(smp_frame_name_of(vm.ids[0], vm.room + 8, ROOM_BYTES - 8));
    assert_null(smp_frame_name_of(vm.ids[0], vm.room, 0));
}

/* Frames at the same line share a copy; other lines of the method have their own copies. */
static void a_recursion_shares_a_copy(void **state)
{
    const uintptr_t method = make_method("sell", 0);
    const uintptr_t other = make_method("pay", 0);

    (void)state;
    for (int i = 0; i < 40; i++) {
        fake_stack_interpreted(vm.code, method, 0, 0);
        fake_stack_interpreted(vm.code, other, 20, 0);
    }
    fake_stack_interpreted(vm.code, method, 30, 0);
    walk(ROOM_BYTES);
    assert_int_equal(vm.out.count, 81);
    assert_int_not_equal(vm.ids[0], vm.ids[2]);
    expect_copy(vm.ids[0], vm.room, ROOM_BYTES, "sell", FIRST_LINE + 3);
    for (size_t i = 1; i < 81; i++)
        assert_int_equal(vm.ids[i], vm.ids[1 + (i + 1) % 2]);
    expect_copy(vm.ids[1], vm.room, ROOM_BYTES, "pay", FIRST_LINE + 2);
    expect_copy(vm.ids[80], vm.room, ROOM_BYTES, "sell", FIRST_LINE);
}

static void a_frame_without_room_has_no_name(void **state)
{
    size_t named = 0;

    (void)state;
    fake_stack_interpreted(vm.code, make_method("main", 0), 0, 0);
    fake_stack_interpreted(vm.code, make_method("sell", 0), 0, 0);
    fake_stack_interpreted(vm.code, make_method("pay", 0), 0, 0);
    for (size_t bytes = 0; bytes < 256; bytes++) {
        size_t now = 0;
        walk(bytes);
        for (size_t i = 0; i < 3; i++)
            now += vm.ids[i] != 0;
        assert_true(now >= named);
        named = now;
        for (size_t i = bytes; i < 256; i++)
            assert_int_equal(vm.room[i], 0x5a);
    }
    assert_int_equal(named, 3);
}

static void a_walk_copies_a_limited_number_of_names(void **state)
{
    char name[32];
    size_t named = 0;

    (void)state;
    for (int i = 0; i < SMP_FRAME_NAMES_MOST + 5; i++) {
        (void)snprintf(name, sizeof(name), "method%d", i);
        fake_stack_interpreted(vm.code, make_method(name, 0), 0, 0);
    }
    walk(ROOM_BYTES);
    for (size_t i = 0; i < vm.out.count; i++)
        named += vm.ids[i] != 0;
    assert_int_equal(named, SMP_FRAME_NAMES_MOST);
    assert_int_not_equal(vm.ids[0], 0); /* frames at the leaf's end have names */
}

/* ----------------------------------------------------------------------------- in the handler */

static struct smp_stack_cut cut;

static uint32_t walk_as_handler(const struct smp_own_walk *own, struct smp_jvm_frame *frames,
                                uint32_t capacity)
{
    return (uint32_t)own->walk(own, fake_stack_start(vm.code), fake_stack_high(vm.code), frames,
                               capacity, &cut);
}

static void the_handlers_walk_has_names_after_its_frames(void **state)
{
    static struct smp_jvm_frame frames[CAPACITY];
    const struct smp_own_walk own = smp_own_walk_make(vm.layout, NULL, VIRTUAL_ROOT);

    (void)state;
    fake_stack_interpreted(vm.code, make_method("main", 4711), 0, 0);
    fake_stack_interpreted(vm.code, make_method("sell", 0), 31, 0);
    assert_int_equal(walk_as_handler(&own, frames, CAPACITY), 2);
    assert_int_equal(cut.omitted, 0);
    expect_copy((uintptr_t)frames[0].method, frames, sizeof(frames), "sell", FIRST_LINE + 3);
    assert_int_equal(frames[0].bci, 31);
    assert_int_equal((uintptr_t)frames[1].method, 4711);
    assert_ptr_equal(smp_frame_name_of((uintptr_t)frames[0].method, frames, sizeof(frames)),
                     frames + 3);
}

static void without_room_for_names_the_handlers_walk_has_its_frames(void **state)
{
    static struct smp_jvm_frame frames[CAPACITY];
    const struct smp_own_walk own = smp_own_walk_make(vm.layout, NULL, VIRTUAL_ROOT);

    (void)state;
    for (int i = 0; i < 4; i++)
        fake_stack_interpreted(vm.code, make_method("sell", 0), 31, 0);
    for (uint32_t capacity = 4; capacity < 12; capacity++) {
        memset(frames, 0, sizeof(frames));
        const uint32_t count = walk_as_handler(&own, frames, capacity);
        assert_int_equal(count, capacity < 8 ? capacity / SMP_OWN_WALK_ROOM : 4);
        assert_int_equal(cut.omitted, 4 - count);
        assert_int_equal(cut.root_count, count < 4 ? count / 2 : 0);
        for (uint32_t i = 0; i < count; i++)
            assert_true(frames[i].method == NULL ||
                        smp_frame_name_of((uintptr_t)frames[i].method, frames,
                                          capacity * sizeof(*frames)) != NULL);
        for (uint32_t i = capacity; i < CAPACITY; i++)
            assert_null(frames[i].method);
    }
}

static void both_ends_of_a_deep_stack_have_names(void **state)
{
    enum { DEPTH = 100, ROOM = 64, KEPT = ROOM / SMP_OWN_WALK_ROOM };
    static struct smp_jvm_frame frames[ROOM];
    const struct smp_own_walk own = smp_own_walk_make(vm.layout, NULL, VIRTUAL_ROOT);
    const uintptr_t method = make_method("sell", 0);

    (void)state;
    for (int i = 0; i < DEPTH; i++)
        fake_stack_interpreted(vm.code, method, 31, 0);
    assert_int_equal(walk_as_handler(&own, frames, ROOM), KEPT);
    assert_int_equal(cut.omitted, DEPTH - KEPT);
    assert_non_null(smp_frame_name_of((uintptr_t)frames[0].method, frames, sizeof(frames)));
    assert_ptr_equal(frames[KEPT - 1].method, frames[0].method);
}

/* The walk begins at the leaf's caller. */
static void a_leaf_without_a_frame_has_its_names(void **state)
{
    static struct smp_jvm_frame frames[CAPACITY];
    const struct smp_own_walk own = smp_own_walk_make(vm.layout, NULL, VIRTUAL_ROOT);
    const uintptr_t leaf = make_method("pay", 0);
    uint64_t id = 0;

    (void)state;
    fake_stack_interpreted(vm.code, make_method("sell", 0), 31, 0);
    assert_int_equal(walk_as_handler(&own, frames, CAPACITY), 1);
    /* After as many frames as fit, the last frame of a virtual thread. */
    frames[CAPACITY / 2] = (struct smp_jvm_frame){ .bci = -3, .method = frames };
    assert_true(own.id_of(&own, leaf, frames, CAPACITY, &id));
    assert_ptr_equal(frames[CAPACITY / 2].method, frames);
    expect_copy(id, frames, sizeof(frames), "pay", FIRST_LINE);
    expect_copy((uintptr_t)frames[0].method, frames, sizeof(frames), "sell", FIRST_LINE + 3);
    assert_true(own.id_of(&own, make_method("main", 4711), frames, CAPACITY, &id));
    assert_int_equal(id, 4711);
    assert_false(own.id_of(&own, 0, frames, CAPACITY, &id));
    assert_false(own.id_of(&own, leaf + 8, frames, CAPACITY, &id));
    assert_true(own.id_of(&own, leaf, frames, 2, &id));
    assert_int_equal(id, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(frames_without_an_id_get_names),
        TEST(a_mark_outside_the_buffer_is_ignored),
        TEST(a_recursion_shares_a_copy),
        TEST(a_frame_without_room_has_no_name),
        TEST(a_walk_copies_a_limited_number_of_names),
        TEST(the_handlers_walk_has_names_after_its_frames),
        TEST(without_room_for_names_the_handlers_walk_has_its_frames),
        TEST(both_ends_of_a_deep_stack_have_names),
        TEST(a_leaf_without_a_frame_has_its_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
