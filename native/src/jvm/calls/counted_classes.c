/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/counted_classes.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash_map.h"
#include "classfile/call_sites.h"
#include "classfile/rewriter.h"
#include "counting/call_arena.h"
#include "counting/call_layout.h"
#include "jvm/calls/class_loaders.h"
#include "jvm/calls/hook_class.h"

static const struct smp_probe_hook probe_hook = { .class_name = SMP_HOOK_CLASS,
                                                  .enter = SMP_HOOK_ENTER,
                                                  .exit = SMP_HOOK_EXIT,
                                                  .enter_root = SMP_HOOK_ENTER_ROOT,
                                                  .exit_root = SMP_HOOK_EXIT_ROOT,
                                                  .reflected = SMP_HOOK_REFLECTED,
                                                  .caught = SMP_HOOK_CAUGHT };

/* --- open and close --- */

/* Classes that kept their probes may still push ids of the last session, so the next one uses
 * higher ids. If less than half of the ids were left, it starts at 0 again. */
static int32_t base_of_ids(const struct smp_counted_classes *counted, int32_t used)
{
    const int32_t base = counted->id_base + used;

    return counted->leftovers.class_count > 0 && base <= SMP_CALL_METHODS / 2 ? base : 0;
}

static uint32_t ids_for(uint32_t methods, uint32_t ids_left)
{
    const uint32_t ids = methods < ids_left / SMP_GRAPH_IDS ? methods * SMP_GRAPH_IDS : ids_left;
    const uint32_t least = ids_left < SMP_GRAPH_LEAST_IDS ? ids_left : SMP_GRAPH_LEAST_IDS;

    return ids > least ? ids : least;
}

enum smp_status smp_counted_classes_open(struct smp_counted_classes *counted,
                                         struct smp_counting_plan *plan)
{
    const uint32_t ids_left = (uint32_t)(SMP_CALL_METHODS - counted->id_base);
    enum smp_status status = SMP_ENOMEM;

    counted->plan = smp_counting_plan_hold(plan);
    counted->max_ids = ids_for(plan->max_methods, ids_left);
    counted->renewal.uses =
        smp_alloc(plan->quota, counted->max_ids * sizeof(*counted->renewal.uses));
    if (counted->renewal.uses != NULL)
        status = smp_call_graph_create(plan, counted->max_ids, &counted->graph);
    if (status != SMP_OK)
        smp_counted_classes_close(counted);
    return status;
}

void smp_counted_classes_close(struct smp_counted_classes *counted)
{
    struct smp_quota *const quota = counted->plan != NULL ? counted->plan->quota : NULL;

    if (counted->plan == NULL)
        return;
    if (counted->graph != NULL)
        counted->id_base =
            base_of_ids(counted, smp_method_ids_end(smp_call_graph_ids(counted->graph)));
    smp_call_graph_destroy(counted->graph);
    smp_free(quota, counted->renewal.uses);
    smp_free(quota, counted->marks);
    if (counted->id_base == 0)
        smp_leftovers_clear_methods(&counted->leftovers);
    smp_counting_plan_release(counted->plan);
    counted->graph = NULL;
    counted->plan = NULL;
    memset(&counted->renewal, 0, sizeof(counted->renewal));
    counted->marks = NULL;
    counted->mark_count = 0;
    counted->has_reflection = false;
    counted->malformed = 0;
}

int32_t smp_counted_classes_id(const struct smp_counted_classes *counted, int32_t pushed)
{
    return pushed >= counted->id_base ? pushed - counted->id_base : -1;
}

/* --- marks --- */

static bool has_mark(struct smp_counted_classes *counted, uint32_t index)
{
    struct smp_class_mark *const marks =
        smp_grow_items(counted->plan->quota, counted->marks, &counted->mark_count,
                       (size_t)index + 1, sizeof(*marks));

    if (marks != NULL)
        counted->marks = marks;
    return marks != NULL;
}

static uint32_t hash_name(struct smp_slice name)
{
    return smp_hash_bytes(SMP_HASH_START, name.bytes, name.length);
}

bool smp_counted_classes_is_named(struct smp_counted_classes *counted, uint32_t index,
                                  struct smp_slice name)
{
    return smp_call_graph_is_loaded(counted->graph, index) &&
           counted->marks[index].name_hash == hash_name(name);
}

