/* SPDX-License-Identifier: Apache-2.0 */
/* bad_jni.c - each function breaks one rule of JNI to show that the build notices it. See
 * selftest.sh. */
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

/* Makes a second call without checking whether the first one has thrown. */
JNIEXPORT void JNICALL Java_BadJni_unchecked(JNIEnv *env, jclass self)
{
    (void)self;
    value_of(env, 1);
    value_of(env, 2);
}

/* Makes a call with a pending exception. */
JNIEXPORT void JNICALL Java_BadJni_pending(JNIEnv *env, jclass self)
{
    (void)self;
    (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/Error"), "pending");
    value_of(env, 1);
}

/* Uses an invalid method id. */
JNIEXPORT void JNICALL Java_BadJni_fatal(JNIEnv *env, jclass self)
{
    (*env)->CallStaticVoidMethod(env, self, (jmethodID)0);
}
