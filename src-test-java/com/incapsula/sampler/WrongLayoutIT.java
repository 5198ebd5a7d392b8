// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.NativeTests;
import com.incapsula.sampler.testing.WrongLayoutProgram;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** With a wrong number in the table of HotSpot's layout, walks of our own are refused with a reason; nothing crashes. */
class WrongLayoutIT {

    /*
     * The first four bound what is read, by the kernel where it lies outside of the code: a number that is too large
     * does no harm, one that is too small leaves something out, which is found. Beside the last two stand fields with
     * the same number: where the interpreter's code ends, a method's number before its class was redefined.
     */
    private static final Set<String> MAY_BE_LARGER = Set.of(
            "Method",
            "CodeBlob::_size",
            "CodeBlob::_mutable_data_size",
            "nmethod::_immutable_data_size",
            "StubQueue::_buffer_limit",
            "ConstMethod::_method_idnum");

    private static List<String> linesThatBegin(String output, String with) {
        return output.lines()
                .filter(line -> line.startsWith(with))
                .map(line -> line.substring(with.length()))
                .toList();
    }

    @Test
    void eachRowOfTheTableIsChecked() throws Exception {
        String output = ChildJvm.of(WrongLayoutProgram.class)
                .likeAServer()
                .run(NativeTests.path("libwrong_layout.so").toString())
                .assertSaysFine();
        List<String> used = linesThatBegin(output, "USED ");
        List<String> refused = linesThatBegin(output, "refused ");
        /* As it is, the layout is right: before and after the wrong ones. */
        assertThat(used.stream().filter(line -> line.equals("nothing +0"))).hasSize(2);
        assertThat(refused).noneMatch(line -> line.startsWith("nothing"));
        Set<String> unnoticed = used.stream()
                .map(line -> line.substring(0, line.lastIndexOf(' ')))
                .filter(name -> !name.equals("nothing"))
                .collect(Collectors.toSet());
        assertThat(MAY_BE_LARGER).containsAll(unnoticed);
        assertThat(refused).hasSizeGreaterThan(100).allMatch(line -> line.matches("\\S+ [+-]\\d+: .+"));
    }
}
