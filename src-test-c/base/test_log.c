/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_alloc.h"
#include "support/fake_clock.h"
#include "support/reference_utf8.h"

/* More kinds than the ring has messages. Each length of a format is a kind. */
static const char many_formats[] =
    "%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%"
    "%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%"
    "%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%";

enum { MANY_FORMATS = (sizeof(many_formats) - 1) / 2 };

/* The format of kind number i prints MANY_FORMATS - i percent signs. */
static const char *format_of(size_t i)
{
    return many_formats + 2 * i;
}

struct fixture {
    struct fake_clock clock;
    struct smp_log *log;
    enum smp_log_level level;
    char text[SMP_LOG_MESSAGE_BYTES];
};

static struct fixture fixture;

static int open_log(void **state)
{
    (void)state;
    fake_clock_install(&fixture.clock);
    fixture.log = NULL;
    return smp_log_create(NULL, &fixture.log) == SMP_OK ? 0 : -1;
}

static int close_log(void **state)
{
    (void)state;
    smp_log_destroy(fixture.log);
    fake_clock_remove();
    return smp_alloc_live_bytes() == 0 ? 0 : -1;
}

static void assert_taken(enum smp_log_level level, const char *text)
{
    assert_true(smp_log_take(fixture.log, &fixture.level, fixture.text));
    assert_string_equal(fixture.text, text);
    assert_int_equal(fixture.level, level);
}

static void assert_nothing_left(void)
{
    assert_false(smp_log_take(fixture.log, &fixture.level, fixture.text));
}

static void messages_come_out_in_order(void **state)
{
    (void)state;
    assert_nothing_left();
    smp_log_put(fixture.log, SMP_LOG_INFO, "started after %d ms", 12);
    smp_log_put(fixture.log, SMP_LOG_ERROR, "lost: %s", "a walk");
    assert_taken(SMP_LOG_INFO, "started after 12 ms");
    smp_log_put(fixture.log, SMP_LOG_WARNING, "late");
    assert_taken(SMP_LOG_ERROR, "lost: a walk");
    assert_taken(SMP_LOG_WARNING, "late");
    assert_nothing_left();
}

static void without_a_log_nothing_happens(void **state)
{
    (void)state;
    smp_log_put(NULL, SMP_LOG_ERROR, "unheard %d", 1);
    smp_log_destroy(NULL);
}

static const char repeated[] = "manipulator failed for %s";

static void a_kind_is_kept_once_per_quiet_time(void **state)
{
    (void)state;
    smp_log_put(fixture.log, SMP_LOG_WARNING, repeated, "one");
    smp_log_put(fixture.log, SMP_LOG_WARNING, repeated, "two");
    smp_log_put(fixture.log, SMP_LOG_WARNING, "another kind");
    fake_clock_advance(&fixture.clock, SMP_LOG_QUIET_NS - 1);
    smp_log_put(fixture.log, SMP_LOG_WARNING, repeated, "three");
    assert_taken(SMP_LOG_WARNING, "manipulator failed for one");
    assert_taken(SMP_LOG_WARNING, "another kind");
    assert_nothing_left();

    fake_clock_advance(&fixture.clock, 1);
    smp_log_put(fixture.log, SMP_LOG_WARNING, repeated, "four");
    assert_taken(SMP_LOG_WARNING, "manipulator failed for four (2 more like it held back)");

    fake_clock_advance(&fixture.clock, SMP_LOG_QUIET_NS);
    smp_log_put(fixture.log, SMP_LOG_WARNING, repeated, "five");
    assert_taken(SMP_LOG_WARNING, "manipulator failed for five");
    assert_nothing_left();
}

static void messages_put_once_are_never_held_back(void **state)
{
    (void)state;
    smp_log_put_once(fixture.log, SMP_LOG_WARNING, repeated, "one");
    smp_log_put_once(fixture.log, SMP_LOG_INFO, repeated, "two");
    smp_log_put(fixture.log, SMP_LOG_WARNING, repeated, "three");
    smp_log_put_once(NULL, SMP_LOG_ERROR, "unheard %d", 1);
    assert_taken(SMP_LOG_WARNING, "manipulator failed for one");
    assert_taken(SMP_LOG_INFO, "manipulator failed for two");
    assert_taken(SMP_LOG_WARNING, "manipulator failed for three");
    assert_nothing_left();
}

