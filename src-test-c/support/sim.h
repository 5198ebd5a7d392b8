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
 *   sim_seal(sim);
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
    struct fake_thread fake; /* first */
    struct sim *sim;
    struct sim_segment script[SIM_MAX_SEGMENTS];
    bool is_starved[SIM_MAX_SEGMENTS]; /* wants a CPU and has none: it answers when it runs again */
    bool is_stolen[SIM_MAX_SEGMENTS];  /* likewise, because the host has taken the CPU */
    int64_t queued_ns;                 /* in such segments that are over */
    int64_t stolen_ns;                 /* likewise */
    size_t segments;
    /* Its place in the script. */
    size_t at;
    int64_t segment_ns; /* when the segment began */
    int64_t cpu_ns;     /* up to then */
    int64_t *truth_ns;  /* by stack, since sim_start */
    int64_t counted_ns; /* truth is counted up to here */
    /* The clock readings of the code under test since the last start. */
    bool was_read;
    bool is_new; /* its clock counts from its start on */
    int64_t first_read_ns;
    int64_t last_read_ns;
    int64_t used_ns; /* in stretches of sampling that are over */
    unsigned long reads;
    unsigned long walks; /* from outside */
    unsigned long requests;
    /* The status of a request for its stack, and the answer. */
    enum smp_status request_status;
    enum smp_answer answer;
    bool has_mounted; /* a virtual thread is on it */
    const char *mounted_name;
    bool is_runnable;        /* although its clock stands still */
    enum smp_wait_word word; /* what the JVM says of it while it waits; UNKNOWN: it is blocked */
    bool is_word_early;      /* and while it runs, too */
    /* The holder of the lock that it waits for. */
    enum smp_owner_kind owner_kind; /* UNKNOWN unless the test sets it */
    bool is_timed;                  /* it waits for the lock with a timeout */
    struct sim_thread *owner;       /* of a THREAD */
    const char *lock;
    unsigned long owner_reads;
    /* Its stack can be proven from outside while its clock stands. */
    bool is_proven;
    unsigned long proofs;
    /* The answer it owes: its stack and its clock at the request. */
    bool owes;
    int owed_stack;
    int64_t owed_cpu_ns;
    size_t omitted; /* from the middle of its stack */
};

struct sim_counts {
    unsigned long reads;
    unsigned long walks;
    unsigned long requests;
    unsigned long runnable;
    unsigned long queue_reads;
    unsigned long own_reads; /* of the sampler's own clock */
    unsigned in_flight;
    unsigned most_in_flight;
};

struct sim {
    struct fake_jvm *jvm; /* threads, names, the rule */
    struct smp_clock_fake seam;
    int64_t now_ns;
    int64_t own_cpu_ns;
    int64_t summing_ns; /* of the last reading of the process's CPU clock */
    int64_t read_cost_ns;
    int64_t walk_cost_ns;
    int64_t tick_cost_ns;
    int64_t tick_cpu_ns;         /* more CPU time for each tick, which takes no time */
    struct sim_thread **threads; /* in order of start, which is the tid */
    size_t thread_count;
    size_t thread_room;
    struct smp_standstill standstill;
    int64_t stop_in_collect_ns; /* the next one's */
    int64_t stop_in_request_ns; /* the same */
    int64_t jitter_percent;     /* of the time between two ticks */
    bool has_work;              /* stacks above 0 have a method that calls their own: SIM_WORK */
    bool has_async;
    bool has_tasks;
    bool has_queues; /* the system says how long threads have waited for a CPU */
    bool has_stolen; /* and what the host has stolen */
    int64_t task_cpu_ns[SMP_OS_THREAD_KIND_COUNT]; /* used since the last read */
    struct {
        uint64_t token;
        struct sim_thread *thread;
        int stack;       /* the one it had at the request, */
        int64_t cpu_ns;  /* and its clock; */
        bool is_starved; /* it had no CPU; */
        enum smp_answer answer;
    } requested[256];
    /* The user's rule for virtual threads: the answer for a carrier; NULL: not sampled. */
    const char *(*mounted_rule)(const struct sim_thread *carrier);
    struct sim_counts counts;
    struct smp_quota quota;
    struct smp_log *log;
    struct smp_options options;
    struct smp_sampler *sampler;
    struct smp_profile *profile;
    int64_t interval_ns;
    int64_t tick_ns; /* the last tick */
    uint64_t random;
    size_t live_before;
};

