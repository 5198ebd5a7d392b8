// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.HiddenWork;
import com.incapsula.sampler.testing.NoIdsProgram;
import com.incapsula.sampler.testing.RedefinedWork;
import com.incapsula.sampler.testing.RedefiningAgent;
import com.incapsula.sampler.testing.WithDefault;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Methods without a jmethodID have their names, files and lines all the same. */
class NoIdsIT {

    private static final String NAMELESS = "[method without an id]";
    private static final int POLLS = 600;

    @TempDir
    Path folder;

    private String output;
    private List<String> stacks;

    @BeforeEach
    void run() throws Exception {
        Path jar = folder.resolve("agent.jar");
        Path file = folder.resolve("stacks");
        RedefiningAgent.writeJar(jar);
        /* Interpreted, because compiled methods have ids. */
        output = ChildJvm.of(NoIdsProgram.class)
                .option("-javaagent:" + jar, "-Xint")
                .run(file.toString(), String.valueOf(POLLS), folder.toString())
                .assertFine()
                .output();
        stacks = Files.readAllLines(file);
    }

    @Test
    void eachMethodHasItsNameAndItsLine() {
        assertThat(output).contains("version " + RedefinedWork.NEXT);
        assertThat(stacks).isNotEmpty().noneMatch(stack -> stack.contains(NAMELESS));
        String redefined = RedefinedWork.class.getName();
        assertThat(framesOf("spinner", redefined))
                .contains(redefined + ".spin(RedefinedWork.java:" + number("spin line") + ")");
        assertThat(framesOf("waiter", redefined))
                .contains(redefined + ".waitHere(RedefinedWork.java:" + number("wait line") + ")");
        int called = number("default line");
        String byDefault = WithDefault.class.getName() + ".workByDefault(WithDefault.java:%d)";
        assertThat(framesOf("hidden", WithDefault.class.getName()))
                .contains(byDefault.formatted(called))
                .isSubsetOf(byDefault.formatted(called - 1), byDefault.formatted(called)); /* it begins there */
        assertThat(framesOf("hidden", HiddenWork.class.getName()))
                .isNotEmpty()
                .allMatch(frame -> frame.matches(".*HiddenWork\\.work\\(HiddenWork\\.java:\\d+\\)"));
        assertThat(framesOf("conflict", "Conflict.")).containsOnly("Conflict.run(Conflict.java)");
    }

    /* The frames of a thread that begin with this text; they are the same for methods with and without an id. */
    private Set<String> framesOf(String thread, String start) {
        return stacks.stream()
                .filter(stack -> stack.startsWith(thread + ";"))
                .flatMap(stack ->
                        Arrays.stream(stack.substring(0, stack.lastIndexOf(' ')).split(";")))
                .filter(frame -> frame.startsWith(start))
                .collect(Collectors.toSet());
    }

    private int number(String name) {
        return output.lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToInt(line -> Integer.parseInt(line.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow();
    }
}
