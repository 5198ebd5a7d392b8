/* SPDX-License-Identifier: Apache-2.0 */
#include "support/report_fixture.h"
#include "support/tree_amounts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    PART_BYTES = 1 << 22, /* for each part of the interval: more than any test needs */
    BUCKETS = 1 << 12
};

/* One parsed frame text; chained in its bucket. */
struct name {
    struct name *next;
    char *text;
    char *class_name;
    char *method_name;
    char *file;
    char *descriptor; /* NULL: not known */
    struct smp_line line;
    bool is_native;
    int64_t since_ms;
};

/* One observed thread. Its name determines its serial. */
struct thread {
    struct thread *next;
    char *name;
    uint64_t serial;
};

struct report_fixture {
    struct smp_filter *filter;
    struct smp_methods *methods;
    struct smp_tree *tree;
    struct smp_thread_groups *groups;
    struct smp_profile_counts counts;
    struct smp_lock_times *lock_times;
    struct smp_profile *profile;
    struct name *names[BUCKETS];
    struct thread *threads[BUCKETS];
    uint64_t serials;
    bool has_states;
    enum smp_thread_state spent; /* the state of the time that is added */
    struct recording recording;
};

/* --- the outputer --- */

static void write_down(struct recording *recording, const char *text, size_t length)
{
    if (length >= recording->capacity - recording->length) {
        recording->capacity = 2 * (recording->length + length + 1);
        recording->text = realloc(recording->text, recording->capacity);
        assert_non_null(recording->text);
    }
    memcpy(recording->text + recording->length, text, length);
    recording->length += length;
    recording->text[recording->length] = '\0';
}

static bool answer(struct recording *recording)
{
    return ++recording->calls != recording->fail_at;
}

static bool on_title(void *self, int64_t from_wall_ms, int64_t till_wall_ms)
{
    char line[100];
    const int length = snprintf(line, sizeof(line), "title %lld %lld\n", (long long)from_wall_ms,
                                (long long)till_wall_ms);

    write_down(self, line, (size_t)length);
    return answer(self);
}

static bool on_record(void *self, const char *title, size_t title_length, const char *rows,
                      size_t rows_length)
{
    assert_int_equal(strlen(title), title_length);
    assert_int_equal(strlen(rows), rows_length);
    write_down(self, "== ", 3);
    write_down(self, title, title_length);
    write_down(self, "\n", 1);
    write_down(self, rows, rows_length);
    return answer(self);
}

static bool on_flush(void *self)
{
    write_down(self, "flush\n", 6);
    return answer(self);
}

static void on_message(void *self, enum smp_log_level level, const char *text)
{
    (void)self;
    (void)level;
    fail_msg("a report sends no message: %s", text);
}

struct smp_outputer recording_outputer(struct recording *recording)
{
    return (struct smp_outputer){ .title = on_title,
                                  .record = on_record,
                                  .flush = on_flush,
                                  .message = on_message,
                                  .self = recording };
}

void recording_clear(struct recording *recording)
{
    write_down(recording, "", 0);
    recording->length = 0;
    recording->text[0] = '\0';
    recording->calls = 0;
}

void recording_fini(struct recording *recording)
{
    free(recording->text);
    *recording = (struct recording){ 0 };
}

/* --- names --- */

static size_t bucket_of(const char *text)
{
    uint32_t hash = 2166136261u;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash % BUCKETS;
}

/* Parses a frame. a.B.c(B.java:12): class a.B, method c, file B.java, line 12. (Unknown
 * Source:12): no file, and a line that is not printed. a.B.c#I#(B.java:12): its parameter is an
 * int. */
static struct name *take_apart(const char *text)
{
    struct name *name = calloc(1, sizeof(*name));
    const char *place = strchr(text, '(');
    assert_non_null(name);
    assert_non_null(place);
    const char *const sharp = memchr(text, '#', (size_t)(place - text));
    const char *const end = sharp == NULL ? place : sharp;
    const char *dot = memrchr(text, '.', (size_t)(end - text));
    assert_non_null(dot);

    name->text = strdup(text);
    name->class_name = strndup(text, (size_t)(dot - text));
    name->method_name = strndup(dot + 1, (size_t)(end - dot - 1));
    if (sharp != NULL)
        assert_true(asprintf(&name->descriptor, "(%.*s)V", (int)(place - sharp) - 2, sharp + 1) >
                    0);
    name->is_native = strcmp(place, "(Native Method)") == 0;
    if (!name->is_native && strncmp(place, "(Unknown Source", 15) != 0)
        name->file = strndup(place + 1, strcspn(place + 1, ":)"));
    const char *colon = strchr(place, ':');
    name->line.line = colon == NULL ? 0 : atoi(colon + 1);
    return name;
}