static void a_full_ring_drops_the_newest_and_counts_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < SMP_LOG_MESSAGES + 5; i++)
        smp_log_put(fixture.log, SMP_LOG_INFO, format_of(i), 0);
    for (size_t i = 0; i < SMP_LOG_MESSAGES; i++) {
        assert_true(smp_log_take(fixture.log, &fixture.level, fixture.text));
        assert_int_equal(strlen(fixture.text), MANY_FORMATS - i);
    }
    assert_taken(SMP_LOG_WARNING, "messages dropped because the log was full: 5");
    assert_nothing_left();
    smp_log_put(fixture.log, SMP_LOG_INFO, format_of(SMP_LOG_MESSAGES), 0);
    /* no loss was reported yet */
    assert_true(smp_log_take(fixture.log, &fixture.level, fixture.text));
    assert_nothing_left();
}

static void the_ring_wraps_around(void **state)
{
    char expected[64];

    (void)state;
    for (int i = 0; i < 5 * SMP_LOG_MESSAGES; i++) {
        fake_clock_advance(&fixture.clock, SMP_LOG_QUIET_NS);
        smp_log_put(fixture.log, SMP_LOG_INFO, "number %d", i);
        fake_clock_advance(&fixture.clock, SMP_LOG_QUIET_NS);
        smp_log_put(fixture.log, SMP_LOG_INFO, "number %d", i + 1000);
        (void)snprintf(expected, sizeof(expected), "number %d", i);
        assert_taken(SMP_LOG_INFO, expected);
        (void)snprintf(expected, sizeof(expected), "number %d", i + 1000);
        assert_taken(SMP_LOG_INFO, expected);
    }
}

static void more_kinds_than_the_ring_remembers_are_accepted(void **state)
{
    (void)state;
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < MANY_FORMATS; i++) {
            fake_clock_advance(&fixture.clock, 1);
            smp_log_put(fixture.log, SMP_LOG_INFO, format_of(i), 0);
            assert_true(smp_log_take(fixture.log, &fixture.level, fixture.text));
            assert_int_equal(strlen(fixture.text), MANY_FORMATS - i);
        }
    }
    smp_log_put(fixture.log, SMP_LOG_INFO, format_of(MANY_FORMATS - 1), 0);
    assert_nothing_left(); /* the newest is still remembered */
}

/* A message is passed to Java, so it must be valid text even if it was cut. */
static void a_long_message_is_cut_between_characters(void **state)
{
    static const char snowman[] = "\xE2\x98\x83";
    static const char format[] = "%.*s%s";
    char name[3 * SMP_LOG_MESSAGE_BYTES + 1] = "";

    (void)state;
    for (size_t i = 0; i < SMP_LOG_MESSAGE_BYTES; i++)
        memcpy(name + 3 * i, snowman, sizeof(snowman));
    for (int round = 0; round < 12; round++) {
        fake_clock_advance(&fixture.clock, SMP_LOG_QUIET_NS);
        smp_log_put(fixture.log, SMP_LOG_INFO, format, round % 6, "abcdef", name);
        if (round >= 6) /* the next message also contains a count */
            smp_log_put(fixture.log, SMP_LOG_INFO, format, 0, "", "");
        assert_true(smp_log_take(fixture.log, &fixture.level, fixture.text));
        assert_true(reference_utf8_is_valid(fixture.text, strlen(fixture.text)));
        assert_true(strlen(fixture.text) > SMP_LOG_MESSAGE_BYTES - 6);
    }
}

static const char held_long[] = "%s";

static void a_long_message_leaves_room_for_the_count_of_suppressed_ones(void **state)
{
    char name[SMP_LOG_MESSAGE_BYTES + 10];

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    smp_log_put(fixture.log, SMP_LOG_INFO, held_long, "short");
    smp_log_put(fixture.log, SMP_LOG_INFO, held_long, "held");
    fake_clock_advance(&fixture.clock, SMP_LOG_QUIET_NS);
    smp_log_put(fixture.log, SMP_LOG_INFO, held_long, name);
    assert_taken(SMP_LOG_INFO, "short");
    assert_true(smp_log_take(fixture.log, &fixture.level, fixture.text));
    assert_int_equal(strlen(fixture.text), SMP_LOG_MESSAGE_BYTES - 1);
    assert_non_null(strstr(fixture.text, "nnn (1 more like it held back)"));
}

static void messages_of_every_length_come_out(void **state)
{
    char name[SMP_LOG_MESSAGE_BYTES + 10];

    (void)state;
    for (size_t length = 0; length < sizeof(name); length++) {
        memset(name, 'n', length);
        name[length] = '\0';
        fake_clock_advance(&fixture.clock, SMP_LOG_QUIET_NS);
        smp_log_put(fixture.log, SMP_LOG_INFO, held_long, name);
        assert_true(smp_log_take(fixture.log, &fixture.level, fixture.text));
        assert_int_equal(strncmp(fixture.text, name, strlen(fixture.text)), 0);
        if (length < SMP_LOG_MESSAGE_BYTES)
            assert_int_equal(strlen(fixture.text), length);
        else
            assert_true(strlen(fixture.text) >= SMP_LOG_MESSAGE_BYTES - 2);
    }
}

