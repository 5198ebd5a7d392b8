/* SPDX-License-Identifier: Apache-2.0 */
/* The native library of WrongLayoutProgram. It finds the rows of the table of hotspot/layout.h
 * among the exports of libjvm, changes the number of one of them, and checks the resulting layout
 * as the product does. */
#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hotspot/exports.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/version.h"
#include "jvm/check/check.h"
#include "jvm/code/code_events.h"
#include "jvm/loaded.h"
#include "jvm/threads/threads.h"

enum { MAX_ROWS = 256, LISTS = 3, NAME_BYTES = 200 };
#define ABSURD ((uint64_t)1 << 20)

/* One of libjvm's lists, and our copy of it. */
struct list {
    const char *symbol;
    const char *stride_symbol;
    const char *first_symbol;  /* offset of the text that is NULL in the last entry */
    const char *value_symbol;  /* offset of the number */
    const char *static_symbol; /* offset of a static field's address */
    const char *flag_symbol;   /* offset of the flag "is static" */
    const char *text_symbol;   /* offset of a field's name */
    char *copy;
    size_t count;
    size_t stride;
};

static struct list lists[LISTS] = {
    { .symbol = "gHotSpotVMStructs",
      .stride_symbol = "gHotSpotVMStructEntryArrayStride",
      .first_symbol = "gHotSpotVMStructEntryTypeNameOffset",
      .value_symbol = "gHotSpotVMStructEntryOffsetOffset",
      .static_symbol = "gHotSpotVMStructEntryAddressOffset",
      .flag_symbol = "gHotSpotVMStructEntryIsStaticOffset",
      .text_symbol = "gHotSpotVMStructEntryFieldNameOffset" },
    { .symbol = "gHotSpotVMTypes",
      .stride_symbol = "gHotSpotVMTypeEntryArrayStride",
      .first_symbol = "gHotSpotVMTypeEntryTypeNameOffset",
      .value_symbol = "gHotSpotVMTypeEntrySizeOffset" },
    { .symbol = "gHotSpotVMIntConstants",
      .stride_symbol = "gHotSpotVMIntConstantEntryArrayStride",
      .first_symbol = "gHotSpotVMIntConstantEntryNameOffset",
      .value_symbol = "gHotSpotVMIntConstantEntryValueOffset" },
};

struct row {
    struct list *list;
    size_t index;
    bool is_static;
    bool is_int; /* 32 bits instead of 64 */
    uint64_t value;
    char name[NAME_BYTES];
};

static struct {
    int version;
    size_t count;
    struct row rows[MAX_ROWS];
} found;

static uint64_t number_of(const char *symbol)
{
    return *(const uint64_t *)smp_symbol(symbol);
}

static const char *text_at(const char *entry, const char *symbol)
{
    const char *text = NULL;

    memcpy(&text, entry + number_of(symbol), sizeof(text));
    return text;
}

static bool copy_list(struct list *list)
{
    const char *from = *(const char *const *)smp_symbol(list->symbol);

    list->stride = number_of(list->stride_symbol);
    while (text_at(from + list->count * list->stride, list->first_symbol) != NULL)
        list->count++;
    list->copy = malloc((list->count + 1) * list->stride);
    if (list->copy != NULL)
        memcpy(list->copy, from, (list->count + 1) * list->stride);
    return list->copy != NULL;
}

/* Returns the copies instead of libjvm's lists. */
static const void *find_symbol(void *self, const char *name)
{
    (void)self;
    for (size_t i = 0; i < LISTS; i++) {
        if (strcmp(name, lists[i].symbol) == 0)
            return &lists[i].copy;
    }
    return smp_symbol(name);
}

static const struct smp_exports exports = { .symbol = find_symbol };

static char *value_of(const struct row *row)
{
    return row->list->copy + row->index * row->list->stride +
           number_of(row->is_static ? row->list->static_symbol : row->list->value_symbol);
}

static void set_value(const struct row *row, uint64_t value)
{
    memcpy(value_of(row), &value, row->is_int ? sizeof(int32_t) : sizeof(value));
}

static struct row row_at(struct list *list, size_t index)
{
    const char *entry = list->copy + index * list->stride;
    const char *text = list->text_symbol == NULL ? NULL : text_at(entry, list->text_symbol);
    struct row row = { .list = list, .index = index, .is_int = list == &lists[2] };
    int32_t flag = 0;

    if (list->flag_symbol != NULL)
        memcpy(&flag, entry + number_of(list->flag_symbol), sizeof(flag));
    row.is_static = flag != 0;
    memcpy(&row.value, value_of(&row), row.is_int ? sizeof(int32_t) : sizeof(row.value));
    (void)snprintf(row.name, sizeof(row.name), "%s%s%s", text_at(entry, list->first_symbol),
                   text == NULL ? "" : "::", text == NULL ? "" : text);
    return row;
}

