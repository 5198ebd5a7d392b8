// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

/** The help text of the command line. */
final class Usage {

    static final String TEXT = """
            usage: java -jar threads-sampler.jar                       lists the JVMs
                   java -jar threads-sampler.jar PID|NAME [OPTIONS]    samples one for 10 s,
                                                                          and prints a summary
                   java -jar threads-sampler.jar start  PID|NAME [OPTIONS]
                   java -jar threads-sampler.jar dump   PID|NAME [-o FILE] [--format FORMAT]
                   java -jar threads-sampler.jar status PID|NAME
                   java -jar threads-sampler.jar set    PID|NAME KEY=VALUE
                   java -jar threads-sampler.jar stop   PID|NAME [-o FILE] [--format FORMAT]
                   java -jar threads-sampler.jar mcp    PID|NAME [OPTIONS]   for language models, by standard streams
                   java -jar threads-sampler.jar diff   BEFORE AFTER [-o FILE]   of .html .json .collapsed files, to one;
                                                                          --format calls: a table of counted calls
                   java -jar threads-sampler.jar merge  FILE... [-o FILE]        likewise

              NAME                main class, jar, or a part of the command line
              -d, --duration T    of a sample: 500ms, 10s, 5m, 1h
              -o, --output FILE   the report; its extension says the format: .html .txt .top.txt .calls.txt .collapsed .pb.gz
                                  .otlp.pb .speedscope.json .json; without it, or with -o -, top goes to standard output. With
                                  start, a file of the target: %p process, %h host, %t time, %n number
              --format FORMAT     html, text, top, calls, collapsed, pprof, otlp, speedscope, json
              --measure M         what collapsed and speedscope have of each stack, and what top and calls are ordered
                                  by: time, cpu, samples, calls, or a state as blocked; --by and --weight are the same
              --per UNIT          calls: a row is a method, a class or a package
              --focus ROW         calls: only what calls of this row called, as com.acme.Shop.checkout
              -i, --interval T    between two samples of a thread (50ms)
              --packages LIST     the code that is of interest
              --threads REGEX     only threads with such a name
              --clock wall|cpu    which time (wall)
              --every T           start: a report each T, not only one at the end
              --keep N            start: so many files (100)
              --to PLACE          start: where reports go: file, log (the application's), stdout (its own), none (on demand)
              --jmx NAME          start: the sampler is in JMX
              --http PORT         start: the page at http://127.0.0.1:PORT/
              --push URL          start: reports go to a server each minute: otlp+http://HOST:4318,
                                  pyroscope+http://HOST:4040, or http://... for pprof
              --push-headers LIST start: headers of these requests, NAME=VALUE,...
              --mcp               start: with --http, the Model Context Protocol at http://127.0.0.1:PORT/mcp
              --config FILE       start: a file of the target with KEY=VALUE lines
              --PROPERTY VALUE    any property of ThreadsSampler, as --report-frequency-seconds 5m; what is true or
                                  false needs no value: --report-cpu-time, --no-report-summary
              --                  the rest are no options
              -h, --help          --version

            Reports and answers go to standard output, all else to standard error.
            exit: 0 done; 1 the target refused, or nothing can be written; 2 usage; 3 the target cannot be attached to
            """;

    private Usage() {}

    /** @return the version of the jar */
    static String version() {
        String ofJar = Usage.class.getPackage().getImplementationVersion();
        return ofJar == null ? "dev" : ofJar;
    }
}
