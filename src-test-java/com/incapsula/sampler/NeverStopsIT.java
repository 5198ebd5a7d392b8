// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.DeepStackProgram;
import com.incapsula.sampler.testing.FullStackProgram;
import com.incapsula.sampler.testing.HookProgram;
import com.incapsula.sampler.testing.InertProgram;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.ResolvableType;
import org.springframework.expression.Expression;

/** If the library cannot work, the application runs on. Each case runs in a JVM of its own. */
class NeverStopsIT {

    private static final String MAC = "threads-sampler needs Linux, this is Mac OS X";
    private static final String DENIED =
            "this JVM forbids native access: start it with --enable-native-access=ALL-UNNAMED";

    @TempDir
    Path folder;

    private static ChildJvm inert() {
        return ChildJvm.of(InertProgram.class);
    }

    private static void assertInert(String output, String cause) {
        assertThat(output)
                .containsOnlyOnce("WARNING: threads-sampler does not sample: " + cause)
                .contains("\nengine: NONE (" + cause + ")\n")
                .contains("\nreport: nothing is sampled: " + cause + "\n")
                .endsWith("end of main\n")
                .doesNotContain("Exception", "\tat ");
    }

    @Test
    void anApplicationRunsOnAMac() throws Exception {
        String output =
                inert().option("-Dos.name=Mac OS X").run("try").assertFine().output();
        assertInert(output, MAC);
        assertThat(output).contains("\navailable: false\n");
        assertThat(output.lines().filter(line -> line.equals("threads-sampler does not sample: " + MAC)))
                .as("printError, to standard output")
                .hasSize(1);
    }

    /** A native image was built with the sampler on purpose, so a warning would be of no use. */
    @Test
    void inANativeImageNothingIsSaid() throws Exception {
        String output = inert().option("-Dorg.graalvm.nativeimage.imagecode=runtime")
                .run("try")
                .assertFine()
                .output();
        assertThat(output)
                .contains("\nengine: NONE (threads-sampler needs a HotSpot JVM, this is a native image)\n")
                .doesNotContain("WARNING", "does not sample", "Exception", "\tat ")
                .endsWith("end of main\n");
    }

    @Test
    void aSpringContextWithSamplerAndServerStartsOnAMac() throws Exception {
        String output = inert().with(
                        GenericApplicationContext.class,
                        RootBeanDefinition.class,
                        ResolvableType.class,
                        Expression.class,
                        ProxyFactory.class,
                        LogFactory.class)
                .run("spring")
                .assertFine()
                .output();
        assertInert(output, MAC);
        assertThat(output).contains("\nserved: nothing is sampled: " + MAC + "\n");
    }

    @Test
    @EnabledForJreRange(minVersion = 24)
    void anApplicationRunsWhereNativeAccessIsDenied() throws Exception {
        String output = inert().option("--illegal-native-access=deny", "-Djava.io.tmpdir=" + folder)
                .run("try")
                .assertFine()
                .output();
        assertInert(output, DENIED);
    }

    @Test
    void anApplicationRunsWithoutAFolderForTheLibrary() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        String output = inert().option("-Djava.io.tmpdir=" + file, "-Duser.home=" + file)
                .environment("XDG_CACHE_HOME", "")
                .run("try")
                .assertFine()
                .output();
        assertThat(output)
                .containsOnlyOnce("WARNING: threads-sampler does not sample: no folder can be used")
                .endsWith("end of main\n")
                .doesNotContain("Exception:", "\tat ");
    }

    /** As in an application server that gives web applications few permissions. */
    @Test
    @EnabledForJreRange(maxVersion = 23)
    void anApplicationRunsWhereASecurityManagerAllowsTheLibraryNothing() throws Exception {
        Path policy = Files.writeString(
                folder.resolve("policy"),
                "grant codeBase \"file:" + ChildJvm.placeOf(InertProgram.class)
                        + "/-\" { permission java.security.AllPermission; };\n");
        String output = inert().option("-Djava.security.manager", "-Djava.security.policy==" + policy)
                .run("try")
                .assertFine()
                .output();
        assertThat(output)
                .containsOnlyOnce("WARNING: threads-sampler does not sample: the native library could not be loaded: "
                        + "java.security.AccessControlException: access denied ")
                .contains("\navailable: false\n", "\nengine: NONE (the native library could not be loaded: ")
                .endsWith("end of main\n")
                .doesNotContain("\tat ");
    }

    /** "ulimit -s" is glibc's default stack size for new threads; with musl it is 128 KiB. */
    @ParameterizedTest
    @CsvSource({"256, ''", "8192, ''", "256, -Xss3m"})
    void callbacksHaveTheStackOfAnOrdinaryThread(int kibibytes, String option) throws Exception {
        ChildJvm child = ChildJvm.of(DeepStackProgram.class)
                .withTestLibraries()
                .option("-Xint")
                .by("sh", "-c", "ulimit -s " + kibibytes + " && exec \"$@\"", "sh");
        if (!option.isEmpty()) {
            child.option(option);
        }
        assertThat(child.run().assertFine().output()).isEqualTo("outputer: as deep\nmanipulator: as deep\n");
    }

    /** A call that overflows the stack must not leave a lock held that close() would wait for. */
    @ParameterizedTest
    @ValueSource(strings = {"-Xint", "-Xmixed"})
    void aSamplerThatIsCalledWithAFullStackGoesOnAndCanBeClosed(String option) throws Exception {
        ChildJvm child = ChildJvm.of(FullStackProgram.class).withTestLibraries().option(option);
        assertThat(child.run().assertFine().output()).isEqualTo("lost: 0 0\nsampled: true\nclosed\n");
    }

    @Test
    void aHookThatRunsAfterOursTakesTheLastSnapshot() throws Exception {
        assertThat(hook("after")).isEqualTo("snapshot: main\ncursor: main\nagain: empty\nhook done\n");
    }

    @Test
    void aHookThatRunsBesideOursTakesOneAsWell() throws Exception {
        for (int i = 0; i < 10; i++) {
            assertThat(hook("at once")).isEqualTo("snapshot: main\nhook done\n");
        }
    }

    @Test
    void anOutputerThatIsStuckDoesNotKeepOtherHooksWaiting() throws Exception {
        assertThat(hook("stuck"))
                .contains("hook done\n")
                .contains("WARNING: the JVM exits without the last report\n")
                .contains("HookProgram$Outputer.printIntervalTitle(");
    }

    @Test
    void aSamplerMayStartInAHook() throws Exception {
        assertThat(hook("start")).isEqualTo("hook done\n");
    }

    @Test
    void startingWhileTheJvmExitsThrowsNothing() throws Exception {
        for (int i = 0; i < (Boolean.getBoolean("sampler.test.long") ? 50 : 8); i++) {
            assertThat(hook("race")).isEmpty();
        }
    }

    private static String hook(String what) throws Exception {
        return ChildJvm.of(HookProgram.class)
                .withTestLibraries()
                .run(what)
                .assertFine()
                .output();
    }
}
