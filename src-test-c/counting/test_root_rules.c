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
#include "base/random.h"
#include "counting/counting_plan.h"
#include "support/class_text.h"
#include "support/reference_stars.h"

static bool matches_class(const char *text, const char *class_name)
{
    const struct smp_root_rule rule = smp_root_rule_read(slice_of(text));

    return smp_root_rule_matches_class(&rule, slice_of(class_name));
}

static bool is_exact(const char *text, const char *class_name)
{
    const struct smp_root_rule rule = smp_root_rule_read(slice_of(text));

    return smp_root_rule_is_exact(&rule, slice_of(class_name));
}

static bool matches(const char *text, const char *class_name, const char *name,
                    const char *descriptor)
{
    const struct smp_root_rule rule = smp_root_rule_read(slice_of(text));

    return smp_root_rule_matches_class(&rule, slice_of(class_name)) &&
           smp_root_rule_matches_method(&rule, slice_of(class_name), slice_of(name),
                                        slice_of(descriptor));
}

static void test_which_methods_match(void **state)
{
    static const struct {
        const char *rule;
        const char *class_name;
        const char *name;
        const char *descriptor;
        bool expected;
    } cases[] = {
        { "com.acme.Order.add", "com/acme/Order", "add", "(I)V", true },
        { "com.acme.Order.add", "com/acme/Order", "add", "()V", true },
        { "com.acme.Order.add", "com/acme/Order", "adder", "()V", false },
        { "com.acme.Order.add", "com/acme/Order", "ad", "()V", false },
        { "com.acme.Order.add", "com/acme/OrderX", "add", "()V", false },
        { "com.acme.Order.add", "com/acme/Order$Line", "add", "()V", false },
        { "com.acme.Order.add", "com/acmeXOrder", "add", "()V", false },
        { "com.acme.Order$Line.add", "com/acme/Order$Line", "add", "()V", true },
        /* the name of a class */
        { "com.acme.Order", "com/acme/Order", "add", "()V", true },
        { "com.acme.Order", "com/acme/Order", "<init>", "()V", false },
        { "com.acme.Order", "com/acme/Order$Line", "add", "()V", false },
        { "com.acme.Order", "com/acme", "Order", "()V", true },
        { "com.acme.Order", "com/acme", "add", "()V", false },
        { "com.acme.Order$Line", "com/acme/Order$Line", "add", "()V", true },
        { "com.acme.Order()", "com/acme/Order", "add", "()V", false },
        { "com.acme.*", "com/acme/Order", "add", "()V", false },
        { "com.acme.Order.<init>", "com/acme/Order/<init>", "add", "()V", false },
        { "Main.main", "Main", "main", "([Ljava/lang/String;)V", true },
        { "Main.main", "com/acme/Main", "main", "([Ljava/lang/String;)V", false },
        { "com.acme.Order.add", "com.acme.Order", "add", "()V", false }, /* not an internal name */
        /* one level */
        { "com.acme.jobs.*.run", "com/acme/jobs/Nightly", "run", "()V", true },
        { "com.acme.jobs.*.run", "com/acme/jobs/Nightly$1", "run", "()V", true },
        { "com.acme.jobs.*.run", "com/acme/jobs/sub/Nightly", "run", "()V", false },
        { "com.acme.jobs.*.run", "com/acme/jobs", "run", "()V", false },
        { "com.acme.jobs.*.run", "com/acme/jobs/Nightly", "runs", "()V", false },
        { "com.acme.*Handler.handle*", "com/acme/OrderHandler", "handleNow", "()V", true },
        { "com.acme.*Handler.handle*", "com/acme/Handler", "handle", "()V", true },
        { "com.acme.*Handler.handle*", "com/acme/Handlers", "handle", "()V", false },
        { "com.*.Order.add", "com/acme/Order", "add", "()V", true },
        { "com.*.Order.add", "com/acme/x/Order", "add", "()V", false },
        { "com.acme.Order.*", "com/acme/Order", "anything", "(J)J", true },
        { "com.acme.Order.*", "com/acme/Order/Sub", "anything", "(J)J", false },
        { "*.run", "Main", "run", "()V", true },
        { "*.run", "com/acme/Main", "run", "()V", false },
        /* one level or more */
        { "com.acme.batch.**", "com/acme/batch/Job", "go", "()V", true },
        { "com.acme.batch.**", "com/acme/batch/deep/down/Job", "go", "()V", true },
        { "com.acme.batch.**", "com/acme/batch", "go", "()V", false },
        { "com.acme.batch.**", "com/acme/batches/Job", "go", "()V", false },
        { "com.acme.**.run", "com/acme/Job", "run", "()V", true },
        { "com.acme.**.run", "com/acme/x/y/Job", "run", "()V", true },
        { "com.acme.**.run", "com/acme/x/y/Job", "go", "()V", false },
        { "com.**.jobs.*.run", "com/acme/jobs/jobs/Nightly", "run", "()V", true },
        { "com.**.jobs.*.run", "com/jobs/Nightly", "run", "()V", false },
        { "**", "Main", "main", "()V", true },
        { "**.run", "a/b/C", "run", "()V", true },
        /* constructors are named */
        { "com.acme.Order.<init>", "com/acme/Order", "<init>", "(I)V", true },
        { "com.acme.Order.<init>(int)", "com/acme/Order", "<init>", "(I)V", true },
        { "com.acme.Order.<init>()", "com/acme/Order", "<init>", "(I)V", false },
        { "com.acme.Order.<clinit>", "com/acme/Order", "<clinit>", "()V", true },
        { "com.acme.Order.*", "com/acme/Order", "<init>", "()V", false },
        { "com.acme.Order.*", "com/acme/Order", "<clinit>", "()V", false },
        { "com.acme.**", "com/acme/Order", "<init>", "()V", false },
        { "com.acme.**.<init>", "com/acme/Order", "<init>", "()V", true },
        /* parameters */
        { "A.a()", "A", "a", "()V", true },
        { "A.a( )", "A", "a", "()V", true },
        { "A.a()", "A", "a", "(I)V", false },
        { "A.a(int)", "A", "a", "()V", false },
        { "A.a(int)", "A", "a", "(II)V", false },
        { "A.a(int, int)", "A", "a", "(II)V", true },
        { "A.a(boolean,byte,char,short,int,long,float,double)", "A", "a", "(ZBCSIJFD)I", true },
        { "A.a(int)", "A", "a", "(J)V", false },
        { "A.a(String)", "A", "a", "(Ljava/lang/String;)V", true },
        { "A.a(java.lang.String)", "A", "a", "(Ljava/lang/String;)V", true },
        { "A.a(lang.String)", "A", "a", "(Ljava/lang/String;)V", true },
        { "A.a(tring)", "A", "a", "(Ljava/lang/String;)V", false },
        { "A.a(java.lang.Str)", "A", "a", "(Ljava/lang/String;)V", false },
        { "A.a(org.String)", "A", "a", "(Ljava/lang/String;)V", false },
        { "A.a(x.java.lang.String)", "A", "a", "(Ljava/lang/String;)V", false },
        { "A.a(Map.Entry)", "A", "a", "(Ljava/util/Map$Entry;)V", true },
        { "A.a(Map$Entry)", "A", "a", "(Ljava/util/Map$Entry;)V", true },
        { "A.a(Entry)", "A", "a", "(Ljava/util/Map$Entry;)V", true },
        { "A.a(int[])", "A", "a", "([I)V", true },
        { "A.a(int [] [])", "A", "a", "([[I)V", true },
        { "A.a( int [ ]\t[ \n] )", "A", "a", "([[I)V", true },
        { "A.a(String [ ] ...)", "A", "a", "([[Ljava/lang/String;)V", true },
        { "A.a(int[])", "A", "a", "(I)V", false },
        { "A.a(int)", "A", "a", "([I)V", false },
        { "A.a(int[])", "A", "a", "([[I)V", false },
        { "A.a(String...)", "A", "a", "([Ljava/lang/String;)V", true },
        { "A.a(int[]...)", "A", "a", "([[I)V", true },
        { "A.a(I)", "A", "a", "(I)V", false },
        { "A.a(I)", "A", "a", "(LI;)V", true },
        { "A.*(long)", "A", "b", "(J)V", true },
        { "A.a (long)", "A", "a", "(J)V", true },
        { "com.acme.**(long)", "com/acme/A", "b", "(J)V", true },
        { "com.acme.**(long)", "com/acme/A", "b", "(I)V", false },
        /* descriptors that no class file has */
        { "A.a(int)", "A", "a", "", false },
        { "A.a(int)", "A", "a", "(", false },
        { "A.a(String)", "A", "a", "(Ljava/lang/String", false },
        { "A.a()", "A", "a", "I", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (matches(cases[i].rule, cases[i].class_name, cases[i].name, cases[i].descriptor) !=
            cases[i].expected)
            fail_msg("%s on %s.%s%s is not %d", cases[i].rule, cases[i].class_name, cases[i].name,
                     cases[i].descriptor, cases[i].expected);
    }
}

static void test_lists(void **state)
{
    static const char *const LISTS[] = { " , ", "", "," };
    static const char *const RULES[] = { "com.acme.A.<init>", "com.acme.A.a(int)", "com.acme.A.*",
                                         "com.acme.*.a", "com.**" };
    const char *const list = " com.acme.A.a ,\n\t,com.acme.B.b(int, long) ,, com.acme.**";
    struct smp_counting_plan *plan = NULL;

    (void)state;
    assert_int_equal(smp_counting_plan_create(NULL, list, "", &plan), SMP_OK);
    assert_int_equal(plan->rule_count, 3);
    assert_true(smp_slice_is(plan->rules[0].text, "com.acme.A.a"));
    assert_true(smp_slice_is(plan->rules[1].text, "com.acme.B.b(int, long)"));
    assert_true(smp_slice_is(plan->rules[2].text, "com.acme.**"));
    smp_counting_plan_release(plan);
    for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++)
        assert_int_equal(smp_slice_count_parts(LISTS[i]), 0);
    for (size_t i = 0; i < sizeof(RULES) / sizeof(RULES[0]); i++)
        assert_int_equal(is_exact(RULES[i], "com/acme/A"), i < 2);
    assert_false(is_exact("com.acme.A.b", "com/acme/A/b") &&
                 matches_class("com.acme.A.b", "com/acme/A/b"));
}

