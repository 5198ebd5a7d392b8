// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ReportOptionsTest {

    private static final ReportOptions STANDARD = ReportOptions.standard();

    /** Each with method, with a value that is not the default. */
    static Stream<Arguments> changes() {
        return Stream.of(
                change("measure", ReportMeasure.CPU, options -> options.withMeasure(ReportMeasure.CPU)),
                change("measureAlone", true, options -> options.withMeasureAlone(true)),
                change("order", ReportOrder.BY_TIME, options -> options.withOrder(ReportOrder.BY_TIME)),
                change("zeroTimePackages", true, options -> options.withZeroTimePackages(true)),
                change("cpuTime", true, options -> options.withCpuTime(true)),
                change("states", true, options -> options.withStates(true)),
                change("percent", true, options -> options.withPercent(true)),
                change("minPercent", 12.3, options -> options.withMinPercent(12.3)),
                change("minPercent", 100.0, options -> options.withMinPercent(100)),
                change("foldRecursion", false, options -> options.withFoldRecursion(false)),
                change("account", ReportAccount.FULL, options -> options.withAccount(ReportAccount.FULL)),
                change("summary", false, options -> options.withSummary(false)),
                change("javaSlashes", true, options -> options.withJavaSlashes(true)),
                change("frameTypes", true, options -> options.withFrameTypes(true)),
                change("per", ReportUnit.PACKAGE, options -> options.withPer(ReportUnit.PACKAGE)),
                change("focus", "a.B.c", options -> options.withFocus("a.B.c")));
    }

    private static Arguments change(String name, Object value, UnaryOperator<ReportOptions> change) {
        return Arguments.of(name, value, change);
    }

    /* The values of all getters, by property. */
    private static Map<String, Object> values(ReportOptions options) throws ReflectiveOperationException {
        Map<String, Object> values = new TreeMap<>();
        for (Method method : ReportOptions.class.getDeclaredMethods()) {
            String property = method.getName().replaceFirst("^(get|is)(?=[A-Z])", "");
            if (Modifier.isPublic(method.getModifiers()) && !property.equals(method.getName())) {
                values.put(property.substring(0, 1).toLowerCase() + property.substring(1), method.invoke(options));
            }
        }
        return values;
    }

    @ParameterizedTest
    @MethodSource("changes")
    void eachOptionHasAGetterAndLeavesTheOthers(String name, Object value, UnaryOperator<ReportOptions> change)
            throws ReflectiveOperationException {
        Map<String, Object> expected = values(STANDARD);
        assertThat(expected).containsKey(name).doesNotContainEntry(name, value);
        expected.put(name, value);
        ReportOptions changed = change.apply(STANDARD);
        assertThat(values(changed)).isEqualTo(expected);
        assertThat(changed).isNotEqualTo(STANDARD).isEqualTo(change.apply(STANDARD));
        assertThat(changed).hasSameHashCodeAs(change.apply(STANDARD));
        expected.forEach((property, is) -> assertThat(changed.toString()).contains(property + "=" + is));
    }

    /** A with method that is missing in the list above would not be tested. */
    @Test
    void allOptionsAreInTheList() {
        assertThat(changes().map(each -> "with" + capitalized((String) each.get()[0])))
                .containsAll(Arrays.stream(ReportOptions.class.getMethods())
                        .map(Method::getName)
                        .filter(name -> name.startsWith("with"))
                        .toList());
    }

    @Test
    void textsChangeWhatTheyNameAndNothingElse() {
        ReportOptions own = STANDARD.withMinPercent(12.3).withFocus("a.B.c");
        assertThat(own.changedBy(null, null, null)).isEqualTo(own);
        assertThat(own.changedBy("cpu", "package", null))
                .isEqualTo(own.withMeasure(ReportMeasure.CPU).withPer(ReportUnit.PACKAGE));
        assertThat(own.changedBy(null, null, "d.E.f")).isEqualTo(own.withFocus("d.E.f"));
    }

    private static String capitalized(String name) {
        return name.substring(0, 1).toUpperCase() + name.substring(1);
    }

    /** Each with method changes one option and keeps all others. */
    @Test
    void changesAddUp() throws ReflectiveOperationException {
        ReportOptions all = STANDARD;
        Map<String, Object> expected = values(STANDARD);
        for (Arguments each : changes().toList()) {
            @SuppressWarnings("unchecked")
            UnaryOperator<ReportOptions> change = (UnaryOperator<ReportOptions>) each.get()[2];
            all = change.apply(all);
            expected.put((String) each.get()[0], each.get()[1]);
            assertThat(values(all)).isEqualTo(expected);
        }
    }
}
