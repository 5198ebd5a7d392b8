/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sim.h"
#include "support/tally_sum.h"
#include "support/tree_amounts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/option_text.h"

enum {
    MAX_STACKS = 64,
    DEPTH = 4,
    ROOT_METHOD = MAX_STACKS + 1, /* keys from here on are the outer frames of every stack */
    WORK_METHOD = ROOT_METHOD + DEPTH,
    START_S = 1000,
    MAX_REQUESTS = 256,
    FIRST_TID = 1000,
    THREAD_SUM_NS = 20 /* added by each thread to the cost of reading the process's CPU clock */
};

static void *must(void *piece)
{
    if (piece == NULL)
        abort();
    return piece;
}

/* --- time --- */

/* Brings a thread to the present: finds its current segment and adds up the true times before
 * it. */
static void bring_to(struct sim_thread *thread, int64_t now_ns)
{
    if (thread->segments == 0)
        return;
    while (thread->counted_ns < now_ns) {
        const struct sim_segment *segment = &thread->script[thread->at];
        const int64_t end_ns = thread->segment_ns + segment->ns;
        const int64_t till_ns = end_ns < now_ns ? end_ns : now_ns;
        thread->truth_ns[segment->stack] += till_ns - thread->counted_ns;
        thread->counted_ns = till_ns;
        if (till_ns < end_ns)
            break;
        if (segment->runs)
            thread->cpu_ns += segment->ns;
        if (thread->is_stolen[thread->at])
            thread->stolen_ns += segment->ns;
        else if (thread->is_starved[thread->at])
            thread->queued_ns += segment->ns;
        thread->segment_ns = end_ns;
        thread->at = (thread->at + 1) % thread->segments;
    }
}

static int64_t cpu_of(struct sim_thread *thread, int64_t now_ns)
{
    bring_to(thread, now_ns);
    if (thread->segments == 0 || !thread->script[thread->at].runs)
        return thread->cpu_ns;
    return thread->cpu_ns + now_ns - thread->segment_ns;
}

static void spend(struct sim *sim, int64_t ns)
{
    sim->now_ns += ns;
    sim->own_cpu_ns += ns;
}

static int64_t read_ns(void *self)
{
    const struct sim *sim = self;

    return sim->now_ns + sim->summing_ns;
}

static int64_t read_wall_ms(void *self)
{
    return ((struct sim *)self)->now_ns / SIM_MS;
}

static int64_t read_own_cpu_ns(void *self)
{
    struct sim *sim = self;

    sim->counts.own_reads++;
    return sim->own_cpu_ns;
}

/* As in a kernel, the reading takes longer the more threads there are. Only the reader's CPU clock
 * advances; no time passes for the threads. */
static int64_t read_process_cpu_ns(void *self)
{
    struct sim *sim = self;
    int64_t sum_ns = sim->own_cpu_ns;

    sim->summing_ns = (int64_t)sim->thread_count * THREAD_SUM_NS;
    for (size_t i = 0; i < sim->thread_count; i++)
        sum_ns += cpu_of(sim->threads[i], sim->now_ns);
    return sum_ns;
}

static bool read_thread_cpu_ns(void *self, int32_t tid, int64_t *out)
{
    struct sim *sim = self;
    const size_t index = (size_t)(tid - FIRST_TID);

    spend(sim, sim->read_cost_ns);
    if (tid < FIRST_TID || index >= sim->thread_count)
        return false;
    struct sim_thread *thread = sim->threads[index];
    if (atomic_load(&thread->fake.thread.ended_ns) != 0)
        return false;
    *out = cpu_of(thread, sim->now_ns);
    sim->counts.reads++;
    thread->reads++;
    if (!thread->was_read)
        thread->first_read_ns = thread->is_new ? thread->fake.thread.started_cpu_ns : *out;
    thread->was_read = true;
    thread->last_read_ns = *out;
    return true;
}

/* --- threads --- */

struct sim_thread *sim_add(struct sim *sim, const char *name)
{
    struct sim_thread *thread = must(calloc(1, sizeof(*thread)));

