/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - a JVM on a simulated machine: threads that run and wait by script, CPU clocks that
 * move while they run, and what a poll of them costs.
 *
 *   struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
 *   struct sim_thread *t = sim_add(sim, "worker-1");
 *   sim_script(t, 0, 300 * SIM_MS, false);      stack 0, waiting
 *   sim_script(t, 1, 200 * SIM_MS, true);       stack 1, running; and from the start again
 *   sim_start(sim);
 *   sim_run(sim, 100 * SIM_S);
 *   sim_finish(sim);
 *   sim_wall(sim, "worker-", 1), sim_truth(t, 1)
 *   sim_destroy(sim);
 *
 * Time passes only while the sampler waits or polls: each reading of a CPU clock and each walk
 * takes time, on the machine and on the sampler's CPU clock. Every thread has a CPU, unless its
 * script says that it is starved. A thread that waits is blocked.
 *
 * Owns     all of it, from malloc, so that nothing of it is counted or refused.
 * Threads  the test's own. One at a time: it installs itself as the clock.
 * Errors   fail the test.
 */
#ifndef SMP_SUPPORT_SIM_H
#define SMP_SUPPORT_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/session/sampler.h"
#include "engine/session/standstill.h"
#include "model/options.h"
#include "model/profile.h"
#include "support/fake_jvm.h"

#define SIM_US INT64_C(1000)
#define SIM_MS INT64_C(1000000)
#define SIM_S INT64_C(1000000000)

#define SIM_WORK "m68"

enum { SIM_MAX_SEGMENTS = 64, SIM_CPUS = 2 };

struct sim_segment {
    int stack;
    int64_t ns;
    bool runs;
};

struct sim;

struct sim_thread {
    struct fake_thread fake; /* must be first */
    struct sim *sim;
    struct sim_segment script[SIM_MAX_SEGMENTS];
    bool is_starved[SIM_MAX_SEGMENTS]; /* it waits for a CPU, and answers when it runs again */
    bool is_stolen[SIM_MAX_SEGMENTS];  /* as is_starved, because the host has taken the CPU */
    int64_t queued_ns;                 /* time in segments of that kind that are over */
    int64_t stolen_ns;                 /* time in segments of that kind that are over */
    size_t segments;
    /* Its position in the script. */
    size_t at;
    int64_t segment_ns; /* start of the current segment */
    int64_t cpu_ns;     /* CPU time at the start of the segment */
    int64_t *truth_ns;  /* true time by stack, since sim_start */
    int64_t counted_ns; /* truth_ns is complete up to this time */
    /* The clock readings of the code under test since the last start. */
    bool was_read;
    bool is_new; /* its clock counts from its own start */
    int64_t first_read_ns;
    int64_t last_read_ns;
    int64_t used_ns; /* CPU time in earlier periods of sampling */
    unsigned long reads;
    unsigned long walks; /* walks from outside */
    unsigned long requests;
    /* The status of requests for its stack, and its answer. */
    enum smp_status request_status;
    enum smp_answer answer;
    bool has_mounted; /* it carries a virtual thread */
    const char *mounted_name;
    bool is_runnable;        /* although its clock does not advance */
    enum smp_wait_word word; /* the JVM's word about it while it waits; UNKNOWN: blocked */
    bool is_word_early;      /* the JVM already says so while it runs */
    /* The holder of the lock that it waits for. */
    enum smp_owner_kind owner_kind; /* UNKNOWN unless the test sets it */
    bool is_timed;                  /* it waits for the lock with a timeout */
    struct sim_thread *owner;       /* the owner, if owner_kind is THREAD */
    const char *lock;
    unsigned long owner_reads;
    /* Its stack can be verified from outside while its clock does not advance. */
    bool is_proven;
    unsigned long proofs;
    /* The answer that is pending: its stack and its clock at the request. */
    bool is_answer_pending;
    int pending_stack;
    int64_t pending_cpu_ns;
    size_t omitted; /* frames left out in the middle of its stack */
};

struct sim_counts {
    unsigned long reads;
    unsigned long walks;
    unsigned long requests;
    unsigned long runnable;
    unsigned long queue_reads;
    unsigned long own_reads; /* readings of the sampler's own clock */
    unsigned in_flight;
    unsigned most_in_flight;
};

