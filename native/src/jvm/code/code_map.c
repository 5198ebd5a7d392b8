/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/code/code_map.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/hash_map.h"
#include "base/sort.h"

struct smp_code_table smp_code_table;

/* Part of the stub's name, which has more words in each JDK. */
#define EXCEPTION_STUB "handle_exception_from_callee"

static struct {
    pthread_mutex_t mutex; /* guards all below */
    bool open;
    struct smp_code_view *retired; /* chained; perhaps still read */
    char **names;                  /* [key - 1] */
    struct smp_memory_budget budget;
    struct smp_hash_map keys; /* by the hash of a name */
    size_t name_count;
    size_t name_bytes;
    size_t dead; /* pieces of the current view */
    uint64_t refused;
} code = { .mutex = PTHREAD_MUTEX_INITIALIZER,
           .budget = { .max_bytes = SIZE_MAX } }; /* SMP_CODE_MAX_NAMES is the limit */

/* ---------------------------------------------------------------------------------------- views */

static struct smp_code_view *current_view(void)
{
    return atomic_load_explicit(&smp_code_table.view, memory_order_relaxed);
}

static size_t view_bytes(size_t count)
{
    return sizeof(struct smp_code_view) + count * sizeof(struct smp_code_piece);
}

static void free_views(struct smp_code_view *view)
{
    while (view != NULL) {
        struct smp_code_view *next = view->next;
        smp_free(NULL, view);
        view = next;
    }
}

/*
 * Frees the retired views. A reader counts itself before it loads the view, so if the count is
 * zero, no reader has a retired view. The caller holds the mutex.
 */
static void free_retired_views(void)
{
    if (atomic_load(&smp_code_table.readers) != 0)
        return;
    free_views(code.retired);
    code.retired = NULL;
}

static void publish_view(struct smp_code_view *view)
{
    struct smp_code_view *old = atomic_exchange(&smp_code_table.view, view);

    if (old != NULL) {
        old->next = code.retired;
        code.retired = old;
    }
    free_retired_views();
}

static void copy_piece(struct smp_code_piece *to, const struct smp_code_piece *from)
{
    to->start = from->start;
    atomic_store_explicit(&to->size, smp_code_size(from), memory_order_relaxed);
    to->parent = SMP_CODE_NO_PARENT;
    to->id = from->id;
    to->kind = from->kind;
}

/* An enclosing piece comes before those that it encloses. */
static int compare_starts(const void *left, const void *right)
{
    const struct smp_code_piece *a = left;
    const struct smp_code_piece *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (smp_code_size(a) < smp_code_size(b)) - (smp_code_size(a) > smp_code_size(b));
}

static void set_parents(struct smp_code_view *view)
{
    uint32_t open = SMP_CODE_NO_PARENT; /* the innermost piece that has not ended yet */

    for (size_t i = 0; i < view->count; i++) {
        struct smp_code_piece *piece = &view->pieces[i];
        while (open != SMP_CODE_NO_PARENT &&
               piece->start - view->pieces[open].start >= smp_code_size(&view->pieces[open]))
            open = view->pieces[open].parent;
        piece->parent = open;
        open = (uint32_t)i;
    }
}

static size_t copy_living(struct smp_code_piece *to, const struct smp_code_piece *from,
                          size_t count)
{
    size_t living = 0;

    for (size_t i = 0; i < count; i++) {
        if (smp_code_size(&from[i]) > 0)
            copy_piece(&to[living++], &from[i]);
    }
    return living;
}

/* Makes room among the recent pieces. The caller holds the mutex. */
static bool merge_recent(void)
{
    const struct smp_code_view *old = current_view();
    struct smp_code_view *view = smp_alloc(NULL, view_bytes(old->count + SMP_CODE_RECENT));

    if (view == NULL)
        return false;
    view->count = copy_living(view->pieces, old->pieces, old->count);
    view->count += copy_living(view->pieces + view->count, old->recent,
                               atomic_load_explicit(&old->recent_count, memory_order_relaxed));
    qsort(view->pieces, view->count, sizeof(view->pieces[0]), compare_starts);
    set_parents(view);
    code.dead = 0;
    publish_view(view);
    return true;
}

/* Returns whether there is room for one more piece. Dead pieces are dropped only in larger numbers,
 * because a merge copies all pieces. The caller holds the mutex. */
static bool has_piece_room(void)
{
    const struct smp_code_view *view = current_view();
    const uint32_t recent = atomic_load_explicit(&view->recent_count, memory_order_relaxed);

    if (view->count + recent >= SMP_CODE_MAX_PIECES)
        return code.dead >= SMP_CODE_RECENT && merge_recent();
    return recent < SMP_CODE_RECENT || merge_recent();
}

