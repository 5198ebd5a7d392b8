/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/stream_sink.h"

#include "jni/ids.h"

static bool write_piece(void *self, const char *bytes, size_t length)
{
    const struct smp_stream_sink *sink = self;
    JNIEnv *env = sink->env;

    (*env)->SetByteArrayRegion(env, sink->bytes, 0, (jsize)length, (const jbyte *)bytes);
    if ((*env)->ExceptionCheck(env))
        return false;
    (*env)->CallVoidMethod(env, sink->stream, smp_jni_ids_get()->write_bytes, sink->bytes, (jint)0,
                           (jint)length);
    return !(*env)->ExceptionCheck(env);
}

enum smp_status smp_stream_sink_init(struct smp_stream_sink *sink, JNIEnv *env, jobject stream)
{
    *sink = (struct smp_stream_sink){ .env = env, .stream = stream };
    if (stream == NULL)
        return SMP_EINVAL;
    sink->bytes = (*env)->NewByteArray(env, SMP_EXPORT_PIECE_BYTES);
    return sink->bytes != NULL ? SMP_OK : SMP_ENOMEM;
}

void smp_stream_sink_fini(struct smp_stream_sink *sink)
{
    if (sink->bytes != NULL)
        (*sink->env)->DeleteLocalRef(sink->env, sink->bytes);
    sink->bytes = NULL;
}

struct smp_byte_sink smp_stream_sink_interface(struct smp_stream_sink *sink)
{
    return (struct smp_byte_sink){ .write = write_piece, .self = sink };
}
