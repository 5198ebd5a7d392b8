/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_fixture.h - a session with its two threads, on a fake JVM and into a fake outputer, of
 * one thread "main" that is always in SESSION_MAIN_LOOP. Time is the test's: a tick comes at
 * a request, or each reading of the clock moves it on.
 *
 * Owns     all of it.
 * Threads  the test's own; the session has two more.
 * Errors   fail the test. teardown: unless no byte is left.
 * Cost     small inputs.
 */
#ifndef SMP_SUPPORT_SESSION_FIXTURE_H
#define SMP_SUPPORT_SESSION_FIXTURE_H

#include <stddef.h>

#include "base/status.h"
#include "engine/session/session.h"
#include "support/fake_clock.h"
#include "support/fake_jvm.h"
#include "support/fake_outputer.h"

#define SESSION_MAIN_LOOP "app.Main.main|app.Work.loop"
/* No tick or report without a request. */
#define SESSION_BY_HAND "samplingFrequencyMillis=3600000\nreportFrequencySeconds=0\n"
/* With the clock moving 10 ms at each reading: ticks all the time, a report every 100 readings. */
#define SESSION_FAST "samplingFrequencyMillis=20\nidleLookbackMillis=20\nreportFrequencySeconds=1\n"

struct session_fixture {
    struct fake_clock clock;
    struct fake_jvm *vm;
    struct fake_outputer *outputer;
    struct smp_session *session; /* NULL before start or create */
    struct fake_thread *main;
    struct smp_call_counter calls;       /* set before start; zeroed: calls cannot be counted */
    uint32_t (*quota_milli)(void *self); /* likewise; NULL: there is no quota */
    size_t live_before;
    unsigned selections_destroyed; /* the test's */
};

/* For cmocka: *state is a struct session_fixture. */
int session_fixture_setup(void **state);
int session_fixture_teardown(void **state);

enum smp_status session_fixture_create(struct session_fixture *fixture, const char *options);
void session_fixture_start(struct session_fixture *fixture, const char *options);

#endif