/* The setter refuses these texts (NameListsTest); here no byte beyond them may be read. */
static void test_malformed_rules(void **state)
{
    static const char *const TEXTS[] = { "handle", "<init>",   ".",        "a..b",      "(",
                                         ")",      "A.a(",     "A.a((int", "A.a(int,",  "A.a(int,)",
                                         "A.a([)", "A.a(...)", "A.a(*)",   "***.a",     "A.<new>",
                                         "A.a)(",  "A.a b",    "${roots}", "A.a(a,,b)", "()" };

    (void)state;
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        /* A copy of exactly this length, so that a sanitizer reports a read beyond it. */
        const size_t length = strlen(TEXTS[i]);
        char *const text = malloc(length);

        memcpy(text, TEXTS[i], length);
        const struct smp_root_rule rule = smp_root_rule_read((struct smp_slice){ text, length });
        (void)smp_root_rule_is_exact(&rule, slice_of("A"));
        (void)smp_root_rule_matches_class(&rule, slice_of("A"));
        (void)smp_root_rule_matches_method(&rule, slice_of("A"), slice_of("a"),
                                           slice_of("(Lint;[[I)V"));
        free(text);
    }
    assert_false(matches("handle", "handle", "handle", "()V"));
}

/* Random patterns over a small alphabet, compared with a version that tries every length. */
static void test_stars_against_the_naive_version(void **state)
{
    static const char *const PATTERN_PARTS[] = { "a", "b", "ab", "*", "a*", "*b", "a*b", "**" };
    static const char *const NAME_PARTS[] = { "a", "b", "ab", "aab", "abb", "ba" };
    uint64_t random = 3;
    unsigned matching = 0;

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        char pattern[64] = "";
        char rule[80];
        char name[64] = "";
        const unsigned parts = 1 + (unsigned)(smp_random_next(&random) % 5);
        const unsigned levels = 1 + (unsigned)(smp_random_next(&random) % 6);

        for (unsigned i = 0; i < parts; i++) {
            if (i > 0)
                strcat(pattern, ".");
            strcat(pattern, PATTERN_PARTS[smp_random_next(&random) % 8]);
        }
        for (unsigned i = 0; i < levels; i++) {
            if (i > 0)
                strcat(name, "/");
            strcat(name, NAME_PARTS[smp_random_next(&random) % 6]);
        }
        (void)snprintf(rule, sizeof(rule), "%s.m", pattern);

        const bool expected = reference_stars(pattern, name);

        matching += expected;
        if (matches_class(rule, name) != expected)
            fail_msg("%s on %s is not %d", pattern, name, expected);
    }
    assert_in_range(matching, 1000, 19000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_methods_match),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_malformed_rules),
        cmocka_unit_test(test_stars_against_the_naive_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
