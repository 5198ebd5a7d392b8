/* SPDX-License-Identifier: Apache-2.0 */
/* Which frames are kept, especially from a stack that was cut. M is the user's code, l is a
 * library's. */
#include "engine/attribution/stack_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/fake_jvm.h"

enum { MAX_FRAMES = 32, LIMIT = 1 << 20 };

struct fixture {
    struct smp_quota quota;
    struct smp_filter *filter;
    struct smp_methods *methods;
    struct fake_jvm *vm;
    uint32_t locations[MAX_FRAMES + SMP_STACK_PATH_EXTRA];
    char kept[256];
};

static int setup(void **state)
{
    static struct fixture f;

    f = (struct fixture){ .vm = fake_jvm_create() };
    smp_quota_init(&f.quota, LIMIT);
    assert_int_equal(smp_filter_create(&f.quota, "app", &f.filter), SMP_OK);
    assert_int_equal(smp_methods_create(&f.quota, LIMIT, f.filter, &f.methods), SMP_OK);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    smp_methods_release(f->methods);
    smp_filter_destroy(f->filter);
    fake_jvm_destroy(f->vm);
    assert_int_equal(smp_quota_used(&f->quota), 0);
    return 0;
}

/* stack: leaf first, one character per frame; ':' marks the place of omitted frames. Returns the
 * kept frames; omitted ones appear as their text. */
static const char *kept(struct fixture *f, const char *stack, size_t omitted)
{
    struct smp_frame frames[MAX_FRAMES];
    struct smp_sample sample = { .frames = frames, .capacity = MAX_FRAMES, .omitted = omitted };
    struct smp_stack_path path = { .locations = f->locations };
    const struct smp_jvm vm = fake_jvm_interface(f->vm);
    struct smp_location_view view;

    for (; *stack != '\0'; stack++) {
        if (*stack == ':')
            sample.leaf_count = sample.count;
        else
            frames[sample.count++] = (struct smp_frame){
                .method = fake_jvm_method(f->vm,
                                          *stack == 'M'   ? "app.M"
                                          : *stack == 'o' ? "com.incapsula.sampler.internal.O"
                                          : *stack == 'w' ? "java.lang.Object"
                                                          : "lib.L",
                                          *stack == 'w' ? "wait" : "m"),
            };
    }
    if (omitted == 0)
        sample.leaf_count = sample.count;
    smp_stack_path_find(&path, f->methods, &vm.names, &sample);
    assert_false(path.over_limit);
    f->kept[0] = '\0';
    for (size_t i = path.first; i < path.count; i++) {
        smp_methods_view(f->methods, path.locations[i], &view);
        const char *text = strcmp(view.class_name, "app.M") == 0    ? "M"
                           : strcmp(view.class_name, "lib.L") == 0  ? "l"
                           : strstr(view.class_name, "internal.O")  ? "o"
                           : strstr(view.class_name, "lang.Object") ? "w"
                                                                    : view.class_name;
        (void)strcat(f->kept, text);
    }
    return f->kept;
}

static void whole_stacks(void **state)
{
    struct fixture *f = *state;

    assert_string_equal(kept(f, "lllMl", 0), "lMl");
    assert_string_equal(kept(f, "llMlMl", 0), "lMlMl");
    assert_string_equal(kept(f, "lM", 0), "lM");
    assert_string_equal(kept(f, "MlM", 0), "MlM");
    assert_string_equal(kept(f, "MllMl", 0), "MllMl");
    assert_string_equal(kept(f, "lll", 0), "l");
    assert_string_equal(kept(f, "l", 0), "l");
    assert_string_equal(kept(f, "M", 0), "M");
}

/* o is code of this library: the thread's calls in close(). */
static void own_frames_at_the_leaf(void **state)
{
    struct fixture *f = *state;

    assert_string_equal(kept(f, "oooMl", 0), "Ml");
    assert_string_equal(kept(f, "oolMl", 0), "lMl");
    assert_string_equal(kept(f, "ool", 0), "l");
    assert_string_equal(kept(f, "ooo", 0), "o");
    assert_string_equal(kept(f, "wwooMl", 0), "Ml"); /* the library waits in close() */
    assert_string_equal(kept(f, "wwMoMl", 0), "wMoMl");
    assert_string_equal(kept(f, "wwlMl", 0), "lMl");
    /* the user's stream, to which the library writes */
    assert_string_equal(kept(f, "MooMl", 0), "MooMl");
    assert_string_equal(kept(f, "loMl", 0), "oMl");
    assert_string_equal(kept(f, "oM:oM", 5), "M[4..7 frames omitted]oM");
    assert_string_equal(kept(f, "oo:oM", 5), "oM");
}

static void own_frames_where_all_is_monitored(void **state)
{
    struct fixture *f = *state;
    struct smp_filter *all = NULL;

    assert_int_equal(smp_filter_create(&f->quota, "", &all), SMP_OK);
    smp_methods_set_filter(f->methods, all);
    assert_string_equal(kept(f, "ooolMl", 0), "lMl");
    assert_string_equal(kept(f, "o", 0), "o");
    assert_string_equal(kept(f, "wlMl", 0), "wlMl");
    assert_string_equal(kept(f, "looMl", 0), "looMl");
    smp_methods_set_filter(f->methods, f->filter);
    smp_filter_destroy(all);
}

static void users_code_above_the_gap(void **state)
{
    struct fixture *f = *state;

    assert_string_equal(kept(f, "llMl:lM", 5), "lMl[4..7 frames omitted]lM");
    assert_string_equal(kept(f, "Ml:l", 5), "Ml[4..7 frames omitted]l");
}

static void users_code_below_the_gap_only(void **state)
{
    struct fixture *f = *state;

    /* The library method called by the user's code is in that place, or is missing: then the gap
     * gets the time. */
    assert_string_equal(kept(f, "lll:llMl", 5), "lMl");
    assert_string_equal(kept(f, "lll:Ml", 5), "[4..7 frames omitted]Ml");
}

static void unknown_root(void **state)
{
    struct fixture *f = *state;

    assert_string_equal(kept(f, "llMl:", 5), "lMl[frames omitted]");
    assert_string_equal(kept(f, "lll:", 5), "[frames omitted]");
    assert_string_equal(kept(f, "oMl:", 5), "Ml[frames omitted]");
}

static void no_users_code_at_all(void **state)
{
    struct fixture *f = *state;

    assert_string_equal(kept(f, "lll:lll", 5), "l");
}

static void omitted_frames_are_counted_in_powers_of_two(void **state)
{
    static const struct {
        size_t omitted;
        const char *text;
    } cases[] = {
        { 1, "M[1..1 frames omitted]M" },
        { 2, "M[2..3 frames omitted]M" },
        { 3, "M[2..3 frames omitted]M" },
        { 4, "M[4..7 frames omitted]M" },
        { 1023, "M[512..1023 frames omitted]M" },
        { 1024, "M[1024..2047 frames omitted]M" },
        { SIZE_MAX, "M[9223372036854775808..18446744073709551615 frames omitted]M" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(kept(f, "M:M", cases[i].omitted), cases[i].text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(whole_stacks),
        TEST(own_frames_at_the_leaf),
        TEST(own_frames_where_all_is_monitored),
        TEST(users_code_above_the_gap),
        TEST(unknown_root),
        TEST(no_users_code_at_all),
        TEST(users_code_below_the_gap_only),
        TEST(omitted_frames_are_counted_in_powers_of_two),
    };
#undef TEST
    return cmocka_run_group_tests_name("stack_path", tests, NULL, NULL);
}
