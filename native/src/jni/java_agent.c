/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/java_agent.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "jni/convert.h"
#include "jvm/agent/agent_options.h"
#include "jvm/agent/jdk.h"
#include "jvm/agent/vm_start.h"

#define AGENT_CLASS "com.incapsula.sampler.internal.agent.Agent"
#define JAR_NAME "threads-sampler.jar"

enum { LOCAL_REFERENCES = 32, REASON_UNITS = 1000 };

/* Methods of the agent's class. */
static const char at_start[] = "premain";
static const char on_attach[] = "agentmain";

/* Global references, each set once. */
static _Atomic(jclass) found_class;   /* the class that find_class found */
static _Atomic(jclass) serving_class; /* in the core: the class passed to smp_java_agent_serve */

static void complain(const char *reason)
{
    (void)fprintf(stderr, "threads-sampler: the agent cannot start: %s\n", reason);
}

/* --- calls of Java: each returns NULL if an exception is pending, also from an earlier call --- */

static jobject call_object(JNIEnv *env, jobject self, const char *name, const char *signature, ...)
{
    va_list arguments;
    jobject result = NULL;

    if (self == NULL)
        return NULL;
    jmethodID method = (*env)->GetMethodID(env, (*env)->GetObjectClass(env, self), name, signature);
    if (method == NULL)
        return NULL;
    va_start(arguments, signature);
    result = (*env)->CallObjectMethodV(env, self, method, arguments);
    va_end(arguments);
    return (*env)->ExceptionCheck(env) ? NULL : result;
}

static jobject create(JNIEnv *env, const char *class_name, const char *signature, ...)
{
    va_list arguments;
    jobject result = NULL;
    jclass type = (*env)->FindClass(env, class_name);

    if (type == NULL)
        return NULL;
    jmethodID constructor = (*env)->GetMethodID(env, type, "<init>", signature);
    if (constructor == NULL)
        return NULL;
    va_start(arguments, signature);
    result = (*env)->NewObjectV(env, type, constructor, arguments);
    va_end(arguments);
    return (*env)->ExceptionCheck(env) ? NULL : result;
}

static jobject class_loader(JNIEnv *env, const char *getter)
{
    jclass type = (*env)->FindClass(env, "java/lang/ClassLoader");

    if (type == NULL)
        return NULL;
    jmethodID method = (*env)->GetStaticMethodID(env, type, getter, "()Ljava/lang/ClassLoader;");
    if (method == NULL)
        return NULL;
    jobject loader = (*env)->CallStaticObjectMethod(env, type, method);
    return (*env)->ExceptionCheck(env) ? NULL : loader;
}

static jstring throw_no_memory(JNIEnv *env)
{
    jclass type = (*env)->FindClass(env, "java/lang/OutOfMemoryError");

    if (type != NULL)
        (void)(*env)->ThrowNew(env, type, smp_status_text(SMP_ENOMEM));
    return NULL;
}

/* Does not use convert.h, whose classes (ids.h) are the core's: this file may not be the core. */
static jstring to_java(JNIEnv *env, const char *text)
{
    const size_t length = strlen(text);
    jchar *units = length < INT_MAX ? smp_alloc(NULL, (length + 1) * sizeof(jchar)) : NULL;

    if (units == NULL)
        return throw_no_memory(env);
    const size_t count = smp_utf8_to_utf16(units, text, length);
    jstring string = (*env)->NewString(env, units, (jsize)count);
    smp_free(NULL, units);
    return string;
}

/* --- the class --- */

static jclass load_from(JNIEnv *env, jobject loader)
{
    jstring name = loader == NULL ? NULL : (*env)->NewStringUTF(env, AGENT_CLASS);

    if (name == NULL)
        return NULL;
    return call_object(env, loader, "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;", name);
}

static jobjectArray urls_of(JNIEnv *env, const char *jar)
{
    jstring path = to_java(env, jar);

    if (path == NULL)
        return NULL;
    jobject file = create(env, "java/io/File", "(Ljava/lang/String;)V", path);
    jobject uri = call_object(env, file, "toURI", "()Ljava/net/URI;");
    jobject url = call_object(env, uri, "toURL", "()Ljava/net/URL;");
    if (url == NULL)
        return NULL;
    return (*env)->NewObjectArray(env, 1, (*env)->GetObjectClass(env, url), url);
}

static jclass load_from_jar(JNIEnv *env, const char *jar)
{
    jobject parent = class_loader(env, "getPlatformClassLoader");

    if (parent == NULL)
        return NULL;
    jobjectArray urls = urls_of(env, jar);
    if (urls == NULL)
        return NULL;
    jobject loader = create(env, "java/net/URLClassLoader",
                            "([Ljava/net/URL;Ljava/lang/ClassLoader;)V", urls, parent);
    return loader == NULL ? NULL : load_from(env, loader);
}

const char *smp_java_agent_file(void)
{
    Dl_info info;

    return dladdr(&found_class, &info) != 0 ? info.dli_fname : NULL;
}