/* The caller holds the mutex. */
static void widen_range(uintptr_t start, uintptr_t end)
{
    if (start < atomic_load_explicit(&smp_code_table.low, memory_order_relaxed))
        atomic_store_explicit(&smp_code_table.low, start, memory_order_relaxed);
    if (end > atomic_load_explicit(&smp_code_table.high, memory_order_relaxed))
        atomic_store_explicit(&smp_code_table.high, end, memory_order_relaxed);
}

/* The caller holds the mutex. */
static void add_piece(const struct smp_code_piece *piece)
{
    if (!has_piece_room()) {
        code.refused++;
        return;
    }
    struct smp_code_view *view = current_view();
    const uint32_t at = atomic_load_explicit(&view->recent_count, memory_order_relaxed);
    widen_range(piece->start, piece->start + smp_code_size(piece));
    copy_piece(&view->recent[at], piece);
    atomic_store_explicit(&view->recent_count, at + 1, memory_order_release);
}

static void kill_piece(struct smp_code_piece *piece)
{
    if (smp_code_size(piece) > 0)
        code.dead++;
    atomic_store_explicit(&piece->size, 0, memory_order_relaxed);
}

static bool overlaps(const struct smp_code_piece *piece, uintptr_t start, uintptr_t end)
{
    return piece->start < end && start < piece->start + smp_code_size(piece);
}

/* A new method ends methods and call sites at its addresses; a new stub ends only the same stub. */
static bool is_ended(const struct smp_code_piece *piece, uintptr_t start, uint32_t size,
                     bool by_method)
{
    if (!by_method)
        return piece->start == start && smp_code_size(piece) == size;
    return (piece->kind == SMP_CODE_METHOD || piece->kind == SMP_CODE_CALL_SITE) &&
           overlaps(piece, start, start + size);
}

/* Returns whether no lower piece can reach up to start: living methods do not overlap. */
static bool is_last(const struct smp_code_piece *piece, uintptr_t start)
{
    return piece->kind != SMP_CODE_CALL_SITE && piece->start < start && smp_code_size(piece) > 0;
}

static uint64_t start_at(const void *pieces, size_t index)
{
    return ((const struct smp_code_piece *)pieces)[index].start;
}

/* Ends the pieces at these addresses. The caller holds the mutex. */
static void end_overlapped(uintptr_t start, uint32_t size, bool by_method)
{
    struct smp_code_view *view = current_view();
    const uint32_t recent = atomic_load_explicit(&view->recent_count, memory_order_relaxed);
    const size_t after = smp_lower_bound(view->pieces, view->count, start_at, start + size);

    for (size_t i = after; i > 0; i--) {
        struct smp_code_piece *piece = &view->pieces[i - 1];
        const bool last = is_last(piece, start);
        if (is_ended(piece, start, size, by_method))
            kill_piece(piece);
        else if (last)
            break;
    }
    for (uint32_t i = 0; i < recent; i++) {
        if (is_ended(&view->recent[i], start, size, by_method))
            kill_piece(&view->recent[i]);
    }
}

/* ---------------------------------------------------------------------------------------- names */

/* Returns 0 if there is no room for the name. The caller holds the mutex. */
static uint64_t find_name_key(const char *name)
{
    char text[SMP_CODE_NAME_BYTES];
    size_t step = 0;
    uint32_t key;

    (void)snprintf(text, sizeof(text), "[%.*s]", SMP_CODE_NAME_BYTES - 3, name);
    const size_t length = strlen(text);
    const uint32_t hash = smp_hash_bytes(SMP_HASH_START, text, length);
    while ((key = smp_hash_ids_next(&code.keys, hash, &step)) != 0) {
        if (strcmp(code.names[key - 1], text) == 0)
            return key;
    }
    if (code.name_count == SMP_CODE_MAX_NAMES ||
        !smp_hash_map_reserve(&code.keys, &smp_hash_ids, &code.budget, 1))
        return 0;
    char *copy = smp_strndup(NULL, text, length);
    if (copy == NULL)
        return 0;
    code.names[code.name_count++] = copy;
    code.name_bytes += length + 1;
    smp_hash_ids_put(&code.keys, hash, (uint32_t)code.name_count);
    return code.name_count;
}

const char *smp_code_map_name(uint64_t key)
{
    const char *text = NULL;

    pthread_mutex_lock(&code.mutex);
    if (key > 0 && key <= code.name_count)
        text = code.names[key - 1];
    pthread_mutex_unlock(&code.mutex);
    return text;
}

/* Another thread may close meanwhile, so the name is read with the mutex held. */
bool smp_code_map_is_stub(uintptr_t address, const char *part)
{
    bool is_stub = false;

    pthread_mutex_lock(&code.mutex);
    const struct smp_code_piece *piece = smp_code_find(current_view(), address);
    if (piece != NULL && piece->kind == SMP_CODE_STUB)
        is_stub = strstr(code.names[piece->id - 1], part) != NULL;
    pthread_mutex_unlock(&code.mutex);
    return is_stub;
}

/* --------------------------------------------------------------------------------------- public */