static enum smp_status create_and_destroy(void *self)
{
    struct smp_log *log = NULL;
    const enum smp_status status = smp_log_create(self, &log);

    assert_true((status == SMP_OK) == (log != NULL));
    smp_log_destroy(log);
    return status;
}

static void create_fails_cleanly(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, 1024 * 1024);
    assert_int_equal(failing_alloc_each_step(create_and_destroy, &quota).refused, 1);
    assert_int_equal(smp_quota_used(&quota), 0);
}

static void nothing_is_allocated_after_create(void **state)
{
    struct failing_alloc failing;

    (void)state;
    failing_alloc_arm(&failing, 0, 0);
    smp_log_put(fixture.log, SMP_LOG_INFO, "quiet");
    (void)smp_log_take(fixture.log, &fixture.level, fixture.text);
    (void)failing_alloc_disarm(&failing);
    assert_int_equal(atomic_load(&failing.requests), 0);
}

static bool put_text(struct smp_log *log, const char *title, const char *rows)
{
    struct smp_bytes texts[2];
    bool is_kept;

    smp_bytes_init(&texts[0], NULL, 64);
    smp_bytes_init(&texts[1], NULL, 64);
    smp_bytes_puts(&texts[0], title);
    smp_bytes_puts(&texts[1], rows);
    is_kept = smp_log_put_record(log, &texts[0], &texts[1]);
    for (size_t i = 0; i < 2 && !is_kept; i++)
        smp_bytes_fini(&texts[i]);
    return is_kept;
}

static void take_text(const char *title, const char *rows)
{
    struct smp_bytes texts[2];

    assert_true(smp_log_take_record(fixture.log, &texts[0], &texts[1]));
    assert_string_equal(smp_bytes_text(&texts[0]), title);
    assert_string_equal(smp_bytes_text(&texts[1]), rows);
    smp_bytes_fini(&texts[0]);
    smp_bytes_fini(&texts[1]);
}

static void records_come_out_in_order(void **state)
{
    struct smp_bytes texts[2];
    char title[] = "title 0";

    (void)state;
    assert_false(put_text(NULL, "without", "a log"));
    assert_false(smp_log_take_record(fixture.log, &texts[0], &texts[1]));
    assert_true(put_text(fixture.log, "title", "row\n"));
    take_text("title", "row\n");
    for (int i = 0; i < SMP_LOG_RECORDS; i++) {
        title[6] = (char)('0' + i);
        assert_true(put_text(fixture.log, title, ""));
    }
    assert_false(put_text(fixture.log, "one too many", ""));
    take_text("title 0", "");
    take_text("title 1", ""); /* the other records end with the log */
}

enum { PUTTERS = 3, PUTS = 2000 };

static void *put_many(void *self)
{
    for (size_t i = 0; i < PUTS; i++) {
        fake_clock_advance(&fixture.clock, SMP_LOG_QUIET_NS / 2);
        smp_log_put(fixture.log, SMP_LOG_INFO, format_of(i % 50), self);
    }
    return NULL;
}

static void many_threads_may_put_while_one_takes(void **state)
{
    pthread_t threads[PUTTERS];
    size_t taken = 0;

    (void)state;
    for (size_t i = 0; i < PUTTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_many, &fixture), 0);
    for (size_t i = 0; i < 1000; i++) {
        if (smp_log_take(fixture.log, &fixture.level, fixture.text))
            taken++;
    }
    for (size_t i = 0; i < PUTTERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    while (smp_log_take(fixture.log, &fixture.level, fixture.text)) {
        assert_true(reference_utf8_is_valid(fixture.text, strlen(fixture.text)));
        taken++;
    }
    assert_true(taken >= SMP_LOG_MESSAGES);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_log, close_log)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(messages_come_out_in_order),
        TEST(without_a_log_nothing_happens),
        TEST(a_kind_is_kept_once_per_quiet_time),
        TEST(messages_put_once_are_never_held_back),
        TEST(a_full_ring_drops_the_newest_and_counts_them),
        TEST(the_ring_wraps_around),
        TEST(more_kinds_than_the_ring_remembers_are_accepted),
        TEST(a_long_message_is_cut_between_characters),
        TEST(a_long_message_leaves_room_for_the_count_of_suppressed_ones),
        TEST(messages_of_every_length_come_out),
        cmocka_unit_test(create_fails_cleanly),
        TEST(nothing_is_allocated_after_create),
        TEST(records_come_out_in_order),
        TEST(many_threads_may_put_while_one_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
