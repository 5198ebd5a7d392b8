/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/methods.h"
#include "support/failing_alloc.h"

enum { AMPLE_BYTES = 64 * 1024 * 1024, SMALL_BYTES = 1024 * 1024 };

/* A JVM whose method k is com.acme.Class<k>.run, with line k + 10 at bci 0 and k + 20 at bci 50,
 * unless the test sets methods or mood. */
struct fake_jvm {
    const struct smp_method_info *methods; /* NULL, or the method of key k is methods[k - 1] */
    enum smp_status mood;                  /* what resolve returns */
    struct smp_line lines[2];
    char class_name[600];
    int name_width; /* class names are padded to it */
    size_t resolves;
    size_t releases;
};

static enum smp_status resolve(void *self, uint64_t key, struct smp_method_info *info)
{
    struct fake_jvm *jvm = self;

    jvm->resolves++;
    if (jvm->mood != SMP_OK)
        return jvm->mood;
    if (jvm->methods != NULL) {
        *info = jvm->methods[key - 1];
        return SMP_OK;
    }
    (void)snprintf(jvm->class_name, sizeof(jvm->class_name), "com.acme.%*sClass%" PRIu64,
                   jvm->name_width, "", key);
    jvm->lines[0] = (struct smp_line){ .start_bci = 0, .line = (int32_t)key + 10 };
    jvm->lines[1] = (struct smp_line){ .start_bci = 50, .line = (int32_t)key + 20 };
    *info = (struct smp_method_info){ .class_name = jvm->class_name,
                                      .method_name = "run",
                                      .file = "Class.java",
                                      .lines = jvm->lines,
                                      .line_count = 2 };
    return SMP_OK;
}

static void release(void *self, struct smp_method_info *info)
{
    struct fake_jvm *jvm = self;

    assert_non_null(info->class_name);
    jvm->releases++;
}

static uint32_t locate(struct smp_methods *methods, struct fake_jvm *jvm, uint64_t key, int64_t bci)
{
    const struct smp_name_source source = { .resolve = resolve, .release = release, .self = jvm };
    const struct smp_frame frame = { .method = key, .bci = bci };
    const uint32_t location = smp_methods_locate(methods, &source, &frame);

    assert_int_not_equal(location, SMP_LOCATION_NONE);
    assert_true(location < smp_methods_location_count(methods));
    return location;
}

static struct smp_methods *methods_of(size_t max_bytes)
{
    struct smp_methods *methods = NULL;

    assert_int_equal(smp_methods_create(NULL, max_bytes, NULL, &methods), SMP_OK);
    return methods;
}

static void assert_text(const struct smp_methods *methods, uint32_t location, const char *expected)
{
    struct smp_bytes out;

    smp_bytes_init(&out, NULL, 1 << 20);
    smp_methods_frame_text(methods, location, &out);
    assert_string_equal(smp_bytes_text(&out), expected);
    smp_bytes_fini(&out);
}

static struct smp_methods_stats stats_of(const struct smp_methods *methods)
{
    struct smp_methods_stats stats;

    smp_methods_get_stats(methods, &stats);
    return stats;
}

/* --- texts --- */

static const struct smp_line WORK_LINES[] = { { 20, 33 }, { 0, 30 }, { 0, 31 },
                                              { 8, 32 },  { 40, 0 }, { 48, -2 } };

#define WITH_LINES(table) .lines = (table), .line_count = sizeof(table) / sizeof((table)[0])

