/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the stacks of one thread as the product gets them. Each frame has its byte code index
 * and the instruction there, whereas exports have only lines.
 *
 * The linker puts __wrap_smp_attribution_found in front of the product's function, through which
 * every stack passes on the sampler thread; the product's code is the same.
 */
#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/observed/instructions.h"
#include "bench/observed/interrupted.h"
#include "engine/attribution/attribution.h"
#include "hotspot/code.h"
#include "jvm/agent/agent.h"
#include "jvm/check/check.h"
#include "jvm/code/methods.h"
#include "model/outcome.h"

#define NATIVE(name) JNICALL Java_com_incapsula_sampler_bench_accuracy_ObservedStacks_##name

enum {
    PLACES = 1 << 17, /* a power of two; half of them are used at most */
    NUMBERS = 1 << 24,
    TEXT_BYTES = 2048,
    GAP = -1,
    HEAD = 2 + sizeof(struct interrupted) / sizeof(int32_t)
};

/* A method and a byte code index. */
struct place {
    uint64_t method; /* 0: free */
    int64_t bci;
    char *text;
};

static struct {
    pthread_mutex_t mutex; /* guards all of it */
    char thread[64];       /* "": no stack is recorded */
    struct place places[PLACES];
    int32_t indexes[PLACES]; /* in the order in which they were found */
    int32_t place_count;
    /* for each stack: outcome, number of frames, struct interrupted, places leaf first */
    int32_t *numbers;
    size_t number_count;
    bool is_full;
} state = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* Has the product's type. */
__typeof__(smp_attribution_found) __real_smp_attribution_found;
__typeof__(smp_attribution_found) __wrap_smp_attribution_found;

/* Class, name, descriptor, byte code index, instruction, separated by tabs. */
static char *describe(jmethodID method, int64_t bci)
{
    jvmtiEnv *jvmti = instructions_jvmti();
    JNIEnv *env = smp_agent_env();
    char instruction[TEXT_BYTES] = "unknown";
    char text[2 * TEXT_BYTES] = "?\t?\t\t0\tunknown";
    char *class_name = NULL;
    char *name = NULL;
    char *descriptor = NULL;
    jclass declaring = NULL;

    if (env != NULL &&
        (*jvmti)->GetMethodDeclaringClass(jvmti, method, &declaring) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetClassSignature(jvmti, declaring, &class_name, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetMethodName(jvmti, method, &name, &descriptor, NULL) == JVMTI_ERROR_NONE) {
        instructions_describe(declaring, method, bci, instruction, sizeof(instruction));
        (void)snprintf(text, sizeof(text), "%s\t%s\t%s\t%lld\t%s", class_name, name, descriptor,
                       (long long)bci, instruction);
    }
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)class_name);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
    if (declaring != NULL)
        (*env)->DeleteLocalRef(env, declaring);
    return strdup(text);
}

static char *describe_pseudo(const struct smp_name_source *names, uint64_t method)
{
    const char *text = names->pseudo_text == NULL ? NULL : names->pseudo_text(names->self, method);
    char out[TEXT_BYTES];

    (void)snprintf(out, sizeof(out), "%s\t\t\t0\tpseudo", text == NULL ? "[?]" : text);
    return strdup(out);
}

/* A method without an id has a known class and name, but no byte codes. */
static char *describe_named(const struct smp_name_source *names, const struct smp_frame *frame)
{
    struct smp_method_info info;
    char out[TEXT_BYTES] = "?\t?\t\t0\tunknown";

    if (names->resolve(names->self, frame->method, &info) == SMP_OK) {
        (void)snprintf(out, sizeof(out), "%s\t%s\t\t%lld\tunknown", info.class_name,
                       info.method_name, (long long)frame->bci);
        names->release(names->self, &info);
    }
    return strdup(out);
}

static char *describe_frame(const struct smp_name_source *names, const struct smp_frame *frame)
{
    if (frame->bci == SMP_BCI_PSEUDO || frame->method == SMP_METHODS_NO_ID)
        return describe_pseudo(names, frame->method);
    if (smp_named_methods_is_key(frame->method))
        return describe_named(names, frame);
    return describe((jmethodID)(uintptr_t)frame->method, frame->bci);
}