struct sim {
    struct fake_jvm *jvm; /* provides threads, names and the name rule */
    struct smp_clock_fake seam;
    int64_t now_ns;
    int64_t own_cpu_ns;
    int64_t summing_ns; /* cost of the last reading of the process's CPU clock */
    int64_t read_cost_ns;
    int64_t walk_cost_ns;
    int64_t tick_cost_ns;
    int64_t tick_cpu_ns;         /* additional CPU time of each tick, which takes no wall time */
    struct sim_thread **threads; /* in order of start; the index follows from the tid */
    size_t thread_count;
    size_t thread_room;
    struct smp_standstill standstill;
    int64_t stop_in_collect_ns; /* pause of the process during the next collect */
    int64_t stop_in_request_ns; /* pause of the process during the next request */
    int64_t jitter_percent;     /* variation of the time between two ticks */
    bool has_work; /* stacks above 0 call another method from their own one: SIM_WORK */
    bool has_async;
    bool has_tasks;
    bool has_queues; /* the system reports how long threads have waited for a CPU */
    bool has_stolen; /* the system reports the time that the host has stolen */
    int64_t task_cpu_ns[SMP_OS_THREAD_KIND_COUNT]; /* CPU time since the last read */
    struct {
        uint64_t token;
        struct sim_thread *thread;
        int stack;       /* its stack at the request */
        int64_t cpu_ns;  /* its clock at the request */
        bool is_starved; /* it had no CPU */
        enum smp_answer answer;
    } requested[256];
    /* The user's rule for virtual threads: the name for a carrier's virtual thread; NULL: not
     * sampled. */
    const char *(*mounted_rule)(const struct sim_thread *carrier);
    struct sim_counts counts;
    struct smp_quota quota;
    struct smp_log *log;
    struct smp_options options;
    struct smp_sampler *sampler;
    struct smp_profile *profile;
    int64_t interval_ns;
    int64_t tick_ns; /* time of the last tick */
    uint64_t random;
    size_t live_before;
};

struct sim *sim_create(const char *options);
/* As sim_create, with different random draws for each seed. */
struct sim *sim_create_random(const char *options, uint64_t seed);
/* As sim_create, without the asynchronous walker. */
struct sim *sim_create_without_async(const char *options);
void sim_destroy(struct sim *sim);

/* Names of its methods: key k is app.C.m(k - 1). The pseudo-frame 1 is [stub]; others are
 * unknown. */
struct smp_name_source sim_names(struct sim *sim);

struct sim_thread *sim_add(struct sim *sim, const char *name);
/* A native thread that has used this much CPU time attaches now. */
struct sim_thread *sim_attach(struct sim *sim, const char *name, int64_t cpu_ns);
/* Lets the script begin this long ago. Call it before sim_start. */
void sim_began(struct sim_thread *thread, int64_t ago_ns);
void sim_script(struct sim_thread *thread, int stack, int64_t ns, bool runs);
/* Adds a thread that stays in this stack for an hour. */
struct sim_thread *sim_add_running(struct sim *sim, const char *name, int stack);
struct sim_thread *sim_add_waiting(struct sim *sim, const char *name, int stack);
/* Adds a segment in which the thread waits for a CPU. */
void sim_script_starved(struct sim_thread *thread, int stack, int64_t ns);
void sim_script_stolen(struct sim_thread *thread, int stack, int64_t ns);
void sim_end(struct sim *sim, struct sim_thread *thread);
void sim_rename(struct sim_thread *thread, const char *name);

void sim_start(struct sim *sim);
/* Advances the time. Ticks come at each interval that has a thread to poll, and at the end. */
void sim_run(struct sim *sim, int64_t ns);
/* Makes one tick after this time. */
void sim_tick(struct sim *sim, int64_t ns);
/* Stops the whole process for this time. The next tick comes when it continues. */
void sim_stop(struct sim *sim, int64_t ns);
void sim_pause(struct sim *sim);
void sim_configure(struct sim *sim, const char *options);
/* Finishes the interval and checks the sums of outcomes, time and CPU time. */
const struct smp_profile *sim_finish(struct sim *sim);
uint64_t sim_random(struct sim *sim, uint64_t below);

/* Amounts in the last profile; stack -1: the whole group. Returns 0 if there is no such row. */
int64_t sim_wall(const struct sim *sim, const char *group, int stack);
int64_t sim_cpu(const struct sim *sim, const char *group, int stack);
int64_t sim_state(const struct sim *sim, const char *group, int stack, enum smp_thread_state state);
/* Returns the wall time of a pseudo-frame, or of rows by the name of their method. */
int64_t sim_wall_of(const struct sim *sim, const char *group, const char *text);
const struct smp_group_info *sim_group(const struct sim *sim, const char *group);
/* Returns the group's polls with this outcome. The group must be in the last profile. */
uint64_t sim_outcome(const struct sim *sim, const char *group, enum smp_outcome which);
/* Returns the blocked time that is charged to threads of the group as holders, with this stack or
 * in this row. */
int64_t sim_held(const struct sim *sim, const char *group, int stack);
int64_t sim_held_by(const struct sim *sim, const char *row);
const struct smp_group_info *sim_holders(const struct sim *sim, const char *group);
/* Returns the time that the thread really spent in the stack, from the start to the last tick. */
int64_t sim_truth(struct sim *sim, struct sim_thread *thread, int stack);
/* Returns the CPU time that it used according to the sampler's readings. */
int64_t sim_used(const struct sim_thread *thread);

#endif
