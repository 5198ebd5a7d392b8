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
        words: 'The stack was walked, but it is deeper than maxDepthFrames: frames in its middle are omitted; or those at its root, [frames omitted], where a handshake has walked it, or where it has more than 65,536 frames.',
    },
    NO_JAVA_FRAMES: {
        kind: 'walked',
        text: 'samples taken, no Java frames',
        words: 'The thread had no Java code on its stack. The time is under [no Java frames].',
    },
    VIRTUAL_THREAD_CUT: {
        kind: 'walked',
        text: 'samples taken, virtual thread cut where it was parked',
        words: 'The stack of a virtual thread was walked only down to where it was last parked: the frames below are in the heap, and could not be read at that moment.',
    },
    METHOD_WITHOUT_ID: {
        kind: 'walked',
        text: 'samples taken, a method without an id',
        words: 'The whole stack was walked, but the JVM had given no id yet to one of its methods: that row is [method without an id]. Rare: the sampler\'s own walks copy the names of such methods, of 64 in a stack; AsyncGetCallTrace does not.',
    },
    WALKED_BY_HANDSHAKE: {
        kind: 'walked',
        text: 'samples taken, by a handshake',
        words: 'The whole stack was walked by JVMTI\'s handshake: the thread walked itself, or was kept from running meanwhile. Other waiting threads are walked from outside; this one had just run, or is older than the sampler and, at its first walk, was not in sleep, park or Object.wait.',
    },
    UNMOUNTED_WALKED: {
        kind: 'walked',
        text: 'samples taken, virtual thread not mounted',
        words: 'A virtual thread that is not mounted and was drawn at random: the whole stack was walked. It stands for others that were not drawn, and its time is that of all of them (sampleUnmountedVirtualThreads).',
    },
    IDLE: {
        kind: 'idle',
        text: 'credited as idle',
        words: 'The CPU clock of the thread had not moved: it has not run since its last sample, so its stack is the one it had.',
    },
    RECOVERED_IN_STUB: {
        kind: 'recovered',
        text: 'recovered, in a runtime stub',
        words: 'The thread was in machine code of the JVM itself: a frame in brackets below the Java code that called it. As in all that is recovered, the walk had no complete frame to begin with; the stack is right all the same.',
    },
    RECOVERED_AT_ENTRY: {
        kind: 'recovered',
        text: 'recovered, at the entry of a method',
        words: 'The thread was just entering a method; its frame was not complete yet.',
    },
    RECOVERED_AT_RETURN: {
        kind: 'recovered',
        text: 'recovered, at the return of a method',
        words: 'The thread was just leaving a method; its frame was partly gone.',
    },
    RECOVERED_REGISTERS_PUSHED: {
        kind: 'recovered',
        text: 'recovered, in a method with registers pushed',
        words: 'The method had pushed registers on its stack; its frame was found below them.',
    },
    RECOVERED_BY_RETRY: {
        kind: 'recovered',
        text: 'recovered, by a second try',
        words: 'The first walk failed, or did not reach the root of the stack; a second one succeeded.',
    },
    GC_ACTIVE: {
        kind: 'walked',
        text: 'samples taken, stopped for garbage collection',
        words: 'The garbage collector had stopped the JVM, and AsyncGetCallTrace walks no stack then. The time is under [GC active]. Does not happen where the sampler walks stacks itself, that is in all JVMs it knows.',
    },
    UNKNOWN_NOT_JAVA: {
        kind: 'failed',
        text: 'failed, not in Java, caller in Java unknown (-3)',
        words: 'The thread ran code that is not Java, and the Java code that called it was not found. The number is the code of AsyncGetCallTrace for the same.',
    },
    NOT_WALKABLE_NOT_JAVA: {
        kind: 'failed',
        text: 'failed, not in Java, stack not walkable (-4)',
        words: 'The thread ran code that is not Java, and the stack below it could not be walked.',
    },
    UNKNOWN_JAVA: {
        kind: 'failed',
        text: 'failed, in Java, topmost frame unknown (-5)',
        words: 'The thread ran Java code, but its topmost frame was not found.',
    },
    NOT_WALKABLE_JAVA: {
        kind: 'failed',
        text: 'failed, in Java, stack not walkable (-6)',
        words: 'The thread ran Java code, but its stack could not be walked.',
    },
    UNKNOWN_THREAD_STATE: {
        kind: 'failed',
        text: 'failed, thread state unknown (-7)',
        words: 'The thread was changing from one state to another, or the bounds of its stack are unknown.',
    },
    DEOPTIMISATION: {
        kind: 'failed',
        text: 'failed, deoptimisation (-9)',
        words: 'The JVM was replacing compiled code of this stack by interpreted code.',
    },
    FOREIGN_STACK: {
        kind: 'failed',
        text: 'failed, on a stack of another library',
        words: 'The thread ran on a stack that is not its own (a goroutine\'s or a coroutine\'s), or its signal stack had too little room for a walk. Nothing of such a stack is read; if Java code had called a native method, its stack is walked all the same.',
    },
    THREAD_ENDED_IN_WALK: {
        kind: 'failed',
        text: 'failed, thread ended during the walk',
        words: 'The thread ended during the walk. The time is under [thread ended].',
    },
    JVM_NOT_LIVE: {
        kind: 'failed',
        text: 'failed, JVM starting or ending',
        words: 'The JVM was starting or ending.',
    },
    JVM_OUT_OF_MEMORY: {
        kind: 'failed',
        text: 'failed, JVM out of memory',
        words: 'The JVM had no memory for the walk.',
    },
    REFUSED_BY_JVM: {
        kind: 'failed',
        text: 'failed, refused by the JVM',
        words: 'The JVM gave no stack.',
    },
    OVER_MEMORY_LIMIT: {
        kind: 'failed',
        text: 'failed, over the memory limit',
        words: 'There was no memory for a new stack. The time is under [over memory limit]; raise memoryLimitBytes to see it.',
    },
    THREAD_ENDED: {
        kind: 'skipped',
        text: 'skipped, thread ended since its last sample',
        words: 'The thread ended between two polls. Its last stack is not known; the time is under [thread ended].',
    },
    OVER_OVERHEAD_LIMIT: {
        kind: 'skipped',
        text: 'skipped, over the overhead limit',
        words: 'The sampler had used its share of a core. The polls that are made count for those that are not. A thread that was not polled once since the start has its time under [over the overhead limit].',
    },
    SIGNAL_QUEUE_FULL: {
        kind: 'skipped',
        text: 'skipped, signal queue full',
        words: 'The system had reached its limit of queued signals of this user (ulimit -i). The time is under [signal queue full].',
    },
    THREAD_UNIDENTIFIED: {
        kind: 'skipped',
        text: 'skipped, thread not identified yet',
        words: 'The thread is older than the sampler, and its id in the system is not proven yet; another way to walk it would stall virtual threads. The time is under [thread not identified yet].',
    },
    SIGNAL_UNANSWERED: {
        kind: 'skipped',
        text: 'skipped, signal not answered in time',
        words: 'The thread got no CPU to answer. It answers when it gets one, with the stack it waited in, and the time up to then is credited there; at the end of a report, to the thread\'s last stack. [signal not answered] has only threads that run for a second without answering, and those whose stack was never seen. A thread that blocks the signal is walked in other ways; with clock CPU, whose samples are signals, its time is under [signal not answered].',
    },
    WALK_BUFFER_FULL: {
        kind: 'skipped',
        text: 'skipped, buffer for walks full',
        words: '(clock CPU) The sampler had not fetched earlier samples yet. The next sample of the thread counts for this one, too.',
    },
    NO_CPU_TIMER: {
        kind: 'skipped',
        text: 'skipped, no CPU timer available',
        words: '(clock CPU) The system gave no timer to the thread (ulimit -i, or a filter of system calls), or another library has taken the signal. The time is under [no CPU timer].',
    },
    PROCESS_STOPPED: {
        kind: 'skipped',
        text: 'skipped, process stopped',
        words: 'The whole process had no CPU for more than a second: SIGSTOP, a debugger, a frozen container. No thread can have done anything; each has this time under [process stopped], as runnable.',
    },
};

