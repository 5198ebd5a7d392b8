/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onload.c - the functions that the JVM finds by name in the file of each copy of the library, and
 * the core that all copies share.
 *
 *   copy 1: its file ─ join: no core yet ──────► this file is the core, and stays mapped
 *   copy 2: its file ─ join: there is a core ──► its NativeBridge gets the core's native methods
 *   the class loader of a copy is collected ─ leave; the last one closes the core
 *
 * NativeBridge.join makes the library ready, because the JVM calls no JNI_OnLoad of a file that it
 * has loaded as an agent (-agentpath). Static data of the other rooms is the core's. In the file of
 * a copy that uses another core nothing runs but join and leave, and that file is unmapped with its
 * class loader. Only the agent's functions (java_agent.h) run in the file that the JVM has loaded
 * as an agent, whether it is the core or not.
 *
 * Without options Agent_OnLoad and Agent_OnAttach do nothing: -agentpath then only saves unpacking
 * the library's file. With options they are the agent, also for JVMs without java.instrument.
 */
#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/core_anchor.h"
#include "base/once.h"
#include "base/stay_mapped.h"
#include "export/exporters.h"
#include "jni/bridge.h"
#include "jni/callbacks.h"
#include "jni/figures.h"
#include "jni/ids.h"
#include "jni/java_agent.h"
#include "jni/option_values.h"
#include "jvm/agent/agent.h" /* includes jvmti.h, which declares Agent_* */
#include "jvm/loaded.h"
#include "jvm/threads/hidden_threads.h"
#include "model/measure.h"
#include "model/options.h"

enum { ABI = com_incapsula_sampler_internal_engine_NativeBridge_ABI };

/* --- the native methods of NativeBridge --- */

/* X(method, signature): the methods that the core registers for the classes of each copy. abi and
 * join are missing, because the JVM finds them by name in the file that the copy has loaded. */
#define SMP_NATIVES_MAP(X)                                                                       \
    X(serveCommands, "(Ljava/lang/Class;)Ljava/lang/Class;")                                     \
    X(coreFile, "()Ljava/lang/String;")                                                          \
    X(create, "([J[Ljava/lang/String;Lcom/incapsula/sampler/internal/engine/NativeCallbacks;)J") \
    X(start, "(J)V")                                                                             \
    X(configure, "(J[J[Ljava/lang/String;)V")                                                    \
    X(optionTable, "()[Ljava/lang/String;")                                                      \
    X(filterThreads, "(J[Ljava/lang/Thread;Z)V")                                                 \
    X(resetCounts, "(J)V")                                                                       \
    X(pause, "(J)V")                                                                             \
    X(resume, "(J)V")                                                                            \
    X(report, "(J)V")                                                                            \
    X(sampleOnce, "(J)V")                                                                        \
    X(stop, "(J)V")                                                                              \
    X(destroy, "(J)V")                                                                           \
    X(statistics, "(J)[J")                                                                       \
    X(statisticNames, "()[Ljava/lang/String;")                                                   \
    X(dump, "(J)Ljava/lang/String;")                                                             \
    X(engine, "(J)Ljava/lang/String;")                                                           \
    X(status, "(J)[Ljava/lang/String;")                                                          \
    X(hideCurrentThread, "()V")                                                                  \
    X(hide, "(Ljava/lang/ThreadGroup;)Ljava/lang/ThreadGroup;")                                  \
    X(liveBytes, "()J")                                                                          \
    X(crossChecks, "(J)[J")                                                                      \
    X(lastDifference, "()Ljava/lang/String;")                                                    \
    X(openReader, "(J)I")                                                                        \
    X(closeReader, "(JI)V")                                                                      \
    X(takeInterval, "(JI)J")                                                                     \
    X(keepWindows, "(J)V")                                                                       \
    X(forgetWindows, "(J)V")                                                                     \
    X(takeWindow, "(JI)J")                                                                       \
    X(currentReport, "(J)J")                                                                     \
    X(mergeSnapshots, "(JJ)J")                                                                   \
    X(releaseSnapshot, "(J)V")                                                                   \
    X(writeSnapshot, "(JIIILjava/lang/String;Ljava/io/OutputStream;)V")                          \
    X(writeDifference, "(JJIILjava/io/OutputStream;)V")                                          \
    X(measureNames, "()[Ljava/lang/String;")                                                     \
    X(hotLines, "(J[J)[Ljava/lang/String;")                                                      \
    X(snapshotFigures, "(J)[J")                                                                  \
    X(snapshotGroups, "(JI)[Ljava/lang/String;")                                                 \
    X(snapshotGroupFigures, "(JI)[J")                                                            \
    X(childRows, "(JJ)[J")                                                                       \
    X(locationNames, "(J[J)[Ljava/lang/String;")                                                 \
    X(snapshotAccount, "(J)[J")                                                                  \
    X(accountNames, "()[Ljava/lang/String;")

