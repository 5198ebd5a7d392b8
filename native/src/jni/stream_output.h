/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_output.h - the byte output whose far end is a java.io.OutputStream.
 *
 * Owns     one byte[], used again for every piece.
 * Threads  the one that made it, from init to fini, within one native method.
 * Errors   init: SMP_EINVAL for null, SMP_ENOMEM with an OutOfMemoryError pending. A stream that
 *          throws has failed: its exception is left pending, so Java's caller gets it.
 * Cost     a copy and a call into Java per piece.
 */
#ifndef SMP_JNI_STREAM_OUTPUT_H
#define SMP_JNI_STREAM_OUTPUT_H

#include <jni.h>

#include "base/status.h"
#include "export/exporters.h"

struct smp_stream_output {
    JNIEnv *env;
    jobject stream; /* borrowed */
    jbyteArray bytes;
};

SMP_CHECKED enum smp_status smp_stream_output_init(struct smp_stream_output *output, JNIEnv *env,
                                                   jobject stream);
void smp_stream_output_fini(struct smp_stream_output *output); /* after a failed init it is fine */
/* Borrows output. */
struct smp_output smp_stream_output_functions(struct smp_stream_output *output);

#endif
