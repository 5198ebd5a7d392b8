/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bridge_profiles.c - the native methods of NativeBridge about snapshots; bridge.c has those about
 * sessions. The long of a snapshot in Java is one hold of a profile.
 */
#include "jni/bridge.h"

#include <string.h>

#include "base/alloc.h"
#include "engine/session/session.h"
#include "export/difference.h"
#include "export/hot_groups.h"
#include "export/hot_lines.h"
#include "export/tree_walk.h"
#include "jni/convert.h"
#include "jni/figures.h"
#include "jni/ids.h"
#include "model/group_limit.h"
#include "model/profile_merge.h"

/* Bits of writeSnapshot's flags. From COLUMNS_SHIFT on: a set of measures. From PER_SHIFT on: the
 * unit of a row of CALLS. From MIN_SHIFT on: the thousandths of a group below which rows are
 * joined. */
enum {
    BY_TIME = 1,
    ZERO_TIME_PACKAGES = 2,
    WITHOUT_SUMMARY = 4,
    PERCENT = 8,
    WITHOUT_NODES = 16,
    JAVA_SLASHES = 32,
    FRAME_TYPES = 64,
    SHORT_ACCOUNT = 128,
    COLUMNS_SHIFT = 8,
    PER_SHIFT = 18,
    PER_BITS = 2,
    MIN_SHIFT = 20,
    MIN_BITS = 10,
    SPOTS_BY_GROUP = 1 << 30,
    MAX_FOCUS_UNITS = 1000
};

_Static_assert((int)SMP_MEASURE_COUNT <= PER_SHIFT - COLUMNS_SHIFT, "a bit for each measure");

/* A bit of writeSnapshot's measure. */
enum { MEASURE_ALONE = 256 };

static struct smp_profile *snapshot_of(jlong handle)
{
    return (struct smp_profile *)(intptr_t)handle;
}

/* --- intervals --- */

JNIEXPORT jint BRIDGE(openReader)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    unsigned reader = 0;

    smp_throw(env, smp_session_open_reader(smp_bridge_session(session), &reader));
    return (jint)reader;
}

JNIEXPORT void BRIDGE(closeReader)(SMP_UNUSED JNIEnv *env, SMP_UNUSED jclass bridge, jlong session,
                                   jint reader)
{
    smp_session_close_reader(smp_bridge_session(session), (unsigned)reader);
}

JNIEXPORT jlong BRIDGE(takeInterval)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session,
                                     jint reader)
{
    struct smp_profile *taken = NULL;

    smp_throw(env,
              smp_session_take_interval(smp_bridge_session(session), (unsigned)reader, &taken));
    return (jlong)(intptr_t)taken;
}

JNIEXPORT void BRIDGE(keepWindows)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    smp_throw(env, smp_session_keep_windows(smp_bridge_session(session)));
}

JNIEXPORT void BRIDGE(forgetWindows)(SMP_UNUSED JNIEnv *env, SMP_UNUSED jclass bridge,
                                     jlong session)
{
    smp_session_forget_windows(smp_bridge_session(session));
}

JNIEXPORT jlong BRIDGE(takeWindow)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session,
                                   jint window)
{
    struct smp_profile *taken = NULL;

    smp_throw(env, window < 0 || window >= SMP_WINDOW_COUNT
                       ? SMP_EINVAL
                       : smp_session_take_window(smp_bridge_session(session),
                                                 (enum smp_window)window, &taken));
    return (jlong)(intptr_t)taken;
}

JNIEXPORT jlong BRIDGE(currentReport)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    struct smp_profile *current = smp_session_current_report(smp_bridge_session(session));

    if (current == NULL)
        smp_throw(env, SMP_ESTATE);
    return (jlong)(intptr_t)current;
}

/* --- output --- */

/* A byte output to a java.io.OutputStream. If the stream throws, the output has failed, and the
 * exception stays pending for Java's caller. */
struct stream_output {
    JNIEnv *env;
    jobject stream;   /* borrowed */
    jbyteArray bytes; /* reused for each piece */
};

static bool write_piece(void *self, const char *bytes, size_t length)
{
    const struct stream_output *output = self;
    JNIEnv *env = output->env;

    (*env)->SetByteArrayRegion(env, output->bytes, 0, (jsize)length, (const jbyte *)bytes);
    if ((*env)->ExceptionCheck(env))
        return false;
    (*env)->CallVoidMethod(env, output->stream, smp_jni_ids_get()->write_bytes, output->bytes,
                           (jint)0, (jint)length);
    return !(*env)->ExceptionCheck(env);
}