bool smp_counted_classes_has_pending(struct smp_counted_classes *counted)
{
    smp_lock_acquire(&counted->lock);
    const bool has_any = smp_call_graph_has_pending(counted->graph);
    smp_lock_release(&counted->lock);
    return has_any;
}

static bool is_leftover(const struct smp_counted_classes *counted, uint32_t index)
{
    return index < counted->mark_count &&
           (counted->marks[index].flags & (SMP_COUNTED_PROBED | SMP_COUNTED_LEFTOVER)) != 0 &&
           smp_call_graph_is_loaded(counted->graph, index);
}

/* Returns whether the JVM refused to remove the probes. Classes that are not prepared do not
 * count: they have not run, and the next session removes their probes. Many classes are loaded
 * only for the verifier, and keeping their names would take memory after the last session. */
static bool keeps_probes(const struct smp_counted_classes *counted, uint32_t index)
{
    return is_leftover(counted, index) && (counted->marks[index].flags & SMP_COUNTED_KEPT) != 0;
}

void smp_counted_classes_make_probed_pending(struct smp_counted_classes *counted)
{
    uint32_t pending = 0;

    smp_lock_acquire(&counted->lock);
    while (smp_call_graph_take_batch(counted->graph, &pending, 1) > 0)
        continue;
    for (uint32_t i = 0; i < counted->mark_count; i++) {
        if (is_leftover(counted, i) && (counted->marks[i].flags & SMP_COUNTED_KEPT) == 0)
            smp_call_graph_put_back(counted->graph, i);
    }
    smp_lock_release(&counted->lock);
}

