// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.internal.json.JsonParser;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The summary and the locks in the JSON form of a report, which another version may have written. */
class SamplingSummaryTest {

    private static SamplingSummary summary(String json) throws Exception {
        return SamplingSummary.of(JsonParser.parse(json));
    }

    private static SamplingHotSpot spot(String members) throws Exception {
        List<SamplingHotSpot> spots =
                summary("{\"summary\":{\"hotSpots\":[{" + members + "}]}}").getHotSpots();
        assertThat(spots).hasSize(1);
        return spots.get(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "[]", "1", "{\"summary\":{}}", "{\"summary\":{\"hotSpots\":1,\"packages\":{}}}"})
    void aReportWithoutASummaryHasAnEmptyOne(String json) throws Exception {
        SamplingSummary summary = summary(json);
        assertThat(summary.getHotSpots()).isEmpty();
        assertThat(summary.getPackages()).isEmpty();
        assertThat(summary.getActiveNanos()).isZero();
        assertThat(summary.getOtherNanos()).isZero();
        assertThat(summary.isGuessed()).isFalse();
        assertThat(summary).hasToString("Summary.\n");
    }

    @Test
    void aHotSpotIsPrintedWithWhatIsKnown() throws Exception {
        String known = "\"state\":\"io\",\"nanos\":12,\"class\":\"a.B\",\"method\":\"m\",\"group\":\"pool\"";
        assertThat(spot(known)).hasToString("io 12 ns in a.B.m(Unknown Source) by pool");
        assertThat(spot(known + ",\"file\":\"B.java\"")).hasToString("io 12 ns in a.B.m(B.java) by pool");
        assertThat(spot(known + ",\"file\":\"B.java\",\"line\":7,\"callee\":\"c.D.n\""))
                .hasToString("io 12 ns in a.B.m(B.java:7), in c.D.n by pool");
    }

    @Test
    void partsThatAHotSpotLacksHaveTheirStandardValues() throws Exception {
        SamplingHotSpot spot = spot("");
        assertThat(spot.getState()).isEmpty();
        assertThat(spot.getLine()).isEqualTo(-1);
        assertThat(spot.getGroupCount()).isEqualTo(1);
        assertThat(spot.getFileName()).isNull();
        assertThat(spot.getError95()).isNull();
        assertThat(spot.getLockClass()).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"[1]", "[1,2,3]", "[\"1\",2]", "[1,\"2\"]", "12", "null"})
    void anErrorRangeHasTwoNumbers(String range) throws Exception {
        assertThat(spot("\"error95\":" + range).getError95()).isNull();
        assertThat(spot("\"error95\":[1,2]").getError95()).isEqualTo(new ErrorRange(1, 2));
    }

    @Test
    void locksAreReadAsFarAsTheyHaveATime() throws Exception {
        String lock = "{\"lock\":\"a.L\",\"waiting\":\"a.B.m(B.java:7)\",\"holding\":\"a.B.n(B.java:9)\",\"wall\":5}";
        List<SamplingLock> locks =
                SamplingLock.of(JsonParser.parse("{\"locks\":[1,{\"lock\":\"a.L\",\"wall\":\"5\"}," + lock + "]}"));
        assertThat(locks)
                .singleElement()
                .hasToString("a.L: a.B.m(B.java:7) waits for a.B.n(B.java:9) [blockedNanos=5]");
        assertThat(locks.get(0).getBlockedNanos()).isEqualTo(5);
        for (String other : List.of("{}", "[]", "{\"locks\":{}}", "{\"locks\":[]}")) {
            assertThat(SamplingLock.of(JsonParser.parse(other))).isEmpty();
        }
    }
}
