/* SPDX-License-Identifier: Apache-2.0 */
#include "export/summary_json.h"

#include <string.h>

#include "export/json_text.h"
#include "export/summary.h"

/* A hot spot of one group is listed if it has at least a thousandth of the active time. */
enum { SPOT_BY_GROUP_SHARE = 1000 };

struct summary_writer {
    const struct smp_profile *profile;
    struct smp_writer *out;
    struct smp_bytes text; /* one text at a time; keeps the first failure */
};

/* Writes the name of a method or, if with_place is set, the text of a frame. */
static void put_summary_frame(struct summary_writer *writer, const char *key, uint32_t location,
                              bool with_place)
{
    if (location == 0)
        return;
    smp_bytes_restart(&writer->text);
    if (with_place)
        smp_profile_frame_text(writer->profile, location, &writer->text);
    else
        smp_profile_method_text(writer->profile, location, &writer->text);
    smp_json_put_member(writer->out, key, smp_bytes_text(&writer->text));
}

static void put_spot_place(struct summary_writer *writer, const struct smp_hot_spot *spot)
{
    struct smp_location_view view;

    smp_profile_view(writer->profile, spot->place, &view);
    smp_json_put_member(writer->out, "class", view.class_name);
    if (view.method_name != NULL)
        smp_json_put_member(writer->out, "method", view.method_name);
    if (view.file != NULL)
        smp_json_put_member(writer->out, "file", view.file);
    if (view.line > 0)
        smp_json_put_number(writer->out, "line", view.line);
}

static void put_spot_group(struct summary_writer *writer, const struct smp_hot_spot *spot)
{
    smp_json_put_member(writer->out, "group",
                        smp_profile_group_info(writer->profile, spot->group)->name);
    smp_json_put_number(writer->out, "groups", spot->group_count);
}

static void put_spot_error(struct summary_writer *writer, const struct smp_hot_spot *spot)
{
    struct smp_error_range range;

    if (spot->error.variance < 0)
        return;
    range = smp_error_range_of(spot->ns, spot->all_ns, spot->error);
    smp_json_put_key(writer->out, "error95", false);
    smp_json_put_pair(writer->out, range.lower, range.upper);
}

/* Returns the runnable time of a running or runnable spot, else 0. */
static int64_t runnable_ns(const struct smp_hot_spot *spot)
{
    const bool is_computing =
        spot->measure == SMP_MEASURE_RUNNING || spot->measure == SMP_MEASURE_RUNNABLE;

    return is_computing ? spot->amounts.of[SMP_MEASURE_RUNNABLE] : 0;
}

static void put_json_spot(struct summary_writer *writer, const struct smp_hot_spot *spot)
{
    smp_writer_puts(writer->out, "{\"state\":");
    smp_json_put_string(
        writer->out, smp_measure_info(smp_profile_measure(writer->profile, spot->measure))->name);
    smp_json_put_number(writer->out, "nanos", spot->ns);
    if (runnable_ns(spot) > 0)
        smp_json_put_number(writer->out, "runnableNanos", runnable_ns(spot));
    put_spot_error(writer, spot);
    put_spot_place(writer, spot);
    put_summary_frame(writer, "callee", spot->callee, false);
    put_spot_group(writer, spot);
    if (spot->calls > 0)
        smp_json_put_number(writer->out, "calls", spot->calls);
    put_summary_frame(writer, "lock", spot->lock, false);
    put_summary_frame(writer, "holding", spot->holding, true);
    if (spot->has_holder)
        smp_json_put_member(writer->out, "holder",
                            smp_profile_group_info(writer->profile, spot->holder)->name);
    smp_writer_put_byte(writer->out, '}');
}

/* Writes time that is in no hot spot, and the line or method with most of it. */
static void put_spot_apart(struct summary_writer *writer, const struct smp_hot_spot *spot,
                           const char *key, const char *where)
{
    if (spot->ns == 0)
        return;
    smp_writer_puts(writer->out, ",\n ");
    smp_json_put_key(writer->out, key, true);
    smp_writer_puts(writer->out, "{\"nanos\":");
    smp_writer_put_i64(writer->out, spot->ns);
    put_summary_frame(writer, where, spot->callee, strcmp(where, "line") == 0);
    put_spot_group(writer, spot);
    smp_writer_put_byte(writer->out, '}');
}

static void put_json_spots(struct summary_writer *writer, const struct smp_hot_spots *spots)
{
    struct smp_writer *const out = writer->out;

    smp_writer_puts(out, ",\n \"hotSpots\":[");
    for (size_t i = 0; i < spots->count; i++) {
        smp_writer_puts(out, i == 0 ? "\n  " : ",\n  ");
        put_json_spot(writer, &spots->list[i]);
    }
    smp_writer_puts(out, "],\n \"others\":{\"spots\":");
    smp_writer_put_u64(out, spots->others);
    smp_json_put_number(writer->out, "nanos", spots->others_ns);
    smp_writer_put_byte(out, '}');
    put_spot_apart(writer, &spots->waits, "waits", "line");
    put_spot_apart(writer, &spots->outside, "elsewhere", "callee");
}

