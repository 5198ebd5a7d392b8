/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/stream_output.h"

#include "jni/ids.h"

static bool write_piece(void *self, const char *bytes, size_t length)
{
    const struct smp_stream_output *output = self;
    JNIEnv *env = output->env;

    (*env)->SetByteArrayRegion(env, output->bytes, 0, (jsize)length, (const jbyte *)bytes);
    if ((*env)->ExceptionCheck(env))
        return false;
    (*env)->CallVoidMethod(env, output->stream, smp_jni_ids_get()->write_bytes, output->bytes,
                           (jint)0, (jint)length);
    return !(*env)->ExceptionCheck(env);
}

enum smp_status smp_stream_output_init(struct smp_stream_output *output, JNIEnv *env,
                                       jobject stream)
{
    *output = (struct smp_stream_output){ .env = env, .stream = stream };
    if (stream == NULL)
        return SMP_EINVAL;
    output->bytes = (*env)->NewByteArray(env, SMP_WRITER_BYTES);
    return output->bytes != NULL ? SMP_OK : SMP_ENOMEM;
}

void smp_stream_output_fini(struct smp_stream_output *output)
{
    if (output->bytes != NULL)
        (*output->env)->DeleteLocalRef(output->env, output->bytes);
    output->bytes = NULL;
}

struct smp_output smp_stream_output_functions(struct smp_stream_output *output)
{
    return (struct smp_output){ .write = write_piece, .self = output };
}