    if (sim->thread_count == sim->thread_room) {
        sim->thread_room = sim->thread_room * 2 + 64;
        sim->threads = must(realloc(sim->threads, sim->thread_room * sizeof(struct sim_thread *)));
    }
    fake_jvm_identify(&thread->fake, (int32_t)(FIRST_TID + sim->thread_count));
    thread->sim = sim;
    thread->is_new = sim->tick_ns != 0;
    thread->segment_ns = sim->now_ns;
    thread->counted_ns = sim->now_ns;
    thread->truth_ns = must(calloc(MAX_STACKS, sizeof(int64_t)));
    thread->answer = SMP_ANSWER_WHOLE;
    fake_jvm_add(sim->jvm, &thread->fake, name);
    sim->threads[sim->thread_count++] = thread;
    return thread;
}

struct sim_thread *sim_attach(struct sim *sim, const char *name, int64_t cpu_ns)
{
    struct sim_thread *thread = sim_add(sim, name);

    thread->cpu_ns = cpu_ns;
    thread->fake.thread.started_cpu_ns = cpu_ns;
    return thread;
}

void sim_script(struct sim_thread *thread, int stack, int64_t ns, bool runs)
{
    if (thread->segments == SIM_MAX_SEGMENTS || stack >= MAX_STACKS)
        abort();
    thread->script[thread->segments++] = (struct sim_segment){ stack, ns, runs };
}

void sim_began(struct sim_thread *thread, int64_t ago_ns)
{
    thread->segment_ns -= ago_ns;
    thread->counted_ns -= ago_ns;
}

static struct sim_thread *add_scripted(struct sim *sim, const char *name, int stack, bool runs)
{
    struct sim_thread *thread = sim_add(sim, name);

    sim_script(thread, stack, 3600 * SIM_S, runs);
    return thread;
}

struct sim_thread *sim_add_running(struct sim *sim, const char *name, int stack)
{
    return add_scripted(sim, name, stack, true);
}

struct sim_thread *sim_add_waiting(struct sim *sim, const char *name, int stack)
{
    return add_scripted(sim, name, stack, false);
}

void sim_script_starved(struct sim_thread *thread, int stack, int64_t ns)
{
    sim_script(thread, stack, ns, false);
    thread->is_starved[thread->segments - 1] = true;
}

void sim_script_stolen(struct sim_thread *thread, int stack, int64_t ns)
{
    sim_script_starved(thread, stack, ns);
    thread->is_stolen[thread->segments - 1] = true;
}

void sim_end(struct sim *sim, struct sim_thread *thread)
{
    bring_to(thread, sim->now_ns);
    atomic_store(&thread->fake.thread.ended_ns, sim->now_ns);
}

void sim_rename(struct sim_thread *thread, const char *name)
{
    fake_jvm_rename(thread->sim->jvm, &thread->fake, name);
}

static enum smp_naming mounted_name(void *self, void *ref, const char **name)
{
    struct sim_thread *carrier = ref;

    (void)self; /* self is the fake JVM */
    *name = carrier->sim->mounted_rule(carrier);
    return *name != NULL ? SMP_NAMING_NAMED : SMP_NAMING_SKIP;
}

/* --- stacks --- */

static int stack_of(const struct sim_thread *thread)
{
    return thread->segments == 0 ? 0 : thread->script[thread->at].stack;
}

static void fill(const struct sim_thread *thread, int stack, struct smp_sample *sample)
{
    for (size_t i = 0; i < DEPTH; i++)
        sample->frames[i] =
            (struct smp_frame){ .method = i == 0 ? (uint64_t)stack + 1 : ROOT_METHOD + i };
    if (thread->sim->has_work && stack > 0)
        sample->frames[1].method = WORK_METHOD;
    sample->count = DEPTH;
    sample->omitted = thread->omitted;
    sample->leaf_count = sample->omitted > 0 ? DEPTH / 2 : DEPTH;
}

static enum smp_status walk(void *self, struct smp_thread *thread, struct smp_sample *sample)
{
    struct sim *sim = self;
    struct sim_thread *sim_thread = (struct sim_thread *)thread;

    spend(sim, sim->walk_cost_ns);
    sim->counts.walks++;
    sim_thread->walks++;
    if (atomic_load(&thread->ended_ns) != 0)
        return SMP_EGONE;
    bring_to(sim_thread, sim->now_ns);
    fill(sim_thread, stack_of(sim_thread), sample);
    return SMP_OK;
}