/* There is no layout without a sensible number in this row. */
static bool is_required(const struct row *row)
{
    struct smp_layout layout;
    char reason[SMP_LAYOUT_REASON_BYTES];

    set_value(row, row->is_static ? 0 : ABSURD);
    const bool is_complete = smp_layout_find(&exports, found.version, &layout, reason);
    set_value(row, row->value);
    return !is_complete;
}

static void find_rows(void)
{
    for (size_t i = 0; i < LISTS; i++) {
        for (size_t at = 0; at < lists[i].count; at++) {
            const struct row row = row_at(&lists[i], at);
            if (is_required(&row) && found.count < MAX_ROWS)
                found.rows[found.count++] = row;
        }
    }
}

static struct smp_check_caller caller_of(JNIEnv *env)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jthread current = NULL;

    (void)(*jvmti)->GetCurrentThread(jvmti, &current);
    return (struct smp_check_caller){ .jvmti = jvmti,
                                      .env = env,
                                      .java_thread = smp_threads_address(env, current),
                                      .stack_high = smp_stack_bounds_own().high };
}

static void check_layout(JNIEnv *env)
{
    const struct smp_check_caller caller = caller_of(env);

    smp_hotspot_forget();
    if (smp_hotspot_find(&exports, found.version) != SMP_OK)
        return;
    (void)smp_code_events_open(caller.jvmti);
    if (smp_hotspot_prove(&caller) != SMP_OK)
        smp_hotspot_refuse("not proved");
    smp_code_events_close();
}

/* javac writes no header for the tests. */
JNIEXPORT jint JNICALL Java_com_incapsula_sampler_testing_WrongLayoutProgram_rows(JNIEnv *env,
                                                                                  jclass type);
JNIEXPORT jstring JNICALL Java_com_incapsula_sampler_testing_WrongLayoutProgram_name(JNIEnv *env,
                                                                                     jclass type,
                                                                                     jint row);
JNIEXPORT jstring JNICALL Java_com_incapsula_sampler_testing_WrongLayoutProgram_check(JNIEnv *env,
                                                                                      jclass type,
                                                                                      jint row,
                                                                                      jint change);
JNIEXPORT jlong JNICALL Java_com_incapsula_sampler_testing_WrongLayoutProgram_compared(
    JNIEnv *env, jclass type, jboolean frames);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, void *reserved)
{
    (void)reserved;
    smp_jvm_loaded(java_vm);
    return SMP_AGENT_JNI_VERSION;
}

JNIEXPORT jint JNICALL Java_com_incapsula_sampler_testing_WrongLayoutProgram_rows(JNIEnv *env,
                                                                                  jclass type)
{
    (void)env;
    (void)type;
    if (found.count == 0 && smp_agent_open() == SMP_OK) {
        found.version = smp_jvm_version(smp_agent_jvmti());
        for (size_t i = 0; i < LISTS; i++) {
            if (!copy_list(&lists[i]))
                return 0;
        }
        find_rows();
    }
    return (jint)found.count;
}

JNIEXPORT jstring JNICALL Java_com_incapsula_sampler_testing_WrongLayoutProgram_name(JNIEnv *env,
                                                                                     jclass type,
                                                                                     jint row)
{
    (void)type;
    return (*env)->NewStringUTF(env, found.rows[row].name);
}

/* Returns the reason, or "" if the layout is used. row -1: nothing is changed. */
JNIEXPORT jstring JNICALL Java_com_incapsula_sampler_testing_WrongLayoutProgram_check(JNIEnv *env,
                                                                                      jclass type,
                                                                                      jint row,
                                                                                      jint change)
{
    char reason[SMP_LAYOUT_REASON_BYTES];

    (void)type;
    if (row >= 0)
        set_value(&found.rows[row], found.rows[row].value + (uint64_t)(int64_t)change);
    check_layout(env);
    if (row >= 0)
        set_value(&found.rows[row], found.rows[row].value);
    smp_hotspot_refusal(reason);
    return (*env)->NewStringUTF(env, reason);
}

/* Returns how many were compared so far: methods, frames. */
JNIEXPORT jlong JNICALL Java_com_incapsula_sampler_testing_WrongLayoutProgram_compared(
    JNIEnv *env, jclass type, jboolean frames)
{
    struct smp_check_counts counts;

    (void)env;
    (void)type;
    smp_hotspot_get_counts(&counts);
    return (jlong)(frames ? counts.frames : counts.records);
}
