/* SPDX-License-Identifier: Apache-2.0 */
#include "support/random_profile.h"

enum { MAX_DEPTH = 7 };

static const char *const frames[] = {
    "a.A.run(A.java:1)",
    "a.A.run(A.java:2)",
    "a.A.walk(A.java:2)",
    "b.B$1.x(B.java)",
    "b.B.n(Native Method)",
    "o.O.o(Unknown Source:1)",
    "o.O.o(Unknown Source:2)",
    "o.O.o(Unknown Source)",
    "s.S;.s(S;.java:3)",
    "[thread ended]",
    "java.lang.Thread.run(Thread.java:840)",
};
static const char *const groups[] = { "main", "pool", "a;b \n", "", "[JVM]" };

enum { FRAMES = sizeof(frames) / sizeof(frames[0]), GROUPS = sizeof(groups) / sizeof(groups[0]) };

struct smp_profile *random_profile(struct report_fixture *fixture, size_t stacks, unsigned *seed)
{
    for (size_t i = 0; i < stacks; i++) {
        const char *const group = groups[next_random(seed) % GROUPS];
        const unsigned depth = 1 + next_random(seed) % MAX_DEPTH;
        uint32_t node = 0;
        for (unsigned at = 0; at < depth; at++)
            node = report_fixture_add(
                fixture, group, node, frames[next_random(seed) % FRAMES],
                at + 1 < depth || next_random(seed) % 4 == 0 ? 0 : next_random(seed) % 1000);
        report_fixture_ran(fixture, node, next_random(seed) % 3 == 0 ? 0 : next_random(seed) % 500,
                           next_random(seed) % 3);
        report_fixture_note(fixture, group, SMP_OUTCOME_WALKED);
        report_fixture_see(fixture, group, group);
    }
    return report_fixture_finish(fixture);
}
