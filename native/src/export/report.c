/* SPDX-License-Identifier: Apache-2.0 */
#include "export/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "export/account_record.h"
#include "export/group_record.h"
#include "export/hot_groups.h"
#include "export/rows.h"
#include "export/summary.h"
#include "model/profile_merge.h"

/* A report that is being made. */
struct report {
    const struct smp_profile *profile;
    const struct smp_outputer *outputer;
    struct smp_quota *quota;
    bool short_account;
    struct smp_rows *rows;
    struct smp_hot_groups groups;
    struct smp_hot_groups counted;
    struct smp_hot_groups holders;
    struct smp_bytes title;
    struct smp_bytes text;
    struct smp_bytes summary; /* empty: no summary */
};

static size_t longest_title(const struct report *report, const struct smp_hot_groups *groups,
                            size_t at_least)
{
    size_t longest = at_least;

    for (size_t i = 0; i < groups->count; i++) {
        const struct smp_group_info *const group =
            smp_hot_group_info(report->profile, groups->indices[i]);
        const size_t limit = smp_group_record_title_limit(group);
        if (limit > longest)
            longest = limit;
    }
    return longest;
}

/*
 * Allocates all memory that every record needs before anything is sent, so that a report that has
 * begun is cut only if rows do not fit.
 */
static enum smp_status reserve(struct report *report)
{
    size_t title_bytes = sizeof(SMP_ACCOUNT_RECORD_TITLE);

    title_bytes = longest_title(report, &report->groups, title_bytes);
    title_bytes = longest_title(report, &report->counted, title_bytes);
    title_bytes = longest_title(report, &report->holders, title_bytes);
    smp_bytes_init(&report->title, report->quota, title_bytes);
    smp_bytes_fill(&report->title, ' ', title_bytes);
    smp_bytes_fill(&report->text, ' ', smp_account_record_limit(report->profile));
    return report->title.status != SMP_OK ? report->title.status : report->text.status;
}

static enum smp_status make_summary(struct report *report)
{
    struct smp_summary summary;

    return smp_summary_make(&summary, report->profile, &report->summary);
}

static bool send_summary(const struct report *report)
{
    const struct smp_outputer *const outputer = report->outputer;

    return report->summary.length == 0 ||
           outputer->record(outputer->self, SMP_SUMMARY_TITLE, sizeof(SMP_SUMMARY_TITLE) - 1,
                            smp_bytes_text(&report->summary), report->summary.length);
}

static bool send_record(struct report *report)
{
    const struct smp_outputer *const outputer = report->outputer;

    return outputer->record(outputer->self, smp_bytes_text(&report->title), report->title.length,
                            smp_bytes_text(&report->text), report->text.length);
}

static bool send_group(struct report *report, uint32_t index, unsigned *records_cut)
{
    const struct smp_group_info *const group = smp_hot_group_info(report->profile, index);

    smp_bytes_clear(&report->title);
    smp_bytes_clear(&report->text);
    smp_group_record_title(group, &report->title);
    smp_group_record_hooks(group, smp_hot_group_total(report->profile, index, SMP_MEASURE_WALL),
                           &report->text);
    if (group->root != 0 && smp_group_record_rows(report->rows, group->root, &report->text) > 0)
        (*records_cut)++;
    return send_record(report);
}

static bool send_account(struct report *report)
{
    smp_bytes_clear(&report->title);
    smp_bytes_clear(&report->text);
    smp_bytes_puts(&report->title, SMP_ACCOUNT_RECORD_TITLE);
    smp_account_record_rows(report->profile, report->short_account, &report->text);
    return send_record(report);
}

static enum smp_status send_all(struct report *report, unsigned *records_cut)
{
    const struct smp_profile *const profile = report->profile;
    const struct smp_outputer *const outputer = report->outputer;
    bool sent = outputer->title(outputer->self, profile->from_wall_ms, profile->till_wall_ms) &&
                send_summary(report) && send_account(report);

    for (size_t i = 0; sent && i < report->groups.count; i++)
        sent = send_group(report, report->groups.indices[i], records_cut);
    for (size_t i = 0; sent && i < report->counted.count; i++)
        sent = send_group(report, report->counted.indices[i], records_cut);
    for (size_t i = 0; sent && i < report->holders.count; i++)
        sent = send_group(report, report->holders.indices[i], records_cut);
    sent = sent && outputer->flush(outputer->self);
    return sent ? SMP_OK : SMP_EIO;
}

static enum smp_status report_profile(const struct smp_profile *profile,
                                      struct smp_report_style style, struct smp_quota *quota,
                                      const struct smp_outputer *outputer, unsigned *records_cut)
{
    struct report report = { .profile = profile,
                             .outputer = outputer,
                             .quota = quota,
                             .short_account = style.short_account };
    enum smp_status status;

    smp_bytes_init(&report.title, quota, 0);
    smp_bytes_init(&report.text, quota, SMP_MAX_RECORD_BYTES);
    smp_bytes_init(&report.summary, quota, SMP_SUMMARY_BYTES);
    status = smp_hot_groups_init(&report.groups, quota, profile, SMP_GROUP_SAMPLED);
    if (status == SMP_OK)
        status = smp_hot_groups_init(&report.counted, quota, profile, SMP_GROUP_COUNTED);
    if (status == SMP_OK)
        status = smp_hot_groups_init(&report.holders, quota, profile, SMP_GROUP_HOLDERS);
    if (status == SMP_OK && style.summary)
        status = make_summary(&report);
    if (status != SMP_OK)
        goto done;
    smp_hot_groups_sort_active(&report.groups, profile);
    status = smp_rows_create(profile, style, quota, &report.rows);
    if (status != SMP_OK)
        goto done;
    status = reserve(&report);
    if (status == SMP_OK)
        status = send_all(&report, records_cut);
done:
    smp_rows_destroy(report.rows);
    smp_bytes_fini(&report.summary);
    smp_bytes_fini(&report.text);
    smp_bytes_fini(&report.title);
    smp_hot_groups_fini(&report.holders);
    smp_hot_groups_fini(&report.counted);
    smp_hot_groups_fini(&report.groups);
    return status;
}

enum smp_status smp_report_text(const struct smp_profile *profile, struct smp_report_style style,
                                struct smp_quota *quota, const struct smp_outputer *outputer,
                                unsigned *records_cut)
{
    struct smp_profile *folded = NULL;
    enum smp_status status;

    *records_cut = 0;
    if (smp_profile_is_empty(profile))
        return SMP_OK;
    /* Without memory for the folded profile all levels of a recursion are shown. */
    if (style.fold_recursion)
        (void)!smp_profile_fold_recursion(quota, profile, &folded);
    status = report_profile(folded != NULL ? folded : profile, style, quota, outputer, records_cut);
    smp_profile_release(folded);
    return status;
}