/* Returns SMP_EINVAL if stream is null, and SMP_ENOMEM if an OutOfMemoryError is pending. */
static enum smp_status init_stream_output(struct stream_output *output, JNIEnv *env, jobject stream)
{
    *output = (struct stream_output){ .env = env, .stream = stream };
    if (stream == NULL)
        return SMP_EINVAL;
    output->bytes = (*env)->NewByteArray(env, SMP_WRITER_BYTES);
    return output->bytes != NULL ? SMP_OK : SMP_ENOMEM;
}

static void fini_stream_output(struct stream_output *output)
{
    if (output->bytes != NULL)
        (*output->env)->DeleteLocalRef(output->env, output->bytes);
    output->bytes = NULL;
}

/* --- snapshots --- */

JNIEXPORT jlong BRIDGE(mergeSnapshots)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong a, jlong b)
{
    struct smp_profile *merged = NULL;

    if (snapshot_of(a)->is_cpu_clock != snapshot_of(b)->is_cpu_clock) {
        smp_throw_message(env, SMP_EINVAL, "wall-clock times and CPU times cannot be added up");
        return 0;
    }
    smp_throw(env,
              smp_profile_merge(snapshot_of(a)->quota, snapshot_of(a), snapshot_of(b), &merged));
    if (merged != NULL)
        merged = smp_group_limit_apply(merged->quota, merged, 1);
    return (jlong)(intptr_t)merged;
}

JNIEXPORT void BRIDGE(releaseSnapshot)(SMP_UNUSED JNIEnv *env, SMP_UNUSED jclass bridge,
                                       jlong profile)
{
    smp_profile_release(snapshot_of(profile));
}

JNIEXPORT void BRIDGE(writeSnapshot)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong profile,
                                     jint format, jint measure, jint flags, jstring focus,
                                     jobject out)
{
    struct smp_export_style style = {
        .measure = (enum smp_measure)(measure & ~MEASURE_ALONE),
        .measure_alone = (measure & MEASURE_ALONE) != 0,
        .order = (flags & BY_TIME) != 0 ? SMP_ORDER_BY_TIME : SMP_ORDER_BY_NAME,
        .zero_time_packages = (flags & ZERO_TIME_PACKAGES) != 0,
        .columns = ((uint32_t)flags >> COLUMNS_SHIFT) & SMP_ALL_MEASURES,
        .percent = (flags & PERCENT) != 0,
        .min_per_mille = ((uint32_t)flags >> MIN_SHIFT) & ((1u << MIN_BITS) - 1),
        .short_account = (flags & SHORT_ACCOUNT) != 0,
        .java_slashes = (flags & JAVA_SLASHES) != 0,
        .frame_types = (flags & FRAME_TYPES) != 0,
        .summary = (flags & WITHOUT_SUMMARY) == 0,
        .without_nodes = (flags & WITHOUT_NODES) != 0,
        .per = (enum smp_report_per)(((uint32_t)flags >> PER_SHIFT) & ((1u << PER_BITS) - 1)),
        .spots_by_group = (flags & SPOTS_BY_GROUP) != 0,
        .fold_recursion = flags < 0, /* the highest bit */
    };
    struct stream_output output;
    char *focus_text = NULL;
    enum smp_status status = init_stream_output(&output, env, out);

    if (status == SMP_OK)
        status = smp_jni_text(env, focus, MAX_FOCUS_UNITS, &focus_text);
    if (status == SMP_OK) {
        style.focus = focus_text[0] != '\0' ? focus_text : NULL;
        const struct smp_output bytes = { .write = write_piece, .self = &output };
        status = smp_export(snapshot_of(profile), (enum smp_format)format, &style,
                            snapshot_of(profile)->quota, &bytes);
    }
    fini_stream_output(&output);
    smp_free(NULL, focus_text);
    smp_throw(env, status);
}

JNIEXPORT void BRIDGE(writeDifference)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong before,
                                       jlong after, jint format, jint measure, jobject out)
{
    const struct smp_profile *const sides[] = {
        [SMP_DIFF_BEFORE] = snapshot_of(before), [SMP_DIFF_AFTER] = snapshot_of(after)
    };
    struct smp_quota *const quota = snapshot_of(before != 0 ? before : after)->quota;
    struct stream_output output;
    enum smp_status status = init_stream_output(&output, env, out);

    if (status == SMP_OK) {
        const struct smp_output bytes = { .write = write_piece, .self = &output };
        status = smp_export_difference(sides, (enum smp_format)format, (enum smp_measure)measure,
                                       quota, &bytes);
    }
    fini_stream_output(&output);
    smp_throw(env, status);
}

/* --- hot lines --- */

/* Java gets four texts for each line: the line itself, its group, class and method. */
enum { TEXTS_PER_LINE = 4 };

struct line_texts {
    const struct smp_profile *profile;
    struct smp_hot_lines hot;
};

