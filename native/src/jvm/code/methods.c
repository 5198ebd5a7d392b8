/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/code/methods.h"

#include <jvmti.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jvmti_status.h"
#include "jvm/code/code_map.h"

enum {
    /* utf8.h writes at most UTF8_GROWTH bytes for each byte, and needs UTF8_MIN_BYTES. */
    UTF8_GROWTH = 3,
    UTF8_MIN_BYTES = 4
};

struct smp_jvm_methods {
    struct smp_named_methods *named;
    char *buffer; /* lines first, so that they are aligned; then the texts */
    size_t capacity;
};

/* Data from JVMTI; free_method_facts frees all of them. */
struct method_facts {
    jclass declaring;
    char *signature;
    char *name;
    char *descriptor;
    char *file;
    jvmtiLineNumberEntry *lines;
    jint line_count;
    jboolean is_native;
};

static void deallocate(jvmtiEnv *jvmti, void *piece)
{
    if (piece != NULL)
        (void)(*jvmti)->Deallocate(jvmti, piece);
}

static void free_method_facts(jvmtiEnv *jvmti, JNIEnv *env, struct method_facts *facts)
{
    deallocate(jvmti, facts->signature);
    deallocate(jvmti, facts->name);
    deallocate(jvmti, facts->descriptor);
    deallocate(jvmti, facts->file);
    deallocate(jvmti, facts->lines);
    if (facts->declaring != NULL)
        (*env)->DeleteLocalRef(env, facts->declaring);
}

/* File and lines may be missing for many reasons. A retry is useful only after a lack of memory, or
 * if the JVM shuts down. */
static enum smp_status tolerate_missing(jvmtiError error)
{
    enum smp_status status = smp_jvmti_status(error);

    return status == SMP_ENOMEM || status == SMP_EPHASE ? status : SMP_OK;
}

static enum smp_status resolve_names(jvmtiEnv *jvmti, jmethodID method, struct method_facts *facts)
{
    enum smp_status status =
        smp_jvmti_status((*jvmti)->GetMethodDeclaringClass(jvmti, method, &facts->declaring));

    if (status == SMP_OK)
        status = smp_jvmti_status(
            (*jvmti)->GetClassSignature(jvmti, facts->declaring, &facts->signature, NULL));
    if (status == SMP_OK)
        status = smp_jvmti_status(
            (*jvmti)->GetMethodName(jvmti, method, &facts->name, &facts->descriptor, NULL));
    if (status == SMP_OK)
        status = smp_jvmti_status((*jvmti)->IsMethodNative(jvmti, method, &facts->is_native));
    if (status == SMP_OK)
        status =
            tolerate_missing((*jvmti)->GetSourceFileName(jvmti, facts->declaring, &facts->file));
    if (status == SMP_OK && !facts->is_native)
        status = tolerate_missing(
            (*jvmti)->GetLineNumberTable(jvmti, method, &facts->line_count, &facts->lines));
    if (status == SMP_OK && (facts->signature == NULL || facts->name == NULL))
        status = SMP_EVM;
    if (facts->lines == NULL || facts->line_count < 0)
        facts->line_count = 0;
    return status;
}

static size_t text_room(const char *text)
{
    return text != NULL ? strlen(text) * UTF8_GROWTH + UTF8_MIN_BYTES : 0;
}

static enum smp_status reserve_method_buffer(struct smp_jvm_methods *methods, size_t bytes)
{
    if (bytes <= methods->capacity)
        return SMP_OK;
    char *buffer = smp_realloc(NULL, methods->buffer, bytes);
    if (buffer == NULL)
        return SMP_ENOMEM;
    methods->buffer = buffer;
    methods->capacity = bytes;
    return SMP_OK;
}

/*
 * "Lcom/acme/Outer$Inner;" is com.acme.Outer$Inner. The signature of a hidden class has a '.' where
 * its name has a '/': "Lcom/acme/Foo$$Lambda.0x0004;" is com.acme.Foo$$Lambda/0x0004.
 */
static void dot_class_name(char *name)
{
    for (; *name != '\0'; name++) {
        if (*name == '/')
            *name = '.';
        else if (*name == '.')
            *name = '/';
    }
}

static const char *put_method_text(char **at, const char *text, size_t length, size_t room)
{
    const char *put = *at;

    (void)smp_utf8_from_modified(*at, room, text, length);
    *at += room;
    return put;
}

static const char *put_class_name(char **at, const char *signature, size_t room)
{
    size_t length = strlen(signature);
    char *name = *at;

    if (length >= 2 && signature[0] == 'L' && signature[length - 1] == ';') {
        signature++;
        length -= 2;
    }
    (void)put_method_text(at, signature, length, room);
    dot_class_name(name);
    return name;
}