/* Succeeds if the clock still has the value that the caller has read. */
static enum smp_status walk_outside(void *self, struct smp_thread *thread, int64_t cpu_ns,
                                    struct smp_sample *sample)
{
    struct sim *sim = self;
    struct sim_thread *sim_thread = (struct sim_thread *)thread;

    if (!sim_thread->is_proven)
        return SMP_EUNSUPPORTED;
    spend(sim, sim->walk_cost_ns / 8);
    if (atomic_load(&thread->ended_ns) != 0 || cpu_of(sim_thread, sim->now_ns) != cpu_ns)
        return SMP_ESTATE;
    sim_thread->proofs++;
    fill(sim_thread, stack_of(sim_thread), sample);
    return SMP_OK;
}

static enum smp_wait_word wait_word(void *self, struct smp_thread *thread)
{
    const struct sim *sim = self;
    struct sim_thread *sim_thread = (struct sim_thread *)thread;

    bring_to(sim_thread, sim->now_ns);
    if (sim_thread->word != SMP_WORD_UNKNOWN && !sim_thread->is_word_early &&
        sim_thread->segments > 0 && sim_thread->script[sim_thread->at].runs)
        return SMP_WORD_RUNS;
    return sim_thread->word;
}

static void read_owner(void *self, struct smp_thread *waiter, int64_t cpu_ns,
                       struct smp_lock_owner *out)
{
    struct sim *sim = self;
    struct sim_thread *thread = (struct sim_thread *)waiter;

    if (thread->owner_kind != SMP_OWNER_UNKNOWN)
        spend(sim, sim->read_cost_ns);
    thread->owner_reads++;
    *out = (struct smp_lock_owner){ .kind = thread->owner_kind, .is_timed = thread->is_timed };
    if (cpu_ns >= 0 && cpu_of(thread, sim->now_ns) != cpu_ns) {
        out->kind = SMP_OWNER_UNREAD;
        return;
    }
    if (thread->owner != NULL)
        out->serial = thread->owner->fake.thread.serial;
    if (thread->lock != NULL)
        (void)snprintf(out->lock, sizeof(out->lock), "%s", thread->lock);
}

static bool is_starved(const struct sim_thread *thread)
{
    return thread->segments > 0 && thread->is_starved[thread->at];
}

static enum smp_status request(void *self, struct smp_thread *thread, int64_t cpu_ns,
                               uint64_t token)
{
    struct sim *sim = self;
    struct sim_thread *sim_thread = (struct sim_thread *)thread;

    /* The caller cannot have read a later value of the clock. */
    if (cpu_ns >= 0 && cpu_ns > cpu_of(sim_thread, sim->now_ns))
        abort();
    if (sim_thread->request_status != SMP_OK)
        return sim_thread->request_status;
    if (sim_thread->is_answer_pending &&
        cpu_of(sim_thread, sim->now_ns) == sim_thread->pending_cpu_ns)
        return SMP_ESTATE;
    sim_thread->is_answer_pending = false;
    if (thread->os_tid == 0)
        return SMP_EUNSUPPORTED;
    spend(sim, sim->walk_cost_ns / 2);
    sim_stop(sim, sim->stop_in_request_ns);
    sim->stop_in_request_ns = 0;
    sim->counts.requests++;
    sim_thread->requests++;
    if (sim->counts.in_flight == MAX_REQUESTS)
        abort();
    sim->requested[sim->counts.in_flight].token = token;
    sim->requested[sim->counts.in_flight].thread = sim_thread;
    bring_to(sim_thread, sim->now_ns);
    sim->requested[sim->counts.in_flight].stack = stack_of(sim_thread);
    sim->requested[sim->counts.in_flight].cpu_ns = cpu_of(sim_thread, sim->now_ns);
    sim->requested[sim->counts.in_flight].is_starved = is_starved(sim_thread);
    sim->requested[sim->counts.in_flight].answer = sim_thread->answer;
    sim->counts.in_flight++;
    if (sim->counts.in_flight > sim->counts.most_in_flight)
        sim->counts.most_in_flight = sim->counts.in_flight;
    return SMP_OK;
}

