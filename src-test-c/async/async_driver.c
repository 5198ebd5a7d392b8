/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The asynchronous walker alone, in a JVM, without the core: asks one thread a thousand times a
 * second, as long as it runs, and tells what came of it. See AsyncDriver.java and run.sh.
 */
#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "vm/vm.h"
#include "vm/vm_async.h"
#include "vm/vm_code.h"
#include "vm/vm_ids.h"
#include "vm/vm_methods.h"
#include "vm/vm_signal.h"
#include "vm/vm_threads.h"
#include "vm/walker_async.h"

enum { MAX_SAMPLES = 100000, MAX_ROWS = 2000, TEXT_BYTES = 512, TOP = 2, MAX_THREADS = 20000 };

static const char *const answer_names[SMP_ANSWER_COUNT] = {
#define X(code, outcome) #code,
    SMP_ANSWER_MAP(X)
#undef X
};

struct record {
    enum smp_answer answer;
    uint32_t count;
    struct smp_frame top[TOP];
    struct smp_frame root;
    char group[40];
};

static struct {
    struct smp_walker_async *walker;
    struct smp_vm_methods *methods;
    struct smp_thread *threads[MAX_THREADS];
    size_t thread_count;
    uint64_t cursor;
    struct smp_thread *wanted;
    int32_t hertz;
    bool always; /* also while it does not run */
    _Atomic bool stop;
    pthread_t thread;
    struct record *records;
    size_t count;
    uint64_t refused[SMP_STATUS_COUNT];
    uint64_t idle;
    int64_t cpu_ns;
    struct smp_walker_async_stats before;
} driver;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, void *reserved);
JNIEXPORT jstring JNICALL Java_AsyncDriver_open(JNIEnv *env, jclass self);
JNIEXPORT void JNICALL Java_AsyncDriver_close(JNIEnv *env, jclass self);
JNIEXPORT void JNICALL Java_AsyncDriver_start(JNIEnv *env, jclass self, jlong id, jint hertz,
                                              jboolean always);
JNIEXPORT jstring JNICALL Java_AsyncDriver_stop(JNIEnv *env, jclass self);
JNIEXPORT jint JNICALL Java_AsyncDriver_tid(JNIEnv *env, jclass self, jlong id);
JNIEXPORT jlong JNICALL Java_AsyncDriver_handshake(JNIEnv *env, jclass self, jlong id,
                                                   jboolean all);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, void *reserved)
{
    (void)reserved;
    smp_vm_loaded(java_vm);
    return SMP_VM_JNI_VERSION;
}

static bool born(void *context, struct smp_thread *thread)
{
    (void)context;
    if (driver.thread_count == MAX_THREADS)
        return false;
    driver.threads[driver.thread_count++] = thread;
    return true;
}

static void poll_threads(void)
{
    const struct smp_thread_source source = smp_vm_threads_source();
    uint64_t unseen = 0;

    (void)!source.poll(source.self, &driver.cursor, &unseen, born, NULL);
}

static struct smp_thread *find_thread(int64_t id)
{
    poll_threads();
    for (size_t i = 0; i < driver.thread_count; i++) {
        if (smp_vm_threads_java_id(driver.threads[i]) == id)
            return driver.threads[i];
    }
    return NULL;
}

/* What was refused, and the cost of opening. */
JNIEXPORT jstring JNICALL Java_AsyncDriver_open(JNIEnv *env, jclass self)
{
    char refusal[SMP_ASYNC_REFUSAL_BYTES] = "";
    char text[TEXT_BYTES];
    struct smp_vm_code_stats code;
    const int64_t start_ns = smp_clock_ns();

    (void)self;
    if (smp_vm_open() != SMP_OK)
        return (*env)->NewStringUTF(env, "vm refused");
    const int64_t vm_ns = smp_clock_ns();
    (void)!smp_vm_async_open(0);
    const int64_t async_ns = smp_clock_ns();
    smp_vm_async_refusal(refusal);
    if (smp_walker_async_create(1024, 0, &driver.walker) != SMP_OK ||
        smp_vm_methods_create(&driver.methods) != SMP_OK)
        return (*env)->NewStringUTF(env, "no memory");
    driver.records = calloc(MAX_SAMPLES, sizeof(*driver.records));
    smp_vm_code_get_stats(&code);
    (void)snprintf(text, sizeof(text),
                   "vm %.1f ms, async %.1f ms, refusal \"%s\", layout %s, code: %zu pieces %zu "
                   "names %zu KB",
                   (double)(vm_ns - start_ns) / 1e6, (double)(async_ns - vm_ns) / 1e6, refusal,
                   smp_vm_async_get()->layout.env_offset != 0 ? "known" : "unknown", code.pieces,
                   code.names, code.bytes / 1024);
    return (*env)->NewStringUTF(env, text);
}