static enum smp_status fill_method_info(struct smp_jvm_methods *methods,
                                        const struct method_facts *facts,
                                        struct smp_method_info *info)
{
    const size_t line_bytes = (size_t)facts->line_count * sizeof(struct smp_line);
    const size_t class_room = text_room(facts->signature);
    const size_t name_room = text_room(facts->name);
    const size_t file_room = text_room(facts->file);
    /* Methods without lines are generated. With a row for each, reports would grow for ever. */
    const size_t descriptor_room = facts->line_count > 0 ? text_room(facts->descriptor) : 0;
    enum smp_status status = reserve_method_buffer(methods, line_bytes + class_room + name_room +
                                                                file_room + descriptor_room);

    if (status != SMP_OK)
        return status;
    struct smp_line *lines = (struct smp_line *)(void *)methods->buffer;
    char *at = methods->buffer + line_bytes;
    for (jint i = 0; i < facts->line_count; i++) {
        lines[i] = (struct smp_line){ .start_bci = (int32_t)facts->lines[i].start_location,
                                      .line = facts->lines[i].line_number };
    }
    *info = (struct smp_method_info){ .is_native = facts->is_native != 0,
                                      .line_count = (size_t)facts->line_count };
    if (facts->line_count > 0)
        info->lines = lines;
    info->class_name = put_class_name(&at, facts->signature, class_room);
    info->method_name = put_method_text(&at, facts->name, strlen(facts->name), name_room);
    if (descriptor_room > 0)
        info->descriptor =
            put_method_text(&at, facts->descriptor, strlen(facts->descriptor), descriptor_room);
    if (facts->file != NULL)
        info->file = put_method_text(&at, facts->file, strlen(facts->file), file_room);
    return SMP_OK;
}

/* Returns SMP_EVM if the copy was dropped. */
static enum smp_status resolve_named(const struct smp_jvm_methods *methods, uint64_t key,
                                     struct smp_method_info *info)
{
    return smp_named_methods_find(methods->named, key, info) ? SMP_OK : SMP_EVM;
}

static enum smp_status resolve_method(void *self, uint64_t method, struct smp_method_info *info)
{
    struct method_facts facts = { 0 };
    JNIEnv *env = smp_agent_env();
    jvmtiEnv *jvmti = smp_agent_jvmti();

    if (smp_named_methods_is_key(method))
        return resolve_named(self, method, info);
    if (!smp_agent_is_live())
        return SMP_EPHASE;
    if (env == NULL)
        return SMP_EVM;
    if (method == SMP_METHODS_NO_ID)
        return SMP_EGONE;
    enum smp_status status = resolve_names(jvmti, (jmethodID)(uintptr_t)method, &facts);
    if (status == SMP_OK)
        status = fill_method_info(self, &facts, info);
    free_method_facts(jvmti, env, &facts);
    return status;
}

static void release_method(void *self, struct smp_method_info *info)
{
    struct smp_jvm_methods *methods = self;

    (void)info;
    if (methods->capacity <= SMP_JVM_METHODS_KEEP_BYTES)
        return;
    smp_free(NULL, methods->buffer);
    methods->buffer = NULL;
    methods->capacity = 0;
}

/* Returns the text of a stub, which is not a Java method, or of a method without id and names. */
static const char *pseudo_method_text(void *self, uint64_t key)
{
    (void)self;
    return key == SMP_METHODS_NO_ID ? "[method without an id]" : smp_code_map_name(key);
}

enum smp_status smp_jvm_methods_create(struct smp_jvm_methods **out)
{
    struct smp_jvm_methods *methods = smp_alloc(NULL, sizeof(*methods));

    if (methods == NULL)
        return SMP_ENOMEM;
    const enum smp_status status = smp_named_methods_create(&methods->named);
    if (status == SMP_OK)
        *out = methods;
    else
        smp_free(NULL, methods);
    return status;
}

void smp_jvm_methods_destroy(struct smp_jvm_methods *methods)
{
    if (methods == NULL)
        return;
    smp_named_methods_destroy(methods->named);
    smp_free(NULL, methods->buffer);
    smp_free(NULL, methods);
}

struct smp_named_methods *smp_jvm_methods_named(struct smp_jvm_methods *methods)
{
    return methods->named;
}

struct smp_name_source smp_jvm_methods_source(struct smp_jvm_methods *methods)
{
    return (struct smp_name_source){ .resolve = resolve_method,
                                     .release = release_method,
                                     .pseudo_text = pseudo_method_text,
                                     .self = methods };
}
