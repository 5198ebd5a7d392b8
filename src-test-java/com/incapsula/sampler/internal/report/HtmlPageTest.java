// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HtmlPageTest {

    private static final String TEMPLATE =
            "<" + HtmlPage.NO_NETWORK + ">" + HtmlPage.LIVE + "ü<" + HtmlPage.MARKER + ">end";

    private static String write(boolean live) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new HtmlPage(TEMPLATE).write(out, data -> data.write("{$1}".getBytes(StandardCharsets.UTF_8)), live);
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void pageStandsStill() throws IOException {
        assertThat(write(false)).isEqualTo("<" + HtmlPage.NO_NETWORK + ">" + HtmlPage.LIVE + "ü<{$1}>end");
    }

    @Test
    void livePageKnowsItsSourceAndMayReachIt() throws IOException {
        assertThat(write(true))
                .isEqualTo("<connect-src 'self'>"
                        + "<meta name=\"threads-sampler-live\" content=\"report.json\">ü<{$1}>end");
    }

    @ParameterizedTest
    @ValueSource(strings = {HtmlPage.MARKER, HtmlPage.LIVE, HtmlPage.NO_NETWORK})
    void templateMustHaveEachMarkOnce(String mark) {
        assertThatIllegalStateException()
                .isThrownBy(() -> new HtmlPage(TEMPLATE.replace(mark, "")))
                .withMessageEndingWith(" must have " + mark + " exactly once");
        assertThatIllegalStateException().isThrownBy(() -> new HtmlPage(TEMPLATE + mark));
    }

    @Test
    void pageOfTheJarHasThem() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        HtmlPage.write(out, data -> {});
        HtmlPage.writeLive(out, data -> {});
        assertThat(out.size()).isPositive();
    }
}
