// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.SamplingHotSpot;
import com.incapsula.sampler.SamplingSummary;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The fields of a summary for JSON. */
final class SummaryFields {

    private static final double NANOS_PER_MILLI = 1e6;

    private SummaryFields() {}

    static Map<String, @Nullable Object> of(SamplingSummary summary) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("activeMillis", summary.getActiveNanos() / NANOS_PER_MILLI);
        fields.put("idleMillis", summary.getIdleNanos() / NANOS_PER_MILLI);
        fields.put("otherMillis", summary.getOtherNanos() / NANOS_PER_MILLI);
        fields.put("elsewhereMillis", summary.getElsewhereNanos() / NANOS_PER_MILLI);
        fields.put("waitsMillis", summary.getWaitsNanos() / NANOS_PER_MILLI);
        fields.put("threads", summary.getThreadCount());
        fields.put("groups", summary.getGroupCount());
        fields.put("packages", summary.getPackages());
        fields.put("guessed", summary.isGuessed());
        fields.put(
                "hotSpots",
                summary.getHotSpots().stream().map(SummaryFields::spot).toList());
        return fields;
    }

    private static Map<String, @Nullable Object> spot(SamplingHotSpot spot) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("state", spot.getState());
        fields.put("millis", spot.getNanos() / NANOS_PER_MILLI);
        fields.put("runnableMillis", spot.getRunnableNanos() / NANOS_PER_MILLI);
        fields.put("class", spot.getClassName());
        fields.put("method", spot.getMethodName());
        fields.put("file", spot.getFileName());
        fields.put("line", spot.getLine());
        fields.put("callee", spot.getCallee());
        fields.put("group", spot.getGroup());
        fields.put("calls", spot.getCalls());
        fields.put("lock", spot.getLockClass());
        fields.put("holding", spot.getHoldingLine());
        fields.put("holder", spot.getHolderGroup());
        return fields;
    }
}