static int32_t place_of(const struct smp_name_source *names, const struct smp_frame *frame)
{
    uint64_t at =
        (frame->method ^ (uint64_t)frame->bci * 0x9e3779b97f4a7c15u) * 0x9e3779b97f4a7c15u;

    for (at >>= 32; state.places[at % PLACES].method != 0; at++) {
        const struct place *place = &state.places[at % PLACES];
        if (place->method == frame->method && place->bci == frame->bci)
            return state.indexes[at % PLACES];
    }
    if (state.place_count >= PLACES / 2) {
        state.is_full = true;
        return GAP;
    }
    state.places[at % PLACES] = (struct place){
        .method = frame->method,
        .bci = frame->bci,
        .text = describe_frame(names, frame),
    };
    state.indexes[at % PLACES] = state.place_count;
    return state.place_count++;
}

static void keep(const struct smp_name_source *names, enum smp_outcome outcome,
                 const struct smp_sample *sample)
{
    const bool has_stack = smp_outcome_is_sample(outcome) && sample != NULL;
    const size_t count = has_stack ? sample->count : 0;
    const size_t gaps = has_stack && sample->leaf_count < count ? 1 : 0;
    const struct interrupted at = interrupted_take();

    if (state.number_count + count + gaps + HEAD > NUMBERS) {
        state.is_full = true;
        return;
    }
    state.numbers[state.number_count++] = (int32_t)outcome;
    state.numbers[state.number_count++] = (int32_t)(count + gaps);
    memcpy(&state.numbers[state.number_count], &at, sizeof(at));
    state.number_count += HEAD - 2;
    for (size_t i = 0; i < count; i++) {
        if (gaps > 0 && i == sample->leaf_count)
            state.numbers[state.number_count++] = GAP;
        state.numbers[state.number_count++] = place_of(names, &sample->frames[i]);
    }
}

struct smp_tree_target __wrap_smp_attribution_found(struct smp_attribution *attribution,
                                                    struct smp_thread_record *record,
                                                    const struct smp_found *found)
{
    pthread_mutex_lock(&state.mutex);
    if (state.thread[0] != '\0' && record->raw_name != NULL &&
        strcmp(state.thread, record->raw_name) == 0)
        keep(attribution->names, found->outcome, found->sample);
    pthread_mutex_unlock(&state.mutex);
    return __real_smp_attribution_found(attribution, record, found);
}

/* javac writes no header for the tests. */
JNIEXPORT jboolean NATIVE(start)(JNIEnv *env, jclass type, jstring thread);
JNIEXPORT jintArray NATIVE(stop)(JNIEnv *env, jclass type);
JNIEXPORT jboolean NATIVE(isFull)(JNIEnv *env, jclass type);
JNIEXPORT jobjectArray NATIVE(places)(JNIEnv *env, jclass type);
JNIEXPORT jstring NATIVE(outcome)(JNIEnv *env, jclass type, jint outcome);
JNIEXPORT jobjectArray NATIVE(loadedClasses)(JNIEnv *env, jclass type);
JNIEXPORT jstring NATIVE(blob)(JNIEnv *env, jclass type, jlong pc);
JNIEXPORT jstring NATIVE(instruction)(JNIEnv *env, jclass type, jclass declaring, jstring name,
                                      jstring descriptor, jint bci);

JNIEXPORT jboolean NATIVE(start)(JNIEnv *env, jclass type, jstring thread)
{
    const char *name = (*env)->GetStringUTFChars(env, thread, NULL);
    bool is_ready = instructions_open(env) && name != NULL;

    (void)type;
    pthread_mutex_lock(&state.mutex);
    if (state.numbers == NULL)
        state.numbers = malloc(NUMBERS * sizeof(*state.numbers));
    is_ready = is_ready && state.numbers != NULL;
    if (is_ready)
        (void)snprintf(state.thread, sizeof(state.thread), "%s", name);
    pthread_mutex_unlock(&state.mutex);
    if (name != NULL)
        (*env)->ReleaseStringUTFChars(env, thread, name);
    return is_ready;
}

/* Returns the stacks recorded since start; places keep their numbers. */
JNIEXPORT jintArray NATIVE(stop)(JNIEnv *env, jclass type)
{
    (void)type;
    pthread_mutex_lock(&state.mutex);
    const jsize count = (jsize)state.number_count;
    jintArray numbers = (*env)->NewIntArray(env, count);
    if (numbers != NULL)
        (*env)->SetIntArrayRegion(env, numbers, 0, count, state.numbers);
    state.number_count = 0;
    state.thread[0] = '\0';
    pthread_mutex_unlock(&state.mutex);
    return numbers;
}

JNIEXPORT jboolean NATIVE(isFull)(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    return state.is_full;
}