static void collect(void *self, int64_t deadline_ns,
                    void (*answered)(void *context, uint64_t token, enum smp_answer answer,
                                     const struct smp_sample *sample,
                                     const struct smp_mounted_thread *mounted),
                    void *context)
{
    struct sim *sim = self;
    struct smp_frame frames[DEPTH];
    const unsigned count = sim->counts.in_flight;

    if (deadline_ns < sim->now_ns)
        abort();
    sim->counts.in_flight = 0;
    for (unsigned i = 0; i < count; i++) {
        struct sim_thread *thread = sim->requested[i].thread;
        struct smp_sample sample = { .frames = frames, .capacity = DEPTH };
        spend(sim, sim->walk_cost_ns / 2);
        fill(thread, sim->requested[i].stack, &sample);
        const struct smp_mounted_thread mounted = { .name = thread->mounted_name, .ref = thread };
        /* The thread has had no CPU since the request. */
        thread->is_answer_pending =
            sim->requested[i].is_starved && cpu_of(thread, sim->now_ns) == sim->requested[i].cpu_ns;
        thread->pending_stack = sim->requested[i].stack;
        thread->pending_cpu_ns = sim->requested[i].cpu_ns;
        answered(context, sim->requested[i].token,
                 thread->is_answer_pending ? SMP_ANSWER_UNANSWERED : sim->requested[i].answer,
                 &sample, thread->has_mounted ? &mounted : NULL);
    }
    sim_stop(sim, sim->stop_in_collect_ns);
    sim->stop_in_collect_ns = 0;
}

static enum smp_status take_late(void *self, struct smp_thread *thread, uint64_t token,
                                 void (*answered)(void *context, uint64_t token,
                                                  enum smp_answer answer,
                                                  const struct smp_sample *sample,
                                                  const struct smp_mounted_thread *mounted),
                                 void *context)
{
    struct sim *sim = self;
    struct sim_thread *sim_thread = (struct sim_thread *)thread;
    struct smp_frame frames[DEPTH];
    struct smp_sample sample = { .frames = frames, .capacity = DEPTH };
    const struct smp_mounted_thread mounted = { .name = sim_thread->mounted_name, .ref = thread };

    if (!sim_thread->is_answer_pending)
        return SMP_EGONE;
    if (cpu_of(sim_thread, sim->now_ns) == sim_thread->pending_cpu_ns)
        return SMP_ESTATE;
    sim_thread->is_answer_pending = false;
    fill(sim_thread, sim_thread->pending_stack, &sample);
    answered(context, token, sim_thread->answer, &sample,
             sim_thread->has_mounted ? &mounted : NULL);
    return SMP_OK;
}

static enum smp_status resolve(void *self, uint64_t method, struct smp_method_info *info)
{
    static char names[2 * MAX_STACKS][16];

    (void)self;
    (void)snprintf(names[method], sizeof(names[method]), "m%u", (unsigned)method - 1);
    *info = (struct smp_method_info){ .class_name = "app.C", .method_name = names[method] };
    return SMP_OK;
}

static void release(void *self, struct smp_method_info *info)
{
    (void)self;
    (void)info;
}

static const char *pseudo_text(void *self, uint64_t method)
{
    (void)self;
    return method == 1 ? "[stub]" : NULL;
}

struct smp_name_source sim_names(struct sim *sim)
{
    return (struct smp_name_source){
        .resolve = resolve,
        .release = release,
        .pseudo_text = pseudo_text,
        .self = sim,
    };
}

/* --- the process's other threads --- */

static void read_os_threads(void *self, bool (*is_java)(void *context, int32_t tid),
                            void (*used)(void *context, enum smp_os_thread_kind kind, uint64_t id,
                                         const char *task_name, int64_t cpu_ns),
                            void *context)
{
    struct sim *sim = self;

    for (size_t i = 0; i < sim->thread_count; i++) {
        if (sim->threads[i]->fake.is_held)
            assert_true(is_java(context, sim->threads[i]->fake.thread.os_tid));
    }
    assert_false(is_java(context, FIRST_TID - 1));
    for (int kind = 0; kind < SMP_OS_THREAD_KIND_COUNT; kind++) {
        if (sim->task_cpu_ns[kind] > 0)
            used(context, (enum smp_os_thread_kind)kind, UINT64_MAX - (uint64_t)kind, "task",
                 sim->task_cpu_ns[kind]);
        sim->task_cpu_ns[kind] = 0;
    }
}

