/* SPDX-License-Identifier: Apache-2.0 */
/* reference_report.c shares no line with native/src/export, because a fault in shared code would
 * go unnoticed. */
#include "support/reference_report.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 400, MAX_FRAME = 256, MAX_CHILDREN = 32, MAX_GROUPS = 24, MAX_THREADS = 32 };

struct row {
    char frame[MAX_FRAME];
    int64_t total_ns; /* including the time of its callees */
    int64_t own_ns;
    int64_t idle_ns; /* the idle part of total_ns */
    struct row *children[MAX_CHILDREN];
    int child_count;
};

struct group {
    const char *name;
    const char *threads[MAX_THREADS];
    int thread_count;
    int max_depth;
    struct row *root;
};

struct plain {
    struct row rows[MAX_ROWS];
    int row_count;
    struct group groups[MAX_GROUPS];
    int group_count;
    struct reference_style style;
    char *out;
    size_t length;
};

static void print(struct plain *plain, const char *text)
{
    const size_t length = strlen(text);

    assert(plain->length + length < REFERENCE_REPORT_BYTES);
    memcpy(plain->out + plain->length, text, length + 1);
    plain->length += length;
}

/* --- collecting --- */

static struct row *new_row(struct plain *plain, const char *frame, size_t length)
{
    assert(plain->row_count < MAX_ROWS && length < MAX_FRAME);
    struct row *row = &plain->rows[plain->row_count++];
    memset(row, 0, sizeof(*row));
    memcpy(row->frame, frame, length);
    return row;
}

static struct row *child_of(struct plain *plain, struct row *row, const char *frame, size_t length)
{
    for (int i = 0; i < row->child_count; i++) {
        if (strlen(row->children[i]->frame) == length &&
            strncmp(row->children[i]->frame, frame, length) == 0)
            return row->children[i];
    }
    assert(row->child_count < MAX_CHILDREN);
    row->children[row->child_count] = new_row(plain, frame, length);
    return row->children[row->child_count++];
}

static struct group *group_of(struct plain *plain, const char *name)
{
    for (int i = 0; i < plain->group_count; i++) {
        if (strcmp(plain->groups[i].name, name) == 0)
            return &plain->groups[i];
    }
    assert(plain->group_count < MAX_GROUPS);
    struct group *group = &plain->groups[plain->group_count++];
    memset(group, 0, sizeof(*group));
    group->name = name;
    group->root = new_row(plain, "", 0);
    return group;
}

static void see_thread(struct group *group, const char *thread)
{
    for (int i = 0; i < group->thread_count; i++) {
        if (strcmp(group->threads[i], thread) == 0)
            return;
    }
    assert(group->thread_count < MAX_THREADS);
    group->threads[group->thread_count++] = thread;
}

static void add_sample(struct plain *plain, const struct reference_sample *sample)
{
    struct group *group = group_of(plain, sample->group);
    struct row *row = group->root;
    const char *frame = sample->stack;
    int depth = 0;

    const int64_t idle_ns = sample->is_idle ? sample->wall_ns : 0;

    see_thread(group, sample->thread);
    row->total_ns += sample->wall_ns;
    row->idle_ns += idle_ns;
    for (;;) {
        size_t length = strcspn(frame, "|");
        row = child_of(plain, row, frame, length);
        row->total_ns += sample->wall_ns;
        row->idle_ns += idle_ns;
        depth++;
        if (frame[length] == '\0')
            break;
        frame += length + 1;
    }
    row->own_ns += sample->wall_ns;
    if (depth > group->max_depth)
        group->max_depth = depth;
}

/* --- printing --- */

static long long ms(int64_t ns)
{
    return (long long)(ns / 1000000);
}

/* Finds the package. a.b.C.run(C.java:1) is in a.b: "a.b.C.run" loses the method, then the
 * class. */
static void package_of(const char *frame, char package[MAX_FRAME])
{
    strcpy(package, frame[0] == '[' ? "" : frame);
    package[strcspn(package, "(")] = '\0';
    for (int part = 0; part < 2; part++) {
        char *dot = strrchr(package, '.');
        if (dot == NULL)
            dot = package;
        *dot = '\0';
    }
}

static bool is_other_package(const struct row *row, const struct row *parent)
{
    char package[MAX_FRAME];
    char parents[MAX_FRAME];

    package_of(row->frame, package);
    package_of(parent->frame, parents);
    return strcmp(package, parents) != 0;
}

static bool continues_chain(const struct plain *plain, const struct row *row,
                            const struct row *parent)
{
    if (parent->frame[0] == '\0') /* the row is a root */
        return false;
    if (row->frame[0] == '[') /* a pseudo-frame */
        return false;
    if (plain->style.zero_time_packages && is_other_package(row, parent))
        return false;
    return ms(row->own_ns) == 0 && ms(row->total_ns) == ms(parent->total_ns);
}

