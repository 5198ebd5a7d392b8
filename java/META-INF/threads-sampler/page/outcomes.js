// SPDX-License-Identifier: Apache-2.0
// Made by "native/build.sh tables" from lists in native/src/model: do not edit.

const OUTCOMES = {
    WALKED: {
        kind: 'walked',
        text: 'samples taken',
        words: 'The whole stack was walked.',
    },
    DEEP_STACK_CUT: {
        kind: 'walked',
        text: 'samples taken, part of a deep stack omitted',
        words: 'The stack is deeper than maxDepthFrames: its middle is omitted, or its root if a handshake walked it or it has more than 65,536 frames.',
    },
    NO_JAVA_FRAMES: {
        kind: 'walked',
        text: 'samples taken, no Java frames',
        words: 'The thread had no Java code on its stack. Frame: [no Java frames].',
    },
    VIRTUAL_THREAD_CUT: {
        kind: 'walked',
        text: 'samples taken, virtual thread cut where it was parked',
        words: 'A virtual thread\'s stack was walked down to where it was last parked: the frames below are in the heap and could not be read.',
    },
    METHOD_WITHOUT_ID: {
        kind: 'walked',
        text: 'samples taken, a method without an id',
        words: 'The stack is complete, but one of its methods had no id yet: [method without an id].',
    },
    WALKED_BY_HANDSHAKE: {
        kind: 'walked',
        text: 'samples taken, by a handshake',
        words: 'JVMTI\'s handshake walked the whole stack: the thread had just run, or is older than the sampler and was not in sleep, park or Object.wait at its first walk.',
    },
    UNMOUNTED_WALKED: {
        kind: 'walked',
        text: 'samples taken, virtual thread not mounted',
        words: 'A virtual thread that was drawn at random. Its time is that of all those it stands for (sampleUnmountedVirtualThreads).',
    },
    IDLE: {
        kind: 'idle',
        text: 'credited as idle',
        words: 'The thread\'s CPU clock had not moved, so its stack is that of its last sample.',
    },
    RECOVERED_IN_STUB: {
        kind: 'recovered',
        text: 'recovered, in a runtime stub',
        words: 'The thread was in machine code of the JVM: a frame in brackets below its Java caller. As in all recovered samples, the walk began without a complete frame; the stack is right.',
    },
    RECOVERED_AT_ENTRY: {
        kind: 'recovered',
        text: 'recovered, at the entry of a method',
        words: 'The thread was entering a method; its frame was not complete yet.',
    },
    RECOVERED_AT_RETURN: {
        kind: 'recovered',
        text: 'recovered, at the return of a method',
        words: 'The thread was leaving a method; its frame was partly gone.',
    },
    RECOVERED_REGISTERS_PUSHED: {
        kind: 'recovered',
        text: 'recovered, in a method with registers pushed',
        words: 'The method\'s frame was found below registers that it had pushed.',
    },
    RECOVERED_BY_RETRY: {
        kind: 'recovered',
        text: 'recovered, by a second try',
        words: 'The first walk failed or did not reach the root; a second one succeeded.',
    },
    GC_ACTIVE: {
        kind: 'walked',
        text: 'samples taken, stopped for garbage collection',
        words: 'The collector had stopped the JVM, and AsyncGetCallTrace walks no stack then. The sampler\'s own walks do. Frame: [GC active].',
    },
    UNKNOWN_NOT_JAVA: {
        kind: 'failed',
        text: 'failed, not in Java, caller in Java unknown (-3)',
        words: 'The thread ran code that is not Java, and its Java caller was not found. The number is the code of AsyncGetCallTrace. Frame: [unknown, not Java].',
    },
    NOT_WALKABLE_NOT_JAVA: {
        kind: 'failed',
        text: 'failed, not in Java, stack not walkable (-4)',
        words: 'The thread ran code that is not Java, and the stack below it could not be walked. Frame: [not walkable, not Java].',
    },
    UNKNOWN_JAVA: {
        kind: 'failed',
        text: 'failed, in Java, topmost frame unknown (-5)',
        words: 'The thread ran Java code, but its topmost frame was not found. Frame: [unknown, Java].',
    },
    NOT_WALKABLE_JAVA: {
        kind: 'failed',
        text: 'failed, in Java, stack not walkable (-6)',
        words: 'The thread ran Java code, but its stack could not be walked. Frame: [not walkable, Java].',
    },
    UNKNOWN_THREAD_STATE: {
        kind: 'failed',
        text: 'failed, thread state unknown (-7)',
        words: 'The thread was changing its state, or the bounds of its stack are unknown. Frame: [unknown thread state].',
    },
    DEOPTIMISATION: {
        kind: 'failed',
        text: 'failed, deoptimisation (-9)',
        words: 'The JVM was replacing compiled code of this stack by interpreted code. Frame: [deoptimisation].',
    },
    FOREIGN_STACK: {
        kind: 'failed',
        text: 'failed, on a stack of another library',
        words: 'The thread ran on a stack that is not its own (a goroutine\'s), or its signal stack was too small. If Java code had called a native method, its stack is walked all the same. Frame: [stack of another library].',
    },
    THREAD_ENDED_IN_WALK: {
        kind: 'failed',
        text: 'failed, thread ended during the walk',
        words: 'The thread ended during the walk. Frame: [thread ended].',
    },
    JVM_NOT_LIVE: {
        kind: 'failed',
        text: 'failed, JVM starting or ending',
        words: 'The JVM was starting or ending. Frame: [JVM not live].',
    },
    JVM_OUT_OF_MEMORY: {
        kind: 'failed',
        text: 'failed, JVM out of memory',
        words: 'The JVM had no memory for the walk. Frame: [JVM out of memory].',
    },
    REFUSED_BY_JVM: {
        kind: 'failed',
        text: 'failed, refused by the JVM',
        words: 'The JVM gave no stack. Frame: [refused by the JVM].',
    },
    OVER_MEMORY_LIMIT: {
        kind: 'failed',
        text: 'failed, over the memory limit',
        words: 'There was no memory for a new stack: raise memoryLimitBytes. Frame: [over memory limit].',
    },
    THREAD_ENDED: {
        kind: 'skipped',
        text: 'skipped, thread ended since its last sample',
        words: 'The thread ended between two polls, so its last stack is not known. Frame: [thread ended].',
    },
    OVER_OVERHEAD_LIMIT: {
        kind: 'skipped',
        text: 'skipped, over the overhead limit',
        words: 'The sampler had used its share of a core. The polls that are made count for those that are not; the frame has threads that were never polled. Frame: [over the overhead limit].',
    },
    SIGNAL_QUEUE_FULL: {
        kind: 'skipped',
        text: 'skipped, signal queue full',
        words: 'The user\'s limit of queued signals was reached (ulimit -i). Frame: [signal queue full].',
    },
    THREAD_UNIDENTIFIED: {
        kind: 'skipped',
        text: 'skipped, thread not identified yet',
        words: 'The thread is older than the sampler, and its id in the system is not proven yet. Frame: [thread not identified yet].',
    },
    SIGNAL_UNANSWERED: {
        kind: 'skipped',
        text: 'skipped, signal not answered in time',
        words: 'The thread got no CPU to answer. It answers when it gets one, and the time goes to the stack it waited in, or at the end of a report to its last stack. The frame has threads that run for a second without answering, those whose stack was never seen and, with clock CPU, those that block the signal. Frame: [signal not answered].',
    },
    WALK_BUFFER_FULL: {
        kind: 'skipped',
        text: 'skipped, buffer for walks full',
        words: '(clock CPU) Earlier samples were not fetched yet. The thread\'s next sample counts for this one, too. Frame: [walk buffer full].',
    },
    NO_CPU_TIMER: {
        kind: 'skipped',
        text: 'skipped, no CPU timer available',
        words: '(clock CPU) The system gave the thread no timer (ulimit -i, or a filter of system calls), or another library has taken the signal. Frame: [no CPU timer].',
    },
    PROCESS_STOPPED: {
        kind: 'skipped',
        text: 'skipped, process stopped',
        words: 'The process had no CPU for more than a second: SIGSTOP, a debugger, a frozen container. The time is runnable. Frame: [process stopped].',
    },
};

