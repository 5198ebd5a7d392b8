/* SPDX-License-Identifier: Apache-2.0 */
/* bad_jni.c - one broken rule of JNI per function, to show that the build notices. See selftest.sh.
 */
#include <jni.h>

static jobject value_of(JNIEnv *env, jint value)
{
    jclass type = (*env)->FindClass(env, "java/lang/String");
    jmethodID method = (*env)->GetStaticMethodID(env, type, "valueOf", "(I)Ljava/lang/String;");
    return (*env)->CallStaticObjectMethod(env, type, method, value);
}

JNIEXPORT void JNICALL Java_BadJni_good(JNIEnv *env, jclass self)
{
    (void)self;
    value_of(env, 1);
    (*env)->ExceptionCheck(env);
}

/* A second call without a check whether the first one threw. */
JNIEXPORT void JNICALL Java_BadJni_unchecked(JNIEnv *env, jclass self)
{
    (void)self;
    value_of(env, 1);
    value_of(env, 2);
}

/* A call over an exception that is pending. */
JNIEXPORT void JNICALL Java_BadJni_pending(JNIEnv *env, jclass self)
{
    (void)self;
    (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/Error"), "pending");
    value_of(env, 1);
}

/* A method id that is none. */
JNIEXPORT void JNICALL Java_BadJni_fatal(JNIEnv *env, jclass self)
{
    (*env)->CallStaticVoidMethod(env, self, (jmethodID)0);
}
