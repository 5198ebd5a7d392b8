/* SPDX-License-Identifier: Apache-2.0 */
#include "model/counting_account.h"

#include <string.h>

#include "base/utf8.h"

#define ELLIPSIS "\xe2\x80\xa6"

enum { ELLIPSIS_BYTES = sizeof(ELLIPSIS) - 1 };

enum merges { SUM, HIGHEST, LAST };

static const struct {
    const char *code;
    const char *text;
    enum merges merges;
    enum smp_shown shown;
} rows[SMP_COUNTING_COUNT] = {
#define X(code, merges, shown, text, words) { #code, text, merges, SMP_SHOWN_##shown },
    SMP_COUNTING_MAP(X)
#undef X
};

struct smp_counting_account {
    struct smp_quota *quota;
    uint64_t figures[SMP_COUNTING_COUNT];
    size_t listed[SMP_COUNTING_COUNT];
    char *names[SMP_COUNTING_COUNT][SMP_MAX_COUNTING_NAMES];
};

const char *smp_counting_code(enum smp_counting counting)
{
    return rows[counting].code;
}

const char *smp_counting_text(enum smp_counting counting)
{
    return rows[counting].text;
}

enum smp_shown smp_counting_shown(enum smp_counting counting)
{
    return rows[counting].shown;
}

enum smp_status smp_counting_account_create(struct smp_quota *quota,
                                            struct smp_counting_account **out)
{
    struct smp_counting_account *account = smp_alloc(quota, sizeof(*account));

    if (account == NULL)
        return SMP_ENOMEM;
    account->quota = quota;
    *out = account;
    return SMP_OK;
}

static void forget_names(struct smp_counting_account *account, int counting)
{
    while (account->listed[counting] > 0)
        smp_free(account->quota, account->names[counting][--account->listed[counting]]);
}

void smp_counting_account_destroy(struct smp_counting_account *account)
{
    if (account == NULL)
        return;
    for (int i = 0; i < SMP_COUNTING_COUNT; i++)
        forget_names(account, i);
    smp_free(account->quota, account);
}

void smp_counting_account_add(struct smp_counting_account *account, enum smp_counting counting,
                              uint64_t amount)
{
    account->figures[counting] += amount;
}

/* A copy of at most SMP_MAX_COUNTING_NAME_BYTES. */
static char *copy_name(struct smp_quota *quota, const char *text)
{
    const size_t length = strnlen(text, SMP_MAX_COUNTING_NAME_BYTES + 1);
    const bool is_cut = length > SMP_MAX_COUNTING_NAME_BYTES;
    const size_t kept =
        is_cut ? smp_utf8_prefix(text, length, SMP_MAX_COUNTING_NAME_BYTES - ELLIPSIS_BYTES)
               : length;
    char *copy = smp_alloc(quota, kept + ELLIPSIS_BYTES + 1);

    if (copy == NULL)
        return NULL;
    memcpy(copy, text, kept);
    if (is_cut)
        memcpy(copy + kept, ELLIPSIS, ELLIPSIS_BYTES);
    return copy;
}

static bool is_listed_as(const struct smp_counting_account *account, enum smp_counting counting,
                         const char *name)
{
    for (size_t i = 0; i < account->listed[counting]; i++) {
        if (strcmp(account->names[counting][i], name) == 0)
            return true;
    }
    return false;
}

bool smp_counting_account_name(struct smp_counting_account *account, enum smp_counting counting,
                               const char *text)
{
    size_t *const listed = &account->listed[counting];
    char *copy = NULL;

    if (*listed == SMP_MAX_COUNTING_NAMES)
        return true;
    copy = copy_name(account->quota, text);
    if (copy == NULL)
        return false;
    if (is_listed_as(account, counting, copy))
        smp_free(account->quota, copy);
    else
        account->names[counting][(*listed)++] = copy;
    return true;
}

uint64_t smp_counting_account_figure(const struct smp_counting_account *account,
                                     enum smp_counting counting)
{
    return account->figures[counting];
}

size_t smp_counting_account_listed(const struct smp_counting_account *account,
                                   enum smp_counting counting)
{
    return account->listed[counting];
}

const char *smp_counting_account_name_at(const struct smp_counting_account *account,
                                         enum smp_counting counting, size_t index)
{
    return account->names[counting][index];
}

static void merge_figure(struct smp_counting_account *to, const struct smp_counting_account *from,
                         int counting)
{
    uint64_t *const figure = &to->figures[counting];

    if (rows[counting].merges == SUM)
        *figure += from->figures[counting];
    else if (rows[counting].merges == LAST || from->figures[counting] > *figure)
        *figure = from->figures[counting];
    if (rows[counting].merges == LAST)
        forget_names(to, counting);
}

enum smp_status smp_counting_account_merge(struct smp_counting_account *to,
                                           const struct smp_counting_account *from)
{
    for (int i = 0; i < SMP_COUNTING_COUNT; i++) {
        merge_figure(to, from, i);
        for (size_t at = 0; at < from->listed[i]; at++) {
            if (!smp_counting_account_name(to, (enum smp_counting)i, from->names[i][at]))
                return SMP_ENOMEM;
        }
    }
    return SMP_OK;
}