const COUNTERS = {
    TICKS: {
        text: 'ticks',
        words: 'Rounds of the sampler.',
    },
    LATE_TICKS: {
        text: 'late ticks',
        words: 'Ticks that began more than half an interval late. They are credited with their real length.',
    },
    THROTTLED_TICKS: {
        text: 'ticks skipped, over the overhead limit',
        words: 'Waking up that often would exceed overheadLimitPercent. The next poll credits the time.',
    },
    IDLE_TICKS: {
        text: 'ticks skipped, no thread was due',
        words: 'All threads were idle and none was due, so the sampler slept on.',
    },
    FRAMES_OMITTED: {
        text: 'frames omitted from deep stacks',
        words: 'Frames that maxDepthFrames omitted, in all samples; at least so many, if stacks were not walked to their root.',
    },
    UNLOADED_METHODS: {
        text: 'methods of unloaded classes',
        words: 'Their class was unloaded before their name was read: [unloaded].',
    },
    UNNAMED_METHODS: {
        text: 'methods without a name',
        words: 'The JVM did not give their name: [unknown method].',
    },
    UNSEEN_THREADS: {
        text: 'threads that started and ended between two ticks',
        words: 'Lives too short to be seen.',
    },
    NAME_MANIPULATOR_FAILURES: {
        text: 'failures of the thread name manipulator',
        words: 'It threw an exception. Such threads are under their own names; printError got the first failure.',
    },
    MERGED_REPORTS: {
        text: 'reports merged with the next because output was slow',
        words: 'The outputer took longer than the interval, or there was no memory for a report. No sample is lost.',
    },
    FAILED_REPORTS: {
        text: 'reports that failed',
        words: 'The outputer threw an exception, which printError got, or blocked until closeTimeoutSeconds were over.',
    },
    CUT_RECORDS: {
        text: 'report records cut at their size limit',
        words: 'A group\'s text was too long for memoryLimitBytes: its last rows are missing, but not in exports.',
    },
    DROPPED_INTERVALS: {
        text: 'intervals dropped for lack of memory',
        words: 'There was no memory to keep the oldest interval until it was read. It is lost.',
    },
    COARSE_WINDOWS: {
        text: 'parts of the last minutes merged for lack of memory',
        words: 'There was no memory to keep them apart: a window begins earlier than its length says. No time is lost.',
    },
    DEMAND_CPU_US: {
        text: 'CPU time for reports on demand (us)',
        words: 'The sampler thread\'s CPU time for the server, the actuator, MCP, JMX and other readers, which has a limit of its own.',
    },
    REPEATED_WINDOWS: {
        text: 'windows that were read again too soon',
        words: 'The last minutes were read more than once a second, or past the limit for reports on demand: the answer ends where the last one did.',
    },
    UNMOUNTED_DRAWS: {
        text: 'draws of virtual threads',
        words: 'About ten a second (sampleUnmountedVirtualThreads).',
    },
    UNMOUNTED_POPULATION: {
        text: 'virtual threads alive at these draws, added up',
        words: 'Mounted ones included. Divided by the draws: how many there were on average.',
    },
    UNMOUNTED_FOUND_MOUNTED: {
        text: 'virtual threads drawn that were mounted',
        words: 'The polls of their carriers count their time.',
    },
    STOPPED_MILLIS: {
        text: 'milliseconds in which the process was stopped',
        words: 'Gaps of more than a second: [process stopped] has them in each thread, with clock CPU no row.',
    },
    FOLDED_ROWS: {
        text: 'rows folded into their callers for lack of memory',
        words: 'At memoryLimitBytes the smallest rows, none with 0.1 % of its group, become [folded] below their caller. No time is lost.',
    },
    LOST_STATES: {
        text: 'times whose state found no memory',
        words: 'There was no room for a row\'s time by state: it has another state, or the interval has no states.',
    },
    LOST_ERRORS: {
        text: 'intervals whose error bars found no memory',
        words: 'There was no room for them, or a merged one was without: the sum has none.',
    },
    LOST_SECONDS: {
        text: 'times by second that found no memory',
        words: 'There was no room for a group\'s times by second, or it had more than four million threads: the page\'s strip lacks them.',
    },
    LOST_COUNTED_TIMES: {
        text: 'times of counted rows that found no memory',
        words: 'There was no room to give counted rows the time of their samples. They have an earlier one, or none.',
    },
    RUNNABLE_UNKNOWN: {
        text: 'polls without the time in the run queue',
        words: 'The system did not say how long threads waited for a CPU (schedstat). Such time is in other states.',
    },
    THROTTLED_MS: {
        text: 'throttled by the CPU quota (ms)',
        words: 'The kernel stopped threads of the process\'s control group, which had used its quota. The time is part of runnable.',
    },
    STOLEN_MS: {
        text: 'taken from all CPUs by the machine\'s host (ms)',
        words: 'The host had the CPUs for something else. The part of sampled threads is in runnable.',
    },
    OWNER_READS: {
        text: 'owners of locks read',
        words: 'How often the holder of a lock was read: once for each wait, and again where it may have changed.',
    },
    OWNERS_UNKNOWN: {
        text: 'owners of locks that were not known',
        words: 'Reads that found no thread: the rows of the group [unknown].',
    },
    LOST_HOLDERS: {
        text: 'times of lock holders that found no memory',
        words: 'There was no room for a group of holders, or for a row of the locks. The time is only in the rows of the threads that waited.',
    },
    DEADLOCKS: {
        text: 'deadlocks',
        words: 'Cycles of threads that wait for each other\'s locks, each counted once.',
    },
};