JNIEXPORT void JNICALL Java_AsyncDriver_close(JNIEnv *env, jclass self)
{
    const struct smp_thread_source source = smp_vm_threads_source();

    (void)env;
    (void)self;
    for (size_t i = 0; i < driver.thread_count; i++)
        source.drop(source.self, driver.threads[i]);
    driver.thread_count = 0;
    driver.cursor = 0;
    smp_walker_async_destroy(driver.walker);
    smp_vm_methods_destroy(driver.methods);
    free(driver.records);
    smp_vm_async_close();
    smp_vm_close();
}

JNIEXPORT jint JNICALL Java_AsyncDriver_tid(JNIEnv *env, jclass self, jlong id)
{
    struct smp_thread *thread = find_thread(id);

    (void)env;
    (void)self;
    return thread != NULL ? thread->os_tid : -1;
}

/* The time it takes to make all ids, or else one GetStackTrace. */
JNIEXPORT jlong JNICALL Java_AsyncDriver_handshake(JNIEnv *env, jclass self, jlong id, jboolean all)
{
    static jvmtiFrameInfo frames[1024];
    jvmtiEnv *jvmti = smp_vm_jvmti();
    jthread thread = smp_vm_threads_ref(find_thread(id));
    const int64_t start_ns = smp_clock_ns();
    jint got = 0;

    (void)self;
    if (all)
        (void)!smp_vm_ids_make_all(env);
    else
        (void)(*jvmti)->GetStackTrace(jvmti, thread, 0, 1024, frames, &got);
    return smp_clock_ns() - start_ns;
}

static void answered(void *context, uint64_t token, enum smp_answer answer,
                     const struct smp_sample *sample, const struct smp_guest *guest)
{
    struct record *record = &driver.records[driver.count];

    (void)context;
    (void)token;
    if (driver.count == MAX_SAMPLES)
        return;
    *record = (struct record){ .answer = answer, .count = (uint32_t)sample->count };
    for (size_t i = 0; i < TOP && i < sample->count; i++)
        record->top[i] = sample->frames[i];
    if (sample->count > 0)
        record->root = sample->frames[sample->count - 1];
    if (guest != NULL)
        (void)snprintf(record->group, sizeof(record->group), "%.38s",
                       guest->name != NULL ? guest->name : "[virtual threads]");
    driver.count++;
}

static void *sample(void *self)
{
    const struct smp_async_walker walker = smp_walker_async_functions(driver.walker);
    const struct timespec pause = { .tv_nsec = 1000000000L / driver.hertz };
    int64_t last_ns = 0;
    int64_t ns = 0;

    (void)self;
    if (smp_vm_enter("driver") != SMP_OK)
        return NULL;
    while (!driver.stop) {
        (void)nanosleep(&pause, NULL);
        if (!smp_clock_thread_cpu_ns(driver.wanted->os_tid, &ns) ||
            (ns == last_ns && !driver.always)) {
            driver.idle++;
            continue;
        }
        last_ns = ns;
        const enum smp_status status = walker.request(walker.self, driver.wanted, 1);
        driver.refused[status]++;
        walker.collect(walker.self, smp_clock_ns() + 20000000, answered, NULL);
    }
    driver.cpu_ns = smp_clock_own_cpu_ns();
    smp_vm_leave();
    return NULL;
}

JNIEXPORT void JNICALL Java_AsyncDriver_start(JNIEnv *env, jclass self, jlong id, jint hertz,
                                              jboolean always)
{
    (void)env;
    (void)self;
    driver.wanted = find_thread(id);
    driver.hertz = hertz;
    driver.always = always;
    driver.stop = false;
    driver.count = 0;
    driver.idle = 0;
    memset(driver.refused, 0, sizeof(driver.refused));
    smp_walker_async_get_stats(driver.walker, &driver.before);
    smp_signal_process.timed = 0;
    smp_signal_process.timed_ns = 0;
    if (driver.wanted == NULL || pthread_create(&driver.thread, NULL, sample, NULL) != 0)
        abort();
}

/* -------------------------------------------------------------------------------------- the result
 */