static void test_frame_texts(void **state)
{
    static const struct smp_line late[] = { { 5, 7 } };
    static const struct smp_method_info infos[] = {
        { "a.B", "c", "B.java", false, WITH_LINES(WORK_LINES), 0, NULL },
        { "a.B", "<init>", "B.java", false, NULL, 0, 0, NULL },
        { "a.B", "c", NULL, false, WITH_LINES(WORK_LINES), 0, NULL },
        { "java.lang.Object", "wait0", "Object.java", true, NULL, 0, 0, NULL },
        { "a.T$$Lambda$14/0x00007f63c8004800", "run", NULL, false, NULL, 0, 0, NULL },
        { "a.T", "lambda$main$0", "T.java", false, WITH_LINES(late), 0, NULL },
        { "a\n.B", "c\x1b", "B\r.java", false, WITH_LINES(WORK_LINES), 0, NULL },
        { "Default", "\xc3\xb6\xf0\x9f\x98\x80", "Default.java", false, WITH_LINES(WORK_LINES), 0,
          NULL },
    };
    static const struct {
        uint64_t key;
        int64_t bci;
        const char *expected;
    } cases[] = {
        { 1, 0, "a.B.c(B.java:31)" },
        { 1, 7, "a.B.c(B.java:31)" },
        { 1, 8, "a.B.c(B.java:32)" },
        { 1, 39, "a.B.c(B.java:33)" },
        { 1, 40, "a.B.c(B.java)" },
        { 1, 48, "a.B.c(B.java)" },
        { 1, INT64_MAX, "a.B.c(B.java)" },
        /* The JVM reports this for compiled code at the entry of a method. */
        { 1, -1, "a.B.c(B.java:31)" },
        { 1, INT64_MIN + 1, "a.B.c(B.java:31)" },
        { 2, 0, "a.B.<init>(B.java)" },
        { 3, 0, "a.B.c(Unknown Source)" },
        { 4, -1, "java.lang.Object.wait0(Native Method)" },
        { 4, 0, "java.lang.Object.wait0(Native Method)" },
        { 5, 3, "a.T$$Lambda.run(Unknown Source)" },
        { 6, 4, "a.T.lambda$main$0(T.java)" },
        { 6, 5, "a.T.lambda$main$0(T.java:7)" },
        { 7, 0, "a\\n.B.c\\u001b(B\\r.java:31)" },
        { 8, 0, "Default.\xc3\xb6\xf0\x9f\x98\x80(Default.java:31)" },
    };
    struct smp_methods *methods = methods_of(AMPLE_BYTES);
    struct fake_jvm jvm = { .methods = infos };

    (void)state;
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
            assert_text(methods, locate(methods, &jvm, cases[i].key, cases[i].bci),
                        cases[i].expected);
    }
    assert_int_equal(jvm.releases, jvm.resolves);
    smp_methods_release(methods);
}

static void test_views(void **state)
{
    static const struct smp_method_info infos[] = {
        { "a.B", "c", "B.java", false, WITH_LINES(WORK_LINES), 0, NULL },
        { "a.B", "d", NULL, true, NULL, 0, 0, NULL },
    };
    struct smp_methods *methods = methods_of(AMPLE_BYTES);
    struct fake_jvm jvm = { .methods = infos };
    struct smp_location_view view;

    (void)state;
    smp_methods_view(methods, locate(methods, &jvm, 1, 0), &view);
    assert_string_equal(view.class_name, "a.B");
    assert_string_equal(view.method_name, "c");
    assert_string_equal(view.file, "B.java");
    assert_int_equal(view.line, 31);
    assert_int_equal(view.start_line, 30); /* the smallest one, whatever its position */
    assert_true(view.is_monitored);
    assert_false(view.is_native || view.is_pseudo);
    smp_methods_view(methods, locate(methods, &jvm, 2, -1), &view);
    assert_null(view.file);
    assert_int_equal(view.line, -1);
    assert_int_equal(view.start_line, 0);
    assert_true(view.is_native);
    assert_false(view.is_pseudo);
    smp_methods_view(methods, smp_methods_pseudo(methods, "[thread ended]"), &view);
    assert_string_equal(view.class_name, "[thread ended]");
    assert_null(view.method_name);
    assert_null(view.file);
    assert_int_equal(view.line, -1);
    assert_true(view.is_pseudo);
    assert_false(view.is_native);
    assert_false(view.is_monitored);
    smp_methods_release(methods);
}

