/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java_session.h - a core session connected to the JVM; the long in Java points to it.
 *
 * create starts nothing and touches no JVMTI environment; start opens it, destroy closes it.
 *
 * Owns     the core session and all it borrows: callbacks, name callback, name source.
 * Threads  as session.h; create and destroy on an attached thread.
 * Errors   as session.h and agent.h. start: SMP_EUNSUPPORTED, with a message that names its file,
 *          if a library of another version samples this JVM.
 * Cost     as session.h.
 */
#ifndef SMP_JNI_JAVA_SESSION_H
#define SMP_JNI_JAVA_SESSION_H

#include <jni.h>

#include "base/bytes.h"
#include "base/status.h"
#include "engine/session/session.h"

struct smp_java_session;

/* message is filled for SMP_EINVAL, by start for SMP_EUNSUPPORTED. */
SMP_CHECKED enum smp_status smp_java_session_create(JNIEnv *env, const struct smp_options *options,
                                                    jobject callbacks,
                                                    char message[SMP_OPTIONS_MESSAGE_BYTES],
                                                    struct smp_java_session **out);
void smp_java_session_destroy(JNIEnv *env, struct smp_java_session *java_session);

SMP_CHECKED enum smp_status smp_java_session_start(struct smp_java_session *java_session,
                                                   char message[SMP_OPTIONS_MESSAGE_BYTES]);
SMP_CHECKED enum smp_status smp_java_session_select(struct smp_java_session *java_session,
                                                    JNIEnv *env, jobjectArray threads, bool only);

enum {
    SMP_JAVA_SESSION_ENGINE_BYTES = 768,
    SMP_JAVA_SESSION_REASON_BYTES = 512,
    SMP_JAVA_SESSION_LIMITATIONS = 4
};

/* A constant of Java's SamplingLimitation.Code, and why the limitation applies. */
struct smp_java_session_limitation {
    const char *code;
    char reason[SMP_JAVA_SESSION_REASON_BYTES];
};

struct smp_java_session_status {
    const char *mode; /* a constant of Java's SamplingMode */
    size_t count;
    struct smp_java_session_limitation limitations[SMP_JAVA_SESSION_LIMITATIONS];
};

/* Returns how stacks are walked. The result is final once the session has been started. */
void smp_java_session_get_status(const struct smp_java_session *java_session,
                                 struct smp_java_session_status *status);

/* Writes the status as text, as SamplerStatistics.getEngine lists it: "HYBRID" or "JVMTI", then in
 * brackets each limitation and its reason. */
void smp_java_session_engine(const struct smp_java_session *java_session,
                             char out[SMP_JAVA_SESSION_ENGINE_BYTES]);

/* Appends the session's state (dump.h), with that name of the engine. */
void smp_java_session_dump(const struct smp_java_session *java_session, struct smp_bytes *out);

/* Returns the core session, for all other calls; borrowed. */
struct smp_session *smp_java_session_core(const struct smp_java_session *java_session);

#endif
