/* SPDX-License-Identifier: Apache-2.0 */
#include "model/error_range.h"

#include <math.h>

#define NS2_PER_MS2 1e12 /* error sums are in milliseconds */
#define Z95 1.959964     /* standard deviations around 95 % of a normal distribution */
#define LEAST_COUNT 0.1  /* the least number of finds, so that no range is infinite */

/* fmax and fmin are in libm, which is not linked. */
static double higher_of(double a, double b)
{
    return a > b ? a : b;
}

static double lower_of(double a, double b)
{
    return a < b ? a : b;
}

/* --- the range --- */

/* Returns a quantile of the gamma distribution with this shape, by Wilson and Hilferty: the cube
 * root of such a variable is nearly normal. */
static double gamma_quantile(double shape, double z)
{
    const double root = 1 - 1 / (9 * shape) + z / (3 * sqrt(shape));

    return root > 0 ? shape * root * root * root : 0;
}

/* Rounds to whole nanoseconds. */
static int64_t rounded(double ns)
{
    static const double most = 9e18;

    return ns < most ? (int64_t)(ns + 0.5) : INT64_MAX;
}

struct smp_error_range smp_error_range_of(int64_t amount, int64_t all, struct smp_error error)
{
    const int64_t rest = all - amount;
    const bool is_most = all >= 0 && rest < amount;
    struct smp_error_range range = { .lower = amount, .upper = amount };
    double counted;
    double weight;

    if (error.variance <= 0 && error.find_ns <= 0)
        return range;
    counted = higher_of((double)(is_most ? rest : amount), sqrt(LEAST_COUNT * error.variance));
    weight = higher_of(counted > 0 ? error.variance / counted : 0, error.find_ns);
    const double count = higher_of(counted / weight, LEAST_COUNT);
    const int64_t low = rounded(weight * gamma_quantile(count, -Z95));
    const int64_t high = rounded(weight * gamma_quantile(count + 1, Z95));
    range.lower = is_most ? smp_subtract_clamped(all, high) : low;
    range.upper = is_most ? smp_subtract_clamped(all, low) : high;
    if (all >= 0 && range.upper > all)
        range.upper = all;
    if (range.lower > amount)
        range.lower = amount;
    if (range.upper < amount)
        range.upper = amount;
    return range;
}

/* --- variances --- */

static int64_t total_of(const struct smp_group_errors *errors, uint32_t node,
                        enum smp_measure measure)
{
    return smp_column_at(smp_tree_column(errors->profile->tree, measure), node);
}

struct smp_group_errors smp_group_errors_of(const struct smp_profile *profile, uint32_t root)
{
    const struct smp_group_info *const info =
        smp_profile_group_info(profile, smp_node_group(&smp_tree_nodes(profile->tree)[root]));
    struct smp_group_errors errors = { .profile = profile,
                                       .is_sampled = info->kind == SMP_GROUP_SAMPLED };

    /* If threads come and go, like virtual threads, the group's time is not exact either. */
    errors.wall_ns =
        smp_tree_variance(profile->tree, root) > 0 ? -1 : total_of(&errors, root, SMP_MEASURE_WALL);
    errors.cpu_ns = total_of(&errors, root, SMP_MEASURE_CPU);
    errors.found_ns = (double)info->unseen.seen;
    errors.running_variance = smp_error_sum_variance(&info->running) * NS2_PER_MS2;
    return errors;
}

static const struct smp_error exact;
static const struct smp_error unknown = { .variance = -1 };

/* part: of the group's CPU time. */
static struct smp_error wall_error(const struct smp_group_errors *errors, double variance,
                                   double part)
{
    if (variance <= 0)
        return exact;
    return (struct smp_error){ .variance = higher_of(variance, part * errors->running_variance) };
}

/*
 * Polls found w of running time, and x of it in the row. The row's CPU time is c * x / w, where c
 * is exact. x is a share of independent finds, so the quotient has the variance of x without the
 * part x has in common with w. If all finds were in one row, others may still have had a part.
 */
static struct smp_error cpu_error(const struct smp_group_errors *errors, double variance,
                                  double part, int64_t wall_ns)
{
    const double all = errors->running_variance;
    double scale;
    double ran;

    if (errors->cpu_ns == 0 || (variance <= 0 && part >= 1))
        return exact;
    if (errors->found_ns <= 0 || part <= 0)
        return unknown;
    scale = (double)errors->cpu_ns / errors->found_ns;
    ran = lower_of(part * errors->found_ns / (double)(wall_ns > 0 ? wall_ns : 1), 1);
    variance = higher_of(ran * variance, part * all) - part * part * all;
    return (struct smp_error){
        .variance = scale * scale * higher_of(variance, 0),
        .find_ns = scale * all / errors->found_ns * higher_of(part, 1 - part),
    };
}