static bool is_of_the_jdk(const char *frame)
{
    return strncmp(frame, "java.", 5) == 0 || strncmp(frame, "javax.", 6) == 0 ||
           strncmp(frame, "jdk.", 4) == 0 || strncmp(frame, "sun.", 4) == 0 ||
           strncmp(frame, "com.sun.", 8) == 0;
}

/* With a monitored package: a.b.C.run(...) is in a.b and in a, not in a.bc. Without one: all code
 * except the JDK's. */
static bool is_users(const struct plain *plain, const struct row *row)
{
    char class[MAX_FRAME];
    size_t length;

    if (row->frame[0] == '[')
        return false;
    if (plain->style.package == NULL)
        return !is_of_the_jdk(row->frame);
    strcpy(class, row->frame);
    class[strcspn(class, "(")] = '\0';
    *strrchr(class, '.') = '\0';
    length = strlen(plain->style.package);
    if (strncmp(class, plain->style.package, length) != 0)
        return false;
    return class[length] == '\0' || class[length] == '.' || class[length] == '$';
}

/* Looks further in, in the same chain. */
static bool has_users_inside(const struct plain *plain, const struct row *row)
{
    for (int i = 0; i < row->child_count; i++) {
        const struct row *child = row->children[i];
        if (continues_chain(plain, child, row) &&
            (is_users(plain, child) || has_users_inside(plain, child)))
            return true;
    }
    return false;
}

/* A chain prints the innermost row of the user's code, and without a monitored package also the
 * outermost row; if it has no such row, the outermost row alone. Some rows are never left out. */
static bool is_printed(const struct plain *plain, const struct row *row, const struct row *parent)
{
    const bool is_root = parent->frame[0] == '\0';
    const bool is_gap = row->frame[0] == '[';

    if (continues_chain(plain, row, parent))
        return is_users(plain, row) && !has_users_inside(plain, row);
    if (is_root || is_gap)
        return true;
    if (plain->style.zero_time_packages && is_other_package(row, parent))
        return true;
    return plain->style.package == NULL || !has_users_inside(plain, row);
}

/* Collects the rows that are printed directly below a row. Rows that are left out are replaced by
 * the rows below them. */
static void printed_below(const struct plain *plain, struct row *row, struct row **below,
                          int *count)
{
    for (int i = 0; i < row->child_count; i++) {
        struct row *child = row->children[i];
        if (!is_printed(plain, child, row)) {
            printed_below(plain, child, below, count);
        } else {
            assert(*count < MAX_ROWS);
            below[(*count)++] = child;
        }
    }
}

static bool is_misplaced(const struct plain *plain, const struct row *first,
                         const struct row *second)
{
    if (plain->style.by_time && first->total_ns != second->total_ns)
        return first->total_ns < second->total_ns;
    if (strcmp(first->frame, second->frame) != 0)
        return strcmp(first->frame, second->frame) > 0;
    /* If rows of equal text meet because one has moved up, the row seen first comes first. */
    return first > second;
}

static void put_in_order(const struct plain *plain, struct row **rows, int count)
{
    for (int pass = 0; pass < count; pass++) {
        for (int i = 0; i + 1 < count; i++) {
            if (!is_misplaced(plain, rows[i], rows[i + 1]))
                continue;
            struct row *row = rows[i];
            rows[i] = rows[i + 1];
            rows[i + 1] = row;
        }
    }
}

static int columns(const char *text)
{
    int count = 0;
    for (; *text != '\0'; text++) {
        if ((*text & 0xc0) != 0x80)
            count++;
    }
    return count;
}

static void print_row(struct plain *plain, const char *frame, long long total_ms, long long own_ms,
                      int ancestors)
{
    char line[MAX_FRAME + 400];
    const int columns_taken = 2 * ancestors + columns(frame);
    const int columns_left = columns_taken < 150 ? 150 - columns_taken : 0;

    snprintf(line, sizeof(line), "%*s%s%*s  Cumulative time(ms): %lld, Method time(ms): %lld\n",
             2 * ancestors, "", frame, columns_left, "", total_ms, own_ms);
    print(plain, line);
}

/* Counts the printed rows of this subtree, including the row itself. */
static int rows_from(const struct plain *plain, struct row *row)
{
    struct row *below[MAX_ROWS];
    int count = 0;
    int rows = 1;

    printed_below(plain, row, below, &count);
    for (int i = 0; i < count; i++)
        rows += rows_from(plain, below[i]);
    return rows;
}

