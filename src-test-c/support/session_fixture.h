/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_fixture.h - a session with its two threads, on a fake JVM and into a fake outputer, with
 * one thread "main" that is always in SESSION_MAIN_LOOP. The test controls the time: a tick comes
 * on request, or each reading of the clock advances it.
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
/* Ticks and reports come on request only. */
#define SESSION_BY_HAND "samplingFrequencyMillis=3600000\nreportFrequencySeconds=0\n"
/* The clock advances by 10 ms at each reading: ticks come all the time, and a report every 100
 * readings. */
#define SESSION_FAST "samplingFrequencyMillis=20\nidleLookbackMillis=20\nreportFrequencySeconds=1\n"

struct session_fixture {
    struct fake_clock clock;
    struct fake_jvm *vm;
    struct fake_outputer *outputer;
    struct smp_session *session; /* NULL until the test starts or creates it */
    struct fake_thread *main;
    struct smp_call_counter calls; /* to be set before start; zeroed: calls cannot be counted */
    uint32_t (*quota_milli)(void *self); /* to be set before start; NULL: there is no quota */
    size_t live_before;
    unsigned selections_destroyed; /* for the test's own use */
};

/* Set-up function for cmocka: *state becomes a struct session_fixture. */
int session_fixture_setup(void **state);
int session_fixture_teardown(void **state);

enum smp_status session_fixture_create(struct session_fixture *fixture, const char *options);
void session_fixture_start(struct session_fixture *fixture, const char *options);

#endif
