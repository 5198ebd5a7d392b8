// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Finds the thread group that a model names. */
final class Groups {

    private static final int MANY = 12;

    private Groups() {}

    /**
     * Finds the group with this name, or the only one whose name contains it.
     *
     * @throws ToolRefusal naming possible groups
     */
    static SamplingGroup find(SamplingReport report, String name) {
        List<SamplingGroup> all = report.getGroups();
        for (SamplingGroup group : all) {
            if (group.getName().equals(name)
                    || Frames.clean(group.getName()).equals(name)
                    || Frames.quoted(group.getName()).equals(name)) {
                return group;
            }
        }
        String part = name.toLowerCase(Locale.ROOT);
        List<SamplingGroup> found = all.stream()
                .filter(group -> group.getName().toLowerCase(Locale.ROOT).contains(part))
                .toList();
        if (found.size() == 1) {
            return found.get(0);
        }
        throw new ToolRefusal("group: " + (found.isEmpty() ? "no group is called " : "more than one group is called ")
                + Frames.quoted(name) + "; groups are " + names(found.isEmpty() ? all : found));
    }

    private static String names(List<SamplingGroup> groups) {
        return groups.stream()
                        .limit(MANY)
                        .map(group -> Frames.quoted(group.getName()))
                        .collect(Collectors.joining(", "))
                + (groups.size() > MANY ? " and " + (groups.size() - MANY) + " more" : "") + ". " + BudgetText.NAMES;
    }
}