static const char *text_of_line(void *self, size_t index)
{
    const struct line_texts *const texts = self;
    const struct smp_hot_line *const line = &texts->hot.lines[index / TEXTS_PER_LINE];
    struct smp_location_view view;

    smp_profile_view(texts->profile, line->location, &view);
    const char *const all[TEXTS_PER_LINE] = {
        line->text,
        smp_profile_group_info(texts->profile, line->group)->name,
        view.is_pseudo ? NULL : view.class_name,
        view.method_name,
    };
    return all[index % TEXTS_PER_LINE];
}

/* Returns false if an exception is pending. */
static bool put_line_figures(JNIEnv *env, const struct line_texts *texts, jlongArray figures)
{
    for (size_t i = 0; i < texts->hot.count; i++) {
        int64_t values[SMP_JNI_LINE_FIGURE_COUNT];
        smp_jni_line_figures(texts->profile, &texts->hot.lines[i], values);
        (*env)->SetLongArrayRegion(env, figures, (jsize)(i * SMP_JNI_LINE_FIGURE_COUNT),
                                   SMP_JNI_LINE_FIGURE_COUNT, (const jlong *)values);
        if ((*env)->ExceptionCheck(env))
            return false;
    }
    return true;
}

JNIEXPORT jobjectArray BRIDGE(hotLines)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong profile,
                                        jlongArray figures)
{
    struct line_texts texts = { .profile = snapshot_of(profile) };
    jobjectArray array = NULL;
    enum smp_status status = SMP_EINVAL;

    if (figures != NULL) {
        const size_t room = (size_t)(*env)->GetArrayLength(env, figures);
        status = smp_hot_lines_init(&texts.hot, texts.profile->quota, texts.profile,
                                    room / SMP_JNI_LINE_FIGURE_COUNT);
    }
    if (status == SMP_OK && put_line_figures(env, &texts, figures)) {
        array = smp_jni_strings(env, texts.hot.count * TEXTS_PER_LINE, text_of_line, &texts);
        status = array != NULL ? SMP_OK : SMP_ENOMEM;
    }
    smp_hot_lines_fini(&texts.hot);
    smp_throw(env, status);
    return array;
}

/* --- rows --- */

JNIEXPORT jlongArray BRIDGE(childRows)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong profile,
                                       jlong node)
{
    struct smp_children children = { 0 };
    struct smp_group_errors errors;
    jlongArray array = NULL;
    enum smp_status status = smp_children_init(&children, snapshot_of(profile)->quota,
                                               snapshot_of(profile)->tree, (uint64_t)node);

    if (children.count > INT32_MAX / SMP_JNI_ROW_FIGURE_COUNT)
        status = SMP_ENOMEM; /* arrays are never that long */
    if (status == SMP_OK)
        array = (*env)->NewLongArray(env, (jsize)(children.count * SMP_JNI_ROW_FIGURE_COUNT));
    if (array != NULL)
        errors = smp_group_errors_of(
            snapshot_of(profile),
            smp_node_root(smp_tree_nodes(snapshot_of(profile)->tree), (uint32_t)node));
    for (size_t i = 0; array != NULL && i < children.count; i++) {
        int64_t values[SMP_JNI_ROW_FIGURE_COUNT];
        smp_jni_row_figures(&errors, children.nodes[i], values);
        (*env)->SetLongArrayRegion(env, array, (jsize)(i * SMP_JNI_ROW_FIGURE_COUNT),
                                   SMP_JNI_ROW_FIGURE_COUNT, (const jlong *)values);
    }
    smp_children_fini(&children);
    smp_throw(env, status);
    return array;
}

/* Java gets three names for each location: class, method and file. */
enum { NAMES_PER_LOCATION = 3 };

struct location_names {
    const struct smp_profile *profile;
    const jlong *locations;
};

static const char *name_of_location(void *self, size_t index)
{
    const struct location_names *const names = self;
    struct smp_location_view view;

    smp_profile_view(names->profile, (uint32_t)names->locations[index / NAMES_PER_LOCATION], &view);
    const char *const texts[NAMES_PER_LOCATION] = { view.class_name, view.method_name, view.file };
    return texts[index % NAMES_PER_LOCATION];
}

static bool are_locations(const struct smp_profile *profile, const jlong *locations, jsize count)
{
    for (jsize i = 0; i < count; i++) {
        if (locations[i] <= 0 || locations[i] >= (jlong)profile->location_count)
            return false;
    }
    return true;
}