static bool is_runnable(void *self, int32_t tid)
{
    struct sim *sim = self;

    struct sim_thread *thread = sim->threads[tid - FIRST_TID];

    sim->counts.runnable++;
    bring_to(thread, sim->now_ns);
    return thread->is_runnable || is_starved(thread);
}

static bool read_queued_ns(void *self, int32_t tid, int64_t *ns)
{
    struct sim *sim = self;
    struct sim_thread *thread = sim->threads[tid - FIRST_TID];

    sim->counts.queue_reads++;
    if (!sim->has_queues)
        return false;
    bring_to(thread, sim->now_ns);
    *ns = thread->queued_ns;
    return true;
}

static void read_machine_time(void *self, struct smp_machine_time *out)
{
    struct sim *sim = self;

    *out = (struct smp_machine_time){ 0 };
    for (size_t i = 0; i < sim->thread_count && sim->has_stolen; i++) {
        out->worked_ns += cpu_of(sim->threads[i], sim->now_ns);
        out->stolen_ns += sim->threads[i]->stolen_ns;
    }
}

/* --- the machine --- */

/* The fake JVM with the stacks and OS threads of the simulation. */
static struct smp_jvm functions(struct sim *sim)
{
    struct smp_jvm vm = fake_jvm_interface(sim->jvm);

    vm.walker = (struct smp_walker){
        .walk = walk,
        .walk_outside = walk_outside,
        .wait_word = wait_word,
        .self = sim,
    };
    vm.owners = (struct smp_lock_owners){ .read = read_owner, .self = sim };
    vm.cpu = (struct smp_cpu_timers){ 0 };
    vm.names = sim_names(sim);
    vm.name_callback.mounted_name = mounted_name;
    vm.os_threads = (struct smp_os_thread_source){
        .read = read_os_threads,
        .is_runnable = is_runnable,
        .queued_ns = read_queued_ns,
        .machine_time = read_machine_time,
        .self = sim,
    };
    if (sim->has_async)
        vm.async = (struct smp_async_walker){
            .request = request,
            .collect = collect,
            .take_late = take_late,
            .self = sim,
        };
    return vm;
}

static struct sim *create(const char *options, bool has_async, uint64_t seed)
{
    struct sim *sim = must(calloc(1, sizeof(*sim)));

    sim->live_before = smp_alloc_live_bytes();
    sim->jvm = fake_jvm_create();
    sim->has_async = has_async;
    sim->now_ns = START_S * SIM_S + (int64_t)(seed % (uint64_t)SIM_S);
    sim->jitter_percent = 10;
    sim->read_cost_ns = 200;
    sim->walk_cost_ns = 8 * SIM_US;
    sim->tick_cost_ns = 3 * SIM_US;
    sim->random = 88172645463325252u ^ seed;
    sim->seam = (struct smp_clock_fake){
        .ns = read_ns,
        .wall_ms = read_wall_ms,
        .own_cpu_ns = read_own_cpu_ns,
        .process_cpu_ns = read_process_cpu_ns,
        .thread_cpu_ns = read_thread_cpu_ns,
        .self = sim,
    };
    smp_clock_set_fake(&sim->seam);
    smp_quota_init(&sim->quota, (size_t)1 << 40);
    option_text_read(&sim->quota, options, &sim->options);
    sim->interval_ns = sim->options.sampling_frequency_millis * SIM_MS;
    sim->quota.limit_bytes = (size_t)sim->options.memory_limit_bytes;
    assert_int_equal(smp_log_create(&sim->quota, &sim->log), SMP_OK);
    const struct smp_jvm vm = functions(sim);
    assert_int_equal(smp_sampler_create(&sim->quota, sim->log, &vm, &sim->options, &sim->sampler),
                     SMP_OK);
    return sim;
}

struct sim *sim_create(const char *options)
{
    return create(options, true, 0);
}

struct sim *sim_create_random(const char *options, uint64_t seed)
{
    return create(options, true, seed);
}

struct sim *sim_create_without_async(const char *options)
{
    return create(options, false, 0);
}

