// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HtmlPageTest {

    private static final String HEAD = "<" + HtmlPage.NO_NETWORK + ">" + HtmlPage.LIVE + "ü<";
    private static final String DATA = "{\"a\":\"ü\"}";

    private static void writeData(OutputStream out) throws IOException {
        out.write(DATA.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void livePageKnowsItsSourceAndMayReachIt() {
        assertThat(new String(HtmlPage.headOf(HEAD), StandardCharsets.UTF_8))
                .isEqualTo("<connect-src 'self'><meta name=\"threads-sampler-live\" content=\"report.json\">ü<");
    }

    @ParameterizedTest
    @ValueSource(strings = {HtmlPage.LIVE, HtmlPage.NO_NETWORK})
    void pageMustHaveEachMarkOnce(String mark) {
        assertThatIllegalStateException()
                .isThrownBy(() -> HtmlPage.headOf(HEAD.replace(mark, "")))
                .withMessageEndingWith(" must have " + mark + " exactly once");
        assertThatIllegalStateException().isThrownBy(() -> HtmlPage.headOf(HEAD + mark));
    }

    @Test
    void theDataStandInTheElementForThem() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream live = new ByteArrayOutputStream();
        HtmlPage.write(out, HtmlPageTest::writeData);
        HtmlPage.writeLive(live, HtmlPageTest::writeData);
        String element = "<script type=\"application/json\" id=\"report\">\n" + DATA + "\n</script>\n";
        assertThat(out.toString(StandardCharsets.UTF_8))
                .startsWith("<!DOCTYPE html>\n")
                .containsOnlyOnce(element)
                .contains(HtmlPage.LIVE, HtmlPage.NO_NETWORK)
                .endsWith("</html>\n");
        assertThat(live.toString(StandardCharsets.UTF_8))
                .containsOnlyOnce(element)
                .contains("content=\"report.json\"", "connect-src 'self'")
                .endsWith("</html>\n");
    }
}
