/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/session_fixture.h"

#define MS INT64_C(1000000)

static void assert_has(const char *text, const char *line)
{
    if (strstr(text, line) == NULL) {
        (void)fprintf(stderr, "%s", text);
        fail_msg("no line \"%s\"", line);
    }
}

static void a_dump_shows_the_state_of_a_session(void **state)
{
    struct session_fixture *f = *state;
    struct smp_bytes text;

    session_fixture_start(f, SESSION_BY_HAND "monitoredPackages=com.acme\nreportOrder=BY_TIME\n");
    /* a last tick; afterwards no figure changes */
    assert_int_equal(smp_session_pause(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 70 * MS);
    smp_bytes_init(&text, NULL, SMP_DUMP_MAX_BYTES);
    smp_dump_session(f->session, "a\nname", &text);
    assert_int_equal(text.status, SMP_OK);
    assert_has(smp_bytes_text(&text), "threads-sampler, live state\nengine: a\\nname\n");
    assert_has(smp_bytes_text(&text), "\nstate: running, not sampling\nlast tick: 70 ms ago\n");
    assert_has(smp_bytes_text(&text), "\nthreads: 1\nthreads not sampled: 0\nthreads sampled: 1\n");
    assert_has(smp_bytes_text(&text), "\nreports waiting for output: 0 of ");
    /* the reporter is the only reader */
    assert_has(smp_bytes_text(&text), "\nreaders: 1 of 32\n");
    assert_has(smp_bytes_text(&text), "\noption active: true\n");
    assert_has(smp_bytes_text(&text), "\noption overheadLimitPercent: 1.0\n");
    assert_null(strstr(smp_bytes_text(&text), "defaultThreadNameRule"));
    assert_has(smp_bytes_text(&text), "\noption reportOrder: BY_TIME\n");
    assert_has(smp_bytes_text(&text), "\noption monitoredPackages: com.acme\n");
    assert_has(smp_bytes_text(&text), "\ncounter TICKS: ");
    smp_bytes_fini(&text);
}

/* A request would wait for ever here: before the sampler thread is started, and after it has
 * ended. */
static void a_dump_needs_no_sampler_thread(void **state)
{
    struct session_fixture *f = *state;
    struct smp_bytes text;

    assert_int_equal(session_fixture_create(f, SESSION_BY_HAND), SMP_OK);
    smp_bytes_init(&text, NULL, SMP_DUMP_MAX_BYTES);
    smp_dump_session(f->session, "x", &text);
    assert_has(smp_bytes_text(&text), "\nstate: new, not sampling\nsampled time");
    assert_int_equal(smp_session_start(f->session), SMP_OK);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    smp_bytes_clear(&text);
    smp_dump_session(f->session, "x", &text);
    assert_has(smp_bytes_text(&text), "\nstate: stopped, not sampling\n");
    smp_bytes_fini(&text);
}

/* Every figure has its maximum, and every name its maximum length. */
static void the_largest_dump_is_within_its_limit(void **state)
{
    struct smp_statistics statistics;
    struct smp_bytes text;
    char engine[256];

    (void)state;
    memset(&statistics, 0xff, sizeof(statistics));
    memset(engine, '\n', sizeof(engine)); /* the character with the longest escape */
    engine[sizeof(engine) - 1] = '\0';
    statistics.state = SMP_STOPPING;
    statistics.ticker.sampler.is_running = true;
    statistics.ticker.sampler.source.polls = true;
    statistics.ticker.sampler.source.draws = true;
    statistics.ticker.sampler.source.counts_calls = true;
    memset(&statistics.ticker.options, 0, sizeof(statistics.ticker.options));
    statistics.ticker.options.memory_limit_bytes = INT64_MIN;
    memset(statistics.ticker.texts, '\n', sizeof(statistics.ticker.texts));
    for (size_t i = 0; i < SMP_OPTION_TEXT_COUNT; i++)
        statistics.ticker.texts[i][SMP_TICKER_TEXT_BYTES - 1] = '\0';
    smp_bytes_init(&text, NULL, SMP_DUMP_MAX_BYTES);
    smp_dump_write(&statistics, engine, INT64_MAX - 1, &text);
    assert_int_equal(text.status, SMP_OK);
    assert_in_range(text.length, 4000, SMP_DUMP_MAX_BYTES);
    smp_bytes_fini(&text);
}

static void a_long_list_of_packages_is_cut(void **state)
{
    struct session_fixture *f = *state;
    char options[2000] = SESSION_BY_HAND "monitoredPackages=";
    struct smp_bytes text;

    while (strlen(options) < 1500)
        (void)strcat(options, "abcdef,");
    assert_int_equal(session_fixture_create(f, options), SMP_OK);
    smp_bytes_init(&text, NULL, SMP_DUMP_MAX_BYTES);
    smp_dump_session(f->session, "x", &text);
    assert_has(smp_bytes_text(&text), "\noption monitoredPackages: abcdef,abcdef,");
    assert_has(smp_bytes_text(&text), "...\n");
    smp_bytes_fini(&text);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, session_fixture_setup, session_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_dump_shows_the_state_of_a_session),
        TEST(a_dump_needs_no_sampler_thread),
        TEST(a_long_list_of_packages_is_cut),
        cmocka_unit_test(the_largest_dump_is_within_its_limit),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
