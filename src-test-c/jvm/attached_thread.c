/* SPDX-License-Identifier: Apache-2.0 */
/* The native library of AttachedThreadProgram. Native code computes on its own thread, attaches it
 * for a call of Java, detaches it and keeps it. The library shares nothing with the library under
 * test. */
#include <jni.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND INT64_C(1000000000)

static struct {
    JavaVM *java_vm;
    jobject task; /* a global reference */
    int64_t before_ns;
    int64_t attached_ns; /* CPU time used while attached */
    pthread_t thread;
    sem_t detached;
    sem_t may_end;
} native;

JNIEXPORT jlong JNICALL Java_com_incapsula_sampler_testing_AttachedThreadProgram_call(
    JNIEnv *env, jclass type, jlong before_ns, jobject task);
JNIEXPORT void JNICALL Java_com_incapsula_sampler_testing_AttachedThreadProgram_end(JNIEnv *env,
                                                                                    jclass type);

static int64_t cpu_clock_ns(void)
{
    struct timespec now = { 0 };

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static void call_java(JNIEnv *env)
{
    jclass type = (*env)->GetObjectClass(env, native.task);
    jmethodID run = (*env)->GetMethodID(env, type, "run", "()V");

    if (run != NULL)
        (*env)->CallVoidMethod(env, native.task, run);
    if ((*env)->ExceptionCheck(env))
        (*env)->ExceptionDescribe(env);
    (*env)->DeleteGlobalRef(env, native.task);
    (*env)->DeleteLocalRef(env, type);
}

static void *compute_and_attach(void *unused)
{
    JavaVMAttachArgs args = { .version = JNI_VERSION_1_8, .name = "native-worker" };
    void *env = NULL;

    while (cpu_clock_ns() < native.before_ns)
        ;
    native.attached_ns = -cpu_clock_ns();
    if ((*native.java_vm)->AttachCurrentThread(native.java_vm, &env, &args) == JNI_OK) {
        call_java(env);
        (void)(*native.java_vm)->DetachCurrentThread(native.java_vm);
    }
    native.attached_ns += cpu_clock_ns();
    (void)sem_post(&native.detached);
    (void)sem_wait(&native.may_end);
    return unused;
}

JNIEXPORT jlong JNICALL Java_com_incapsula_sampler_testing_AttachedThreadProgram_call(
    JNIEnv *env, jclass type, jlong before_ns, jobject task)
{
    (void)type;
    (void)(*env)->GetJavaVM(env, &native.java_vm);
    native.task = (*env)->NewGlobalRef(env, task);
    native.before_ns = before_ns;
    (void)sem_init(&native.detached, 0, 0);
    (void)sem_init(&native.may_end, 0, 0);
    if (pthread_create(&native.thread, NULL, compute_and_attach, NULL) != 0)
        return -1;
    (void)sem_wait(&native.detached);
    return native.attached_ns;
}

JNIEXPORT void JNICALL Java_com_incapsula_sampler_testing_AttachedThreadProgram_end(JNIEnv *env,
                                                                                    jclass type)
{
    (void)env;
    (void)type;
    (void)sem_post(&native.may_end);
    (void)pthread_join(native.thread, NULL);
}