static struct name *name_of(struct report_fixture *fixture, const char *text)
{
    struct name **bucket = &fixture->names[bucket_of(text)];

    for (struct name *name = *bucket; name != NULL; name = name->next) {
        if (strcmp(name->text, text) == 0)
            return name;
    }
    struct name *name = take_apart(text);
    name->next = *bucket;
    *bucket = name;
    return name;
}

/* The key of a method is the address of its name. */
static enum smp_status resolve(void *self, uint64_t method, struct smp_method_info *info)
{
    const struct name *name = (const struct name *)(uintptr_t)method;

    (void)self;
    *info = (struct smp_method_info){ .class_name = name->class_name,
                                      .method_name = name->method_name,
                                      .file = name->file,
                                      .is_native = name->is_native,
                                      .lines = name->line.line > 0 ? &name->line : NULL,
                                      .line_count = name->line.line > 0 ? 1 : 0,
                                      .descriptor = name->descriptor,
                                      .since_ms = name->since_ms };
    return SMP_OK;
}

static void release(void *self, struct smp_method_info *info)
{
    (void)self;
    (void)info;
}

static uint32_t location_of(struct report_fixture *fixture, const char *text)
{
    const struct smp_name_source source = { .resolve = resolve, .release = release };

    if (text[0] == '[')
        return smp_methods_pseudo(fixture->methods, text);
    const struct name *name = name_of(fixture, text);
    const struct smp_frame frame = { .method = (uint64_t)(uintptr_t)name,
                                     .bci = name->is_native ? -1 : 0 };
    return smp_methods_locate(fixture->methods, &source, &frame);
}

/* --- the interval --- */

static void end_interval(struct report_fixture *fixture)
{
    smp_profile_release(fixture->profile);
    smp_tree_destroy(fixture->tree);
    smp_thread_groups_destroy(fixture->groups);
    smp_profile_counts_fini(&fixture->counts);
    smp_lock_times_destroy(fixture->lock_times);
    fixture->lock_times = NULL;
    fixture->profile = NULL;
    fixture->tree = NULL;
    fixture->groups = NULL;
    fixture->counts = (struct smp_profile_counts){ 0 };
}

void report_fixture_begin_with(struct report_fixture *fixture, uint32_t measures)
{
    end_interval(fixture);
    fixture->has_states = (measures & SMP_STATE_MEASURES) != 0;
    fixture->spent = SMP_STATE_RUNNING;
    assert_int_equal(smp_tree_create(NULL, measures, PART_BYTES, &fixture->tree), SMP_OK);
    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &fixture->groups), SMP_OK);
}

void report_fixture_begin(struct report_fixture *fixture)
{
    report_fixture_begin_with(fixture, SMP_SAMPLED_MEASURES);
}

void report_fixture_begin_counting(struct report_fixture *fixture)
{
    report_fixture_begin_with(fixture, SMP_SAMPLED_MEASURES | SMP_MEASURE_BIT(SMP_MEASURE_CALLS));
}

struct report_fixture *report_fixture_create(void)
{
    struct report_fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    assert_int_equal(smp_filter_create(NULL, "", &fixture->filter), SMP_OK);
    assert_int_equal(smp_methods_create(NULL, PART_BYTES, fixture->filter, &fixture->methods),
                     SMP_OK);
    report_fixture_begin(fixture);
    return fixture;
}

void report_fixture_monitor(struct report_fixture *fixture, const char *packages)
{
    struct smp_filter *const old = fixture->filter;

    assert_int_equal(smp_filter_create(NULL, packages, &fixture->filter), SMP_OK);
    smp_methods_set_filter(fixture->methods, fixture->filter);
    smp_filter_destroy(old);
}

static void free_names(struct name *name)
{
    while (name != NULL) {
        struct name *next = name->next;
        free(name->text);
        free(name->class_name);
        free(name->method_name);
        free(name->descriptor);
        free(name->file);
        free(name);
        name = next;
    }
}

static void free_threads(struct thread *thread)
{
    while (thread != NULL) {
        struct thread *next = thread->next;
        free(thread->name);
        free(thread);
        thread = next;
    }
}

void report_fixture_destroy(struct report_fixture *fixture)
{
    end_interval(fixture);
    smp_methods_release(fixture->methods);
    smp_filter_destroy(fixture->filter);
    recording_fini(&fixture->recording);
    for (size_t i = 0; i < BUCKETS; i++) {
        free_names(fixture->names[i]);
        free_threads(fixture->threads[i]);
    }
    free(fixture);
}