static void test_long_names_end_in_an_ellipsis(void **state)
{
    char name[SMP_MAX_NAME_BYTES + 10];
    const struct smp_method_info infos[] = { { name, name, name, false, NULL, 0, 0, NULL } };
    struct smp_methods *methods = methods_of(AMPLE_BYTES);
    struct fake_jvm jvm = { .methods = infos };
    struct smp_location_view view;

    (void)state;
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    smp_methods_view(methods, locate(methods, &jvm, 1, 0), &view);
    assert_int_equal(strlen(view.class_name), SMP_MAX_NAME_BYTES);
    assert_string_equal(view.class_name + SMP_MAX_NAME_BYTES - 3, "\xe2\x80\xa6");
    assert_string_equal(view.method_name, view.class_name);
    assert_string_equal(view.file, view.class_name);
    smp_methods_release(methods);
}

/* --- what is one location, and what is resolved once --- */

static void test_a_location_is_a_line_of_a_method(void **state)
{
    struct smp_methods *methods = methods_of(AMPLE_BYTES);
    struct fake_jvm jvm = { 0 };
    const uint32_t first = locate(methods, &jvm, 1, 0);
    const size_t before = stats_of(methods).locations;

    (void)state;
    assert_int_equal(locate(methods, &jvm, 1, 0), first);
    assert_int_equal(locate(methods, &jvm, 1, 49), first);
    assert_int_equal(stats_of(methods).locations, before);
    assert_int_not_equal(locate(methods, &jvm, 1, 50), first);
    assert_int_not_equal(locate(methods, &jvm, 2, 0), first);
    assert_int_equal(stats_of(methods).locations, before + 2);
    smp_methods_release(methods);
}

static void test_a_key_is_resolved_once(void **state)
{
    struct smp_methods *methods = methods_of(AMPLE_BYTES);
    struct fake_jvm jvm = { 0 };

    (void)state;
    for (uint64_t key = 1; key <= 5000; key++)
        (void)locate(methods, &jvm, key, 0);
    /* From now on all classes are unloaded; known methods stay known. */
    jvm.mood = SMP_EGONE;
    assert_text(methods, locate(methods, &jvm, 7, 0), "com.acme.Class7.run(Class.java:17)");
    assert_text(methods, locate(methods, &jvm, 7, 60), "com.acme.Class7.run(Class.java:27)");
    for (uint64_t key = 1; key <= 5000; key++)
        (void)locate(methods, &jvm, key, 70);
    assert_int_equal(jvm.resolves, 5000);
    assert_int_equal(jvm.releases, 5000);
    assert_int_equal(stats_of(methods).unloaded, 0);
    smp_methods_release(methods);
}

static void test_generated_classes_of_one_source_are_one_method(void **state)
{
    static const struct smp_method_info infos[] = {
        { "a.T$$Lambda$14/0x00007f63c8004800", "run", NULL, false, NULL, 0, 0, NULL },
        { "a.T$$Lambda$15/0x00007f63c8004c00", "run", NULL, false, NULL, 0, 0, NULL },
        { "a.T$$Lambda$15/0x00007f63c8004c00", "call", NULL, false, NULL, 0, 0, NULL },
        { "a.Base64", "run", NULL, false, NULL, 0, 0, NULL },
        { "a.Base32", "run", NULL, false, NULL, 0, 0, NULL },
        { "a.Base32", "run", "Other.java", false, NULL, 0, 0, NULL },
    };
    struct smp_methods *methods = methods_of(AMPLE_BYTES);
    struct fake_jvm jvm = { .methods = infos };
    const uint32_t first = locate(methods, &jvm, 1, 4);

    (void)state;
    assert_int_equal(locate(methods, &jvm, 2, 9), first);
    assert_int_not_equal(locate(methods, &jvm, 3, 9), first);
    assert_int_not_equal(locate(methods, &jvm, 4, 9), locate(methods, &jvm, 5, 9));
    assert_int_not_equal(locate(methods, &jvm, 5, 9), locate(methods, &jvm, 6, 9));
    smp_methods_release(methods);
}

static void test_pseudo_locations(void **state)
{
    struct smp_methods *methods = methods_of(AMPLE_BYTES);
    const uint32_t ended = smp_methods_pseudo(methods, "[thread ended]");

    (void)state;
    assert_int_equal(smp_methods_pseudo(methods, "[thread ended]"), ended);
    assert_int_not_equal(smp_methods_pseudo(methods, "[no Java frames]"), ended);
    assert_int_equal(smp_methods_pseudo(methods, "[over memory limit]"),
                     smp_methods_over_limit(methods));
    assert_text(methods, ended, "[thread ended]");
    assert_text(methods, smp_methods_pseudo(methods, "[a\nb]"), "[a\\nb]");
    smp_methods_release(methods);
}

