/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/stack_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Every form of a frame: at 5, 6, 66, 67, 1068, 1069, 1070, 1071, 1072, 1073, 1074. */
static const uint8_t all_forms[] = {
    0,   11,                            /* count */
    5,                                  /* same */
    64,  1,                             /* one int on the stack */
    59,                                 /* an object created at 3 */
    64,  8,  0,   3,                    /* one that was made at 3 */
    247, 3,  232, 7, 0, 9,              /* extended, an object */
    251, 0,  0,                         /* same, extended */
    252, 0,  0,   1,                    /* one local more */
    254, 0,  0,   0, 7, 0, 1, 8, 0, 66, /* three more */
    250, 0,  0,                         /* one less */
    255, 0,  0,   0, 2, 4, 3, 0, 1, 5,  /* full */
    246, 0,  2,   0, 8, 0, 9, 0,        /* two fields not set, then "same" */
};

static void every_form_is_read(void **state)
{
    static const uint32_t pcs[] = { 5, 6, 66, 67, 1068, 1069, 1070, 1071, 1072, 1073, 1074 };
    struct smp_stack_map map;
    struct smp_frame frame;

    (void)state;
    smp_stack_map_init(&map, all_forms, sizeof(all_forms), 0);
    for (size_t i = 0; i < sizeof(pcs) / sizeof(pcs[0]); i++) {
        assert_true(smp_stack_map_next(&map, &frame));
        assert_int_equal(frame.pc, pcs[i]);
        assert_int_equal(frame.has_uninitialized, i == 3 || i == 7);
        assert_false(frame.is_this_uninitialized);
        assert_int_equal(frame.base - frame.start, i == 10 ? 7 : 0);
    }
    assert_ptr_equal(frame.end, all_forms + sizeof(all_forms));
    assert_false(smp_stack_map_next(&map, &frame));
    assert_false(map.is_broken);
}

static bool note_place(void *self, uint8_t *place)
{
    uint8_t **places = self;

    while (*places != NULL)
        places++;
    *places = place;
    return place[1] != 99;
}

static void offsets_of_new_are_found(void **state)
{
    uint8_t table[] = { 0, 1, 255, 0, 0, 0, 2, 8, 0, 7, 1, 0, 2, 8, 0, 99, 8, 0, 9 };
    uint8_t *places[4] = { NULL };
    struct smp_stack_map map;
    struct smp_frame frame;

    (void)state;
    smp_stack_map_init(&map, table, sizeof(table), 0);
    assert_true(smp_stack_map_next(&map, &frame));
    /* ended at 99 */
    assert_false(smp_stack_map_each_new(&frame, table + 5, note_place, places));
    assert_ptr_equal(places[0], table + 8);
    assert_ptr_equal(places[1], table + 14);
    assert_null(places[2]);
}

static bool is_read(const uint8_t *bytes, uint32_t length)
{
    uint8_t *copy = malloc(length > 0 ? length : 1);
    struct smp_stack_map map;
    struct smp_frame frame;

    assert_non_null(copy);
    if (length > 0)
        memcpy(copy, bytes, length);
    smp_stack_map_init(&map, copy, length, 0);
    while (smp_stack_map_next(&map, &frame))
        continue;
    free(copy);
    return !map.is_broken;
}

static void a_table_that_is_cut_off_is_broken(void **state)
{
    (void)state;
    for (uint32_t length = 0; length < sizeof(all_forms); length++)
        assert_false(is_read(all_forms, length));
    assert_true(is_read(all_forms, sizeof(all_forms)));
}

static void unknown_forms_are_broken(void **state)
{
    (void)state;
    for (uint32_t type = 128; type < SMP_FRAME_EARLY_LARVAL; type++) {
        const uint8_t table[] = { 0, 1, (uint8_t)type, 0, 0, 0, 0, 0, 0 };
        assert_false(is_read(table, sizeof(table)));
    }
    const uint8_t twice[] = { 0, 1, 246, 0, 0, 246, 0, 0, 0 };
    assert_false(is_read(twice, sizeof(twice)));
    const uint8_t value[] = { 0, 1, 64, 9 };
    assert_false(is_read(value, sizeof(value)));
    const uint8_t far[] = { 0, 2, 251, 255, 254, 0 };
    assert_false(is_read(far, sizeof(far))); /* beyond the longest possible code */
}

/* Asserts at each frame whether "this" is uninitialised (u) or initialised (i). */
static void assert_this(const uint8_t *table, uint32_t length, uint32_t locals,
                        const char *expected)
{
    struct smp_stack_map map;
    struct smp_frame frame;

    smp_stack_map_init(&map, table, length, locals);
    for (; *expected != '\0'; expected++) {
        assert_true(smp_stack_map_next(&map, &frame));
        assert_int_equal(frame.is_this_uninitialized, *expected == 'u');
    }
    assert_false(smp_stack_map_next(&map, &frame));
    assert_false(map.is_broken);
}

static void this_is_followed_from_frame_to_frame(void **state)
{
    /* same, one on the stack, chop 1, append, full with it, chop all, append it, full without it,
     * full with it on the stack only. */
    static const uint8_t table[] = { 0,   9,                          /**/
                                     0,   64, 1,                      /**/
                                     250, 0,  0,                      /**/
                                     252, 0,  0, 1,                   /**/
                                     255, 0,  0, 0, 2, 1, 6, 0, 0,    /**/
                                     249, 0,  0,                      /**/
                                     252, 0,  0, 6,                   /**/
                                     255, 0,  0, 0, 1, 7, 0, 1, 0, 0, /**/
                                     255, 0,  0, 0, 1, 7, 0, 1, 0, 1, 6 };

    (void)state;
    assert_this(table, sizeof(table), 3, "uuuuuiuiu");
    /* not a constructor: only the frames count */
    assert_this(table, sizeof(table), 0, "iiiiuiuiu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_read),
        cmocka_unit_test(offsets_of_new_are_found),
        cmocka_unit_test(a_table_that_is_cut_off_is_broken),
        cmocka_unit_test(unknown_forms_are_broken),
        cmocka_unit_test(this_is_followed_from_frame_to_frame),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
