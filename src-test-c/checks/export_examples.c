/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_examples.c FOLDER - writes some snapshots in every format, as files for other tools, and
 * the expected sums as NAME.sums: "wall cpu samples calls" of the whole in nanoseconds, then
 * "group <wall> <cpu> <samples> <bytes of its name>" for each sampled group.
 *
 * plain: a service. counted: a service with counted calls. nasty: difficult names; nasty.names has
 * them unchanged: class, method, file or "-", "native" or "line", each followed by a NUL.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/exporters.h"
#include "model/profile.h"
#include "support/must.h"
#include "support/tree_amounts.h"

enum { PART_BYTES = 16 * 1024 * 1024, PATH_BYTES = 4096, LONG_BYTES = 64 * 1024 - 1 };

static const char *folder;

/* --- names: a method's key is the address of its row --- */

static char long_name[LONG_BYTES + 1];

static const struct method {
    const char *class_name;
    const char *method_name;
    const char *file;
    bool is_native;
} methods[] = {
    { "java.lang.Thread", "run", "Thread.java", false },
    { "com.acme.Shop", "sell", "Shop.java", false },
    { "com.acme.Shop", "<init>", "Shop.java", false },
    { "com.acme.Db$1", "lambda$query$0", "Db.java", false },
    { "java.net.SocketInputStream", "socketRead0", "SocketInputStream.java", true },
    { "com.acme.NoFile", "go", NULL, false },
    { "white space", "in the name", "with blanks 12.java", false },
    { "semi;colon", "a;b", ";.java", false },
    { "quo\"te", "back\\slash'", "\"\\\".java", false },
    { "<script>alert(1)</script>", "</script><!--", "<b>&amp;.java", false },
    { "\xf0\x9f\x98\x80", "\xd0\x96\xe4\xb8\xad", "\xf0\x9f\x90\x8d.java", false },
    { "", "", "", false },
    { "line\nbreak", "tab\there", "cr\r.java", false },
    { "\xe2\x80\xa8", "\x01\x1b[31m\x7f", "\xc2\x85.java", false },
    { "number", "ends 12", "7 8 9", false },
    { long_name, "longMethod", "Long.java", false },
};

enum { METHOD_COUNT = sizeof(methods) / sizeof(methods[0]), PLAIN_METHODS = 6 };

static enum smp_status resolve(void *self, uint64_t key, struct smp_method_info *info)
{
    static const struct smp_line lines[] = { { 0, 10 }, { 5, 20 }, { 9, 35 } };
    const struct method *method = (const struct method *)(uintptr_t)key;

    (void)self;
    *info = (struct smp_method_info){ .class_name = method->class_name,
                                      .method_name = method->method_name,
                                      .file = method->file,
                                      .is_native = method->is_native,
                                      .lines = method->file == NULL ? NULL : lines,
                                      .line_count = method->file == NULL ? 0 : 3 };
    return SMP_OK;
}

static void release(void *self, struct smp_method_info *info)
{
    (void)self;
    (void)info;
}

/* --- a snapshot --- */

struct example {
    struct smp_methods *names;
    struct smp_tree *tree;
    struct smp_thread_groups *groups;
    uint64_t seed;
};

static uint32_t below(struct example *example, uint32_t bound)
{
    example->seed = example->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(example->seed >> 33) % bound;
}

static uint32_t random_location(struct example *example, size_t first, size_t count)
{
    const struct smp_name_source source = { .resolve = resolve, .release = release };
    const struct method *method = &methods[first + below(example, (uint32_t)count)];
    const struct smp_frame frame = { .method = (uint64_t)(uintptr_t)method,
                                     .bci = method->is_native ? -1 : (int64_t)below(example, 12) };

    if (below(example, 20) == 0)
        return smp_methods_pseudo(example->names, "[thread ended]");
    return smp_methods_locate(example->names, &source, &frame);
}

static void add_stack(struct example *example, const char *group_name, size_t first, size_t count)
{
    const struct smp_group group =
        smp_thread_groups_find(example->groups, (struct smp_group_key){ .name = group_name });
    struct smp_group_info *info = smp_thread_groups_info(example->groups, group);
    const int64_t wall_ns = below(example, 50000000);
    uint32_t locations[24];
    const size_t depth = 1 + below(example, 24);
    uint32_t leaf = 0;

    for (size_t i = 0; i < depth; i++)
        locations[i] = random_location(example, first, count);
    must(smp_tree_root(example->tree, group.index, &info->root) == SMP_OK, "root");
    must(smp_tree_add(example->tree, info->root, locations, depth, &leaf) == SMP_OK, "add");
    tree_credit(example->tree, leaf, wall_ns, below(example, 3) == 0 ? wall_ns / 2 : 0, 1);
    smp_tally_note(&info->tally, SMP_OUTCOME_WALKED);
    smp_thread_groups_see(example->groups, group, below(example, 8), group_name);
}