/* --- methods without a name --- */

static void test_the_unloaded_stays_unloaded(void **state)
{
    struct smp_methods *methods = methods_of(AMPLE_BYTES);
    struct fake_jvm jvm = { .mood = SMP_EGONE };

    (void)state;
    assert_text(methods, locate(methods, &jvm, 1, 0), "[unloaded]");
    jvm.mood = SMP_OK;
    assert_text(methods, locate(methods, &jvm, 1, 0), "[unloaded]");
    assert_text(methods, locate(methods, &jvm, 1, 50), "[unloaded]");
    assert_text(methods, locate(methods, &jvm, 1, -1), "[unloaded]");
    assert_int_equal(jvm.resolves, 1);
    assert_int_equal(jvm.releases, 0);
    assert_int_equal(stats_of(methods).unloaded, 1);
    smp_methods_release(methods);
}

static void test_the_refused_stays_unknown(void **state)
{
    struct smp_methods *methods = methods_of(AMPLE_BYTES);
    struct fake_jvm jvm = { .mood = SMP_EVM };

    (void)state;
    assert_text(methods, locate(methods, &jvm, 1, 0), "[unknown method]");
    jvm.mood = SMP_OK;
    assert_text(methods, locate(methods, &jvm, 1, 9), "[unknown method]");
    assert_int_equal(jvm.resolves, 1);
    assert_int_equal(stats_of(methods).unresolved, 1);
    assert_int_equal(stats_of(methods).unloaded, 0);
    smp_methods_release(methods);
}

static void test_a_temporary_failure_is_resolved_again(void **state)
{
    struct smp_methods *methods = methods_of(AMPLE_BYTES);
    struct fake_jvm jvm = { .mood = SMP_EPHASE };

    (void)state;
    assert_text(methods, locate(methods, &jvm, 1, 0), "[unknown method]");
    assert_int_equal(stats_of(methods).unresolved, 1);
    jvm.mood = SMP_ENOMEM;
    assert_int_equal(locate(methods, &jvm, 1, 0), smp_methods_over_limit(methods));
    assert_int_equal(stats_of(methods).over_limit, 1);
    jvm.mood = SMP_OK;
    assert_text(methods, locate(methods, &jvm, 1, 0), "com.acme.Class1.run(Class.java:11)");
    smp_methods_release(methods);
}

/* --- filter --- */

static void test_monitored(void **state)
{
    static const struct smp_method_info infos[] = {
        { "com.acme.A", "run", NULL, false, NULL, 0, 0, NULL },
        { "com.acme.A$$Lambda/0x0000000009040218", "run", NULL, false, NULL, 0, 0, NULL },
        { "org.x.B", "run", NULL, false, NULL, 0, 0, NULL },
    };
    struct smp_filter *acme = NULL;
    struct smp_filter *x = NULL;
    struct smp_methods *methods = NULL;
    struct fake_jvm jvm = { .methods = infos };

    (void)state;
    assert_int_equal(smp_filter_create(NULL, "com.acme.A", &acme), SMP_OK);
    assert_int_equal(smp_filter_create(NULL, "org.x", &x), SMP_OK);
    assert_int_equal(smp_methods_create(NULL, AMPLE_BYTES, acme, &methods), SMP_OK);

    const uint32_t a = locate(methods, &jvm, 1, 0);
    const uint32_t lambda = locate(methods, &jvm, 2, 0);
    const uint32_t ended = smp_methods_pseudo(methods, "[thread ended]");

    assert_true(smp_methods_monitored(methods, a));
    assert_true(smp_methods_monitored(methods, lambda));
    assert_true(smp_methods_monitored(methods, ended));
    smp_methods_set_filter(methods, x);
    assert_false(smp_methods_monitored(methods, a));
    assert_false(smp_methods_monitored(methods, lambda));
    assert_true(smp_methods_monitored(methods, ended));
    assert_true(smp_methods_monitored(methods, locate(methods, &jvm, 3, 0)));
    smp_methods_set_filter(methods, NULL);
    assert_true(smp_methods_monitored(methods, a));
    smp_methods_release(methods);
    smp_filter_destroy(acme);
    smp_filter_destroy(x);
}