static const JNINativeMethod natives[] = {
#define X(name, signature) { #name, signature, (void *)BRIDGE(name) },
    SMP_NATIVES_MAP(X)
#undef X
};

/* Java passes a format as its ordinal. */
static const char formats[] =
#define X(code, text) text " "
    SMP_FORMAT_MAP(X)
#undef X
    ;

enum { NATIVE_COUNT = sizeof(natives) / sizeof(natives[0]) };

/* Registers the native methods for a copy. bridge: the copy's class NativeBridge. SMP_EVM: a Java
 * exception that names the method is pending. */
static enum smp_status register_for_copy(JNIEnv *env, jclass bridge)
{
    return (*env)->RegisterNatives(env, bridge, natives, NATIVE_COUNT) == JNI_OK ? SMP_OK : SMP_EVM;
}

/* FNV-1a. The NUL is also hashed, so that lists divided differently have different hashes. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    const char *at = text;

    do {
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3U;
    } while (*at++ != '\0');
    return hash;
}

/* Returns a hash of all that Java and C must agree on besides the version number: native methods,
 * callbacks, options, names of figures, formats. Copies with equal seams can share a core. */
static uint64_t hash_of_seam(void)
{
    char row[SMP_JNI_OPTION_ROW_BYTES];
    char name[SMP_JNI_FIGURE_NAME_BYTES];
    uint64_t hash = 0xcbf29ce484222325U;

    for (size_t i = 0; i < NATIVE_COUNT; i++)
        hash = hash_text(hash_text(hash, natives[i].name), natives[i].signature);
    for (size_t i = 0; i < SMP_JNI_CALLBACK_COUNT; i++)
        hash = hash_text(hash, smp_jni_callback_signature(i));
    for (size_t i = 0; i < SMP_OPTION_COUNT; i++)
        hash = hash_text(hash, smp_jni_option_row(row, i));
    for (size_t i = 0; i < SMP_JNI_STATISTIC_COUNT; i++)
        hash = hash_text(hash, smp_jni_statistic_name(name, i));
    for (size_t i = 0; i < SMP_MEASURE_COUNT; i++)
        hash = hash_text(hash, smp_measure_info((enum smp_measure)i)->name);
    return hash_text(hash, formats);
}

/* --- in the core --- */

/* The functions that the core's file offers. Only files of the same identity call them. */
struct core_functions {
    enum smp_status (*open)(JNIEnv *env, jclass bridge);
    void (*close)(JNIEnv *env);
};

/* In the core: open as long as any copy uses it. */
static struct smp_once copies = SMP_ONCE_INIT;

static enum smp_status open_core(JNIEnv *env)
{
    JavaVM *java_vm = NULL;

    if ((*env)->GetJavaVM(env, &java_vm) != JNI_OK)
        return SMP_EVM;
    const enum smp_status status = smp_jni_ids_load(env);
    if (status == SMP_OK)
        smp_jvm_loaded(java_vm);
    return status;
}

static void close_for_copy(JNIEnv *env)
{
    if (!smp_once_close(&copies))
        return;
    smp_agent_unloaded();
    if (env != NULL) {
        smp_hidden_threads_unloaded(env);
        smp_jni_ids_unload(env);
    }
    smp_once_finish(&copies, false);
}

static enum smp_status open_for_copy(JNIEnv *env, jclass bridge)
{
    enum smp_status status = SMP_OK;

    if (smp_once_open(&copies)) {
        status = open_core(env);
        smp_once_finish(&copies, status == SMP_OK);
    }
    if (status != SMP_OK)
        return status;
    status = register_for_copy(env, bridge);
    if (status != SMP_OK)
        close_for_copy(env);
    return status;
}

static const struct core_functions own = { .open = open_for_copy, .close = close_for_copy };

/* --- in the file of each copy --- */

/* The core that this file's class loader has joined; NULL before that. */
static _Atomic(const struct core_functions *) joined;