static void print_hidden(struct plain *plain, int rows, long long total_ms, int ancestors)
{
    char text[100];
    const int min = plain->style.min_per_mille;

    snprintf(text, sizeof(text),
             min % 10 == 0 ? "[%d row%s below %d %%]" : "[%d row%s below %d.%d %%]", rows,
             rows == 1 ? "" : "s", min / 10, min % 10);
    print_row(plain, text, total_ms, total_ms, ancestors);
}

static int64_t active_ns(const struct row *row)
{
    return row->total_ns - row->idle_ns;
}

/* Ignores time without a stack. */
static bool is_idle(const struct row *root)
{
    int64_t active = active_ns(root);

    for (int i = 0; i < root->child_count; i++) {
        if (strcmp(root->children[i]->frame, "[thread ended]") == 0)
            active -= root->children[i]->total_ns;
    }
    return ms(active < 0 ? 0 : active) == 0 && ms(root->idle_ns) > 0;
}

/* Returns the row with the most time; the first one if several have as much. */
static const struct row *hottest(struct row *const *rows, int count)
{
    const struct row *most = NULL;

    for (int i = 0; i < count; i++) {
        if (most == NULL || rows[i]->total_ns > most->total_ns ||
            (rows[i]->total_ns == most->total_ns && rows[i] < most))
            most = rows[i];
    }
    return most;
}

static void print_below(struct plain *plain, const struct row *root, struct row *row, int ancestors)
{
    const int min = plain->style.min_per_mille;
    const bool is_one = min > 0 && is_idle(root);
    struct row *below[MAX_ROWS];
    long long left_ms = ms(row->total_ns) - (row == root ? 0 : ms(row->own_ns));
    int count = 0;
    int hidden = 0;

    printed_below(plain, row, below, &count);
    const struct row *const most = hottest(below, count);
    put_in_order(plain, below, count);
    for (int i = 0; i < count; i++) {
        struct row *const child = below[i];
        if (is_one ? child != most : active_ns(child) * 1000 < active_ns(root) * min) {
            hidden += rows_from(plain, child);
            continue;
        }
        print_row(plain, child->frame, ms(child->total_ns),
                  is_one ? ms(child->total_ns) : ms(child->own_ns), ancestors);
        left_ms -= ms(child->total_ns);
        if (!is_one)
            print_below(plain, root, child, ancestors + 1);
    }
    if (hidden > 0)
        print_hidden(plain, hidden, left_ms, ancestors);
}

static void print_title(struct plain *plain, const struct group *group)
{
    char text[100];

    print(plain, "== Aggregated thread: ");
    print(plain, group->name);
    snprintf(text, sizeof(text), ". Max depth: %d. Distinct threads: %d [", group->max_depth,
             group->thread_count);
    print(plain, text);
    for (int i = 0; i < group->thread_count && i < 20; i++) {
        if (i > 0)
            print(plain, ", ");
        print(plain, group->threads[i]);
    }
    if (group->thread_count > 20) {
        snprintf(text, sizeof(text), ", \xe2\x80\xa6 %d more", group->thread_count - 20);
        print(plain, text);
    }
    print(plain, "]\n");
}

/* Orders by active time as printed, then by total time, then by name. */
static bool comes_later(const struct group *first, const struct group *second)
{
    const long long first_ms = is_idle(first->root) ? 0 : ms(active_ns(first->root));
    const long long second_ms = is_idle(second->root) ? 0 : ms(active_ns(second->root));

    if (first_ms != second_ms)
        return first_ms < second_ms;
    if (first->root->total_ns != second->root->total_ns)
        return first->root->total_ns < second->root->total_ns;
    return strcmp(first->name, second->name) > 0;
}

void reference_report(const struct reference_sample *samples, size_t count,
                      struct reference_style style, char out[REFERENCE_REPORT_BYTES])
{
    static struct plain plain;

    plain.row_count = 0;
    plain.group_count = 0;
    plain.length = 0;
    plain.style = style;
    plain.out = out;
    out[0] = '\0';
    for (size_t i = 0; i < count; i++)
        add_sample(&plain, &samples[i]);
    for (int pass = 0; pass < plain.group_count; pass++) {
        for (int i = 0; i + 1 < plain.group_count; i++) {
            if (!comes_later(&plain.groups[i], &plain.groups[i + 1]))
                continue;
            struct group group = plain.groups[i];
            plain.groups[i] = plain.groups[i + 1];
            plain.groups[i + 1] = group;
        }
    }
    for (int i = 0; i < plain.group_count; i++) {
        print_title(&plain, &plain.groups[i]);
        print_below(&plain, plain.groups[i].root, plain.groups[i].root, 0);
    }
}
