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

    private static final List<Tool> ALL = List.of(
            SummaryTool.TOOL,
            HotSpotsTool.TOOL,
            GroupsTool.TOOL,
            TopTool.TOOL,
            CallsTool.TOOL,
            TreeTool.TOOL,
            LocksTool.TOOL,
            DiffTool.TOOL,
            AccountTool.TOOL);

    private final KeptIntervals intervals;

    Tools(KeptIntervals intervals) {
        this.intervals = intervals;
    }

    /** @return the tools for {@code tools/list}, always in the same order */
    static List<Object> toJson() {
        return List.copyOf(ALL.stream().map(Tool::toJson).toList());
    }

    /**
     * Calls a tool.
     *
     * @return the result: a text, or the reason of a refusal and a remedy
     * @throws RpcError if there is no such tool
     * @throws InterruptedException if the server ends meanwhile
     */
    Map<String, Object> call(String name, Map<?, ?> arguments) throws RpcError, InterruptedException {
        Tool tool = ALL.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new RpcError(RpcError.INVALID_PARAMETERS, "Unknown tool: " + Frames.clean(name)));
        try {
            return result(tool.answer().of(new ToolArguments(tool, arguments), intervals), false);
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
