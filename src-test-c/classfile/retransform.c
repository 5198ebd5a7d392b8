/* SPDX-License-Identifier: Apache-2.0 */
/* The native library of RetransformProgram. It lets the JVM retransform classes, hands the
 * rewriter's bytes to the JVM, and counts the results of the methods. The JVM's verifier checks
 * the bytes. */
#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "classfile/class_file.h"
#include "classfile/rewriter.h"

/* The same values as in RetransformProgram. */
enum mode {
    AS_THEY_WERE,
    WITH_PROBES,
    /* the handler's frame has the hook class on the stack instead of an exception */
    WITH_A_WRONG_FRAME
};

enum count {
    CLASSES,
    CLASSES_WITH_CODE,
    CHANGED_CLASSES,
    MALFORMED,
    HANDLERS,
    WITHOUT_HANDLER,
    BYTES_BEFORE,
    BYTES_AFTER,
    NANOS,
    RESULTS,
    COUNTS = RESULTS + SMP_REWRITE_COUNT
};

enum { HANDLER_CLASS_FROM_END = 2, ID_STEP = 7 };

static const struct smp_probe_hook hook = { .class_name = "java/lang/ProbeCounter",
                                            .enter = "enter",
                                            .exit = "exit",
                                            .enter_root = "enterRoot",
                                            .exit_root = "exitRoot",
                                            .caught = "caught" };
static jvmtiEnv *jvmti;
static jclass hook_class;
static enum mode mode;
static int32_t next_id;
static jlong counts[COUNTS];