void sim_destroy(struct sim *sim)
{
    smp_profile_release(sim->profile);
    smp_sampler_destroy(sim->sampler);
    smp_options_fini(&sim->options);
    smp_log_destroy(sim->log);
    smp_clock_set_fake(NULL);
    assert_int_equal(smp_quota_used(&sim->quota), 0);
    assert_int_equal(smp_alloc_live_bytes(), sim->live_before);
    for (size_t i = 0; i < sim->thread_count; i++)
        free(sim->threads[i]->truth_ns);
    fake_jvm_destroy(sim->jvm);
    free(sim->threads);
    free(sim);
}

uint64_t sim_random(struct sim *sim, uint64_t below)
{
    sim->random = sim->random * 6364136223846793005u + 1442695040888963407u;
    return (sim->random >> 33) % below;
}

static void make_tick(struct sim *sim)
{
    const int64_t now_ns = sim->now_ns;

    smp_standstill_slept(&sim->standstill, now_ns, now_ns);
    spend(sim, sim->tick_cost_ns);
    sim->own_cpu_ns += sim->tick_cpu_ns;
    const int64_t stopped_ns = smp_standstill_take(&sim->standstill, sim->tick_ns, now_ns);
    sim->summing_ns = 0;
    smp_sampler_leave_out_stop(sim->sampler, stopped_ns);
    smp_sampler_tick(sim->sampler, now_ns, false);
    smp_standstill_worked(&sim->standstill, sim->now_ns);
    sim->tick_ns = now_ns;
}

void sim_start(struct sim *sim)
{
    for (size_t i = 0; i < sim->thread_count; i++) {
        struct sim_thread *thread = sim->threads[i];
        if (atomic_load(&thread->fake.thread.ended_ns) != 0)
            continue;
        thread->used_ns = sim_used(thread);
        thread->was_read = false;
        thread->is_new = false;
        thread->first_read_ns = thread->last_read_ns = 0;
        bring_to(thread, sim->now_ns);
        memset(thread->truth_ns, 0, MAX_STACKS * sizeof(int64_t));
    }
    smp_sampler_mark(sim->sampler, sim->now_ns, sim->now_ns / SIM_MS);
    smp_standstill_begin(&sim->standstill, sim->now_ns);
    sim->standstill.cpus = SIM_CPUS;
    sim->summing_ns = 0;
    make_tick(sim);
}

void sim_tick(struct sim *sim, int64_t ns)
{
    const int64_t due_ns = sim->tick_ns + ns;

    if (sim->now_ns < due_ns)
        sim->now_ns = due_ns;
    make_tick(sim);
}

void sim_stop(struct sim *sim, int64_t ns)
{
    if (ns == 0)
        return;
    for (size_t i = 0; i < sim->thread_count; i++) {
        struct sim_thread *thread = sim->threads[i];
        bring_to(thread, sim->now_ns);
        thread->segment_ns += ns;
        thread->counted_ns += ns;
    }
    sim->now_ns += ns;
}

static int64_t random_gap_ns(struct sim *sim)
{
    const int64_t spread_ns = sim->interval_ns * sim->jitter_percent / 100;

    return sim->interval_ns - spread_ns + (int64_t)sim_random(sim, (uint64_t)(2 * spread_ns));
}

/* Returns the time until the next tick that has a thread to poll and CPU time to poll it. Other
 * ticks are skipped. */
static int64_t next_gap_ns(struct sim *sim, int64_t left_ns)
{
    const uint64_t most = smp_sampler_idle_ticks(sim->sampler);
    const int64_t throttle_ns = smp_sampler_tick_gap_ns(sim->sampler);
    struct smp_start_listener listen = { .event = NULL };
    int64_t gap_ns = random_gap_ns(sim);
    uint64_t left_out = 0;

    if (smp_sampler_watch(sim->sampler, &listen)) {
        for (; left_out < most && gap_ns < left_ns; left_out++)
            gap_ns += random_gap_ns(sim);
    }
    smp_sampler_unwatch(sim->sampler, &listen, left_out);
    return gap_ns > throttle_ns ? gap_ns : throttle_ns;
}

void sim_run(struct sim *sim, int64_t ns)
{
    const int64_t end_ns = sim->tick_ns + ns;

    while (sim->tick_ns < end_ns) {
        sim_tick(sim, next_gap_ns(sim, end_ns - sim->tick_ns));
    }
}

