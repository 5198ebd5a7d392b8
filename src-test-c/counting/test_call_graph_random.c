/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs whose classes are loaded, changed and unloaded, compared with the naive version:
 * after each step both have the same methods with probes, the same roots and the same pending
 * classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "counting/worklist.h"
#include "support/class_text.h"
#include "support/graph_fixture.h"
#include "support/reference_graph.h"
#include "support/rounds.h"

enum { SEEDS = 40, STEPS = 150, MOST_IDS = 4096 };

struct world {
    struct graph_fixture real;
    struct reference_graph naive;
    uint64_t random;
    /* The method that has had each id, as a unique number, until the id was recycled. */
    uint32_t had[MOST_IDS];
    uint32_t methods_seen;
    uint32_t in_use; /* ids below this one are reported as used */
};

static unsigned draw(struct world *world, unsigned below)
{
    return (unsigned)(smp_random_next(&world->random) % below);
}

static bool draws(struct world *world, unsigned percent)
{
    return draw(world, 100) < percent;
}

/* --- a random class --- */

static void draw_method(struct world *world, struct reference_method *method, unsigned signature)
{
    *method = (struct reference_method){ .signature = signature, .is_trivial = draws(world, 10) };
    if (signature == REFERENCE_CLINIT || draws(world, 15))
        method->access |= SMP_ACCESS_STATIC;
    if (draws(world, 15))
        method->access |= SMP_ACCESS_PRIVATE;
    if (draws(world, 15))
        method->access |= SMP_ACCESS_BRIDGE;
    if (draws(world, 10))
        method->access |= draws(world, 50) ? SMP_ACCESS_ABSTRACT : SMP_ACCESS_NATIVE;
    if ((method->access & (SMP_ACCESS_ABSTRACT | SMP_ACCESS_NATIVE)) != 0 || method->is_trivial)
        return;
    method->call_count = draw(world, REFERENCE_CALLS + 1);
    for (unsigned c = 0; c < method->call_count; c++)
        method->calls[c] = (struct reference_call){ .owner = draw(world, REFERENCE_NAMES),
                                                    .signature = draw(world, REFERENCE_CALLED),
                                                    .is_dispatched = draws(world, 60),
                                                    .is_made = draws(world, 30) };
}

/* Occasionally a class that extends itself, or a class that extends it. */
static struct reference_class draw_class(struct world *world, unsigned name)
{
    struct reference_class drawn = { 0 };
    unsigned signature = draw(world, REFERENCE_SIGNATURES);

    if (name > 0) {
        drawn.super_count = 1 + draw(world, REFERENCE_SUPERS);
        for (unsigned s = 0; s < drawn.super_count; s++)
            drawn.supers[s] = draw(world, draws(world, 70) ? name : REFERENCE_NAMES);
    }
    drawn.method_count = draw(world, REFERENCE_METHODS + 1);
    for (unsigned m = 0; m < drawn.method_count; m++) {
        draw_method(world, &drawn.methods[m], signature);
        signature = (signature + 1) % REFERENCE_SIGNATURES;
    }
    return drawn;
}

struct drawn_summary {
    struct smp_class_summary summary;
    struct smp_slice interfaces[REFERENCE_SUPERS];
    struct smp_method_summary methods[REFERENCE_METHODS];
    struct smp_call_summary calls[REFERENCE_METHODS][REFERENCE_CALLS];
};

static void summary_of(struct drawn_summary *out, unsigned loader, unsigned name,
                       const struct reference_class *drawn)
{
    *out = (struct drawn_summary){ 0 };
    out->summary = (struct smp_class_summary){ .loader = loader,
                                               .name = slice_of(reference_class_name(name)),
                                               .interfaces = out->interfaces,
                                               .methods = out->methods,
                                               .method_count = drawn->method_count };
    for (unsigned s = 0; s < drawn->super_count; s++) {
        const struct smp_slice super = slice_of(reference_class_name(drawn->supers[s]));

        if (s == 0)
            out->summary.super_name = super;
        else
            out->interfaces[out->summary.interface_count++] = super;
    }
    for (unsigned m = 0; m < drawn->method_count; m++) {
        const struct reference_method *const method = &drawn->methods[m];

        out->methods[m] =
            (struct smp_method_summary){ .name = slice_of(reference_method_name(method->signature)),
                                         .descriptor =
                                             slice_of(reference_descriptor(method->signature)),
                                         .calls = out->calls[m],
                                         .call_count = method->call_count,
                                         .access = method->access,
                                         .is_trivial = method->is_trivial };
        for (unsigned c = 0; c < method->call_count; c++)
            out->calls[m][c] = (struct smp_call_summary){
                .owner = slice_of(reference_class_name(method->calls[c].owner)),
                .name = slice_of(reference_method_name(method->calls[c].signature)),
                .descriptor = slice_of(reference_descriptor(method->calls[c].signature)),
                .is_dispatched = method->calls[c].is_dispatched,
                .is_made = method->calls[c].is_made
            };
    }
}