JNIEXPORT jobjectArray BRIDGE(locationNames)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong profile,
                                             jlongArray locations)
{
    const struct smp_profile *const named = snapshot_of(profile);
    jobjectArray array = NULL;
    jsize count;
    jlong *values;

    if (locations == NULL) {
        smp_throw(env, SMP_EINVAL);
        return NULL;
    }
    count = (*env)->GetArrayLength(env, locations);
    /* One more than needed: the array may be empty, and an allocation of 0 bytes fails. */
    values = smp_alloc(named->quota, ((size_t)count + 1) * sizeof(*values));
    if (values == NULL) {
        smp_throw(env, SMP_ENOMEM);
        return NULL;
    }
    (*env)->GetLongArrayRegion(env, locations, 0, count, values);
    if (are_locations(named, values, count)) {
        struct location_names names = { .profile = named, .locations = values };
        array = smp_jni_strings(env, (size_t)count * NAMES_PER_LOCATION, name_of_location, &names);
    } else {
        smp_throw(env, SMP_EINVAL);
    }
    smp_free(named->quota, values);
    return array;
}

/* --- figures --- */

static const char *name_of_measure(SMP_UNUSED void *self, size_t index)
{
    return smp_measure_info((enum smp_measure)index)->name;
}

JNIEXPORT jobjectArray BRIDGE(measureNames)(JNIEnv *env, SMP_UNUSED jclass bridge)
{
    return smp_jni_strings(env, SMP_MEASURE_COUNT, name_of_measure, NULL);
}

/* Returns false if an exception is pending. */
static bool init_groups(JNIEnv *env, const struct smp_profile *profile, jint kind,
                        struct smp_hot_groups *groups)
{
    const enum smp_status status =
        kind >= 0 && kind < SMP_GROUP_KINDS
            ? smp_hot_groups_init(groups, profile->quota, profile, (enum smp_group_kind)kind)
            : SMP_EINVAL;

    smp_throw(env, status);
    return status == SMP_OK;
}

JNIEXPORT jlongArray BRIDGE(snapshotFigures)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong profile)
{
    int64_t values[SMP_JNI_PROFILE_FIGURE_COUNT];
    struct smp_hot_groups groups;

    if (!init_groups(env, snapshot_of(profile), SMP_GROUP_SAMPLED, &groups))
        return NULL;
    smp_jni_profile_figures(snapshot_of(profile), &groups, values);
    smp_hot_groups_fini(&groups);
    return smp_jni_longs(env, values, SMP_JNI_PROFILE_FIGURE_COUNT);
}

struct group_names {
    const struct smp_profile *profile;
    struct smp_hot_groups groups;
};

static const char *name_of_group(void *self, size_t index)
{
    const struct group_names *names = self;

    return smp_profile_group_info(names->profile, names->groups.indices[index])->name;
}

JNIEXPORT jobjectArray BRIDGE(snapshotGroups)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong profile,
                                              jint kind)
{
    struct group_names names = { .profile = snapshot_of(profile) };
    jobjectArray array = NULL;

    if (!init_groups(env, names.profile, kind, &names.groups))
        return NULL;
    array = smp_jni_strings(env, names.groups.count, name_of_group, &names);
    smp_hot_groups_fini(&names.groups);
    if (array == NULL)
        smp_throw(env, SMP_ENOMEM);
    return array;
}

JNIEXPORT jlongArray BRIDGE(snapshotGroupFigures)(JNIEnv *env, SMP_UNUSED jclass bridge,
                                                  jlong profile, jint kind)
{
    struct smp_hot_groups groups;
    jlongArray array = NULL;

    if (!init_groups(env, snapshot_of(profile), kind, &groups))
        return NULL;
    array = (*env)->NewLongArray(env, (jsize)(groups.count * SMP_JNI_GROUP_FIGURE_COUNT));
    for (size_t i = 0; array != NULL && i < groups.count; i++) {
        int64_t values[SMP_JNI_GROUP_FIGURE_COUNT];
        smp_jni_group_figures(snapshot_of(profile), groups.indices[i], values);
        (*env)->SetLongArrayRegion(env, array, (jsize)(i * SMP_JNI_GROUP_FIGURE_COUNT),
                                   SMP_JNI_GROUP_FIGURE_COUNT, (const jlong *)values);
    }
    smp_hot_groups_fini(&groups);
    return array;
}

JNIEXPORT jlongArray BRIDGE(snapshotAccount)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong profile)
{
    int64_t values[SMP_JNI_ACCOUNT_COUNT];

    smp_jni_profile_account(snapshot_of(profile), values);
    return smp_jni_longs(env, values, SMP_JNI_ACCOUNT_COUNT);
}

JNIEXPORT jobjectArray BRIDGE(accountNames)(JNIEnv *env, SMP_UNUSED jclass bridge)
{
    char name[SMP_JNI_FIGURE_NAME_BYTES];

    return smp_jni_strings(env, SMP_JNI_ACCOUNT_COUNT, smp_jni_account_name, name);
}