int report_fixture_setup(void **state)
{
    *state = report_fixture_create();
    return 0;
}

int report_fixture_setup_states(void **state)
{
    (void)report_fixture_setup(state);
    report_fixture_begin_with(*state, REPORT_FIXTURE_STATES);
    return 0;
}

int report_fixture_setup_counting(void **state)
{
    (void)report_fixture_setup(state);
    report_fixture_begin_counting(*state);
    return 0;
}

int report_fixture_teardown(void **state)
{
    report_fixture_destroy(*state);
    return 0;
}

static uint64_t serial_of(struct report_fixture *fixture, const char *name)
{
    struct thread **bucket = &fixture->threads[bucket_of(name)];

    for (struct thread *thread = *bucket; thread != NULL; thread = thread->next) {
        if (strcmp(thread->name, name) == 0)
            return thread->serial;
    }
    struct thread *thread = calloc(1, sizeof(*thread));
    assert_non_null(thread);
    *thread = (struct thread){ .next = *bucket, .name = strdup(name) };
    thread->serial = ++fixture->serials;
    *bucket = thread;
    return thread->serial;
}

static struct smp_group_info *group_of(struct report_fixture *fixture, struct smp_group_key key)
{
    const struct smp_group group = smp_thread_groups_find(fixture->groups, key);
    struct smp_group_info *info = smp_thread_groups_info(fixture->groups, group);

    if (info->root == 0)
        assert_int_equal(smp_tree_root(fixture->tree, group.index, &info->root), SMP_OK);
    return info;
}

struct smp_group_info *report_fixture_group(struct report_fixture *fixture, const char *name)
{
    return group_of(fixture, (struct smp_group_key){ .name = name });
}

struct smp_group_info *report_fixture_counted_group(struct report_fixture *fixture,
                                                    const char *name)
{
    return group_of(fixture, (struct smp_group_key){ .name = name, .kind = SMP_GROUP_COUNTED });
}

uint32_t report_fixture_count(struct report_fixture *fixture, const char *group, const char *stack,
                              int64_t calls, int64_t wall_ns, int64_t cpu_ns)
{
    const struct smp_group_key key = { .name = group, .kind = SMP_GROUP_COUNTED };
    struct smp_group_info *const info = report_fixture_counted_group(fixture, group);
    char *copy = strdup(stack);
    char *rest = copy;
    uint64_t depth = 0;
    uint32_t node = info->root;

    for (char *frame = strsep(&rest, "|"); frame != NULL; frame = strsep(&rest, "|")) {
        const uint32_t location = location_of(fixture, frame);
        assert_int_equal(smp_tree_add(fixture->tree, node, &location, 1, &node), SMP_OK);
        depth++;
    }
    smp_thread_groups_see(fixture->groups, smp_thread_groups_find(fixture->groups, key),
                          serial_of(fixture, group), group);
    tree_credit(fixture->tree, node, wall_ns, cpu_ns, 0);
    smp_tree_credit(fixture->tree, node, SMP_MEASURE_CALLS, calls);
    if (depth > info->max_depth)
        info->max_depth = depth;
    free(copy);
    return node;
}

void report_fixture_since(struct report_fixture *fixture, const char *frame, int64_t since_ms)
{
    name_of(fixture, frame)->since_ms = since_ms;
}

void report_fixture_late(struct report_fixture *fixture, uint32_t node, int64_t calls)
{
    const struct smp_caller_call late = { .node = node, .calls = calls };

    assert_int_equal(smp_profile_counts_add_caller(&fixture->counts, NULL, &late), SMP_OK);
}

struct smp_root_times *report_fixture_root_times(struct report_fixture *fixture)
{
    if (fixture->counts.root_times == NULL)
        assert_int_equal(smp_root_times_create(NULL, &fixture->counts.root_times), SMP_OK);
    return fixture->counts.root_times;
}

struct smp_counting_account *report_fixture_counting(struct report_fixture *fixture)
{
    if (fixture->counts.account == NULL)
        assert_int_equal(smp_counting_account_create(NULL, &fixture->counts.account), SMP_OK);
    return fixture->counts.account;
}

void report_fixture_see(struct report_fixture *fixture, const char *group, const char *thread)
{
    smp_thread_groups_see(
        fixture->groups,
        smp_thread_groups_find(fixture->groups, (struct smp_group_key){ .name = group }),
        serial_of(fixture, thread), thread);
}

void report_fixture_note(struct report_fixture *fixture, const char *group,
                         enum smp_outcome outcome)
{
    smp_tally_note(&report_fixture_group(fixture, group)->tally, outcome);
}

