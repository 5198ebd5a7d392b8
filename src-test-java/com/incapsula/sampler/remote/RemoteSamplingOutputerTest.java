// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.incapsula.sampler.internal.remote.PushClock;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RemoteSamplingOutputerTest {

    private final RemoteSamplingOutputer outputer = new RemoteSamplingOutputer(Map.of(), PushClock.REAL);

    @Test
    void everyPropertyHasItsDefault() {
        assertThat(outputer.getUrl()).isNull();
        assertThat(outputer.getProtocol()).isNull();
        assertThat(outputer.getServiceName()).isNull();
        assertThat(outputer.getResourceAttributes()).isEmpty();
        assertThat(outputer.getHeaders()).isEmpty();
        assertThat(outputer.getQueueLimitBytes()).isEqualTo(16_777_216);
        assertThat(outputer.getReportLimitBytes()).isEqualTo(4_194_304);
        assertThat(outputer.getTimeoutMillis()).isEqualTo(10_000);
        assertThat(outputer.getCloseMillis()).isEqualTo(5_000);
        assertThat(outputer.getSpreadMillis()).isEqualTo(5_000);
        assertThat(outputer)
                .hasToString("no URL: sent 0, waiting 0, retries 0, refused 0, dropped 0, unsent 0, too large 0");
    }

    @ParameterizedTest
    @CsvSource({
        "queueLimitBytes, 65536, 1073741824",
        "reportLimitBytes, 4096, 268435456",
        "timeoutMillis, 1, 600000",
        "closeMillis, 0, 600000",
        "spreadMillis, 0, 600000",
    })
    void aValueOutOfRangeIsNamed(String property, long min, long max) {
        set(property, min);
        set(property, max);
        for (long wrong : new long[] {min - 1, max + 1}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> set(property, wrong))
                    .withMessage(property + " must be between " + min + " and " + max + ", got " + wrong);
        }
    }

    private void set(String property, long value) {
        switch (property) {
            case "queueLimitBytes" -> outputer.setQueueLimitBytes(value);
            case "reportLimitBytes" -> outputer.setReportLimitBytes(value);
            case "timeoutMillis" -> outputer.setTimeoutMillis((int) value);
            case "closeMillis" -> outputer.setCloseMillis((int) value);
            case "spreadMillis" -> outputer.setSpreadMillis((int) value);
            default -> throw new AssertionError(property);
        }
    }

    @Test
    void aWrongTextIsRefusedAndTheOneBeforeStays() {
        outputer.setUrl("otlp+http://user:password@h:4318");
        assertThatIllegalArgumentException().isThrownBy(() -> outputer.setUrl("h"));
        assertThat(outputer.getUrl()).isEqualTo("otlp+http://user:password@h:4318");
        assertThat(outputer.getProtocol()).isEqualTo(RemoteProtocol.OTLP);
        assertThat(outputer).asString().startsWith("OTLP to http://h:4318/v1development/profiles: sent 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setServiceName(" "))
                .withMessage("serviceName must not be blank");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setResourceAttributes("a"))
                .withMessageStartingWith("resourceAttributes must be key=value pairs");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setHeaders("Host=x"))
                .withMessage("headers must not have \"Host\"");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setHeaders("a b=x"))
                .withMessage("headers must not have \"a b\"");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setHeaders("a=secret%0Ab"))
                .withMessage("headers must have printable ASCII only, which the value of \"a\" is not");
    }

    @Test
    void nullIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> outputer.setUrl(null));
        assertThatIllegalArgumentException().isThrownBy(() -> outputer.setHeaders(null));
        assertThatIllegalArgumentException().isThrownBy(() -> outputer.setResourceAttributes(null));
        outputer.setServiceName(null);
    }

    @Test
    void withoutAUrlASamplerDoesNotStart() {
        assertThatIllegalStateException()
                .isThrownBy(outputer::starting)
                .withMessage("RemoteSamplingOutputer needs a URL: setUrl(...) comes before init()");
        outputer.setUrl("http://h");
        outputer.starting();
    }

    @Test
    void closingOneThatHasSentNothingDoesNothing() {
        outputer.close();
        outputer.close();
        assertThat(outputer.getUnsent()).isZero();
    }
}