/* Changed rules give the same decision for names that are adopted from another table. */
static void test_guessed_packages_are_monitored(void **state)
{
    static const struct smp_method_info infos[] = {
        { "com.acme.A", "run", NULL, false, NULL, 0, 0, NULL },
        { "java.util.HashMap", "get", NULL, false, NULL, 0, 0, NULL },
        { "org.springframework.Own", "run", NULL, false, NULL, 0, 0, NULL },
    };
    struct fake_jvm jvm = { .methods = infos };
    const bool used[64] = { 0 };
    uint32_t locations[3] = { 0 };
    struct smp_filter *filter = NULL;
    struct smp_wait_rules *rules = NULL;
    struct smp_methods *methods = NULL;
    struct smp_methods *compacted = NULL;

    (void)state;
    assert_int_equal(smp_filter_create_monitored(NULL, "auto", &filter), SMP_OK);
    assert_int_equal(smp_wait_rules_create(NULL, "", "", "org.springframework", &rules), SMP_OK);
    assert_int_equal(smp_methods_create(NULL, AMPLE_BYTES, filter, &methods), SMP_OK);
    for (size_t i = 0; i < 3; i++)
        locations[i] = locate(methods, &jvm, i + 1, 0);
    assert_true(smp_methods_monitored(methods, locations[0]));
    assert_false(smp_methods_monitored(methods, locations[1]));
    assert_false(smp_methods_monitored(methods, locations[2]));
    assert_true(smp_methods_monitored(methods, smp_methods_pseudo(methods, "[thread ended]")));
    smp_methods_set_wait_rules(methods, rules); /* the packages of these rules include that one */
    assert_true(smp_methods_monitored(methods, locations[2]));
    assert_int_equal(smp_methods_compact(methods, used, 64, filter, &compacted), SMP_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            smp_methods_monitored(compacted, smp_methods_adopt(compacted, methods, locations[i])),
            i != 1);
    smp_methods_release(compacted);
    smp_methods_release(methods);
    smp_wait_rules_destroy(rules);
    smp_filter_destroy(filter);
}

/* A table without a filter keeps the decisions made by the table whose names it adopts. */
static void test_adopted_names_keep_their_monitored_state(void **state)
{
    struct smp_methods *methods = NULL;
    struct smp_methods *merged = methods_of(AMPLE_BYTES);
    struct smp_filter *filter = NULL;
    struct fake_jvm jvm = { 0 };
    char packages[256];

    (void)state;
    assert_int_equal(smp_filter_create(NULL, "com.acme.Class7,x", &filter), SMP_OK);
    assert_int_equal(smp_methods_create(NULL, AMPLE_BYTES, filter, &methods), SMP_OK);
    smp_methods_packages(methods, packages, sizeof(packages));
    assert_string_equal(packages, "com.acme.Class7, x");
    smp_methods_packages(merged, packages, sizeof(packages));
    assert_string_equal(packages, "");
    for (uint64_t key = 7; key <= 8; key++) {
        struct smp_location_view view;
        const uint32_t adopted = smp_methods_adopt(merged, methods, locate(methods, &jvm, key, 50));
        smp_methods_view(merged, adopted, &view);
        assert_int_equal(view.line, key + 20);
        assert_int_equal(view.start_line, key + 10);
        assert_int_equal(view.is_monitored, key == 7);
    }
    smp_methods_release(merged);
    smp_methods_release(methods);
    smp_filter_destroy(filter);
}

/* --- memory --- */