/* --- steps, in both versions --- */

static uint32_t real_class(struct world *world, unsigned loader, unsigned name)
{
    return smp_call_graph_find(world->real.graph, loader, slice_of(reference_class_name(name)));
}

static void load(struct world *world, unsigned loader, unsigned name)
{
    struct drawn_summary summary;
    const struct reference_class drawn = draw_class(world, name);
    const uint32_t before = real_class(world, loader, name);
    uint32_t loaded = 0;

    summary_of(&summary, loader, name, &drawn);
    assert_int_equal(smp_call_graph_load(world->real.graph, &summary.summary, &loaded), SMP_OK);
    if (before != 0)
        assert_int_equal(loaded, before);
    reference_graph_load(&world->naive, loader, name, &drawn);
}

static void unload(struct world *world, unsigned loader, unsigned name)
{
    if (!world->naive.classes[loader][name].is_loaded)
        return;
    smp_call_graph_unload(world->real.graph, real_class(world, loader, name));
    reference_graph_unload(&world->naive, loader, name);
}

static void unload_loader(struct world *world, unsigned loader)
{
    smp_call_graph_unload_loader(world->real.graph, loader);
    for (unsigned n = 0; n < REFERENCE_NAMES; n++)
        reference_graph_unload(&world->naive, loader, n);
}

static void make_plan(struct world *world, unsigned loader, unsigned name)
{
    struct reference_class *const it = &world->naive.classes[loader][name];
    struct smp_method_probe plan[REFERENCE_METHODS];
    size_t probes = 0;

    if (!it->is_loaded)
        return;
    probes = smp_call_graph_plan(world->real.graph, real_class(world, loader, name), plan,
                                 REFERENCE_METHODS);
    for (unsigned m = 0; m < it->method_count; m++) {
        const bool has_probe = reference_graph_has_probe(&it->methods[m]);

        assert_int_equal(plan[m].id >= 0, has_probe);
        assert_int_equal(plan[m].is_root, has_probe && it->methods[m].is_root);
        it->methods[m].was_planned = has_probe;
        probes -= has_probe;
    }
    assert_int_equal(probes, 0);
    it->may_be_stale = false;
}

/* Draws a method with an id and a probe; NULL: the drawn method has none. */
static struct reference_method *draw_probed(struct world *world, unsigned loader, unsigned name,
                                            unsigned *number)
{
    struct reference_class *const it = &world->naive.classes[loader][name];

    if (!it->is_loaded || it->method_count == 0)
        return NULL;
    *number = draw(world, it->method_count);
    return reference_graph_has_probe(&it->methods[*number]) ? &it->methods[*number] : NULL;
}

static void enter_leave_or_drop(struct world *world, unsigned loader, unsigned name)
{
    struct reference_class *const it = &world->naive.classes[loader][name];
    unsigned number = 0;
    struct reference_method *const method = draw_probed(world, loader, name, &number);
    const unsigned what = draw(world, 10);

    if (method == NULL)
        return;
    if (what < 8) {
        smp_call_graph_entered(world->real.graph, method->id);
    } else if (what == 8) {
        smp_call_graph_leave_alone(world->real.graph, real_class(world, loader, name), number,
                                   SMP_COUNTING_LEFT_ALONE, "why");
        method->is_left_alone = true;
        method->was_planned = false; /* the current bytes have no probe */
        it->may_be_stale = true;
    } else {
        assert_int_equal(smp_call_graph_is_kept(world->real.graph, method->id), method->is_named);
        assert_int_equal(smp_call_graph_drop(world->real.graph, method->id, 1), !method->is_named);
        if (method->is_named)
            return;
        method->is_dropped = true;
        it->may_be_stale = true;
    }
    reference_graph_visit(&world->naive, name, it, method);
    reference_graph_close(&world->naive);
}

static bool is_kept(void *self, int32_t id)
{
    return (uint32_t)id < *(const uint32_t *)self;
}