static void put_summary_figures(struct summary_writer *writer, const struct smp_summary *summary)
{
    struct smp_writer *const out = writer->out;

    smp_writer_puts(out, "\"threads\":");
    smp_writer_put_u64(out, summary->threads);
    smp_json_put_number(writer->out, "groups", (int64_t)summary->groups);
    smp_json_put_number(writer->out, "cpuNanos", summary->cpu_ns);
    smp_json_put_number(writer->out, "cpus", writer->profile->cpus);
    if (writer->profile->cpu_quota_milli > 0)
        smp_json_put_number(writer->out, "cpuQuotaMilli", writer->profile->cpu_quota_milli);
    smp_json_put_number(writer->out, "activeNanos", summary->spots.active_ns);
    smp_json_put_number(writer->out, "idleNanos", summary->amounts.of[SMP_MEASURE_IDLE]);
    smp_json_put_number(writer->out, "idleThreads", (int64_t)summary->idle_threads);
    if (!summary->spots.has_states)
        return;
    smp_json_put_key(out, "states", false);
    smp_writer_put_byte(out, '{');
    for (int i = 0; i < SMP_STATE_IDLE; i++) {
        const enum smp_measure measure = smp_measure_of_state((enum smp_thread_state)i);
        smp_json_put_key(out, smp_measure_info(measure)->name, i == 0);
        smp_writer_put_i64(out, summary->amounts.of[measure]);
    }
    smp_writer_put_byte(out, '}');
}

/* Writes each package of a comma-separated list. */
static void put_set_packages(struct summary_writer *writer)
{
    const char *at = writer->profile->packages;

    while (*at != '\0') {
        const size_t length = strcspn(at, ",");
        smp_bytes_restart(&writer->text);
        smp_bytes_put(&writer->text, at, length);
        if (at != writer->profile->packages)
            smp_writer_put_byte(writer->out, ',');
        smp_json_put_string(writer->out, smp_bytes_text(&writer->text));
        at += length;
        at += strspn(at, ", ");
    }
}

static void put_json_packages(struct summary_writer *writer, const struct smp_hot_spots *spots)
{
    const bool is_guessed = smp_profile_guesses_application(writer->profile);

    smp_json_put_key(writer->out, "packages", false);
    smp_writer_put_byte(writer->out, '[');
    for (size_t i = 0; is_guessed && i < spots->package_count; i++) {
        smp_bytes_restart(&writer->text);
        smp_bytes_put(&writer->text, spots->packages[i].class_name, spots->packages[i].length);
        if (i > 0)
            smp_writer_put_byte(writer->out, ',');
        smp_json_put_string(writer->out, smp_bytes_text(&writer->text));
    }
    if (!is_guessed)
        put_set_packages(writer);
    smp_writer_puts(writer->out, is_guessed ? "],\"guessed\":true" : "],\"guessed\":false");
}

static void put_json_lines(struct summary_writer *writer, struct smp_bytes *lines)
{
    smp_writer_puts(writer->out, "\"lines\":[");
    for (char *at = lines->data; at != NULL && *at != '\0';) {
        char *const end = strchr(at, '\n');
        *end = '\0';
        smp_writer_puts(writer->out, at == lines->data ? "\n  " : ",\n  ");
        smp_json_put_string(writer->out, at);
        at = end + 1;
    }
    smp_writer_puts(writer->out, "]}");
}

static void put_summary(struct summary_writer *writer, const struct smp_summary *summary)
{
    put_summary_figures(writer, summary);
    put_json_packages(writer, &summary->spots);
    put_json_spots(writer, &summary->spots);
    if (summary->has_jvm) {
        smp_json_put_number(writer->out, "gcNanos", summary->gc_ns);
        smp_json_put_number(writer->out, "jitNanos", summary->jit_ns);
    }
    smp_json_put_number(writer->out, "samplerNanos", writer->profile->own_cpu_ns);
    smp_writer_puts(writer->out, ",\n ");
}

/* Replaces the spots of the summary; its lines have been written already. */
static enum smp_status choose_spots_by_group(const struct smp_export_job *job,
                                             struct smp_summary *summary)
{
    const struct smp_spot_choice choice = { .most = SMP_MAX_HOT_SPOTS,
                                            .share = SPOT_BY_GROUP_SHARE,
                                            .by_group = true };

    return smp_hot_spots_choose(&summary->spots, job->quota, job->profile, &choice);
}

enum smp_status smp_summary_put_json(const struct smp_export_job *job)
{
    struct summary_writer writer = { .profile = job->profile, .out = job->out };
    struct smp_summary summary;
    struct smp_bytes lines;
    enum smp_status status;

    smp_bytes_init(&lines, job->quota, SMP_SUMMARY_BYTES);
    smp_bytes_init(&writer.text, job->quota, SMP_MAX_FRAME_TEXT_BYTES);
    status = smp_summary_make(&summary, job->profile, &lines);
    if (status == SMP_OK && summary.is_made && job->style->spots_by_group)
        status = choose_spots_by_group(job, &summary);
    smp_writer_puts(job->out, ",\n\"summary\":{");
    if (status == SMP_OK && summary.is_made)
        put_summary(&writer, &summary);
    put_json_lines(&writer, &lines);
    if (status == SMP_OK)
        status = writer.text.status;
    smp_bytes_fini(&writer.text);
    smp_bytes_fini(&lines);
    return status;
}