void sim_pause(struct sim *sim)
{
    smp_sampler_poll_all(sim->sampler);
    make_tick(sim);
    smp_sampler_pause(sim->sampler);
}

void sim_configure(struct sim *sim, const char *options)
{
    struct smp_prepared_options *prepared = NULL;
    struct smp_options wanted;

    option_text_read(&sim->quota, options, &wanted);
    assert_int_equal(smp_prepared_options_create(&sim->quota, &wanted, &prepared), SMP_OK);
    smp_sampler_set_options(sim->sampler, prepared);
    smp_options_fini(&sim->options);
    sim->options = wanted;
}

/* --- reading a snapshot --- */

static const struct smp_group_info *info_at(const struct smp_profile *profile, size_t index)
{
    return smp_thread_groups_info(profile->groups, (struct smp_group){ .index = (uint32_t)index });
}

/* A group's root has no own time, because no format would show it. */
static void assert_is_no_frame(const struct smp_tree *tree, uint32_t root)
{
    const struct smp_amounts own = smp_tree_self_all(tree, root);

    for (int i = 0; i < SMP_MEASURE_COUNT; i++)
        assert_int_equal(own.of[i], 0);
}

/* The states of each node add up to its wall time. */
static void check_states(const struct smp_tree *tree)
{
    if ((smp_tree_measures(tree) & SMP_STATE_MEASURES) == 0)
        return;
    for (uint32_t node = 1; node < smp_tree_node_count(tree); node++) {
        const struct smp_amounts self = smp_tree_self_all(tree, node);
        int64_t states_ns = 0;
        for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++)
            states_ns += self.of[smp_measure_of_state((enum smp_thread_state)i)];
        assert_int_equal(states_ns, self.of[SMP_MEASURE_WALL]);
    }
}

/* All blocked time is charged to holders. */
static void check_holders(const struct smp_profile *profile)
{
    int64_t held_ns = 0;

    for (size_t i = 0; i < smp_thread_groups_count(profile->groups); i++) {
        const struct smp_group_info *info = info_at(profile, i);
        if (info->kind == SMP_GROUP_HOLDERS && info->root != 0)
            held_ns += tree_wall(profile->tree, info->root);
    }
    assert_int_equal(held_ns, smp_profile_total(profile, SMP_MEASURE_BLOCKED));
}

static void check_sums(const struct smp_profile *profile)
{
    const struct smp_node *nodes = smp_tree_nodes(profile->tree);
    struct smp_tally tally = { 0 };
    uint64_t samples = 0;
    int64_t wall_ns = 0;
    int64_t cpu_ns = 0;

    for (size_t i = 0; i < smp_thread_groups_count(profile->groups); i++) {
        const struct smp_group_info *info = info_at(profile, i);
        assert_int_equal(info->tally.polls, tally_sum(&info->tally));
        assert_int_equal(info->unseen.amount, 0);
        smp_tally_add(&tally, &info->tally);
        wall_ns += info->root == 0 ? 0 : tree_wall(profile->tree, info->root);
        cpu_ns += info->root == 0 ? 0 : tree_cpu(profile->tree, info->root);
    }
    for (uint32_t i = 0; i < smp_tree_node_count(profile->tree); i++) {
        samples += tree_own_samples(profile->tree, i);
        if ((nodes[i].location & SMP_LOCATION_GROUP) != 0)
            assert_is_no_frame(profile->tree, i);
    }
    check_states(profile->tree);
    check_holders(profile);
    assert_memory_equal(&tally, &profile->tally, sizeof(tally));
    assert_int_equal(smp_tally_samples(&tally), samples);
    assert_int_equal(wall_ns, tree_wall(profile->tree, 0));
    assert_int_equal(cpu_ns, tree_cpu(profile->tree, 0));
}

const struct smp_profile *sim_finish(struct sim *sim)
{
    smp_profile_release(sim->profile);
    sim->profile = NULL;
    assert_int_equal(
        smp_sampler_finish_interval(sim->sampler, sim->now_ns, sim->now_ns / SIM_MS, &sim->profile),
        SMP_OK);
    check_sums(sim->profile);
    return sim->profile;
}