static void test_over_the_maximum(void **state)
{
    struct smp_quota quota;
    struct smp_methods *methods = NULL;
    struct fake_jvm jvm = { 0 };
    uint64_t key = 1;

    (void)state;
    smp_quota_init(&quota, AMPLE_BYTES);
    assert_int_equal(smp_methods_create(&quota, SMALL_BYTES, NULL, &methods), SMP_OK);
    while (locate(methods, &jvm, key, 0) != smp_methods_over_limit(methods))
        key++;
    assert_true(key > 2000);
    assert_true(stats_of(methods).bytes <= SMALL_BYTES);
    assert_true(smp_quota_used(&quota) <= SMALL_BYTES + 4096);
    assert_true(smp_quota_used(&quota) + 4096 >= stats_of(methods).bytes);

    /* Methods that cannot be kept are not resolved, and known ones stay known. */
    const size_t resolves = jvm.resolves;

    for (uint64_t more = key; more < key + 1000; more++)
        assert_int_equal(locate(methods, &jvm, more, 0), smp_methods_over_limit(methods));
    assert_int_equal(jvm.resolves, resolves);
    assert_int_equal(stats_of(methods).over_limit, 1001);
    assert_text(methods, locate(methods, &jvm, 1, 0), "com.acme.Class1.run(Class.java:11)");
    smp_methods_release(methods);
    assert_int_equal(smp_quota_used(&quota), 0);
}

/* The same holds if only the names do not fit. */
static void test_no_room_for_names(void **state)
{
    /* The table has a buffer of this size for one name. */
    struct smp_methods *methods = methods_of(SMALL_BYTES + SMP_MAX_NAME_BYTES);
    struct fake_jvm jvm = { .name_width = 400 };
    uint64_t key = 1;
    size_t resolves = 0;

    (void)state;
    while (locate(methods, &jvm, key, 0) != smp_methods_over_limit(methods))
        key++;
    assert_in_range(key, 1000, 2500);
    resolves = jvm.resolves;
    for (uint64_t more = key; more < key + 1000; more++)
        (void)locate(methods, &jvm, more, 0);
    assert_int_equal(jvm.resolves, resolves);
    /* A new line of a known method needs no new name. */
    assert_int_not_equal(locate(methods, &jvm, 1, 50), smp_methods_over_limit(methods));
    smp_methods_release(methods);
}

/* Line tables that do not fit are not kept, so each byte code index is resolved separately. */
static void test_without_room_for_line_tables(void **state)
{
    enum { LINES = 20000, KEYS = 4 };
    static struct smp_line lines[LINES];
    static struct smp_method_info infos[KEYS];
    struct smp_methods *methods = methods_of(SMALL_BYTES);
    struct fake_jvm jvm = { .methods = infos };

    (void)state;
    for (int32_t i = 0; i < LINES; i++)
        lines[i] = (struct smp_line){ .start_bci = i, .line = 100 + i };
    for (size_t i = 0; i < KEYS; i++)
        infos[i] =
            (struct smp_method_info){ "a.B", i == 0 ? "a" : "b", "B.java", false, lines, LINES, 0,
                                      NULL };
    for (uint64_t key = 1; key <= KEYS; key++) {
        assert_text(methods, locate(methods, &jvm, key, 5),
                    key == 1 ? "a.B.a(B.java:105)" : "a.B.b(B.java:105)");
        assert_text(methods, locate(methods, &jvm, key, 17),
                    key == 1 ? "a.B.a(B.java:117)" : "a.B.b(B.java:117)");
    }
    assert_true(jvm.resolves > KEYS);
    assert_int_equal(stats_of(methods).over_limit, 0);
    smp_methods_release(methods);
}

static void test_methods_are_added_again_when_memory_is_free(void **state)
{
    struct smp_methods *methods = methods_of(AMPLE_BYTES);
    struct fake_jvm jvm = { 0 };
    struct failing_alloc failing;
    uint64_t key = 1;
    char expected[100];

    (void)state;
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    while (locate(methods, &jvm, key, 0) != smp_methods_over_limit(methods))
        key++;
    assert_true(failing_alloc_disarm(&failing) > 0);
    (void)snprintf(expected, sizeof(expected),
                   "com.acme.Class%" PRIu64 ".run(Class.java:%" PRIu64 ")", key, key + 10);
    assert_text(methods, locate(methods, &jvm, key, 0), expected);
    assert_int_equal(stats_of(methods).over_limit, 1);
    smp_methods_release(methods);
}