static void recycle(struct world *world)
{
    const struct smp_method_ids *const ids = smp_call_graph_ids(world->real.graph);

    world->in_use = draw(world, (unsigned)smp_method_ids_end(ids) + 1);
    (void)smp_call_graph_recycle(world->real.graph, is_kept, &world->in_use);
    for (int32_t id = 0; id < smp_method_ids_end(ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(ids, id);

        if (record == NULL)
            world->had[id] = 0;
        else if (record->state == SMP_METHOD_RETIRED)
            assert_true((uint32_t)id < world->in_use);
    }
}

static void plan_or_put_back(struct world *world, uint32_t taken)
{
    for (unsigned l = 0; l < REFERENCE_LOADERS; l++) {
        for (unsigned n = 0; n < REFERENCE_NAMES; n++) {
            if (real_class(world, l, n) != taken)
                continue;
            if (draws(world, 50))
                make_plan(world, l, n);
            else
                smp_call_graph_put_back(world->real.graph, taken);
            return;
        }
    }
    fail_msg("no class has index %u", taken);
}

static void make_batch(struct world *world)
{
    uint32_t batch[4];
    const size_t taken = smp_call_graph_take_batch(world->real.graph, batch, draw(world, 5));

    for (size_t i = 0; i < taken; i++)
        plan_or_put_back(world, batch[i]);
}

/* --- comparing --- */

/* An id belongs to its method, and no other method has had it. */
static void check_id(struct world *world, struct reference_method *naive,
                     const struct smp_indexed_method *real)
{
    assert_true(real->id >= 0 && real->id < MOST_IDS);
    if (naive->id >= 0) {
        assert_int_equal(naive->id, real->id);
        return;
    }
    assert_int_equal(world->had[real->id], 0);
    world->had[real->id] = ++world->methods_seen;
    naive->id = real->id;
}

static void check_class(struct world *world, unsigned loader, unsigned name, uint32_t *probes,
                        uint32_t *roots)
{
    struct reference_class *const naive = &world->naive.classes[loader][name];
    const uint32_t found = real_class(world, loader, name);
    bool is_changed = false;

    assert_int_equal(found != 0, naive->is_loaded);
    if (found == 0)
        return;

    const struct smp_indexed_class *const real =
        smp_class_index_at(&world->real.graph->index, found);

    assert_int_equal(real->body.method_count, naive->method_count);
    for (unsigned m = 0; m < naive->method_count; m++) {
        struct reference_method *const method = &naive->methods[m];
        const bool has_probe = reference_graph_has_probe(method);

        assert_int_equal(smp_worklist_has_probe(world->real.graph, &real->body.methods[m]),
                         has_probe);
        if (method->is_wanted)
            check_id(world, method, &real->body.methods[m]);
        else
            assert_int_equal(real->body.methods[m].id, -1);
        is_changed |= has_probe != method->was_planned;
        *probes += has_probe;
        *roots += has_probe && method->is_root;
    }
    if (is_changed || !naive->may_be_stale)
        assert_int_equal(real->is_pending, is_changed);
}

static void check(struct world *world)
{
    struct smp_call_graph_figures figures;
    uint32_t probes = 0;
    uint32_t roots = 0;

    for (unsigned l = 0; l < REFERENCE_LOADERS; l++) {
        for (unsigned n = 0; n < REFERENCE_NAMES; n++)
            check_class(world, l, n, &probes, &roots);
    }
    smp_call_graph_figures(world->real.graph, &figures);
    assert_int_equal(figures.methods, probes);
    assert_int_equal(figures.roots, roots);
}

static void step(struct world *world)
{
    const unsigned what = draw(world, 100);
    const unsigned loader = draw(world, REFERENCE_LOADERS);
    const unsigned name = draw(world, REFERENCE_NAMES);

    if (what < 40)
        load(world, loader, name);
    else if (what < 50)
        unload(world, loader, name);
    else if (what < 51)
        unload_loader(world, loader);
    else if (what < 85)
        enter_leave_or_drop(world, loader, name);
    else if (what < 95)
        make_plan(world, loader, name);
    else if (what < 97)
        recycle(world);
    else
        make_batch(world);
}

static void run(enum smp_instrumentation scheme, bool has_rules, uint8_t look_ahead)
{
    const char *const rules = has_rules ? reference_rules : "";

    for (long seed = 1; seed <= test_rounds(SEEDS); seed++) {
        struct world world = {
            .naive = { .scheme = scheme, .has_rules = has_rules, .look_ahead = look_ahead },
            .random = (uint64_t)seed * 1000003
        };

        if (scheme == SMP_INSTRUMENTATION_LAZY)
            graph_fixture_begin_ahead(&world.real, look_ahead, rules, reference_filter);
        else
            graph_fixture_begin(&world.real, scheme, rules, reference_filter, 0, 0);
        for (unsigned i = 0; i < STEPS; i++) {
            step(&world);
            check(&world);
        }
        assert_true(world.methods_seen > 0);
        graph_fixture_end(&world.real);
        assert_int_equal(smp_alloc_live_bytes(), 0);
    }
}

static void test_random_programs_lazy(void **state)
{
    (void)state;
    for (uint8_t ahead = 1; ahead <= 4; ahead++)
        run(SMP_INSTRUMENTATION_LAZY, true, ahead);
}

static void test_random_programs_eager(void **state)
{
    (void)state;
    run(SMP_INSTRUMENTATION_EAGER, true, 1);
}

static void test_random_programs_total(void **state)
{
    (void)state;
    run(SMP_INSTRUMENTATION_TOTAL, true, 1);
    run(SMP_INSTRUMENTATION_TOTAL, false, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs_lazy),
        cmocka_unit_test(test_random_programs_eager),
        cmocka_unit_test(test_random_programs_total),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