void smp_code_map_add_method(uintptr_t start, uint32_t size, uint64_t method)
{
    const struct smp_code_piece piece = {
        .start = start, .size = size, .id = method, .kind = SMP_CODE_METHOD
    };

    if (size == 0)
        return;
    pthread_mutex_lock(&code.mutex);
    if (code.open) {
        end_overlapped(start, size, true);
        add_piece(&piece);
    }
    pthread_mutex_unlock(&code.mutex);
}

void smp_code_map_add_call_site(uintptr_t return_address, uintptr_t pc)
{
    const struct smp_code_piece piece = {
        .start = return_address - 1, .size = 1, .id = pc, .kind = SMP_CODE_CALL_SITE
    };

    pthread_mutex_lock(&code.mutex);
    if (code.open)
        add_piece(&piece);
    pthread_mutex_unlock(&code.mutex);
}

void smp_code_map_add_stub(uintptr_t start, uint32_t size, const char *name)
{
    const bool is_interpreter = strcmp(name, "Interpreter") == 0;
    struct smp_code_piece piece = {
        .start = start,
        .size = size,
        .kind = is_interpreter ? SMP_CODE_INTERPRETER : SMP_CODE_STUB,
    };

    if (size == 0)
        return;
    pthread_mutex_lock(&code.mutex);
    if (code.open)
        piece.id = find_name_key(name);
    if (piece.id != 0) {
        end_overlapped(start, size, false);
        if (strstr(name, EXCEPTION_STUB) != NULL)
            atomic_store_explicit(&smp_code_table.exception_stub, piece.id, memory_order_relaxed);
        add_piece(&piece);
    } else if (code.open) {
        code.refused++;
    }
    pthread_mutex_unlock(&code.mutex);
}

void smp_code_map_remove_method(uintptr_t start, uint64_t method)
{
    const struct smp_code_view *view = NULL;

    pthread_mutex_lock(&code.mutex);
    view = current_view();
    if (view != NULL) {
        /* The method may have been replaced already. */
        struct smp_code_piece *piece =
            (struct smp_code_piece *)(uintptr_t)smp_code_find(view, start);
        if (piece != NULL && piece->kind == SMP_CODE_METHOD && piece->start == start &&
            piece->id == method)
            end_overlapped(start, smp_code_size(piece), true);
    }
    pthread_mutex_unlock(&code.mutex);
}

bool smp_code_map_is_java(uintptr_t pc)
{
    const struct smp_code_piece *piece = smp_code_find(smp_code_enter(), pc);
    const bool is_java = piece != NULL && piece->kind != SMP_CODE_STUB;

    smp_code_leave();
    return is_java;
}

void smp_code_map_get_stats(struct smp_code_map_stats *out)
{
    *out = (struct smp_code_map_stats){ 0 };
    pthread_mutex_lock(&code.mutex);
    const struct smp_code_view *view = current_view();
    if (view != NULL) {
        out->pieces = view->count + atomic_load(&view->recent_count);
        out->bytes = view_bytes(view->count + SMP_CODE_RECENT) + code.name_bytes +
                     SMP_CODE_MAX_NAMES * sizeof(char *) + code.budget.used_bytes;
        out->names = code.name_count;
        out->refused = code.refused;
    }
    pthread_mutex_unlock(&code.mutex);
}

enum smp_status smp_code_map_open(void)
{
    struct smp_code_view *view = smp_alloc(NULL, view_bytes(0));
    char **names = smp_alloc(NULL, SMP_CODE_MAX_NAMES * sizeof(char *));
    enum smp_status status = SMP_ENOMEM;

    pthread_mutex_lock(&code.mutex);
    if (code.open)
        status = SMP_ESTATE;
    if (!code.open && view != NULL && names != NULL) {
        code.names = names;
        code.name_count = 0;
        code.name_bytes = 0;
        code.refused = 0;
        code.dead = 0;
        code.open = true;
        smp_code_table.low = UINTPTR_MAX;
        smp_code_table.high = 0;
        smp_code_table.exception_stub = 0;
        publish_view(view);
        view = NULL;
        names = NULL;
        status = SMP_OK;
    }
    pthread_mutex_unlock(&code.mutex);
    smp_free(NULL, view);
    smp_free(NULL, (void *)names);
    return status;
}

void smp_code_map_close(void)
{
    pthread_mutex_lock(&code.mutex);
    if (code.open) {
        code.open = false;
        publish_view(NULL);
        /* A reader is a handler, and leaves within microseconds. */
        for (unsigned round = 0; code.retired != NULL; round++) {
            smp_backoff(round);
            free_retired_views();
        }
        for (size_t i = 0; i < code.name_count; i++)
            smp_free(NULL, code.names[i]);
        smp_free(NULL, (void *)code.names);
        smp_hash_map_fini(&code.keys, &smp_hash_ids, &code.budget);
        code.names = NULL;
        code.name_count = 0;
    }
    pthread_mutex_unlock(&code.mutex);
}
