/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/option_values.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "jni/convert.h"

/* A NULL array counts as empty: smp_options_read reports the missing values. */
static size_t length_of(JNIEnv *env, jarray array)
{
    return array == NULL ? 0 : (size_t)(*env)->GetArrayLength(env, array);
}

static enum smp_status read_option_text(JNIEnv *env, jobjectArray texts, size_t index, char **out,
                                        char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    jstring text = (*env)->GetObjectArrayElement(env, texts, (jsize)index);
    const enum smp_status status = smp_jni_text(env, text, SMP_OPTION_TEXT_MAX_BYTES, out);

    if (status == SMP_EINVAL)
        (void)snprintf(message, SMP_OPTIONS_MESSAGE_BYTES,
                       "%s must not be null and at most %d characters long",
                       smp_option_at(SMP_OPTION_INTEGER_COUNT + index)->name,
                       SMP_OPTION_TEXT_MAX_BYTES);
    (*env)->DeleteLocalRef(env, text);
    return status;
}

enum smp_status smp_jni_read_options(JNIEnv *env, jlongArray integers, jobjectArray texts,
                                     struct smp_options *out,
                                     char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    int64_t numbers[SMP_OPTION_INTEGER_COUNT] = { 0 };
    char *copies[SMP_OPTION_TEXT_COUNT] = { NULL };
    const struct smp_option_values values = {
        .integers = numbers,
        .integer_count = length_of(env, integers),
        .texts = (const char *const *)copies,
        .text_count = length_of(env, texts),
    };
    enum smp_status status = SMP_OK;

    message[0] = '\0';
    if (values.integer_count == SMP_OPTION_INTEGER_COUNT)
        (*env)->GetLongArrayRegion(env, integers, 0, SMP_OPTION_INTEGER_COUNT, (jlong *)numbers);
    if (values.text_count == SMP_OPTION_TEXT_COUNT) {
        for (size_t i = 0; status == SMP_OK && i < SMP_OPTION_TEXT_COUNT; i++)
            status = read_option_text(env, texts, i, &copies[i], message);
    }
    if (status == SMP_OK)
        status = smp_options_read(NULL, &values, out, message);
    for (size_t i = 0; i < SMP_OPTION_TEXT_COUNT; i++)
        smp_free(NULL, copies[i]);
    return status;
}

static const char *text_of(bool value)
{
    return value ? "true" : "false";
}

static void put_choice(const struct smp_option *option, const char *fixed, char *row)
{
    size_t length = (size_t)snprintf(row, SMP_JNI_OPTION_ROW_BYTES, "%s CHOICE", option->name);

    for (size_t i = 0; i < SMP_OPTION_MAX_CHOICES && option->choices[i] != NULL; i++)
        length += (size_t)snprintf(&row[length], SMP_JNI_OPTION_ROW_BYTES - length, " %s",
                                   option->choices[i]);
    (void)snprintf(&row[length], SMP_JNI_OPTION_ROW_BYTES - length, " %s", fixed);
}

const char *smp_jni_option_row(void *self, size_t index)
{
    const struct smp_option *const option = smp_option_at(index);
    const char *const fixed = text_of(option->fixed);

    switch (option->type) {
    case SMP_OPTION_NUMBER:
        (void)snprintf(self, SMP_JNI_OPTION_ROW_BYTES,
                       "%s NUMBER %" PRId64 " %" PRId64 " %" PRId64 " %s", option->name,
                       option->standard, option->min, option->max, fixed);
        break;
    case SMP_OPTION_FLAG:
        (void)snprintf(self, SMP_JNI_OPTION_ROW_BYTES, "%s FLAG %s %s", option->name,
                       text_of(option->standard != 0), fixed);
        break;
    case SMP_OPTION_CHOICE:
        put_choice(option, fixed, self);
        break;
    case SMP_OPTION_TEXT:
        (void)snprintf(self, SMP_JNI_OPTION_ROW_BYTES, "%s TEXT %s", option->name, fixed);
        break;
    }
    return self;
}