/* CPU time of this thread, so that other threads do not count. */
static int64_t cpu_ns(void)
{
    struct timespec now = { 0 };

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void add_counts(const struct smp_class_file *file, const struct smp_rewriter_method *methods)
{
    bool has_code = false;

    for (uint32_t i = 0; i < file->method_count; i++) {
        counts[RESULTS + methods[i].result]++;
        if (methods[i].result == SMP_REWRITE_DONE)
            counts[methods[i].has_handler ? HANDLERS : WITHOUT_HANDLER]++;
        has_code = has_code || file->methods[i].code.length > 0;
    }
    counts[CLASSES_WITH_CODE] += has_code ? 1 : 0;
}

static uint16_t find_class(const struct smp_class_file *file, const char *name)
{
    for (uint32_t i = file->pool_count; i-- > 1;) {
        if (smp_class_file_tag(file, (uint16_t)i) == SMP_CONSTANT_CLASS &&
            smp_slice_is(smp_class_file_class_name(file, (uint16_t)i), name))
            return (uint16_t)i;
    }
    return 0;
}

/* The handler's frame is the last one of its table. */
static void spoil_frames(struct smp_bytes *made, const struct smp_rewriter_method *methods)
{
    struct smp_class_file file;
    struct smp_class_attribute attribute;

    if (smp_class_file_open(&file, smp_class_written(made, 0), made->length) != SMP_OK)
        return;
    const uint16_t wrong = find_class(&file, hook.class_name);
    for (uint32_t i = 0; i < file.method_count; i++) {
        struct smp_class_attributes list =
            smp_class_file_code_attributes(&file, &file.methods[i].code);
        while (methods[i].has_handler && smp_class_file_next_attribute(&file, &list, &attribute)) {
            uint8_t *end = smp_class_written(made, attribute.bytes + attribute.length);
            if (smp_slice_is(attribute.name, "StackMapTable"))
                smp_class_set_u2(end - HANDLER_CLASS_FROM_END, wrong);
        }
    }
    smp_class_file_close(&file);
}

/* Ids of all sizes, so that each form of a probe occurs, and some roots. */
static void make_plan(const struct smp_class_file *file, struct smp_rewriter_method *methods)
{
    for (uint32_t i = 0; i < file->method_count; i++) {
        methods[i].id = next_id < 100 ? next_id++ : next_id;
        next_id = next_id < 100 ? next_id : (next_id + ID_STEP) & 0x1ffff;
        methods[i].is_root = (next_id & 4) != 0;
    }
}

static void give_to_jvm(const struct smp_bytes *made, jint *new_length, unsigned char **new_data)
{
    unsigned char *piece = NULL;

    if ((*jvmti)->Allocate(jvmti, (jlong)made->length, &piece) != JVMTI_ERROR_NONE)
        return;
    memcpy(piece, made->data, made->length);
    *new_length = (jint)made->length;
    *new_data = piece;
}

static void rewrite(const unsigned char *data, jint length, jint *new_length,
                    unsigned char **new_data)
{
    struct smp_class_file file;
    struct smp_bytes made;
    int64_t start_ns = cpu_ns();

    if (smp_class_file_open(&file, data, (size_t)length) != SMP_OK) {
        counts[MALFORMED]++;
        return;
    }
    counts[NANOS] += cpu_ns() - start_ns;
    struct smp_rewriter_method *methods = calloc((size_t)file.method_count + 1, sizeof(*methods));
    smp_bytes_init(&made, NULL, SMP_REWRITER_MOST_BYTES);
    if (methods != NULL) {
        make_plan(&file, methods);
        start_ns = cpu_ns();
        if (smp_rewriter_run(&file, &hook, methods, &made) != SMP_OK)
            counts[MALFORMED]++;
        counts[NANOS] += cpu_ns() - start_ns;
        add_counts(&file, methods);
        if (made.length > 0 && mode == WITH_A_WRONG_FRAME)
            spoil_frames(&made, methods);
        free(methods);
    }
    smp_class_file_close(&file);
    if (made.length > 0) {
        counts[CHANGED_CLASSES]++;
        counts[BYTES_BEFORE] += length;
        counts[BYTES_AFTER] += (jlong)made.length;
        give_to_jvm(&made, new_length, new_data);
    }
    smp_bytes_fini(&made);
}

/* Only the thread that retransforms loads classes here. */
static void JNICALL load_hook(jvmtiEnv *env, JNIEnv *jni, jclass redefined, jobject loader,
                              const char *name, jobject domain, jint length,
                              const unsigned char *data, jint *new_length, unsigned char **new_data)
{
    (void)env;
    (void)jni;
    (void)loader;
    (void)name;
    (void)domain;
    if (redefined == NULL || mode == AS_THEY_WERE)
        return;
    counts[CLASSES]++;
    rewrite(data, length, new_length, new_data);
}

static bool open_environment(JavaVM *java_vm)
{
    const jvmtiEventCallbacks callbacks = { .ClassFileLoadHook = load_hook };
    const jvmtiCapabilities wanted = { .can_retransform_classes = 1,
                                       .can_retransform_any_class = 1 };

    return (*java_vm)->GetEnv(java_vm, (void **)&jvmti, JVMTI_VERSION_1_2) == JNI_OK &&
           (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) == JVMTI_ERROR_NONE;
}

/* javac writes no header for the tests. */
#define PROGRAM(name) JNICALL Java_com_incapsula_sampler_testing_RetransformProgram_##name

JNIEXPORT jboolean PROGRAM(open)(JNIEnv *env, jclass type, jbyteArray hook_bytes);
JNIEXPORT jboolean PROGRAM(isLinked)(JNIEnv *env, jclass type, jclass of);
JNIEXPORT jboolean PROGRAM(isModifiable)(JNIEnv *env, jclass type, jclass of);
JNIEXPORT jint PROGRAM(retransform)(JNIEnv *env, jclass type, jobjectArray classes, jint how);
JNIEXPORT jlongArray PROGRAM(counts)(JNIEnv *env, jclass type);
JNIEXPORT jobjectArray PROGRAM(reasons)(JNIEnv *env, jclass type);
JNIEXPORT void PROGRAM(count)(JNIEnv *env, jclass type, jobject thread);
JNIEXPORT jlong PROGRAM(counted)(JNIEnv *env, jclass type, jstring what);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, void *reserved)
{
    (void)reserved;
    return open_environment(java_vm) ? JNI_VERSION_1_8 : JNI_ERR;
}

/* Defines the hook class in java.base. */
JNIEXPORT jboolean PROGRAM(open)(JNIEnv *env, jclass type, jbyteArray hook_bytes)
{
    const jsize length = (*env)->GetArrayLength(env, hook_bytes);
    jbyte *bytes = (*env)->GetByteArrayElements(env, hook_bytes, NULL);

    (void)type;
    if (bytes == NULL)
        return JNI_FALSE;
    jclass defined = (*env)->DefineClass(env, hook.class_name, NULL, bytes, length);
    (*env)->ReleaseByteArrayElements(env, hook_bytes, bytes, JNI_ABORT);
    if (defined == NULL)
        return JNI_FALSE;
    hook_class = (*env)->NewGlobalRef(env, defined);
    return hook_class != NULL;
}