static int line_of(const struct smp_method_info *info, int64_t bci)
{
    int line = -1;
    int64_t best = -1;

    for (size_t i = 0; i < info->line_count; i++) {
        if (info->lines[i].start_bci <= bci && info->lines[i].start_bci > best) {
            best = info->lines[i].start_bci;
            line = info->lines[i].line;
        }
    }
    return line;
}

static void frame_text(struct smp_frame frame, char *out, size_t size)
{
    const struct smp_name_source names = smp_vm_methods_source(driver.methods);
    struct smp_method_info info;

    if (frame.bci == SMP_BCI_PSEUDO) {
        const char *text = names.pseudo_text(names.self, frame.method);
        (void)snprintf(out, size, "%s", text != NULL ? text : "[?]");
    } else if (frame.method == 0) {
        (void)snprintf(out, size, "-");
    } else if (names.resolve(names.self, frame.method, &info) == SMP_OK) {
        (void)snprintf(out, size, "%s.%s:%d", info.class_name, info.method_name,
                       line_of(&info, frame.bci));
        names.release(names.self, &info);
    } else {
        (void)snprintf(out, size, "?");
    }
}

struct row {
    char text[TEXT_BYTES];
    size_t count;
};

static void add_row(struct row *rows, size_t *count, const char *text)
{
    size_t i = 0;

    while (i < *count && strcmp(rows[i].text, text) != 0)
        i++;
    if (i == MAX_ROWS)
        return;
    if (i == *count) {
        (void)snprintf(rows[i].text, TEXT_BYTES, "%s", text);
        rows[i].count = 0;
        (*count)++;
    }
    rows[i].count++;
}

static int by_count(const void *left, const void *right)
{
    const struct row *a = left;
    const struct row *b = right;

    return (a->count < b->count) - (a->count > b->count);
}

/* Lines: count TAB answer TAB leaf TAB its caller TAB root TAB group; then figures. */
JNIEXPORT jstring JNICALL Java_AsyncDriver_stop(JNIEnv *env, jclass self)
{
    struct row *rows = calloc(MAX_ROWS, sizeof(*rows));
    char *text = NULL;
    size_t length = 0;
    size_t row_count = 0;
    struct smp_walker_async_stats stats;
    struct smp_signal_price price;

    (void)self;
    driver.stop = true;
    (void)pthread_join(driver.thread, NULL);
    for (size_t i = 0; i < driver.count; i++) {
        const struct record *record = &driver.records[i];
        char parts[3][120];
        char line[TEXT_BYTES];
        frame_text(record->top[0], parts[0], sizeof(parts[0]));
        frame_text(record->top[1], parts[1], sizeof(parts[1]));
        frame_text(record->root, parts[2], sizeof(parts[2]));
        (void)snprintf(line, sizeof(line), "%s\t%s\t%s\t%s\t%s", answer_names[record->answer],
                       parts[0], parts[1], parts[2], record->group);
        add_row(rows, &row_count, line);
    }
    qsort(rows, row_count, sizeof(*rows), by_count);
    FILE *out = open_memstream(&text, &length);
    for (size_t i = 0; i < row_count; i++)
        (void)fprintf(out, "%zu\t%s\n", rows[i].count, rows[i].text);
    smp_walker_async_get_stats(driver.walker, &stats);
    smp_vm_signal_get_price(&price);
    (void)fprintf(out,
                  "#idle %llu requests %llu raw %llu second %llu cures %llu handler_ns %llu "
                  "sampler_us %lld gone %llu state %llu quota %llu unsupported %llu\n",
                  (unsigned long long)driver.idle,
                  (unsigned long long)(stats.requests - driver.before.requests),
                  (unsigned long long)(stats.raw_failures - driver.before.raw_failures),
                  (unsigned long long)(stats.second_looks - driver.before.second_looks),
                  (unsigned long long)(stats.cures - driver.before.cures),
                  (unsigned long long)(price.timed > 0 ? price.timed_ns / price.timed : 0),
                  (long long)(driver.cpu_ns / 1000), (unsigned long long)driver.refused[SMP_EGONE],
                  (unsigned long long)driver.refused[SMP_ESTATE],
                  (unsigned long long)driver.refused[SMP_EQUOTA],
                  (unsigned long long)driver.refused[SMP_EUNSUPPORTED]);
    (void)fclose(out);
    jstring result = (*env)->NewStringUTF(env, text);
    free(text);
    free(rows);
    return result;
}