static struct smp_profile *finish(struct example *example)
{
    struct smp_profile *profile = NULL;

    must(smp_profile_create(NULL, example->tree, example->groups, example->names, &profile) ==
             SMP_OK,
         "snapshot");
    smp_methods_release(example->names);
    profile->from_wall_ms = 1700000000000;
    profile->till_wall_ms = 1700000060000;
    profile->elapsed_ns = 60000000000;
    profile->period_ns = 50000000;
    profile->own_cpu_ns = 1234567;
    profile->memory_used_bytes = 1 << 20;
    profile->memory_limit_bytes = 64 << 20;
    profile->counters[SMP_COUNTER_TICKS] = 1200;
    return profile;
}

static void begin(struct example *example, uint64_t seed)
{
    *example = (struct example){ .seed = seed };
    must(smp_methods_create(NULL, PART_BYTES, NULL, &example->names) == SMP_OK, "names");
    must(smp_tree_create(NULL, SMP_SAMPLED_MEASURES, PART_BYTES, &example->tree) == SMP_OK, "tree");
    must(smp_thread_groups_create(NULL, PART_BYTES, &example->groups) == SMP_OK, "groups");
}

static struct smp_profile *make_plain(uint64_t seed)
{
    static const char *const groups[] = { "http-worker", "main", "timer" };
    struct example example;

    begin(&example, seed);
    for (int i = 0; i < 2000; i++)
        add_stack(&example, groups[below(&example, 3)], 0, PLAIN_METHODS);
    return finish(&example);
}

/* Adds a path of methods without lines, and the number of calls of its last one. */
static void add_calls(struct example *example, const char *group_name)
{
    const struct smp_name_source source = { .resolve = resolve, .release = release };
    const struct smp_group_key key = { .name = group_name, .kind = SMP_GROUP_COUNTED };
    const struct smp_group group = smp_thread_groups_find(example->groups, key);
    struct smp_group_info *info = smp_thread_groups_info(example->groups, group);
    uint32_t locations[6];
    const size_t depth = 1 + below(example, 6);
    uint32_t leaf = 0;

    for (size_t i = 0; i < depth; i++) {
        const struct method *method = &methods[1 + below(example, 3)];
        const struct smp_frame frame = { .method = (uint64_t)(uintptr_t)method, .bci = -1 };
        locations[i] = smp_methods_locate(example->names, &source, &frame);
    }
    must(smp_tree_root(example->tree, group.index, &info->root) == SMP_OK, "root");
    must(smp_tree_add(example->tree, info->root, locations, depth, &leaf) == SMP_OK, "add");
    smp_tree_credit(example->tree, leaf, SMP_MEASURE_CALLS, 1 + below(example, 1000000));
    tree_credit(example->tree, leaf, below(example, 1000000), below(example, 1000), 0);
}

static struct smp_profile *make_counted(void)
{
    static const char *const groups[] = { "http-worker", "main", "timer" };
    struct example example = { .seed = 3 };

    must(smp_methods_create(NULL, PART_BYTES, NULL, &example.names) == SMP_OK, "names");
    must(smp_tree_create(NULL, SMP_ALL_MEASURES, PART_BYTES, &example.tree) == SMP_OK, "tree");
    must(smp_thread_groups_create(NULL, PART_BYTES, &example.groups) == SMP_OK, "groups");
    for (int i = 0; i < 2000; i++) {
        add_stack(&example, groups[below(&example, 3)], 0, PLAIN_METHODS);
        add_calls(&example, groups[below(&example, 2)]);
    }
    return finish(&example);
}

static struct smp_profile *make_nasty(void)
{
    static const char *const groups[] = {
        "semi;colon ",   "a \"quoted\" 12", "<script>x</script>", "\xf0\x9f\x98\x80 \xd0\x96", "",
        "new\nline\ttab"
    };
    struct example example;

    begin(&example, 7);
    memset(long_name, 'x', LONG_BYTES);
    for (int i = 0; i < 2000; i++)
        add_stack(&example, groups[below(&example, 6)], 0, METHOD_COUNT);
    add_stack(&example, long_name, 0, METHOD_COUNT);
    return finish(&example);
}

/* --- files --- */

static FILE *open_file(const char *name, const char *end)
{
    char path[PATH_BYTES];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s.%s", folder, name, end);
    file = fopen(path, "wb");
    must(file != NULL, path);
    return file;
}

static bool write_file(void *self, const char *bytes, size_t length)
{
    return fwrite(bytes, 1, length, self) == length;
}

static void write_styled(const struct smp_profile *profile, const char *name, const char *end,
                         enum smp_format format, struct smp_export_style style)
{
    FILE *file = open_file(name, end);
    const struct smp_output output = { .write = write_file, .self = file };