/*
 * Called by a native method of the copy's NativeBridge, before any other method but abi, and one
 * call at a time in the process, under Java's lock. by_class_loader: the copy's class loader has
 * loaded this file, and leave_core undoes the join. Otherwise the JVM has loaded the file as an
 * agent, for all class loaders, and does not tell when one of them is collected, so the copy counts
 * for good. SMP_EUNSUPPORTED: the file cannot stay mapped. SMP_EVM: a Java exception is pending.
 */
static enum smp_status join_core(JNIEnv *env, jclass bridge, bool by_class_loader)
{
    const struct smp_core_identity identity = { .abi = ABI, .seam = hash_of_seam() };
    const struct core_functions *core = smp_core_anchor_find(identity);

    if (core == NULL) {
        if (!smp_stay_mapped(&own))
            return SMP_EUNSUPPORTED;
        smp_core_anchor_publish(identity, &own);
        core = &own;
    }
    const enum smp_status status = core->open(env, bridge);
    if (status == SMP_OK && by_class_loader)
        atomic_store(&joined, core);
    return status;
}

/* Undoes the join of the class loader with which the JVM unloads the file, if it has joined. env
 * NULL: global references are not freed. */
static void leave_core(JNIEnv *env)
{
    const struct core_functions *const core = atomic_exchange(&joined, NULL);

    if (core != NULL)
        core->close(env);
}

/* --- called by the JVM and by Java --- */

JNIEXPORT jint BRIDGE(abi)(SMP_UNUSED JNIEnv *env, SMP_UNUSED jclass bridge)
{
    return ABI;
}

/* Joins and returns the reason of a failure as a text, because the exception classes (ids.h) are
 * the core's. Returns NULL if it has joined, or if an exception is pending. */
static jstring join_or_explain(JNIEnv *env, jclass bridge, bool by_class_loader)
{
    const enum smp_status status = join_core(env, bridge, by_class_loader);

    if (status == SMP_OK || (*env)->ExceptionCheck(env))
        return NULL;
    return (*env)->NewStringUTF(env, smp_status_text(status));
}

/* The JVM finds this function by name only if it has loaded the file as an agent, and no class
 * loader has loaded it for the class. */
JNIEXPORT jstring BRIDGE(join)(JNIEnv *env, jclass bridge)
{
    return join_or_explain(env, bridge, false);
}

static jstring JNICALL join_by_class_loader(JNIEnv *env, jclass bridge)
{
    return join_or_explain(env, bridge, true);
}

/* Looking up by name, the JVM might find the functions of a file that it has loaded as an agent,
 * perhaps of another version. */
static bool register_own(JNIEnv *env)
{
    static const JNINativeMethod methods[] = {
        { "abi", "()I", (void *)BRIDGE(abi) },
        { "join", "()Ljava/lang/String;", (void *)join_by_class_loader },
    };
    jclass bridge = (*env)->FindClass(env, "com/incapsula/sampler/internal/engine/NativeBridge");
    jint status = JNI_ERR;

    if (bridge != NULL) {
        status =
            (*env)->RegisterNatives(env, bridge, methods, sizeof(methods) / sizeof(methods[0]));
        (*env)->DeleteLocalRef(env, bridge);
    }
    return status == JNI_OK;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, SMP_UNUSED void *reserved)
{
    void *env = NULL;

    if ((*java_vm)->GetEnv(java_vm, &env, SMP_AGENT_JNI_VERSION) != JNI_OK || !register_own(env))
        return JNI_ERR; /* the pending exception names what is missing */
    return SMP_AGENT_JNI_VERSION;
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *java_vm, SMP_UNUSED void *reserved)
{
    void *env = NULL;

    if ((*java_vm)->GetEnv(java_vm, &env, SMP_AGENT_JNI_VERSION) != JNI_OK)
        env = NULL;
    leave_core(env);
}

static bool has_options(const char *options)
{
    return options != NULL && options[0] != '\0';
}

/* Never returns JNI_ERR, which would end the JVM. */
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *java_vm, char *options, SMP_UNUSED void *reserved)
{
    if (has_options(options))
        smp_java_agent_start(java_vm, options);
    return JNI_OK;
}

/* JNI_ERR is reported to the program that attached. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *java_vm, char *options, SMP_UNUSED void *reserved)
{
    void *env = NULL;

    if (!has_options(options))
        return JNI_OK;
    if ((*java_vm)->GetEnv(java_vm, &env, SMP_AGENT_JNI_VERSION) != JNI_OK)
        return JNI_ERR;
    return smp_java_agent_command(env, options) ? JNI_OK : JNI_ERR;
}