const COUNTING = {
    INSTRUMENTED: {
        text: 'methods counted',
        words: 'Methods that have a probe.',
    },
    BATCHES: {
        text: 'batches of methods that began to be counted',
        words: 'How often loaded classes got probes. Each batch stops all threads for some tens of milliseconds.',
    },
    ROOTS_WITHOUT_CALLS: {
        text: 'roots without a call',
        words: 'Each with the reason. not loaded yet: not needed yet, or misspelt; $ stands before a nested class. not found in its class: name the class that declares the method, and check the parameter types. not entered since it is counted: calls that began earlier do not count, so a loop that runs for ever is no good root; name what it calls. As long as no root was entered, nothing is counted.',
    },
    EXCLUDED: {
        text: 'excluded by filter',
        words: 'Counted methods may call them, and instrumentationFilter leaves out their class: add it if its calls matter. The JDK\'s methods are not listed.',
    },
    TRIVIAL: {
        text: 'left alone, trivial',
        words: 'Empty methods, getters and setters, unless they are roots. Methods that compilers add (bridges, access$, $default, _aroundBody): the method of the source is counted.',
    },
    LEFT_ALONE: {
        text: 'left alone',
        words: 'Methods and classes without a probe, each with the reason. too large: with probes past 65,535 bytes, the JVM\'s limit, or past 8,000, its compilers\'. native or abstract: name the methods that implement such a root. over the memory limit: counting has half of memoryLimitBytes. another agent adds members: its transformer adds other ones each time. calls by reflection are not found: a method that only reflection calls is counted as a root, or with instrumentation=TOTAL. A class that the JVM refuses to change has JVMTI\'s error; probes of an earlier sampler stay there and count. Thread, Unsafe, java.lang.invoke and this library never have probes.',
    },
    OVER_METHOD_LIMIT: {
        text: 'left alone, over the limit of methods',
        words: 'maxCountedMethods have a probe: roots, and the methods that are called most. Each other method was tried for some seconds, or waits for its trial. Raise the limit, or narrow instrumentationFilter.',
    },
    DROPPED: {
        text: 'not counted any more, short and called often',
        words: 'Their probes cost more than overheadLimitPercent; with 100 none is lost. A line for each of the first 20 follows: not counted since <time>: <method>. Their callees are shown below their callers from then on. Roots that are named without a star stay.',
    },
    CALLS_WITHOUT_PLACE: {
        text: 'calls without a place',
        words: 'Calls that are in no row, with their number for each reason. over the limit of nodes (maxCallNodes), over the limit of depth (maxCallDepth), over the memory limit: raise it, or begin further down. below calls that began before their probes came: a method ran when its probe came; its calls have no place until it ends.',
    },
    NO_CPU_TIME: {
        text: 'methods counted without CPU time, methodTiming is not SAMPLED',
        words: 'Reading a thread\'s CPU clock at each call would cost about a microsecond.',
    },
    SAMPLED: {
        text: 'methods seen by samples before they were counted',
        words: 'A sample had them below a root before their probe came, or the counter does not follow what calls them. Their earlier calls are missing. instrumentation=TOTAL counts them all.',
    },
};