struct sim *sim_create(const char *options);
/* As create, with other random draws for each seed. */
struct sim *sim_create_random(const char *options, uint64_t seed);
/* As create, without the asynchronous walker. */
struct sim *sim_create_without_async(const char *options);
void sim_destroy(struct sim *sim);

/* Its methods: key k is app.C.m(k - 1); as a pseudo-frame 1 is [stub] and others are unknown. */
struct smp_name_source sim_names(struct sim *sim);

struct sim_thread *sim_add(struct sim *sim, const char *name);
/* Native code has used so much CPU time, and attaches its thread now. */
struct sim_thread *sim_attach(struct sim *sim, const char *name, int64_t cpu_ns);
/* The script began so long ago. Call it before sim_start. */
void sim_began(struct sim_thread *thread, int64_t ago_ns);
void sim_script(struct sim_thread *thread, int stack, int64_t ns, bool runs);
/* A thread that stays in this stack for an hour. */
struct sim_thread *sim_add_running(struct sim *sim, const char *name, int stack);
struct sim_thread *sim_add_waiting(struct sim *sim, const char *name, int stack);
/* It waits for a CPU. */
void sim_script_starved(struct sim_thread *thread, int stack, int64_t ns);
void sim_script_stolen(struct sim_thread *thread, int stack, int64_t ns);
void sim_end(struct sim *sim, struct sim_thread *thread);
void sim_rename(struct sim_thread *thread, const char *name);

void sim_start(struct sim *sim);
/* Lets time pass, with a tick at each interval that has a thread to poll, and at the end. */
void sim_run(struct sim *sim, int64_t ns);
/* Makes one tick after so long. */
void sim_tick(struct sim *sim, int64_t ns);
/* Stops the whole process for so long. The next tick comes when it goes on. */
void sim_stop(struct sim *sim, int64_t ns);
void sim_pause(struct sim *sim);
void sim_configure(struct sim *sim, const char *options);
/* Ends the interval, and checks the sums of outcomes, time and CPU time. */
const struct smp_profile *sim_seal(struct sim *sim);
uint64_t sim_random(struct sim *sim, uint64_t below);

/* Amounts in the last profile; stack -1: the whole group. 0: there is no such row. */
int64_t sim_wall(const struct sim *sim, const char *group, int stack);
int64_t sim_cpu(const struct sim *sim, const char *group, int stack);
int64_t sim_state(const struct sim *sim, const char *group, int stack, enum smp_thread_state state);
/* The wall time of a pseudo-frame, or of rows by the name of their method. */
int64_t sim_wall_of(const struct sim *sim, const char *group, const char *text);
const struct smp_group_info *sim_group(const struct sim *sim, const char *group);
/* The group's polls with this outcome. The group must be in the last profile. */
uint64_t sim_outcome(const struct sim *sim, const char *group, enum smp_outcome which);
/* Blocked time charged to threads of the group as holders, with this stack or in this row. */
int64_t sim_held(const struct sim *sim, const char *group, int stack);
int64_t sim_held_by(const struct sim *sim, const char *row);
const struct smp_group_info *sim_holders(const struct sim *sim, const char *group);
/* The time that the thread really spent in the stack, from the start to the last tick. */
int64_t sim_truth(struct sim *sim, struct sim_thread *thread, int stack);
/* The CPU time that it used, by the readings of the sampler. */
int64_t sim_used(const struct sim_thread *thread);

#endif