JNIEXPORT jboolean PROGRAM(isLinked)(JNIEnv *env, jclass type, jclass of)
{
    jint state = 0;

    (void)env;
    (void)type;
    (void)(*jvmti)->GetClassStatus(jvmti, of, &state);
    return (state & JVMTI_CLASS_STATUS_PREPARED) != 0;
}

/* The JVM refuses to change some classes, including hidden ones. */
JNIEXPORT jboolean PROGRAM(isModifiable)(JNIEnv *env, jclass type, jclass of)
{
    jboolean is_modifiable = JNI_FALSE;

    (void)env;
    (void)type;
    (void)(*jvmti)->IsModifiableClass(jvmti, of, &is_modifiable);
    return is_modifiable;
}

/* Returns the error of JVMTI; 0: none. */
JNIEXPORT jint PROGRAM(retransform)(JNIEnv *env, jclass type, jobjectArray classes, jint how)
{
    const jsize count = (*env)->GetArrayLength(env, classes);
    jclass *all = calloc((size_t)count + 1, sizeof(*all));
    jvmtiError error = JVMTI_ERROR_OUT_OF_MEMORY;

    (void)type;
    if (all == NULL || (*env)->EnsureLocalCapacity(env, count + 16) != 0)
        goto done;
    for (jsize i = 0; i < count; i++)
        all[i] = (*env)->GetObjectArrayElement(env, classes, i);
    mode = (enum mode)how;
    (void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
                                             NULL);
    error = (*jvmti)->RetransformClasses(jvmti, count, all);
    (void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
                                             NULL);
    mode = AS_THEY_WERE;
    for (jsize i = 0; i < count; i++)
        (*env)->DeleteLocalRef(env, all[i]);
done:
    free(all);
    return (jint)error;
}

JNIEXPORT jlongArray PROGRAM(counts)(JNIEnv *env, jclass type)
{
    jlongArray out = (*env)->NewLongArray(env, COUNTS);

    (void)type;
    if (out != NULL)
        (*env)->SetLongArrayRegion(env, out, 0, COUNTS, counts);
    return out;
}

/* Returns the texts of the last counts, in their order. */
JNIEXPORT jobjectArray PROGRAM(reasons)(JNIEnv *env, jclass type)
{
    jclass string = (*env)->FindClass(env, "java/lang/String");
    jobjectArray out =
        string == NULL ? NULL : (*env)->NewObjectArray(env, SMP_REWRITE_COUNT, string, NULL);

    (void)type;
    for (jsize i = 0; out != NULL && i < SMP_REWRITE_COUNT; i++) {
        jstring text = (*env)->NewStringUTF(env, smp_rewrite_text((enum smp_rewrite)i));
        if (text == NULL)
            return NULL;
        (*env)->SetObjectArrayElement(env, out, i, text);
        (*env)->DeleteLocalRef(env, text);
    }
    return out;
}

/* Counts the probes of this thread from now on; NULL: counts none. */
JNIEXPORT void PROGRAM(count)(JNIEnv *env, jclass type, jobject thread)
{
    const jfieldID field =
        (*env)->GetStaticFieldID(env, hook_class, "counted", "Ljava/lang/Thread;");

    (void)type;
    if (field != NULL)
        (*env)->SetStaticObjectField(env, hook_class, field, thread);
}

/* Returns one of the hook's counts. */
JNIEXPORT jlong PROGRAM(counted)(JNIEnv *env, jclass type, jstring what)
{
    const char *name = (*env)->GetStringUTFChars(env, what, NULL);
    const jfieldID field =
        name == NULL ? NULL : (*env)->GetStaticFieldID(env, hook_class, name, "J");

    (void)type;
    if (name != NULL)
        (*env)->ReleaseStringUTFChars(env, what, name);
    return field == NULL ? -1 : (*env)->GetStaticLongField(env, hook_class, field);
}
