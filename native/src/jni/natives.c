/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/natives.h"

#include "export/exporters.h"
#include "jni/bridge.h"
#include "jni/callbacks.h"
#include "jni/figures.h"
#include "jni/option_values.h"
#include "model/measure.h"
#include "model/options.h"

/* X(method, signature) */
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

enum smp_status smp_natives_register(JNIEnv *env, jclass bridge)
{
    return (*env)->RegisterNatives(env, bridge, natives, NATIVE_COUNT) == JNI_OK ? SMP_OK : SMP_EVM;
}

/* FNV-1a. The NUL is hashed, too, so that lists divided differently have different hashes. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    const char *at = text;

    do {
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3U;
    } while (*at++ != '\0');
    return hash;
}

uint64_t smp_natives_seam(void)
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