static enum smp_status jar_beside_library(char **out)
{
    const char *library = smp_java_agent_file();
    const char *slash = library == NULL ? NULL : strrchr(library, '/');
    const size_t folder = slash == NULL ? 0 : (size_t)(slash - library) + 1;
    char *jar = smp_alloc(NULL, folder + sizeof(JAR_NAME));

    if (jar == NULL)
        return SMP_ENOMEM;
    memcpy(jar, slash == NULL ? "" : library, folder);
    memcpy(jar + folder, JAR_NAME, sizeof(JAR_NAME));
    *out = jar;
    return SMP_OK;
}

static bool can_open(const char *file)
{
    FILE *opened = fopen(file, "re");

    if (opened == NULL)
        return false;
    (void)fclose(opened);
    return true;
}

/* Loads the class from the jar. NULL without an exception: the reason was printed. */
static jclass load_named(JNIEnv *env, const char *options)
{
    char *jar = NULL;
    jclass found = NULL;
    enum smp_status status = smp_agent_option(options, "jar", &jar);

    if (status == SMP_OK && jar == NULL)
        status = jar_beside_library(&jar);
    if (status != SMP_OK)
        complain(smp_status_text(status));
    else if (can_open(jar))
        found = load_from_jar(env, jar);
    else
        (void)fprintf(stderr,
                      "threads-sampler: the agent cannot start: %s cannot be read; the option"
                      " jar=FILE names the jar of threads-sampler\n",
                      jar);
    smp_free(NULL, jar);
    return found;
}

/* If several threads call this at once, the first one's class is kept. The other classes have not
 * been initialized. */
static jclass keep_class(JNIEnv *env, jclass local, _Atomic(jclass) *place)
{
    jclass kept = NULL;
    jclass made = (*env)->NewGlobalRef(env, local);

    if (made == NULL)
        return NULL;
    if (atomic_compare_exchange_strong(place, &kept, made))
        return made;
    (*env)->DeleteGlobalRef(env, made);
    return kept;
}

static jclass find_class(JNIEnv *env, const char *options)
{
    jclass found = atomic_load(&serving_class);

    if (found == NULL)
        found = atomic_load(&found_class);
    if (found != NULL)
        return found;
    found = load_from(env, class_loader(env, "getSystemClassLoader"));
    if (found == NULL) {
        (*env)->ExceptionClear(env);
        found = load_named(env, options);
    }
    if (found == NULL)
        return NULL;
    found = keep_class(env, found, &found_class);
    if (found == NULL)
        complain(smp_status_text(SMP_ENOMEM));
    return found;
}

/* --- commands --- */

static void complain_of_exception(JNIEnv *env)
{
    char *reason = NULL;
    jthrowable thrown = (*env)->ExceptionOccurred(env);

    if (thrown == NULL)
        return;
    (*env)->ExceptionClear(env);
    jstring text = call_object(env, thrown, "toString", "()Ljava/lang/String;");
    (*env)->ExceptionClear(env);
    if (smp_jni_text(env, text, REASON_UNITS, &reason) == SMP_OK)
        complain(reason);
    else
        complain("its classes cannot be loaded");
    smp_free(NULL, reason);
}

/* The method catches all exceptions. */
static bool invoke(JNIEnv *env, jclass agent, const char *method_name, const char *options)
{
    jmethodID method = (*env)->GetStaticMethodID(env, agent, method_name, "(Ljava/lang/String;)V");
    jstring argument = method == NULL ? NULL : to_java(env, options);

    if (argument == NULL)
        return false;
    (*env)->CallStaticVoidMethod(env, agent, method, argument);
    return !(*env)->ExceptionCheck(env);
}

static bool execute(JNIEnv *env, const char *method_name, const char *options)
{
    bool done = false;

    if (!smp_local_frame_push(env, LOCAL_REFERENCES))
        return false;
    jclass agent = find_class(env, options);
    if (agent != NULL)
        done = invoke(env, agent, method_name, options);
    complain_of_exception(env);
    smp_local_frame_pop(env);
    return done;
}

static void execute_at_start(JNIEnv *env, void *context)
{
    char *options = context;

    (void)execute(env, at_start, options);
    smp_free(NULL, options);
}

void smp_java_agent_start(JavaVM *java_vm, const char *options)
{
    char *copy = smp_strndup(NULL, options, strlen(options));
    enum smp_status status = SMP_ENOMEM;

    if (copy != NULL)
        status = smp_vm_start_await(java_vm, execute_at_start, copy);
    if (status != SMP_OK) {
        complain(smp_status_text(status));
        smp_free(NULL, copy);
    }
}

bool smp_java_agent_command(JNIEnv *env, const char *options)
{
    return execute(env, on_attach, options);
}

enum smp_status smp_java_agent_serve(JNIEnv *env, jclass agent, jclass *serving)
{
    *serving = atomic_load(&serving_class);
    if (*serving == NULL)
        *serving = keep_class(env, agent, &serving_class);
    return *serving != NULL ? SMP_OK : SMP_ENOMEM;
}