    must(smp_export(profile, format, &style, NULL, &output) == SMP_OK, end);
    must(fclose(file) == 0, end);
}

static void write_format(const struct smp_profile *profile, const char *name, const char *end,
                         enum smp_format format, enum smp_measure measure)
{
    const struct smp_export_style style = { .measure = measure,
                                            .columns = SMP_MEASURE_BIT(SMP_MEASURE_CPU),
                                            .percent = true,
                                            .summary = format == SMP_FORMAT_JSON };

    write_styled(profile, name, end, format, style);
}

/* Computed from the tree itself: samples from all nodes, times from the roots. */
static void write_sums(const struct smp_profile *profile, const char *name)
{
    const struct smp_node *nodes = smp_tree_nodes(profile->tree);
    const size_t count = smp_tree_node_count(profile->tree);
    uint64_t samples[64] = { 0 };
    uint32_t *group_of = calloc(count, sizeof(*group_of));
    uint64_t all = 0;
    FILE *file = open_file(name, "sums");

    must(group_of != NULL, "out of memory");
    for (uint32_t i = 1; i < count; i++) {
        group_of[i] = (nodes[i].location & SMP_LOCATION_GROUP) != 0
                          ? nodes[i].location & ~SMP_LOCATION_GROUP
                          : group_of[nodes[i].parent];
        samples[group_of[i]] += tree_own_samples(profile->tree, i);
        all += tree_own_samples(profile->tree, i);
    }
    (void)fprintf(file, "%" PRId64 " %" PRId64 " %" PRIu64 " %" PRId64 "\n",
                  smp_profile_total(profile, SMP_MEASURE_WALL),
                  smp_profile_total(profile, SMP_MEASURE_CPU), all,
                  smp_profile_total(profile, SMP_MEASURE_CALLS));
    for (uint32_t i = 0; i < smp_thread_groups_count(profile->groups); i++) {
        const struct smp_group_info *info =
            smp_thread_groups_info(profile->groups, (struct smp_group){ .index = i });
        if (info->root != 0 && info->kind == SMP_GROUP_SAMPLED)
            (void)fprintf(file, "group %" PRId64 " %" PRId64 " %" PRIu64 " %zu\n",
                          tree_wall(profile->tree, info->root), tree_cpu(profile->tree, info->root),
                          samples[i], strlen(info->name));
    }
    free(group_of);
    must(fclose(file) == 0, "sums");
}

static void write_names(const char *name)
{
    FILE *file = open_file(name, "names");

    for (size_t i = 0; i < METHOD_COUNT; i++) {
        const struct method *method = &methods[i];
        (void)fprintf(file, "%s%c%s%c%s%c%s%c", method->class_name, 0, method->method_name, 0,
                      method->file == NULL ? "-" : method->file, 0,
                      method->is_native ? "native" : "line", 0);
    }
    must(fclose(file) == 0, "names");
}

static void write_all(struct smp_profile *profile, const char *name)
{
    write_format(profile, name, "txt", SMP_FORMAT_TEXT, SMP_MEASURE_WALL);
    write_format(profile, name, "wall.collapsed", SMP_FORMAT_COLLAPSED, SMP_MEASURE_WALL);
    write_format(profile, name, "cpu.collapsed", SMP_FORMAT_COLLAPSED, SMP_MEASURE_CPU);
    write_format(profile, name, "samples.collapsed", SMP_FORMAT_COLLAPSED, SMP_MEASURE_SAMPLES);
    write_format(profile, name, "calls.collapsed", SMP_FORMAT_COLLAPSED, SMP_MEASURE_CALLS);
    write_styled(profile, name, "typed.collapsed", SMP_FORMAT_COLLAPSED,
                 (struct smp_export_style){ .java_slashes = true, .frame_types = true });
    write_format(profile, name, "pprof", SMP_FORMAT_PPROF, SMP_MEASURE_WALL);
    write_format(profile, name, "wall.speedscope.json", SMP_FORMAT_SPEEDSCOPE, SMP_MEASURE_WALL);
    write_format(profile, name, "samples.speedscope.json", SMP_FORMAT_SPEEDSCOPE,
                 SMP_MEASURE_SAMPLES);
    write_format(profile, name, "json", SMP_FORMAT_JSON, SMP_MEASURE_WALL);
    write_format(profile, name, "top", SMP_FORMAT_TOP, SMP_MEASURE_WALL);
    write_sums(profile, name);
    smp_profile_release(profile);
}

int main(int count, char **arguments)
{
    must(count == 2, "usage: export_examples FOLDER");
    folder = arguments[1];
    write_all(make_plain(1), "plain");
    write_all(make_plain(2), "plain2");
    write_all(make_counted(), "counted");
    write_all(make_nasty(), "nasty");
    write_names("nasty");
    return 0;
}
