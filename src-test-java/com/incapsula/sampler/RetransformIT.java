// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.NativeTests;
import com.incapsula.sampler.testing.RetransformProgram;
import java.io.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The JVM's verifier accepts each class into which the rewriter has inserted probes, and refuses a class whose handler
 * has a wrong frame. With {@code -Dsampler.test.long=true} all classes of the JDK are tested, with {@code
 * -Dsampler.test.jars=FOLDER} also those of the jars in that folder (several folders are separated by colons).
 */
class RetransformIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final String PART = "java\\.(lang|util|io|net|nio|time|math|text|security)\\..*";
    private static final int PART_CLASSES = 3000;
    private static final int IMAGE_CLASSES = 22_000;
    private static final int JAR_CLASSES = 30_000;
    /**
     * Classes that cannot be linked, because they need classes that are missing (as of optional libraries) or not
     * exported, or a newer JDK.
     */
    private static final String MISSING = "(not linked, )?(NoClassDefFoundError|TypeNotPresentException"
            + "|ClassNotFoundException|IllegalAccessError|UnsupportedClassVersionError): \\d+, as .*";

    /** The JVM does not allow changes of this class; it exists from JDK 21 on. */
    private static final String NEVER_CHANGED = "not modifiable: 1, as jdk.internal.vm.Continuation";

    private static final int CONTROL = 30;

    private static List<String> folders() {
        String folders = System.getProperty("sampler.test.jars", "");
        return folders.isEmpty() ? List.of() : List.of(folders.split(File.pathSeparator));
    }

    private static ChildJvm.Result run() throws Exception {
        List<String> arguments = new ArrayList<>(List.of(
                NativeTests.path("libretransform.so").toString(),
                NativeTests.path("hook/java/lang/ProbeCounter.class").toString(),
                LONG ? ".*" : PART,
                String.valueOf(CONTROL)));
        arguments.addAll(folders());
        return ChildJvm.of(RetransformProgram.class)
                .option("-Xverify:all", "--add-modules", "ALL-SYSTEM", "-Xmx1g")
                .longer(LONG ? Duration.ofMinutes(30) : Duration.ZERO)
                .run(arguments.toArray(new String[0]));
    }

    private static long number(String output, String what) {
        Matcher found = Pattern.compile("^" + Pattern.quote(what) + ": (\\d+)", Pattern.MULTILINE)
                .matcher(output);
        assertThat(found.find()).as(what + " in " + output).isTrue();
        return Long.parseLong(found.group(1));
    }

    @Test
    void theVerifierAcceptsEachClassWithProbes() throws Exception {
        String output = run().assertSaysFine();
        System.out.println(output);
        assertThat(output.lines().filter(line -> line.startsWith("error "))).isEmpty();
        assertThat(number(output, "VerifyErrors")).isZero();
        assertThat(number(output, "malformed")).isZero();
        assertAllOfTheImage(output);
        if (!folders().isEmpty()) {
            assertAllThatLoadsOfTheJars(output);
        }
        /* Nearly all methods got a handler, and nearly all methods with code were instrumented. */
        long done = number(output, "methods, instrumented");
        assertThat(done).isGreaterThan(number(output, "classes") * 5);
        assertThat(number(output, "without handler")).isLessThanOrEqualTo(done / 1000);
        /* javac's code is always understood; jars may have subroutines of old compilers (jsr). */
        assertThat(number(output, "methods, its byte code is not understood"))
                .isLessThanOrEqualTo(folders().isEmpty() ? 0 : done / 1000);
        assertThat(number(output, "methods, its class has no room for more constants"))
                .isZero();
        assertThat(number(output, "methods, too large")).isLessThanOrEqualTo(done / 1000);
        /* The negative control works: most classes have a method with a handler. */
        assertThat(number(output, "control")).isGreaterThan(CONTROL / 2);
        for (String code : List.of("new", "old", "image")) {
            assertProbesBalance(output, code);
        }
    }

    /* Each class of the JDK with code was changed, except those that the JVM never changes. */
    private static void assertAllOfTheImage(String output) {
        long named = number(output, "image, named");
        assertThat(named).isGreaterThan(LONG ? IMAGE_CLASSES : PART_CLASSES);
        assertThat(leftOut(output, "image")).isSubsetOf(NEVER_CHANGED);
        assertThat(number(output, "image, retransformed") + number(output, "image, left out"))
                .isEqualTo(named);
        assertThat(number(output, "image, changed classes")).isEqualTo(number(output, "image, classes with code"));
    }

    private static void assertAllThatLoadsOfTheJars(String output) {
        long retransformed = number(output, "jars, retransformed");
        assertThat(retransformed).isGreaterThanOrEqualTo(JAR_CLASSES);
        assertThat(retransformed + number(output, "jars, left out")).isEqualTo(number(output, "jars, named"));
        assertThat(leftOut(output, "jars")).allMatch(reason -> reason.matches(MISSING));
        assertThat(number(output, "jars, changed classes")).isEqualTo(number(output, "jars, classes with code"));
    }

    /* The reasons for which classes were skipped, each with a count and one class. */
    private static List<String> leftOut(String output, String what) {
        return Pattern.compile("^" + what + ", left out, (.*)$", Pattern.MULTILINE)
                .matcher(output)
                .results()
                .map(reason -> reason.group(1))
                .toList();
    }

    private static void assertProbesBalance(String output, String code) {
        Matcher found = Pattern.compile(
                        "^" + code + ": the same true, entered (\\d+), left (\\d+), roots entered (\\d+), left (\\d+)$",
                        Pattern.MULTILINE)
                .matcher(output);
        assertThat(found.find()).as(code + " in " + output).isTrue();
        assertThat(found.group(1)).as(code).isEqualTo(found.group(2));
        assertThat(found.group(3)).as(code).isEqualTo(found.group(4));
        assertThat(Long.parseLong(found.group(1)) + Long.parseLong(found.group(3)))
                .as(code)
                .isGreaterThan(10);
    }
}