const COUNTERS = {
    TICKS: {
        text: 'ticks',
        words: 'Rounds of the sampler. In each it polls the threads that are due.',
    },
    LATE_TICKS: {
        text: 'late ticks',
        words: 'Ticks that began more than half an interval late. They are credited with their real length.',
    },
    THROTTLED_TICKS: {
        text: 'ticks skipped, over the overhead limit',
        words: 'To wake up that often would cost more than overheadLimitPercent. No time is lost: the next poll credits it.',
    },
    IDLE_TICKS: {
        text: 'ticks skipped, no thread was due',
        words: 'All threads were idle and none was due, so the sampler slept on. The start of a thread wakes it up.',
    },
    FRAMES_OMITTED: {
        text: 'frames omitted from deep stacks',
        words: 'The frames that maxDepthFrames omitted, in all samples together; at least so many, if stacks were not walked to their root.',
    },
    UNLOADED_METHODS: {
        text: 'methods of unloaded classes',
        words: 'Their class was unloaded before the sampler read their name: [unloaded].',
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
        words: 'It threw an exception. Such threads are under their own names, and printError got the first failure.',
    },
    MERGED_REPORTS: {
        text: 'reports merged with the next because output was slow',
        words: 'The outputer took longer than the report interval, or there was no memory for a report. No sample is lost.',
    },
    FAILED_REPORTS: {
        text: 'reports that failed',
        words: 'The outputer threw an exception; printError got it. Or it blocked until closeTimeoutSeconds were over.',
    },
    CUT_RECORDS: {
        text: 'report records cut at their size limit',
        words: 'The text of a group was too long for memoryLimitBytes: its last rows are missing. Exports have them.',
    },
    DROPPED_INTERVALS: {
        text: 'intervals dropped for lack of memory',
        words: 'There was no memory left to keep the oldest interval until it was read. It is lost.',
    },
    COARSE_WINDOWS: {
        text: 'parts of the last minutes merged for lack of memory',
        words: 'There was no memory left to keep them apart, so a window of the last minutes begins earlier than its length says. No time is lost.',
    },
    DEMAND_CPU_US: {
        text: 'CPU time for reports on demand (us)',
        words: 'The sampler thread\'s CPU time for the server, the actuator, MCP, JMX and other readers. It has a limit of its own, beside overheadLimitPercent.',
    },
    REPEATED_WINDOWS: {
        text: 'windows that were read again too soon',
        words: 'Requests for the last minutes came more than once a second, or had used up the limit for reports on demand: the answer ends where the last one did.',
    },
    UNMOUNTED_DRAWS: {
        text: 'draws of virtual threads',
        words: 'How often virtual threads were drawn, about ten times a second (sampleUnmountedVirtualThreads).',
    },
    UNMOUNTED_POPULATION: {
        text: 'virtual threads alive at these draws, added up',
        words: 'Mounted ones included. Divided by the number of draws: how many there were, on average.',
    },
    UNMOUNTED_FOUND_MOUNTED: {
        text: 'virtual threads drawn that were mounted',
        words: 'Their time is not credited here: the polls of their carriers count it.',
    },
    STOPPED_MILLIS: {
        text: 'milliseconds in which the process was stopped',
        words: 'In gaps of more than a second: [process stopped] has this time in each thread; with clock CPU no row has it.',
    },
    FOLDED_ROWS: {
        text: 'rows folded into their callers for lack of memory',
        words: 'At memoryLimitBytes the smallest rows, none with 0.1 % of its group, become one row [folded] below their caller, with all they had. No time is lost.',
    },
    LOST_STATES: {
        text: 'times whose state found no memory',
        words: 'memoryLimitBytes left no room to keep a row\'s time by state. Its time is that of another state, or, where an interval ended so, the interval has no states.',
    },
    LOST_ERRORS: {
        text: 'intervals whose error bars found no memory',
        words: 'memoryLimitBytes left no room for them, or a merged one was without: the sum has none.',
    },
    LOST_SECONDS: {
        text: 'times by second that found no memory',
        words: 'memoryLimitBytes left no room to keep by second what a group did, or more threads than four million did it: the strip over the page\'s graph lacks it.',
    },
    LOST_COUNTED_TIMES: {
        text: 'times of counted rows that found no memory',
        words: 'memoryLimitBytes left no room to give counted rows the time of their sampled stacks. They have that of the last time there was room, or none.',
    },
    RUNNABLE_UNKNOWN: {
        text: 'polls without the time in the run queue',
        words: 'The system did not say how long these threads have waited for a CPU (schedstat). Such time is in other states.',
    },
    THROTTLED_MS: {
        text: 'throttled by the CPU quota (ms)',
        words: 'The time for which the kernel stopped threads of the process\'s control group, because the group had used its quota. It is part of runnable.',
    },
    STOLEN_MS: {
        text: 'taken from all CPUs by the machine\'s host (ms)',
        words: 'The time in which the host of this virtual machine had its CPUs for something else. The part of sampled threads is in runnable.',
    },
    OWNER_READS: {
        text: 'owners of locks read',
        words: 'How often the sampler has read who holds the lock that a thread waits for: once for each wait that it found, and again where the owner may have changed.',
    },
    OWNERS_UNKNOWN: {
        text: 'owners of locks that were not known',
        words: 'Reads that found no thread: [owner not read], [readers of the lock], [permits of the semaphore], [a virtual thread that is not mounted].',
    },
    LOST_HOLDERS: {
        text: 'times of lock holders that found no memory',
        words: 'memoryLimitBytes left no room for a group of holders, or for a row of the locks. The time is in the rows of the threads that waited only.',
    },
    DEADLOCKS: {
        text: 'deadlocks',
        words: 'Threads that wait for each other\'s locks, and none of which can go on: each such cycle once, when it was found.',
    },
};

