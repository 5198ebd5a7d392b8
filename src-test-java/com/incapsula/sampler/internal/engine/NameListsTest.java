// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The core reads these lists without a check of its own, so everything that it could not read must be refused here. */
class NameListsTest {

    private static final int MOST_PARTS = 1000;
    private static final int MOST_BYTES = 1000;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "com.acme.OrderHandler.handle",
                "com.acme.jobs.*.run,com.acme.batch.**",
                "com.acme.Order.<init>",
                "com.acme.Order.<clinit>",
                "com.acme.Order.add(int, String),com.acme.Order.add()",
                "com.acme.Order.add(int [], java.lang.String...)",
                "**",
                "*.run",
                "Main.main",
            })
    void rootsAreAccepted(String list) {
        assertThat(NameLists.checkRoots(list)).isEqualTo(list);
    }

    @Test
    void partsAreTrimmedAndEmptyOnesLeftOut() {
        assertThat(NameLists.checkRoots(" com.acme.A.a ,\n\t,com.acme.B.b(int, long) ,, com.acme.**"))
                .isEqualTo("com.acme.A.a,com.acme.B.b(int, long),com.acme.**");
        assertThat(NameLists.checkFilter(" com.acme , ,-com.acme.util ")).isEqualTo("com.acme,-com.acme.util");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "handle                    | no class before the method; for a class write CLASS.*",
                "*                         | no class before the method; for a class write CLASS.*",
                "<init>                    | no class before the method; for a class write CLASS.*",
                "com..A.a                  | two dots in a row, or one at an end",
                ".A.a                      | two dots in a row, or one at an end",
                "com.acme.A.               | two dots in a row, or one at an end",
                "()                        | two dots in a row, or one at an end",
                "com.acme.A#a              | a character that no name in Java source has",
                "com/acme/A.a              | a character that no name in Java source has",
                "com.acme.A.a;com.acme.B.b | a character that no name in Java source has",
                "com.acme.A.a}             | a placeholder that was not replaced",
                "com.acme.A.a{             | a placeholder that was not replaced",
                "${roots}.a                | a placeholder that was not replaced",
                "com.acme.A a              | white space inside a name",
                "void com.acme.A.a         | white space inside a name",
                "com.acme.***              | ** beside other text: it stands for whole levels",
                "com.acme.a**.b            | ** beside other text: it stands for whole levels",
                "com.<init>.a              | of names with < only <init> and <clinit>, after the class",
                "com.acme.A.new>           | of names with < only <init> and <clinit>, after the class",
                "com.acme.A.a(String>)     | type arguments: write the parameter's class alone",
                "com.acme.A.<new>          | of names with < only <init> and <clinit>, after the class",
                "com.acme.A.a(int          | parentheses that do not match, or text behind them",
                "com.acme.A.a int)         | parentheses that do not match, or text behind them",
                "com.acme.A.a(int) throws  | parentheses that do not match, or text behind them",
                "com.acme.A.a((int)        | parentheses that do not match, or text behind them",
                "com.acme.A.a(int,)        | a parameter without a type",
                "com.acme.A.a([])          | a parameter without a type",
                "com.acme.A.a(int[)        | a character that no name in Java source has",
                "com.acme.A.a(int])        | a character that no name in Java source has",
                "com.acme.A.a(int [x])     | white space inside a name",
                "com.acme.A.a(void)        | void as the type of a parameter",
                "com.acme.A.a(int count)   | white space inside a name",
                "com.acme.A.a(List<String>)| type arguments: write the parameter's class alone",
                "com.acme.A.a(*)           | a star among the parameters",
                "com.acme.A.a(java..String)| two dots in a row, or one at an end",
                "com.acme.A.a(int......)   | two dots in a row, or one at an end",
            })
    void aTextThatIsNotARootIsRefused(String root, String complaint) {
        assertRefused(NameLists::checkRoots, "com.acme.R.r, " + root, "rootMethods", root, complaint);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "com.acme,-com.acme.util", "com.acme*", "com.acme.", "*,-java"})
    void prefixesAreAccepted(String list) {
        assertThat(NameLists.checkFilter(list)).isEqualTo(list);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-                | a minus without a prefix",
                "- com.acme       | white space inside a prefix",
                "com acme         | white space inside a prefix",
                "com.acme;org.lib | a character that no package in Java source has",
                "com/acme         | a character that no package in Java source has",
                "--com            | a character that no package in Java source has",
                "com.*.acme       | a star that is not at its end",
                "${packages}      | a placeholder that was not replaced",
                ".com             | two dots in a row, or one at its begin",
                "-com..acme       | two dots in a row, or one at its begin",
            })
    void aTextThatIsNotAPrefixIsRefused(String prefix, String complaint) {
        assertRefused(NameLists::checkFilter, "org.lib, " + prefix, "instrumentationFilter", prefix, complaint);
    }

    /** No class can have a method with such a parameter. */
    @Test
    void anArrayHasAtMostAsManyDimensionsAsTheJvmAllows() {
        String most = "A.b(int" + "[]".repeat(255) + ")";
        assertThat(NameLists.checkRoots(most)).isEqualTo(most);
        assertThatThrownBy(() -> NameLists.checkRoots(most.replace("int", "int[]")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith(": more than 255 dimensions");
    }

    @Test
    void charactersThatCannotBeSeenAreRefusedAndShown() {
        assertThatThrownBy(() -> NameLists.checkRoots("A.b\u007fc"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith("\": white space inside a name")
                .hasMessageNotContaining("\u007f");
    }

    @ParameterizedTest
    @ValueSource(strings = {"${packages}", "com.acme}", "com.{acme"})
    void aPlaceholderThatWasNotReplacedIsNoPackage(String prefix) {
        assertThatThrownBy(() -> NameLists.checkPrefixes("monitoredPackages", "packages", "org.lib," + prefix))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith(": this is a placeholder that was not replaced, got \"" + prefix + "\"");
    }

    @Test
    void longListsAndLongPartsAreRefused() {
        String most = "A.b,".repeat(MOST_PARTS);
        String longest = "a." + "a".repeat(MOST_BYTES - 2);
        assertThat(NameLists.checkRoots(most)).hasSize(most.length() - 1);
        assertThat(NameLists.checkFilter(most)).hasSize(most.length() - 1);
        assertThat(NameLists.checkRoots(longest)).isEqualTo(longest);
        assertRefused(NameLists::checkRoots, most + "A.b", "rootMethods", "A.b", "more than 1,000 parts");
        assertRefused(NameLists::checkFilter, most + "A.b", "instrumentationFilter", "A.b", "more than 1,000 parts");
        assertThatThrownBy(() -> NameLists.checkRoots(longest + "a")).hasMessageEndingWith(": more than 1,000 bytes");
        assertThatThrownBy(() -> NameLists.checkFilter(longest + "a")).hasMessageEndingWith(": more than 1,000 bytes");
    }

    private static void assertRefused(
            UnaryOperator<String> check, String list, String property, String part, String complaint) {
        assertThatThrownBy(() -> check.apply(list))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(property + " must be ")
                .hasMessageEndingWith("; got \"" + part + "\": " + complaint);
    }
}