static bool has_errors(const struct smp_group_errors *errors)
{
    return errors->is_sampled && smp_tree_has_errors(errors->profile->tree);
}

static struct smp_error error_of(const struct smp_group_errors *errors, enum smp_measure measure,
                                 double variance, int64_t wall_ns, int64_t cpu_ns)
{
    const double part = errors->cpu_ns > 0 ? (double)cpu_ns / (double)errors->cpu_ns : 0;

    if (!has_errors(errors))
        return unknown;
    return measure == SMP_MEASURE_CPU ? cpu_error(errors, variance, part, wall_ns)
                                      : wall_error(errors, variance, part);
}

struct smp_error smp_group_errors_total(const struct smp_group_errors *errors, uint32_t node,
                                        enum smp_measure measure)
{
    return error_of(errors, measure, smp_tree_variance(errors->profile->tree, node) * NS2_PER_MS2,
                    total_of(errors, node, SMP_MEASURE_WALL),
                    total_of(errors, node, SMP_MEASURE_CPU));
}

/*
 * Own time is the time of stacks in which the node is innermost. Each change of it changes the
 * total of the node or of a child, so its variance is at most the sum of theirs. It is also at most
 * the own time multiplied by what a find stands for.
 */
static double own_variance(const struct smp_group_errors *errors, uint32_t node, int64_t own_ns)
{
    const struct smp_tree *const tree = errors->profile->tree;
    const uint32_t *const siblings = smp_tree_next_siblings(tree);
    const int64_t wall_ns = total_of(errors, node, SMP_MEASURE_WALL);
    double sum = smp_tree_variance(tree, node) * NS2_PER_MS2;
    double find_ns;

    for (uint32_t child = smp_tree_nodes(tree)[node].last_child; child != 0;
         child = siblings[child])
        sum += smp_tree_variance(tree, child) * NS2_PER_MS2;
    if (own_ns == wall_ns || errors->profile->period_ns <= 0)
        return sum;
    find_ns =
        higher_of((double)errors->profile->period_ns, sum / (double)(wall_ns > 0 ? wall_ns : 1));
    return lower_of(sum, find_ns * (double)own_ns);
}

struct smp_error smp_group_errors_own(const struct smp_group_errors *errors, uint32_t node,
                                      enum smp_measure measure)
{
    const struct smp_tree *const tree = errors->profile->tree;
    const int64_t wall_ns = smp_tree_self(tree, node, SMP_MEASURE_WALL);

    if (!has_errors(errors))
        return unknown;
    return error_of(errors, measure, own_variance(errors, node, wall_ns), wall_ns,
                    smp_tree_self(tree, node, SMP_MEASURE_CPU));
}

/* --- ranges --- */

static bool is_a_count(enum smp_measure measure)
{
    return smp_measure_info(measure)->unit == SMP_UNIT_NUMBER;
}

static bool find_time_range(const struct smp_group_errors *errors, uint32_t node,
                            enum smp_measure measure, struct smp_error_range *out)
{
    const bool is_cpu = measure == SMP_MEASURE_CPU;
    const int64_t amount = total_of(errors, node, measure);
    const struct smp_error error =
        smp_group_errors_total(errors, node, is_cpu ? SMP_MEASURE_CPU : SMP_MEASURE_WALL);

    /* An amount that was never found may still have been there. */
    if (error.variance < 0 || (amount == 0 && error.variance > 0))
        return false;
    /* How large a state's part of the row's time is, is uncertain, too. */
    if ((SMP_MEASURE_BIT(measure) & SMP_STATE_MEASURES) != 0 &&
        amount != total_of(errors, node, SMP_MEASURE_WALL))
        return false;
    *out = smp_error_range_of(amount, is_cpu ? errors->cpu_ns : errors->wall_ns, error);
    return true;
}

bool smp_group_errors_range(const struct smp_group_errors *errors, uint32_t node,
                            enum smp_measure measure, struct smp_error_range *out)
{
    int64_t amount;

    if (!is_a_count(measure))
        return find_time_range(errors, node, measure, out);
    amount = smp_measure_info(measure)->adding == SMP_ADDING_OWN
                 ? smp_tree_self(errors->profile->tree, node, measure)
                 : total_of(errors, node, measure);
    *out = (struct smp_error_range){ .lower = amount, .upper = amount };
    return true;
}