const COUNTING = {
    INSTRUMENTED: {
        text: 'methods counted',
        words: 'Methods that have a probe.',
    },
    BATCHES: {
        text: 'batches of methods that began to be counted',
        words: 'How often classes that were loaded got their probes. Each batch stops all threads for some tens of milliseconds.',
    },
    ROOTS_WITHOUT_CALLS: {
        text: 'roots without a call',
        words: 'Each with the reason before its name. not loaded yet: no class of this name was loaded since the JVM started: it was not needed yet, or the name in rootMethods is misspelt. A nested class is written with $. not found in its class: the class was loaded and has no such method, or none with these parameters. An inherited method belongs to the class that declares it. not entered since it is counted: the root has its probe, and no thread has entered it since then. Calls of a root that began earlier do not count. As long as no root was entered, nothing is counted.',
    },
    EXCLUDED: {
        text: 'excluded by filter',
        words: 'Counted methods may call them, and instrumentationFilter leaves out their class. Methods of the JDK are not listed.',
    },
    TRIVIAL: {
        text: 'left alone, trivial',
        words: 'Empty methods, getters and setters: a probe would cost more than they do. As a root such a method is counted. Methods that compilers add to pass a call on (bridges, access$, $default, _aroundBody) are left alone, too: the method of the source is counted.',
    },
    LEFT_ALONE: {
        text: 'left alone',
        words: 'Methods and classes without a probe, each with the reason before its name. too large: with probes it would be longer than the 65,535 bytes that the JVM allows, or than the 8,000 that its compilers take, and be interpreted from then on. native or abstract: in place of such a root, name the methods that implement it. over the memory limit: counting has half of memoryLimitBytes. A class that the JVM refuses to change has its reason and JVMTI\'s error; another agent adds members: its transformer adds other fields or methods each time. If an earlier sampler has put probes into such a class, they stay there, and its methods are counted all the same. calls by reflection are not found: this JVM does not let the class hand out what it calls, so a method that is only called by reflection is counted where it is a root, or with instrumentation=TOTAL. Thread, Unsafe, java.lang.invoke and this library never have probes.',
    },
    OVER_METHOD_LIMIT: {
        text: 'left alone, over the limit of methods',
        words: 'maxCountedMethods have a probe: roots, and the methods that are called most. Each other method was tried for some seconds, or waits for its trial. Methods counted and methods named here are all there are. Raise the limit, or narrow instrumentationFilter.',
    },
    DROPPED: {
        text: 'not counted any more, short and called often',
        words: 'Their probes cost more than overheadLimitPercent and were taken out. For each of the first 20 a line follows: not counted since <time>: <method>. What they call seems to be called by their callers from then on; what an outermost root called is not counted there any more. Roots that are named without a star stay.',
    },
    CALLS_WITHOUT_PLACE: {
        text: 'calls without a place',
        words: 'Calls that are in no row, with their number for each reason. over the limit of nodes (maxCallNodes): the thread\'s tree is full; known places go on being counted. over the limit of depth (maxCallDepth): deeper calls have no rows. over the memory limit: there was no memory for a node, or for a thread\'s tree; raise memoryLimitBytes. below calls that began before their probes came: a recursion, or another method, ran when its probe came. Which calls it had made by then is not known, so the calls that it makes until it ends have no place.',
    },
    NO_CPU_TIME: {
        text: 'methods counted without CPU time, methodTiming is not SAMPLED',
        words: 'To read a thread\'s CPU clock at each call takes about a microsecond, longer than most calls. So rows of counted groups have no CPU time.',
    },
    SAMPLED: {
        text: 'methods seen by samples before they were counted',
        words: 'A sample had them below a root. Something calls them that the counter does not follow: code of the JDK or of a library, a look-up by name. Or a first call was sampled before the probe came. Their calls until then are missing, and those of short methods that no sample meets are still. instrumentation=TOTAL counts them all.',
    },
};