static const struct smp_group_info *group_of_kind(const struct sim *sim, const char *group,
                                                  enum smp_group_kind kind)
{
    for (size_t i = 0; i < smp_thread_groups_count(sim->profile->groups); i++) {
        const struct smp_group_info *info = info_at(sim->profile, i);
        if (info->kind == kind && strcmp(info->name, group) == 0)
            return info;
    }
    return NULL;
}

const struct smp_group_info *sim_group(const struct sim *sim, const char *group)
{
    return group_of_kind(sim, group, SMP_GROUP_SAMPLED);
}

const struct smp_group_info *sim_holders(const struct sim *sim, const char *group)
{
    return group_of_kind(sim, group, SMP_GROUP_HOLDERS);
}

uint64_t sim_outcome(const struct sim *sim, const char *group, enum smp_outcome which)
{
    return sim_group(sim, group)->tally.outcomes[which];
}

/* Returns the own amounts of all nodes of the group with this text; NULL: the group's totals. */
static struct smp_amounts sum_in(const struct sim *sim, const struct smp_group_info *info,
                                 const char *text)
{
    struct smp_amounts sums = { 0 };
    const struct smp_profile *profile = sim->profile;
    const struct smp_node *nodes = smp_tree_nodes(profile->tree);
    uint32_t in_group = 0; /* the nodes below a root come after it and refer to their parents */

    if (info == NULL || info->root == 0)
        return sums;
    if (text == NULL) {
        for (int i = 0; i < SMP_MEASURE_COUNT; i++)
            sums.of[i] =
                smp_column_at(smp_tree_column(profile->tree, (enum smp_measure)i), info->root);
        return sums;
    }
    for (uint32_t i = info->root + 1; i < smp_tree_node_count(profile->tree); i++) {
        struct smp_location_view view;
        for (in_group = i; nodes[in_group].parent != 0;)
            in_group = nodes[in_group].parent;
        if (in_group != info->root || i == info->root)
            continue;
        if ((nodes[i].location & SMP_LOCATION_GROUP) != 0)
            continue;
        smp_methods_view(profile->methods, nodes[i].location, &view);
        if (strcmp(view.is_pseudo ? view.class_name : view.method_name, text) != 0)
            continue;
        const struct smp_amounts self = smp_tree_self_all(profile->tree, i);
        smp_amounts_add(&sums, &self);
    }
    return sums;
}

static struct smp_amounts sum(const struct sim *sim, const char *group, const char *text)
{
    return sum_in(sim, sim_group(sim, group), text);
}

int64_t sim_held(const struct sim *sim, const char *group, int stack)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "m%d", stack);
    return sum_in(sim, sim_holders(sim, group), stack < 0 ? NULL : text).of[SMP_MEASURE_WALL];
}

int64_t sim_held_by(const struct sim *sim, const char *row)
{
    return sum_in(sim, sim_holders(sim, "[unknown]"), row).of[SMP_MEASURE_WALL];
}

static int64_t sum_of_stack(const struct sim *sim, const char *group, int stack,
                            enum smp_measure measure)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "m%d", stack);
    return sum(sim, group, stack < 0 ? NULL : text).of[measure];
}

int64_t sim_wall(const struct sim *sim, const char *group, int stack)
{
    return sum_of_stack(sim, group, stack, SMP_MEASURE_WALL);
}

int64_t sim_cpu(const struct sim *sim, const char *group, int stack)
{
    return sum_of_stack(sim, group, stack, SMP_MEASURE_CPU);
}

int64_t sim_state(const struct sim *sim, const char *group, int stack, enum smp_thread_state state)
{
    return sum_of_stack(sim, group, stack, smp_measure_of_state(state));
}

int64_t sim_wall_of(const struct sim *sim, const char *group, const char *text)
{
    return sum(sim, group, text).of[SMP_MEASURE_WALL];
}

int64_t sim_truth(struct sim *sim, struct sim_thread *thread, int stack)
{
    bring_to(thread, sim->tick_ns);
    return thread->truth_ns[stack];
}

int64_t sim_used(const struct sim_thread *thread)
{
    return thread->used_ns + (thread->was_read ? thread->last_read_ns - thread->first_read_ns : 0);
}