static void test_too_small_a_maximum_is_refused(void **state)
{
    struct smp_methods *methods = NULL;

    (void)state;
    assert_int_equal(smp_methods_create(NULL, SMP_METHODS_MIN_BYTES - 1, NULL, &methods),
                     SMP_EQUOTA);
    assert_null(methods);
    smp_methods_release(methods_of(SMP_METHODS_MIN_BYTES));
}

/* Names long enough that each kind of memory grows during the test. */
static enum smp_status use(void *self)
{
    struct smp_methods *methods = NULL;
    struct smp_methods *compacted = NULL;
    struct fake_jvm jvm = { 0 };
    const bool used[3] = { true, true, true };
    enum smp_status status = smp_methods_create(self, AMPLE_BYTES, NULL, &methods);

    if (status != SMP_OK)
        goto done;
    for (uint64_t key = 1; key <= 3000; key++) {
        const uint32_t location = locate(methods, &jvm, key, 0);

        if (location == smp_methods_over_limit(methods))
            assert_int_equal(stats_of(methods).over_limit, 1);
        else
            assert_true(location > 3);
    }
    assert_int_equal(jvm.releases, jvm.resolves);
    status = smp_methods_compact(methods, used, 3, NULL, &compacted);
    assert_true((status == SMP_OK) == (compacted != NULL));
done:
    smp_methods_release(compacted);
    smp_methods_release(methods);
    return status;
}

static void test_no_memory_at_any_step(void **state)
{
    struct smp_quota quota;
    struct failing_alloc_steps steps;

    (void)state;
    smp_quota_init(&quota, 2 * (size_t)AMPLE_BYTES);
    steps = failing_alloc_each_step(use, &quota);
    /* 1 + 4 arenas of two allocations, their first steps, 4 tables twice, and some growth. */
    assert_true(steps.refused >= 34);
    assert_true(steps.survived > 0);
    assert_int_equal(steps.refused - steps.survived, 34);
    assert_int_equal(smp_quota_used(&quota), 0);
}

/* --- compacting --- */

static void test_compact_keeps_what_is_used(void **state)
{
    struct smp_methods *old = methods_of(AMPLE_BYTES);
    struct smp_methods *compacted = NULL;
    struct fake_jvm jvm = { 0 };
    const uint64_t family = smp_methods_family(old);
    bool *used = NULL;
    size_t count = 0;

    (void)state;
    (void)smp_methods_pseudo(old, "[thread ended]");
    for (uint64_t key = 1; key <= 20000; key++)
        (void)locate(old, &jvm, key, 0);
    jvm.mood = SMP_EGONE;
    (void)locate(old, &jvm, 30000, 0);
    jvm.mood = SMP_OK;
    count = smp_methods_location_count(old);
    used = calloc(count, sizeof(*used));
    assert_non_null(used);
    used[locate(old, &jvm, 5, 0)] = true;
    used[locate(old, &jvm, 19999, 0)] = true;
    assert_int_equal(smp_methods_compact(old, used, count, NULL, &compacted), SMP_OK);
    free(used);
    smp_methods_release(old);

    assert_int_equal(smp_methods_family(compacted), family);
    /* The four fixed locations of every table, [thread ended], and the two methods. */
    assert_int_equal(stats_of(compacted).locations, 7);
    assert_true(stats_of(compacted).bytes < 512 * 1024);
    assert_int_equal(stats_of(compacted).unloaded, 1);
    for (uint32_t id = 1, found = 0; id < smp_methods_location_count(compacted); id++) {
        struct smp_location_view view;

        smp_methods_view(compacted, id, &view);
        found += view.is_pseudo ? 0 : 1;
        if (found == 1 && !view.is_pseudo)
            assert_text(compacted, id, "com.acme.Class5.run(Class.java:15)");
        if (found == 2 && !view.is_pseudo)
            assert_text(compacted, id, "com.acme.Class19999.run(Class.java:20009)");
    }

    /* Known names are found again after one resolve per key. */
    jvm.resolves = 0;
    assert_text(compacted, locate(compacted, &jvm, 5, 0), "com.acme.Class5.run(Class.java:15)");
    assert_int_equal(jvm.resolves, 1);
    assert_int_equal(stats_of(compacted).locations, 7);
    assert_text(compacted, smp_methods_over_limit(compacted), "[over memory limit]");
    smp_methods_release(compacted);
}

