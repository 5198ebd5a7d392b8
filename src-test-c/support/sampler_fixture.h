/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler_fixture.h - a sampler on a fake JVM and a fake clock, driven by hand.
 *
 *   struct sampler_fixture *f = sampler_fixture_create("monitoredPackages=app\n");
 *   struct fake_thread *thread = fake_jvm_start(f->vm, "worker-1");
 *   fake_jvm_run(f->vm, thread, "java.Thread.run|app.Work.loop");
 *   sampler_fixture_start(f);
 *   sampler_fixture_tick(f, 50 * FIXTURE_MS);
 *   sampler_fixture_finish(f);
 *   sampler_fixture_total(f, "worker-", "java.Thread.run(F.java:1)|app.Work.loop(F.java:1)")
 *   sampler_fixture_destroy(f);
 *
 * Owns     all of it, the last snapshot too.
 * Threads  the test's own.
 * Errors   fail the test. destroy: unless no byte is left.
 * Cost     small inputs.
 */
#ifndef SMP_SUPPORT_SAMPLER_FIXTURE_H
#define SMP_SUPPORT_SAMPLER_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/session/sampler.h"
#include "model/options.h"
#include "model/profile.h"
#include "support/fake_clock.h"
#include "support/fake_jvm.h"

#define FIXTURE_MS INT64_C(1000000)

struct sampler_fixture {
    struct fake_clock clock;
    struct fake_jvm *vm;
    struct smp_quota quota;
    struct smp_log *log;
    struct smp_options options;
    struct smp_sampler *sampler;
    struct smp_profile *profile; /* the last finished one */
    size_t live_before;
};

struct sampler_fixture *sampler_fixture_create(const char *options);
/* As sampler_fixture_create, on a JVM with this call counter. */
struct sampler_fixture *sampler_fixture_create_counting(const char *options,
                                                        struct smp_call_counter calls);
void sampler_fixture_destroy(struct sampler_fixture *fixture);

int64_t sampler_fixture_now(const struct sampler_fixture *fixture);
/* Makes the first tick, at the start or after a pause. */
void sampler_fixture_start(struct sampler_fixture *fixture);
/* Advances the clock, then makes a tick. */
void sampler_fixture_tick(struct sampler_fixture *fixture, int64_t ns);
/* Makes a last tick. No time is sampled until the next start. */
void sampler_fixture_pause(struct sampler_fixture *fixture);
void sampler_fixture_configure(struct sampler_fixture *fixture, const char *options);
/* Ends the interval. Releases the profile before, and checks the new one's sums. */
struct smp_profile *sampler_fixture_finish(struct sampler_fixture *fixture);

/* Returns a group of the last profile, or NULL. */
const struct smp_group_info *sampler_fixture_group(const struct sampler_fixture *fixture,
                                                   const char *group);
/* Returns the total time of a node in the group; path "": the group's root. The path is root
 * first, '|' between frames as printed. -1: there is no such node. */
int64_t sampler_fixture_total(const struct sampler_fixture *fixture, const char *group,
                              const char *path);
int64_t sampler_fixture_self(const struct sampler_fixture *fixture, const char *group,
                             const char *path);
/* Returns the variance of the total, in square milliseconds. -1: there is no such node. */
double sampler_fixture_variance(const struct sampler_fixture *fixture, const char *group,
                                const char *path);
/* The wall time of all groups. */
int64_t sampler_fixture_sum(const struct sampler_fixture *fixture);

#endif
