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

/**
 * With a wrong number in the table of HotSpot's layout, our own walks are refused with a reason, and nothing crashes.
 */
class WrongLayoutIT {

    /*
     * Wrong values of these rows may go unnoticed. The first four are bounds of reads, which the kernel checks outside
     * the code cache: a bound that is too large does no harm, and one that is too small is found. For the last two, the
     * neighbouring field has the same value: the end of the interpreter's code, and the method's number before its
     * class was redefined.
     */
    private static final Set<String> MAY_DIFFER = Set.of(
            "Method",
            "CodeBlob::_size",
            "CodeBlob::_mutable_data_size",
            "nmethod::_immutable_data_size",
            "StubQueue::_buffer_limit",
            "ConstMethod::_method_idnum");

    /* Required rows of the table in hotspot/layout.c on JDK 17; later JDKs have a few more. */
    private static final int LEAST_ROWS = 64;

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
        int rows = Integer.parseInt(linesThatBegin(output, "rows: ").get(0));
        assertThat(rows).isGreaterThanOrEqualTo(LEAST_ROWS);
        assertThat(refused).allMatch(line -> line.matches("\\S+ [+-]\\d+: .+"));
        /* The unchanged layout is accepted, both before and after the wrong ones. */
        assertThat(used.stream().filter(line -> line.equals("nothing +0"))).hasSize(2);
        assertThat(names(refused)).hasSize(rows).doesNotContain("nothing");
        Set<String> unnoticed = names(used);
        unnoticed.remove("nothing");
        assertThat(MAY_DIFFER).containsAll(unnoticed);
    }

    private static Set<String> names(List<String> lines) {
        return lines.stream().map(line -> line.split(" ")[0]).collect(Collectors.toSet());
    }
}
