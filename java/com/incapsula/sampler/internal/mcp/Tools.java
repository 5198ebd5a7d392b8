// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.internal.json.Json;
import java.util.List;
import java.util.Map;

/**
 * The tools of one set of intervals.
 *
 * <p>Threads: one at a time.
 */
final class Tools {

    private final KeptIntervals intervals;
    private final List<Tool> all;

    Tools(KeptIntervals intervals) {
        this.intervals = intervals;
        all = List.of(
                new SummaryTool(intervals),
                new HotSpotsTool(intervals),
                new GroupsTool(intervals),
                new TopTool(intervals),
                new CallsTool(intervals),
                new TreeTool(intervals),
                new LocksTool(intervals),
                new DiffTool(intervals),
                new AccountTool(intervals));
    }

    /** @return the tools for {@code tools/list}, always in the same order */
    List<Object> toJson() {
        return List.copyOf(all.stream().map(Tool::toJson).toList());
    }

    /**
     * Calls a tool.
     *
     * @return the result: a text, or the reason of a refusal and a remedy
     * @throws RpcError if there is no such tool
     * @throws InterruptedException if the server ends meanwhile
     */
    Map<String, Object> call(String name, Map<?, ?> arguments) throws RpcError, InterruptedException {
        Tool tool = all.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new RpcError(RpcError.INVALID_PARAMETERS, "Unknown tool: " + Frames.clean(name)));
        try {
            return result(tool.call(new ToolArguments(tool, arguments)), false);
        } catch (ToolRefusal e) {
            return result(String.valueOf(e.getMessage()), true);
        } catch (IllegalStateException notRunning) {
            return result("the sampler does not run, so there is nothing to read; it may be started again", true);
        } catch (OutOfMemoryError e) {
            return result(
                    "there is not enough memory for this report at the moment; "
                            + (intervals.giveUpOldest() ? "the oldest kept interval was given up for it, so " : "")
                            + "the same call may succeed later",
                    true);
        }
    }

    /** @return the result of a call */
    static Map<String, Object> result(String text, boolean isError) {
        return Json.object("content", List.of(Json.object("type", "text", "text", text)), "isError", isError);
    }
}