uint32_t report_fixture_add(struct report_fixture *fixture, const char *group, uint32_t parent,
                            const char *frame, int64_t wall_ns)
{
    const uint32_t location = location_of(fixture, frame);
    uint32_t node = parent != 0 ? parent : report_fixture_group(fixture, group)->root;

    assert_int_equal(smp_tree_add(fixture->tree, node, &location, 1, &node), SMP_OK);
    tree_credit(fixture->tree, node, fixture->has_states ? 0 : wall_ns, 0, 1);
    if (fixture->has_states)
        smp_tree_credit_wall(fixture->tree, node, fixture->spent, wall_ns);
    return node;
}

void report_fixture_ran(struct report_fixture *fixture, uint32_t node, int64_t cpu_ns,
                        uint32_t samples)
{
    tree_credit(fixture->tree, node, 0, cpu_ns, samples);
}

uint32_t report_fixture_credit(struct report_fixture *fixture, const char *group,
                               const char *thread, const char *stack, int64_t wall_ns)
{
    char *copy = strdup(stack);
    char *rest = copy;
    uint64_t depth = 0;
    uint32_t node = 0;

    report_fixture_see(fixture, group, thread);
    report_fixture_note(fixture, group, SMP_OUTCOME_WALKED);
    for (char *frame = strsep(&rest, "|"); frame != NULL; frame = strsep(&rest, "|")) {
        node = report_fixture_add(fixture, group, node, frame, rest == NULL ? wall_ns : 0);
        depth++;
    }
    struct smp_group_info *info = report_fixture_group(fixture, group);
    if (depth > info->max_depth)
        info->max_depth = depth;
    free(copy);
    return node;
}

uint32_t report_fixture_wait(struct report_fixture *fixture, const char *group, const char *thread,
                             const char *stack, enum smp_thread_state state, int64_t wall_ns)
{
    fixture->spent = state;
    return report_fixture_credit(fixture, group, thread, stack, wall_ns);
}

void report_fixture_hold(struct report_fixture *fixture, const char *lock, const char *waiting,
                         const char *group, const char *stack, int64_t ns)
{
    const struct smp_group_key key = { .name = group, .kind = SMP_GROUP_HOLDERS };
    const char *const last = strrchr(stack, '|');
    const struct smp_lock_time time = {
        .lock = smp_methods_pseudo(fixture->methods, lock),
        .waiting = location_of(fixture, waiting),
        .holding = location_of(fixture, last == NULL ? stack : last + 1),
        .ns = ns,
    };
    char *copy = strdup(stack);
    char *rest = copy;
    uint32_t node = group_of(fixture, key)->root;

    for (char *frame = strsep(&rest, "|"); frame != NULL; frame = strsep(&rest, "|")) {
        const uint32_t location = location_of(fixture, frame);
        assert_int_equal(smp_tree_add(fixture->tree, node, &location, 1, &node), SMP_OK);
    }
    smp_tree_credit_wall(fixture->tree, node, SMP_STATE_BLOCKED, ns);
    if (fixture->lock_times == NULL)
        assert_int_equal(smp_lock_times_create(NULL, time.lock, &fixture->lock_times), SMP_OK);
    assert_int_equal(smp_lock_times_add(fixture->lock_times, &time), SMP_OK);
    free(copy);
}

struct smp_profile *report_fixture_finish(struct report_fixture *fixture)
{
    if (fixture->profile != NULL)
        return fixture->profile;
    assert_int_equal(smp_profile_create(NULL, fixture->tree, fixture->groups, fixture->methods,
                                        &fixture->profile),
                     SMP_OK);
    fixture->tree = NULL;
    fixture->groups = NULL;
    fixture->profile->counts = fixture->counts;
    fixture->counts = (struct smp_profile_counts){ 0 };
    fixture->profile->lock_times = fixture->lock_times;
    fixture->lock_times = NULL;
    fixture->profile->from_wall_ms = 1000;
    fixture->profile->till_wall_ms = 2000;
    fixture->profile->elapsed_ns = 1000 * MS;
    return fixture->profile;
}

const char *report_fixture_print(struct report_fixture *fixture, struct smp_export_style style)
{
    const struct smp_outputer outputer = recording_outputer(&fixture->recording);
    unsigned cut = 0;

    recording_clear(&fixture->recording);
    assert_int_equal(smp_report_text(report_fixture_finish(fixture), style, NULL, &outputer, &cut),
                     SMP_OK);
    assert_int_equal(cut, 0);
    return fixture->recording.text;
}

size_t report_fixture_printed(const struct report_fixture *fixture)
{
    return fixture->recording.length;
}
