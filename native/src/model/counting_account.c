/* SPDX-License-Identifier: Apache-2.0 */
#include "model/counting_account.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define ELLIPSIS "\xe2\x80\xa6"

enum { ELLIPSIS_BYTES = sizeof(ELLIPSIS) - 1, FIGURE_BYTES = 24 /* ": " and a number */ };

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

/* A name, or a reason with its figure. */
struct listed {
    char *text;
    size_t name_bytes; /* a reason's figure follows them */
    uint64_t figure;   /* 0: a name */
};

struct smp_counting_account {
    struct smp_quota *quota;
    uint64_t figures[SMP_COUNTING_COUNT];
    size_t listed[SMP_COUNTING_COUNT];
    struct listed names[SMP_COUNTING_COUNT][SMP_MAX_COUNTING_NAMES];
};

const char *smp_call_loss_text(enum smp_call_loss loss)
{
    static const char *const texts[] = {
#define X(loss, text) text,
        SMP_CALL_LOSS_MAP(X)
#undef X
    };

    return texts[loss];
}

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
        smp_free(account->quota, account->names[counting][--account->listed[counting]].text);
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

/* Returns a copy of at most SMP_MAX_COUNTING_NAME_BYTES, with room for a figure. */
static char *copy_name(struct smp_quota *quota, const char *text)
{
    const size_t length = strnlen(text, SMP_MAX_COUNTING_NAME_BYTES + 1);
    const bool is_cut = length > SMP_MAX_COUNTING_NAME_BYTES;
    const size_t kept =
        is_cut ? smp_utf8_prefix(text, length, SMP_MAX_COUNTING_NAME_BYTES - ELLIPSIS_BYTES)
               : length;
    char *copy = smp_alloc(quota, kept + ELLIPSIS_BYTES + FIGURE_BYTES);

    if (copy == NULL)
        return NULL;
    memcpy(copy, text, kept);
    if (is_cut)
        memcpy(copy + kept, ELLIPSIS, ELLIPSIS_BYTES);
    return copy;
}

static struct listed *find_listed(struct smp_counting_account *account, enum smp_counting counting,
                                  const char *name)
{
    for (size_t i = 0; i < account->listed[counting]; i++) {
        struct listed *const it = &account->names[counting][i];

        if (strlen(name) == it->name_bytes && memcmp(it->text, name, it->name_bytes) == 0)
            return it;
    }
    return NULL;
}

/* Returns NULL if the list is full, which sets is_full, or if there is no memory. */
static struct listed *add_listed(struct smp_counting_account *account, enum smp_counting counting,
                                 const char *text, bool *is_full)
{
    size_t *const listed = &account->listed[counting];
    char *copy = NULL;
    struct listed *it = NULL;

    *is_full = *listed == SMP_MAX_COUNTING_NAMES;
    copy = *is_full ? NULL : copy_name(account->quota, text);
    if (copy == NULL)
        return *is_full ? find_listed(account, counting, text) : NULL;
    it = find_listed(account, counting, copy);
    if (it != NULL) {
        smp_free(account->quota, copy);
        return it;
    }
    it = &account->names[counting][(*listed)++];
    *it = (struct listed){ .text = copy, .name_bytes = strlen(copy) };
    return it;
}

bool smp_counting_account_name(struct smp_counting_account *account, enum smp_counting counting,
                               const char *text)
{
    bool is_full = false;

    return add_listed(account, counting, text, &is_full) != NULL || is_full;
}

static bool add_to_reason(struct smp_counting_account *account, enum smp_counting counting,
                          const char *reason, uint64_t amount)
{
    bool is_full = false;
    struct listed *const it = add_listed(account, counting, reason, &is_full);

    if (it == NULL)
        return is_full;
    it->figure += amount;
    (void)snprintf(it->text + it->name_bytes, FIGURE_BYTES, ": %" PRIu64, it->figure);
    return true;
}

bool smp_counting_account_add_for(struct smp_counting_account *account, enum smp_counting counting,
                                  const char *reason, uint64_t amount)
{
    account->figures[counting] += amount;
    return amount == 0 || add_to_reason(account, counting, reason, amount);
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

uint64_t smp_counting_account_unlisted(const struct smp_counting_account *account,
                                       enum smp_counting counting)
{
    uint64_t listed = 0;

    for (size_t i = 0; i < account->listed[counting]; i++) {
        const uint64_t figure = account->names[counting][i].figure;
        listed += figure > 0 ? figure : 1;
    }
    return account->figures[counting] > listed ? account->figures[counting] - listed : 0;
}

const char *smp_counting_account_name_at(const struct smp_counting_account *account,
                                         enum smp_counting counting, size_t index)
{
    return account->names[counting][index].text;
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

static bool merge_listed(struct smp_counting_account *to, enum smp_counting counting,
                         const struct listed *from)
{
    char name[SMP_MAX_COUNTING_NAME_BYTES + 1];

    memcpy(name, from->text, from->name_bytes);
    name[from->name_bytes] = '\0';
    return from->figure > 0 ? add_to_reason(to, counting, name, from->figure)
                            : smp_counting_account_name(to, counting, name);
}

enum smp_status smp_counting_account_merge(struct smp_counting_account *to,
                                           const struct smp_counting_account *from)
{
    for (int i = 0; i < SMP_COUNTING_COUNT; i++) {
        merge_figure(to, from, i);
        for (size_t at = 0; at < from->listed[i]; at++) {
            if (!merge_listed(to, (enum smp_counting)i, &from->names[i][at]))
                return SMP_ENOMEM;
        }
    }
    return SMP_OK;
}
