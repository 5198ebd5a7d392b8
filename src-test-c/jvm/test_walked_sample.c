/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "jvm/code/methods.h"
#include "jvm/walk/delivery.h"

enum { CAPACITY = 10 };

static struct smp_jvm_frame walked[CAPACITY];
static struct smp_sample sample;

/* Frames of methods with these numbers, leaf first; 0: no id. */
static void make(const uintptr_t *methods, uint32_t count)
{
    const struct smp_walk_answer answer = { .first = 1, .count = count };

    for (uint32_t i = 0; i < count; i++)
        walked[1 + i] =
            (struct smp_jvm_frame){ .bci = (int32_t)i * 10, .method = (void *)methods[i] };
    smp_walked_sample_make(walked, &answer, &sample);
}

static void test_frames_become_a_sample(void **state)
{
    const struct smp_walk_answer answer = { .first = 1, .count = 3 };

    (void)state;
    walked[1] = (struct smp_jvm_frame){ .bci = -1, .method = (void *)11 };
    walked[2] = (struct smp_jvm_frame){ .bci = -3, .method = (void *)12 };
    walked[3] = (struct smp_jvm_frame){ .bci = 7, .method = (void *)13 };
    smp_walked_sample_make(walked, &answer, &sample);
    assert_int_equal(sample.count, 3);
    assert_int_equal(sample.leaf_count, 3);
    assert_int_equal(sample.omitted, 0);
    assert_int_equal(sample.frames[0].method, 11);
    assert_int_equal(sample.frames[0].bci, 0);  /* a leaf without a line */
    assert_int_equal(sample.frames[1].bci, -1); /* native, in JVMTI's notation */
    assert_int_equal(sample.frames[2].method, 13);
    assert_int_equal(sample.frames[2].bci, 7);
}

static void test_a_pseudo_frame_is_marked(void **state)
{
    const struct smp_walk_answer answer = { .first = 0, .count = 2, .is_pseudo = true };

    (void)state;
    walked[0] = (struct smp_jvm_frame){ .bci = 0, .method = (void *)3 };
    walked[1] = (struct smp_jvm_frame){ .bci = 9, .method = (void *)12 };
    smp_walked_sample_make(walked, &answer, &sample);
    assert_int_equal(sample.frames[0].method, 3);
    assert_true(sample.frames[0].bci == SMP_BCI_PSEUDO);
    assert_int_equal(sample.frames[1].bci, 9);
}

static void test_missing_keys_are_filled_from_the_root(void **state)
{
    const uintptr_t methods[] = { 5, 0, 7, 0, 9 };
    const struct smp_frame other[] = { { 4, 0 }, { 6, 10 }, { 7, 20 }, { 8, 30 }, { 9, 40 } };
    const struct smp_frame deeper[] = { { 1, 0 },  { 2, 0 },  { 6, 10 },
                                        { 7, 20 }, { 8, 30 }, { 9, 40 } };

    (void)state;
    make(methods, 5);
    assert_true(smp_walked_sample_is_missing(&sample));
    assert_true(smp_walked_sample_fill(&sample, other, 5)); /* the leaf has moved on */
    assert_int_equal(sample.frames[0].method, 5);
    assert_int_equal(sample.frames[1].method, 6);
    assert_int_equal(sample.frames[3].method, 8);
    make(methods, 5);
    assert_true(smp_walked_sample_fill(&sample, deeper, 6));
    assert_int_equal(sample.frames[1].method, 6);
    assert_int_equal(sample.frames[3].method, 8);
}

/* Above a frame that differs, the two stacks are unrelated. */
static void test_another_stack_fills_nothing(void **state)
{
    const uintptr_t methods[] = { 5, 0, 7, 0, 9 };
    const struct smp_frame other[] = { { 6, 10 }, { 70, 20 }, { 8, 30 }, { 9, 40 } };
    const struct smp_frame stranger[] = { { 6, 10 }, { 7, 20 }, { 8, 30 }, { 90, 40 } };

    (void)state;
    make(methods, 5);
    assert_false(smp_walked_sample_fill(&sample, other, 4));
    assert_int_equal(sample.frames[3].method, 8);
    assert_int_equal(sample.frames[1].method, 0);
    make(methods, 5);
    assert_false(smp_walked_sample_fill(&sample, stranger, 4));
    assert_int_equal(sample.frames[3].method, 0);
    assert_false(smp_walked_sample_fill(&sample, stranger, 0));
}