static void keep_leftover_methods(struct smp_counted_classes *counted)
{
    const struct smp_method_ids *const ids = smp_call_graph_ids(counted->graph);

    for (int32_t id = 0; id < smp_method_ids_end(ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(ids, id);
        if (record == NULL || record->in_class == 0 || !counted->renewal.uses[id].is_pushed ||
            !keeps_probes(counted, record->in_class))
            continue;
        const struct smp_method_name name = smp_method_ids_name(ids, id);
        smp_leftovers_add_method(&counted->leftovers, counted->id_base + id, &name);
    }
}

void smp_counted_classes_keep_leftovers(struct smp_counted_classes *counted)
{
    smp_lock_acquire(&counted->lock);
    for (uint32_t i = 0; i < counted->mark_count; i++) {
        if (is_leftover(counted, i))
            smp_leftovers_add_class(&counted->leftovers, counted->marks[i].name_hash);
    }
    keep_leftover_methods(counted);
    smp_lock_release(&counted->lock);
}

/* Returns the index of the class, or 0 without memory. The caller holds the lock. */
static uint32_t load_summary(struct smp_counted_classes *counted,
                             const struct smp_class_summary *summary, bool *was_pending)
{
    const uint32_t known = smp_call_graph_find(counted->graph, summary->loader, summary->name);
    uint32_t index = 0;

    *was_pending = known != 0 && smp_call_graph_is_pending(counted->graph, known);
    if (smp_call_graph_load(counted->graph, summary, &index) != SMP_OK)
        return 0;
    if (!has_mark(counted, index)) {
        smp_call_graph_unload(counted->graph, index);
        return 0;
    }
    if (index != known)
        counted->marks[index] = (struct smp_class_mark){ .name_hash = hash_name(summary->name) };
    return index;
}

/* Returns whether the methods of the class matter. For a JDK class only the super types do, unless
 * the filter or a root names the class, or it is a proxy. */
static bool needs_methods(const struct smp_counted_classes *counted, struct smp_slice name)
{
    const struct smp_counting_plan *const plan = counted->plan;

    if (smp_call_filter_is_never(name))
        return false;
    if (!smp_call_filter_is_jdk(name) || smp_call_filter_is_proxy(name) ||
        smp_call_filter_passes(&plan->filter, name))
        return true;
    for (size_t i = 0; i < plan->rule_count; i++) {
        if (smp_root_rule_matches_class(&plan->rules[i], name))
            return true;
    }
    return false;
}

/* Returns whether it is a super type of a counted class, so that its methods are kept. */
static bool is_known_super(struct smp_counted_classes *counted, uint64_t loader,
                           struct smp_slice name)
{
    smp_lock_acquire(&counted->lock);
    const uint32_t index = smp_call_graph_find(counted->graph, loader, name);
    const bool is_one = index != 0 && (counted->marks[index].flags & SMP_COUNTED_SUPER) != 0;
    smp_lock_release(&counted->lock);
    return is_one;
}

/* Returns whether the lambda may call a counted method. Its class name begins with the name of the
 * class that contains it, which is what the filter compares. */
static bool needs_lambda(const struct smp_counted_classes *counted, struct smp_slice name)
{
    return counted->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL &&
           !smp_call_filter_is_never(name) && smp_call_filter_passes(&counted->plan->filter, name);
}

/* --- bytes --- */

/* A class that is in the load hook. */
struct counted_load {
    struct smp_counted_classes *counted;
    jvmtiEnv *jvmti;
    struct smp_class_file file;
    const struct smp_class_summary *summary;
    uint32_t index;                      /* of the class, when it was planned */
    bool hands_out;                      /* it may be Method or Constructor */
    struct smp_rewriter_method *methods; /* one for each method of the file */
};

/* On JDK 17 to 28 the public methods of Method and Constructor call these. */
static enum smp_probe_hands hands_of(const struct smp_class_file *file,
                                     const struct smp_class_method *method)
{
    const struct smp_slice owner = file->name;

    if (smp_slice_is(owner, SMP_REFLECT_METHOD) && smp_slice_is(method->name, "invoke") &&
        smp_slice_is(method->descriptor,
                     "(Ljava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;"))
        return SMP_HANDS_THIS_AND_FIRST;
    if (smp_slice_is(owner, SMP_REFLECT_CONSTRUCTOR) &&
        (smp_slice_is(method->name, "newInstance") ||
         smp_slice_is(method->name, "newInstanceWithCaller")))
        return SMP_HANDS_THIS;
    return SMP_HANDS_NOTHING;
}

/* Copies the plan with the ids that probes push. The caller holds the lock. True: bytes change. */
static bool copy_plan(struct counted_load *load, const struct smp_method_probe *probes)
{
    struct smp_counted_classes *const counted = load->counted;
    bool has_any = false;

    for (size_t i = 0; i < load->file.method_count; i++) {
        const struct smp_method_probe probe = probes[i];
        load->methods[i] = (struct smp_rewriter_method){ .id = -1 };
        if (load->hands_out)
            load->methods[i].hands = hands_of(&load->file, &load->file.methods[i]);
        has_any |= load->methods[i].hands != SMP_HANDS_NOTHING;
        if (probe.id < 0)
            continue;
        counted->renewal.uses[probe.id].is_pushed = true;
        load->methods[i].id = counted->id_base + probe.id;
        load->methods[i].is_root = probe.is_root;
        has_any = true;
    }
    return has_any;
}

/* A class that loses its probes is a leftover, because the JVM may still refuse the new bytes. */
static void mark_probed(struct smp_class_mark *mark, bool has_probes)
{
    if (has_probes) {
        mark->flags |= SMP_COUNTED_PROBED;
    } else if ((mark->flags & SMP_COUNTED_PROBED) != 0) {
        mark->flags &= (uint8_t)~SMP_COUNTED_PROBED;
        mark->flags |= SMP_COUNTED_LEFTOVER;
    }
}

/* Returns whether loading the class has changed which methods are known. */
static bool has_other_methods(const struct smp_call_graph_figures *before,
                              const struct smp_call_graph *graph)
{
    struct smp_call_graph_figures after;

    smp_call_graph_figures(graph, &after);
    return after.methods != before->methods || after.ids != before->ids ||
           after.retired != before->retired;
}

static bool has_namesake(const struct smp_class_file *file, const struct smp_class_method *method)
{
    for (uint32_t i = 0; i < file->method_count; i++) {
        const struct smp_class_method *const other = &file->methods[i];
        if (other != method && smp_slice_equals(other->name, method->name) &&
            other->code.attribute != 0 && !smp_class_method_passes_on(file, other))
            return true;
    }
    return false;
}

/* Returns whether the method gets no probe because it only delegates a call. A root is counted
 * nevertheless if no other method of the class has its name. */
static bool is_left_to_others(const struct smp_class_file *file,
                              const struct smp_class_method *method, bool is_root)
{
    return smp_class_method_passes_on(file, method) && (!is_root || has_namesake(file, method));
}

/* Plans the probes. Methods that only delegate a call get none; their callees become reachable
 * instead and may be in the same class, so the plan is repeated. The caller holds the lock. */
static void plan_methods(const struct counted_load *load, struct smp_method_probe *probes)
{
    const struct smp_class_file *const file = &load->file;
    bool has_others = true;

    while (has_others) {
        (void)smp_call_graph_plan(load->counted->graph, load->index, probes, file->method_count);
        has_others = false;
        for (uint32_t i = 0; i < file->method_count; i++) {
            if (probes[i].id < 0 || !is_left_to_others(file, &file->methods[i], probes[i].is_root))
                continue;
            smp_call_graph_leave_alone(load->counted->graph, load->index, i, SMP_COUNTING_TRIVIAL,
                                       NULL);
            has_others = true;
        }
    }
}

/* Loads the class into the call graph and fills in load->methods. Returns whether its bytes must
 * change. If another agent changes the class, the JVM may still refuse that change. The class is
 * therefore made pending, and the next batch loads its actual bytes. */
static bool plan_class(struct counted_load *load, const struct smp_loading_class *loading,
                       struct smp_method_probe *probes)
{
    struct smp_counted_classes *const counted = load->counted;
    struct smp_call_graph_figures before;
    bool has_probes = false;
    bool was_pending = false;

    smp_lock_acquire(&counted->lock);
    smp_call_graph_figures(counted->graph, &before);
    load->index = load_summary(counted, load->summary, &was_pending);
    if (load->index != 0) {
        plan_methods(load, probes);
        load->hands_out =
            counted->has_reflection && load->summary->loader == SMP_CLASS_LOADERS_BOOT;
        has_probes = copy_plan(load, probes);
        mark_probed(&counted->marks[load->index], has_probes);
        if (loading->is_first)
            smp_call_graph_probed(counted->graph, load->index, SMP_METHOD_SINCE_LOAD);
        if (loading->is_foreign && (was_pending || has_other_methods(&before, counted->graph)))
            smp_call_graph_put_back(counted->graph, load->index);
    }
    smp_lock_release(&counted->lock);
    return has_probes;
}

/* With the lock held. */
static void leave_methods_alone(const struct counted_load *load)
{
    for (uint32_t i = 0; i < load->file.method_count; i++) {
        const struct smp_rewriter_method *const method = &load->methods[i];
        if (method->id >= 0 && method->result != SMP_REWRITE_DONE)
            smp_call_graph_leave_alone(load->counted->graph, load->index, i,
                                       SMP_COUNTING_LEFT_ALONE, smp_rewrite_text(method->result));
    }
}

/* Looks the class up again: the lock was released after the plan, and the call graph may have
 * dropped the class for lack of memory and reused its index. */
static void note_rewriting(const struct counted_load *load, enum smp_status status)
{
    struct smp_counted_classes *const counted = load->counted;
    const struct smp_class_summary *const summary = load->summary;

    smp_lock_acquire(&counted->lock);
    if (smp_call_graph_find(counted->graph, summary->loader, summary->name) == load->index) {
        if (status == SMP_OK)
            leave_methods_alone(load);
        else
            smp_call_graph_refuse_class(counted->graph, load->index,
                                        "there was no memory for its class");
    }
    smp_lock_release(&counted->lock);
}

bool smp_give_to_jvm(jvmtiEnv *jvmti, const void *made, size_t size, struct smp_class_bytes *out)
{
    unsigned char *bytes = NULL;

    if ((*jvmti)->Allocate(jvmti, (jlong)size, &bytes) != JVMTI_ERROR_NONE)
        return false;
    memcpy(bytes, made, size);
    *out = (struct smp_class_bytes){ bytes, size };
    return true;
}

bool smp_make_jvm_refuse(jvmtiEnv *jvmti, struct smp_class_bytes *out)
{
    return smp_give_to_jvm(jvmti, "", 1, out);
}

static bool rewrite_class(struct counted_load *load, struct smp_class_bytes *out)
{
    struct smp_bytes made;

    *out = (struct smp_class_bytes){ 0 };
    smp_bytes_init(&made, NULL, SMP_REWRITER_MOST_BYTES);
    enum smp_status status = smp_rewriter_run(&load->file, &probe_hook, load->methods, &made);
    if (status == SMP_OK && made.length > 0 &&
        !smp_give_to_jvm(load->jvmti, made.data, made.length, out))
        status = SMP_ENOMEM;
    smp_bytes_fini(&made);
    note_rewriting(load, status);
    return out->bytes != NULL;
}

static bool load_summarized(struct counted_load *load, const struct smp_loading_class *loading,
                            struct smp_class_bytes *out)
{
    const size_t count = load->file.method_count > 0 ? load->file.method_count : 1;
    struct smp_method_probe *probes = smp_alloc(NULL, count * sizeof(*probes));
    bool has_changed = false;

    load->methods = smp_alloc(NULL, count * sizeof(*load->methods));
    if (probes != NULL && load->methods != NULL && plan_class(load, loading, probes))
        has_changed = rewrite_class(load, out);
    smp_free(NULL, load->methods);
    smp_free(NULL, probes);
    return has_changed;
}

/* file has only the methods that matter. */
static enum smp_status load_file(struct counted_load *load, const struct smp_class_file *file,
                                 const struct smp_loading_class *loading,
                                 struct smp_class_bytes *out, bool *has_changed)
{
    struct smp_class_summary_reader reader = { 0 };
    const enum smp_status status =
        smp_class_summary_reader_read(&reader, file, loading->loader, &load->summary);

    if (status == SMP_OK)
        *has_changed = load_summarized(load, loading, out);
    load->summary = NULL; /* the reader owns it */
    smp_class_summary_reader_fini(&reader);
    return status;
}

/*
 * Returns whether the bytes are older than another agent's change. RetransformClasses takes the
 * bytes of a class before it waits for an agent that is changing the class. If that agent
 * redefines the class, the JVM passes the old bytes to our hook, or freed memory. Must be called
 * before the bytes are parsed.
 */
static bool is_outdated(struct smp_counted_classes *counted,
                        const struct smp_loading_class *loading)
{
    const struct smp_class_bytes file = loading->file;
    bool is_older = false;

    if (loading->is_first || loading->name.length == 0)
        return false;
    smp_lock_acquire(&counted->lock);
    const uint32_t index = smp_call_graph_find(counted->graph, loading->loader, loading->name);
    struct smp_class_mark *const mark = index != 0 ? &counted->marks[index] : NULL;
    if (mark != NULL && (loading->is_foreign || mark->foreign_hash != 0)) {
        const uint32_t hash =
            smp_hash_bytes(SMP_HASH_START, (const char *)file.bytes, file.size) | 1;
        is_older = !loading->is_foreign && mark->foreign_hash != hash;
        if (!is_older)
            mark->foreign_hash = loading->is_foreign ? hash : 0;
    }
    smp_lock_release(&counted->lock);
    return is_older;
}

/* Freed memory (see is_outdated) may contain the bytes of another class by now. */
static bool is_other_class(const struct smp_loading_class *loading, struct smp_slice name)
{
    return !loading->is_first && !loading->is_foreign && loading->name.length > 0 &&
           !smp_slice_equals(loading->name, name);
}

bool smp_counted_classes_refuse_outdated(struct smp_counted_classes *counted, jvmtiEnv *jvmti,
                                         const struct smp_loading_class *loading,
                                         struct smp_class_bytes *out)
{
    return is_outdated(counted, loading) && smp_make_jvm_refuse(jvmti, out);
}

bool smp_counted_classes_load(struct smp_counted_classes *counted, jvmtiEnv *jvmti,
                              const struct smp_loading_class *loading, struct smp_class_bytes *out)
{
    struct counted_load load = { .counted = counted, .jvmti = jvmti };
    bool has_changed = false;
    enum smp_status status;

    if (is_outdated(counted, loading))
        return smp_make_jvm_refuse(jvmti, out);
    status = smp_class_file_open(&load.file, loading->file.bytes, loading->file.size);
    if (status == SMP_OK) {
        const struct smp_slice name = load.file.name;
        struct smp_class_file seen = load.file;
        if (!needs_methods(counted, name) && !is_known_super(counted, loading->loader, name))
            seen.method_count = 0;
        if (is_other_class(loading, name))
            has_changed = smp_make_jvm_refuse(jvmti, out);
        else
            status = load_file(&load, &seen, loading, out, &has_changed);
        smp_class_file_close(&load.file);
    }
    if (status == SMP_EINVAL)
        counted->malformed++;
    return has_changed;
}

/* --- classes that are there --- */

/* With the lock held. */
static void make_pending(struct smp_counted_classes *counted, uint32_t index)
{
    struct smp_class_mark *const mark = &counted->marks[index];
    const bool is_leftover = smp_leftovers_take_class(&counted->leftovers, mark->name_hash);

    if (is_leftover)
        mark->flags |= SMP_COUNTED_LEFTOVER;
    if (is_leftover || (mark->flags & SMP_COUNTED_WAITING) != 0) {
        mark->flags &= (uint8_t)~SMP_COUNTED_WAITING;
        smp_call_graph_put_back(counted->graph, index);
    }
}

/* If is_super, replaces a known summary, which cannot have more details because no method of the
 * class is counted. */
static void add_summary(struct smp_counted_classes *counted,
                        const struct smp_class_summary *summary, bool is_super)
{
    bool was_pending = false;

    smp_lock_acquire(&counted->lock);
    /* A summary that the load hook has made meanwhile from the bytes has more details. */
    uint32_t index =
        is_super ? 0 : smp_call_graph_find(counted->graph, summary->loader, summary->name);
    if (index == 0)
        index = load_summary(counted, summary, &was_pending);
    if (index != 0 && !is_super)
        make_pending(counted, index);
    if (index != 0 && is_super)
        counted->marks[index].flags |= SMP_COUNTED_SUPER;
    if (index != 0 && was_pending)
        smp_call_graph_put_back(counted->graph, index);
    smp_lock_release(&counted->lock);
}

static void add_loaded(struct smp_counted_classes *counted, jvmtiEnv *jvmti, JNIEnv *env,
                       const struct smp_loaded_class *loaded, bool is_super)
{
    const bool with_methods = is_super || loaded->is_lambda || needs_methods(counted, loaded->name);
    struct smp_loaded_summary made;

    if (smp_loaded_summary_make(&made, jvmti, env, loaded, with_methods) != SMP_OK)
        return;
    add_summary(counted, &made.summary, is_super);
    smp_loaded_summary_free(&made, jvmti);
}

void smp_counted_classes_meet(struct smp_counted_classes *counted, jvmtiEnv *jvmti, JNIEnv *env,
                              const struct smp_loaded_class *loaded)
{
    if (loaded->is_lambda && !needs_lambda(counted, loaded->name))
        return;
    smp_lock_acquire(&counted->lock);
    const uint32_t known = smp_call_graph_find(counted->graph, loaded->loader, loaded->name);
    if (known != 0)
        make_pending(counted, known);
    smp_lock_release(&counted->lock);
    if (known == 0)
        add_loaded(counted, jvmti, env, loaded, false);
}

bool smp_counted_classes_needs_supers(const struct smp_counted_classes *counted,
                                      const struct smp_loaded_class *loaded)
{
    return !loaded->is_lambda && counted->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL &&
           smp_call_filter_passes(&counted->plan->filter, loaded->name);
}

bool smp_counted_classes_meet_super(struct smp_counted_classes *counted, jvmtiEnv *jvmti,
                                    JNIEnv *env, const struct smp_loaded_class *super)
{
    const bool has_methods = needs_methods(counted, super->name);

    smp_lock_acquire(&counted->lock);
    const uint32_t index = smp_call_graph_find(counted->graph, super->loader, super->name);
    const bool is_new = index == 0 || (counted->marks[index].flags & SMP_COUNTED_SUPER) == 0;
    if (index != 0 && has_methods)
        counted->marks[index].flags |= SMP_COUNTED_SUPER;
    smp_lock_release(&counted->lock);
    if (is_new && !has_methods)
        add_loaded(counted, jvmti, env, super, true);
    return is_new;
}

/* --- renewal of ids --- */

/*
 * Ids of unloaded classes are freed so that they can be reused. A class is unloaded only when no
 * frame runs its code, so no thread pushes its ids any more, but trees may contain them. Therefore
 * all trees are replaced, and an id is freed when no remaining tree has it.
 */

enum { USE_SHIFT = 32 };

/* Returns NULL if the id is from an earlier session. */
static struct smp_id_use *use_of(const struct smp_counted_classes *counted, int32_t pushed)
{
    const int32_t id = smp_counted_classes_id(counted, pushed);

    return id >= 0 && (uint32_t)id < counted->max_ids ? &counted->renewal.uses[id] : NULL;
}

int64_t smp_counted_classes_number(const struct smp_counted_classes *counted, int32_t pushed)
{
    const struct smp_id_use *const use = use_of(counted, pushed);

    return (int64_t)(use != NULL ? use->count : 0) << USE_SHIFT | pushed;
}

int32_t smp_counted_classes_pushed(const struct smp_counted_classes *counted, int64_t number)
{
    const int32_t pushed = (int32_t)(number & INT32_MAX);

    return smp_counted_classes_number(counted, pushed) == number ? pushed : -1;
}

/* An id that no probe pushes is in no tree and is freed at once. */
static bool mark_due_id(void *self, int32_t id)
{
    struct smp_id_use *const use = &((struct smp_counted_classes *)self)->renewal.uses[id];

    use->is_due = use->is_pushed;
    return use->is_pushed;
}

/* Returns whether enough ids wait to be freed. Ids that trees kept at the last renewal do not
 * count at first, or each read would begin a renewal. After SMP_RENEWAL_READS reads they count,
 * because those trees may be gone. */
static bool wait_enough(struct smp_counted_classes *counted)
{
    const uint32_t share = counted->max_ids / SMP_RENEWAL_SHARE;
    const uint32_t wanted = share < SMP_RENEWAL_IDS ? share + 1 : SMP_RENEWAL_IDS;
    const bool is_over = ++counted->renewal.reads >= SMP_RENEWAL_READS;
    struct smp_call_graph_figures figures;

    smp_call_graph_figures(counted->graph, &figures);
    return figures.retired >= wanted + (is_over ? 0 : counted->renewal.held);
}

bool smp_counted_classes_begin_renewal(struct smp_counted_classes *counted)
{
    smp_lock_acquire(&counted->lock);
    (void)smp_call_graph_recycle(counted->graph, mark_due_id, counted);
    const bool begins = wait_enough(counted);
    smp_lock_release(&counted->lock);
    if (begins)
        smp_call_arena_renew();
    return begins;
}

void smp_counted_classes_keep_id(struct smp_counted_classes *counted, int32_t pushed)
{
    struct smp_id_use *const use = use_of(counted, pushed);

    if (use != NULL)
        use->is_due = false;
}

static bool is_in_a_tree(void *self, int32_t id)
{
    struct smp_counted_classes *const counted = self;
    struct smp_id_use *const use = &counted->renewal.uses[id];

    if (use->is_pushed && !use->is_due)
        return true;
    *use = (struct smp_id_use){ .count = use->count + 1 };
    smp_call_arena_forget_method(counted->id_base + id);
    return false;
}

void smp_counted_classes_end_renewal(struct smp_counted_classes *counted)
{
    struct smp_call_graph_figures figures;

    smp_lock_acquire(&counted->lock);
    (void)smp_call_graph_recycle(counted->graph, is_in_a_tree, counted);
    smp_call_graph_figures(counted->graph, &figures);
    smp_lock_release(&counted->lock);
    counted->renewal.held = figures.retired;
    counted->renewal.reads = 0;
}

/* --- entries --- */

/* smp_call_graph_entered may add ids, so the loop reads the end each time. */
void smp_counted_classes_note_entries(struct smp_counted_classes *counted)
{
    smp_lock_acquire(&counted->lock);
    const struct smp_method_ids *const ids = smp_call_graph_ids(counted->graph);
    for (int32_t id = 0; id < smp_method_ids_end(ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(ids, id);
        if (record != NULL && record->state == SMP_METHOD_INSTRUMENTED && !record->is_entered &&
            smp_call_arena_is_seen(counted->id_base + id))
            smp_call_graph_entered(counted->graph, id);
    }
    smp_lock_release(&counted->lock);
}