static void test_each_table_has_its_own_family(void **state)
{
    struct smp_methods *one = methods_of(AMPLE_BYTES);
    struct smp_methods *other = methods_of(AMPLE_BYTES);

    (void)state;
    assert_int_not_equal(smp_methods_family(one), 0);
    assert_int_not_equal(smp_methods_family(one), smp_methods_family(other));
    smp_methods_release(one);
    smp_methods_release(other);
}

/* --- threads --- */

struct shared {
    pthread_mutex_t mutex;
    uint32_t count; /* guarded by mutex: locations below it may be read */
    bool done;      /* guarded by mutex */
    struct smp_methods *methods;
};

static void *read_locations(void *self)
{
    struct shared *shared = self;
    struct smp_bytes out;
    uint32_t next = 1;
    bool done = false;

    smp_bytes_init(&out, NULL, 1 << 20);
    while (!done) {
        uint32_t count = 0;

        (void)pthread_mutex_lock(&shared->mutex);
        count = shared->count;
        done = shared->done;
        (void)pthread_mutex_unlock(&shared->mutex);
        /* Reads all new locations and an old one while the writer appends others. */
        for (; next < count; next++) {
            smp_bytes_clear(&out);
            smp_methods_frame_text(shared->methods, next, &out);
            smp_methods_frame_text(shared->methods, 1, &out);
            if (out.length < 20)
                abort();
        }
    }
    smp_bytes_fini(&out);
    smp_methods_release(shared->methods);
    return NULL;
}

static void test_readers_do_not_wait_for_the_writer(void **state)
{
    enum { KEYS = 20000 };
    struct smp_methods *methods = methods_of(AMPLE_BYTES);
    struct shared shared = { .count = 1, .methods = smp_methods_hold(methods) };
    struct fake_jvm jvm = { 0 };
    pthread_t reader;

    (void)state;
    assert_int_equal(pthread_mutex_init(&shared.mutex, NULL), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_locations, &shared), 0);
    for (uint64_t key = 1; key <= KEYS; key++) {
        (void)locate(methods, &jvm, key, 0);
        if (key % 100 == 0 || key == KEYS) {
            (void)pthread_mutex_lock(&shared.mutex);
            shared.count = smp_methods_location_count(methods);
            shared.done = key == KEYS;
            (void)pthread_mutex_unlock(&shared.mutex);
        }
        if (key % 5000 == 0)
            smp_methods_set_filter(methods, NULL);
    }
    /* The last release frees the table. */
    smp_methods_release(methods);
    assert_int_equal(pthread_join(reader, NULL), 0);
    (void)pthread_mutex_destroy(&shared.mutex);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frame_texts),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_long_names_end_in_an_ellipsis),
        cmocka_unit_test(test_a_location_is_a_line_of_a_method),
        cmocka_unit_test(test_a_key_is_resolved_once),
        cmocka_unit_test(test_generated_classes_of_one_source_are_one_method),
        cmocka_unit_test(test_pseudo_locations),
        cmocka_unit_test(test_the_unloaded_stays_unloaded),
        cmocka_unit_test(test_the_refused_stays_unknown),
        cmocka_unit_test(test_a_temporary_failure_is_resolved_again),
        cmocka_unit_test(test_monitored),
        cmocka_unit_test(test_guessed_packages_are_monitored),
        cmocka_unit_test(test_adopted_names_keep_their_monitored_state),
        cmocka_unit_test(test_over_the_maximum),
        cmocka_unit_test(test_no_room_for_names),
        cmocka_unit_test(test_without_room_for_line_tables),
        cmocka_unit_test(test_methods_are_added_again_when_memory_is_free),
        cmocka_unit_test(test_too_small_a_maximum_is_refused),
        cmocka_unit_test(test_no_memory_at_any_step),
        cmocka_unit_test(test_compact_keeps_what_is_used),
        cmocka_unit_test(test_each_table_has_its_own_family),
        cmocka_unit_test(test_readers_do_not_wait_for_the_writer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