/* The root is at its next line and calls others from there. */
static void test_another_call_of_the_same_method_fills_nothing(void **state)
{
    const uintptr_t methods[] = { 5, 0, 7, 0, 9 };
    const struct smp_frame later[] = { { 6, 10 }, { 7, 20 }, { 8, 30 }, { 9, 43 } };

    (void)state;
    make(methods, 5);
    assert_false(smp_walked_sample_fill(&sample, later, 4));
    assert_int_equal(sample.frames[3].method, 0);
    assert_int_equal(sample.frames[1].method, 0);
}

/* Root, leaf and the lines of the others are unchanged. */
static void test_a_frame_without_a_name_keeps_its_place(void **state)
{
    const uintptr_t methods[] = { 0, 6, 0, 8 };

    (void)state;
    make(methods, 4);
    smp_walked_sample_keep_nameless(&sample);
    assert_false(smp_walked_sample_is_missing(&sample));
    assert_int_equal(sample.count, 4);
    assert_true(sample.frames[0].method == SMP_METHODS_NO_ID);
    assert_true(sample.frames[0].bci == SMP_BCI_PSEUDO);
    assert_int_equal(sample.frames[1].method, 6);
    assert_int_equal(sample.frames[1].bci, 10);
    assert_true(sample.frames[2].method == SMP_METHODS_NO_ID);
    assert_int_equal(sample.frames[3].method, 8);
    assert_int_equal(sample.frames[3].bci, 30);
}

/* Both stacks are of one thread, which has continued in the frames above the last ones. */
static void test_a_deep_stack_loses_its_middle(void **state)
{
    const uintptr_t methods[] = { 1, 2, 3, 4, 5, 6, 7 };

    (void)state;
    make(methods, 7);
    smp_walked_sample_cut(&sample, 7);
    assert_int_equal(sample.count, 7);
    assert_int_equal(sample.omitted, 0);
    smp_walked_sample_cut(&sample, 5);
    assert_int_equal(sample.count, 5);
    assert_int_equal(sample.leaf_count, 3);
    assert_int_equal(sample.omitted, 2);
    assert_int_equal(sample.frames[2].method, 3);
    assert_int_equal(sample.frames[3].method, 6);
    assert_int_equal(sample.frames[4].method, 7);
}

static void assert_methods(const uintptr_t *methods, size_t count)
{
    assert_int_equal(sample.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(sample.frames[i].method, methods[i]);
}

static void test_a_cut_walk_is_cut_further(void **state)
{
    const uintptr_t methods[] = { 1, 2, 3, 4, 5, 6, 7 };
    const uintptr_t both[] = { 1, 2, 3, 6, 7 };
    const uintptr_t short_root[] = { 1, 2, 3, 4, 7 };

    (void)state;
    make(methods, 7);
    sample.leaf_count = 4;
    sample.omitted = 10;
    smp_walked_sample_cut(&sample, 5);
    assert_methods(both, 5);
    assert_int_equal(sample.leaf_count, 3);
    assert_int_equal(sample.omitted, 12);
    make(methods, 7);
    sample.leaf_count = 6; /* a virtual thread's carrier has most of that end */
    sample.omitted = 10;
    smp_walked_sample_cut(&sample, 5);
    assert_methods(short_root, 5);
    assert_int_equal(sample.leaf_count, 4);
    make(methods, 7);
    sample.omitted = 1; /* the root is unknown */
    smp_walked_sample_cut(&sample, 5);
    assert_methods(methods, 5);
    assert_true(smp_sample_lacks_root(&sample));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_become_a_sample),
        cmocka_unit_test(test_a_pseudo_frame_is_marked),
        cmocka_unit_test(test_missing_keys_are_filled_from_the_root),
        cmocka_unit_test(test_another_stack_fills_nothing),
        cmocka_unit_test(test_another_call_of_the_same_method_fills_nothing),
        cmocka_unit_test(test_a_frame_without_a_name_keeps_its_place),
        cmocka_unit_test(test_a_deep_stack_loses_its_middle),
        cmocka_unit_test(test_a_cut_walk_is_cut_further),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