JNIEXPORT jobjectArray NATIVE(places)(JNIEnv *env, jclass type)
{
    jclass string = (*env)->FindClass(env, "java/lang/String");
    jobjectArray texts = NULL;

    (void)type;
    pthread_mutex_lock(&state.mutex);
    texts = (*env)->NewObjectArray(env, state.place_count, string, NULL);
    for (size_t i = 0; texts != NULL && i < PLACES; i++) {
        if (state.places[i].method == 0 || state.places[i].text == NULL)
            continue;
        jstring text = (*env)->NewStringUTF(env, state.places[i].text);
        (*env)->SetObjectArrayElement(env, texts, state.indexes[i], text);
        (*env)->DeleteLocalRef(env, text);
    }
    pthread_mutex_unlock(&state.mutex);
    return texts;
}

/* Returns "FAILED UNKNOWN_JAVA": the kind of outcome and its code. */
JNIEXPORT jstring NATIVE(outcome)(JNIEnv *env, jclass type, jint outcome)
{
    static const char *const kinds[] = { "WALKED", "IDLE", "RECOVERED", "FAILED", "SKIPPED" };
    char text[TEXT_BYTES];

    (void)type;
    (void)snprintf(text, sizeof(text), "%s %s",
                   kinds[smp_outcome_kind_of((enum smp_outcome)outcome)],
                   smp_outcome_code((enum smp_outcome)outcome));
    return (*env)->NewStringUTF(env, text);
}

JNIEXPORT jobjectArray NATIVE(loadedClasses)(JNIEnv *env, jclass type)
{
    jvmtiEnv *jvmti = instructions_jvmti();
    jclass class_class = (*env)->FindClass(env, "java/lang/Class");
    jclass *classes = NULL;
    jint count = 0;

    (void)type;
    if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes) != JVMTI_ERROR_NONE)
        return NULL;
    jobjectArray array = (*env)->NewObjectArray(env, count, class_class, NULL);
    for (jint i = 0; i < count; i++) {
        if (array != NULL)
            (*env)->SetObjectArrayElement(env, array, i, classes[i]);
        (*env)->DeleteLocalRef(env, classes[i]);
    }
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
    return array;
}

/* Returns the name of the JVM's code blob at pc, and the offset of pc in it. */
JNIEXPORT jstring NATIVE(blob)(JNIEnv *env, jclass type, jlong pc)
{
    const struct smp_layout *layout = smp_hotspot_layout();
    char text[TEXT_BYTES] = "?";
    struct smp_blob blob;

    (void)type;
    if (layout != NULL && smp_blob_find(layout, (uintptr_t)pc, &blob))
        (void)snprintf(text, sizeof(text), "kind %d +%llu", (int)blob.kind,
                       (unsigned long long)((uintptr_t)pc - blob.start));
    return (*env)->NewStringUTF(env, text);
}

static jmethodID find_method(jclass declaring, const char *name, const char *descriptor)
{
    jvmtiEnv *jvmti = instructions_jvmti();
    jmethodID *methods = NULL;
    jmethodID found = NULL;
    jint count = 0;

    if ((*jvmti)->GetClassMethods(jvmti, declaring, &count, &methods) != JVMTI_ERROR_NONE)
        return NULL;
    for (jint i = 0; i < count && found == NULL; i++) {
        char *its_name = NULL;
        char *its_descriptor = NULL;
        if ((*jvmti)->GetMethodName(jvmti, methods[i], &its_name, &its_descriptor, NULL) ==
                JVMTI_ERROR_NONE &&
            strcmp(its_name, name) == 0 && strcmp(its_descriptor, descriptor) == 0)
            found = methods[i];
        (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)its_name);
        (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)its_descriptor);
    }
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    return found;
}

JNIEXPORT jstring NATIVE(instruction)(JNIEnv *env, jclass type, jclass declaring, jstring name,
                                      jstring descriptor, jint bci)
{
    const char *name_text = (*env)->GetStringUTFChars(env, name, NULL);
    const char *descriptor_text = (*env)->GetStringUTFChars(env, descriptor, NULL);
    char text[TEXT_BYTES] = "unknown";

    (void)type;
    if (name_text != NULL && descriptor_text != NULL) {
        const jmethodID method = find_method(declaring, name_text, descriptor_text);
        if (method != NULL)
            instructions_describe(declaring, method, bci, text, sizeof(text));
    }
    if (name_text != NULL)
        (*env)->ReleaseStringUTFChars(env, name, name_text);
    if (descriptor_text != NULL)
        (*env)->ReleaseStringUTFChars(env, descriptor, descriptor_text);
    return (*env)->NewStringUTF(env, text);
}
