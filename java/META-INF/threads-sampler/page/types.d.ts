// SPDX-License-Identifier: Apache-2.0
// Types of the page's JavaScript, for "tsc --checkJs". Not a part of the page: assemble.sh does not read it.

// ---- the JSON report; native/src/export/json.c says what its fields mean

interface Figures {
    [text: string]: number;
}

interface ReportFrame {
    class?: string;
    method?: string;
    file?: string;
    line?: number;
    native?: boolean;
    pseudo?: string;
}

interface ReportGroup {
    name: string;
    threads?: number;
    threadNames?: string[];
    joinedGroups?: number;
    polls?: number;
    maxDepth?: number;
    outcomes?: Figures;
    parent: number[];
    frame: number[];
    wall: number[];
    cpu?: number[];
    samples?: number[];
    calls?: number[];
    error95?: { [measure: string]: ([number, number] | null)[] };
    hookNanos?: number;
    rootTimes?: [number, number, number, number, number][];
    rowCalls?: [number, number, number][];
    recursion?: [number, number][];
    countedSince?: [number, number, number][];
}

/** For how long threads were blocked: by the class of the lock and two lines. */
interface ReportLock {
    lock: string;
    waiting: string;
    holding: string;
    wall: number;
}

/** A place of the user's code; native/src/export/summary_json.h says what its fields mean. */
interface HotSpot {
    class?: string;
    method?: string;
    file?: string;
    line?: number;
    group?: string;
    lock?: string;
}

type SecondState = 'running' | 'runnable' | 'blocked' | 'io' | 'waiting' | 'idle';

/** What each group did when: milliseconds by slot; slots behind the last number are 0. */
interface ReportSeconds {
    from: number;
    width: number;
    count: number;
    groups: ({ name: string } & { [state in SecondState]?: number[] })[];
}

/** The same, added up, of what the strip shows. */
interface SecondTimes {
    from: number;
    width: number;
    name: string | null;
    active: number[];
    states: { [state in SecondState]: number[] };
}

interface SamplerReport {
    format: string;
    clock?: string;
    fromMillis: number;
    tillMillis: number;
    zone?: string;
    zoneOffsetSeconds?: number;
    elapsedNanos: number;
    ownCpuNanos?: number;
    memoryUsedBytes?: number;
    memoryLimitBytes?: number;
    frames: ReportFrame[];
    groups: ReportGroup[];
    counted?: ReportGroup[];
    locks?: ReportLock[];
    summary?: { lines: string[]; hotSpots?: HotSpot[]; threads?: number; groups?: number };
    seconds?: ReportSeconds;
    counting?: { [code: string]: { text: string; count: number; names: string[] } };
    account?: { polls?: number; outcomes?: Figures; counters?: Figures; missedPackages?: string; signalTaken?: string };
}

/** The tree of two reports; native/src/export/difference.c says what its fields mean. */
interface Difference {
    frames: ReportFrame[];
    groups: [number, number][];
    parent: number[];
    frame: number[];
    before: { [measure: string]: number[] };
    after: { [measure: string]: number[] };
    error95?: { before: { [measure: string]: number[] }; after: { [measure: string]: number[] } };
    counted?: Difference;
}

/** The reports of a pair have neither frames nor nodes of their own. */
interface ReportPair {
    before: SamplerReport;
    after: SamplerReport;
    difference: Difference;
}

/** The lists of outcomes.js, by code. Counters have no kind. */
interface OutcomeTable {
    [code: string]: { kind?: string; text: string; words: string };
}

/** A class of locks; times of each report. */
interface LockClass {
    lock: string;
    times: number[];
    lines: Map<string, { waiting: string; holding: string; times: number[] }>;
}

/** How a zone is written behind a time, and the minutes that it is east of UTC; undefined: the viewer's zone. */
interface Zone {
    name: string;
    minutes?: number;
}

// ---- the model

/** `active` is wall time that is not idle. */
type Metric = 'active' | 'wall' | 'cpu' | 'calls';

/** Patterns are compared with frames as they are written. */
interface Filter {
    hide: RegExp | null;
    focus: RegExp | null;
    keep: RegExp | null;
    recursion: boolean;
    invert: boolean;
}

/** What the colour of a frame says. */
type Paint = 'state' | 'package';

/** Which model is shown: of what was sampled, or of the calls that were counted. */
type Data = 'sampled' | 'counted';

/** What the hot methods are added up to. */
type Level = 'method' | 'class' | 'package';

interface RollUp {
    key: number[];
    names: string[];
}

/** Of calls of a root method that have ended; in nanoseconds. */
interface RootTime {
    calls: number;
    total: number;
    min: number;
    max: number;
}

/** A counted node whose method, or one of its callers, got its probe within the interval. */
interface CountedSince {
    millis: number;
    missing: number; // calls, at most; below 0: not known
}

/** How often the method of a sampled node was called there, together with the nodes of the other paths. */
interface RowCalls {
    calls: number;
    paths: number;
}

interface MethodEntry {
    text: string;
    short: string;
    kind: number;
    colour: string;
}

/** `sides`: the group of each report, or undefined. `isCut`: a filter has left out some of its time. */
interface ModelGroup {
    node: number;
    name: string;
    isCut?: boolean;
    sides: (ReportGroup | undefined)[];
}

interface Amounts {
    [measure: string]: Float64Array;
}

interface HotRow {
    key: number;
    frame: number;
    self: Figures;
    total: Figures;
    /** Squares of the half widths of error bars; NaN: not known. */
    selfError: Figures;
    totalError: Figures;
}

/** `shown`: the node itself, or the one it is folded into; `parent` is -1 for a folded node. */
interface CallTree {
    parent: Int32Array;
    shown: Int32Array;
    children(node: number): number[];
}

interface Finds {
    frames: Uint8Array;
    count: number;
    top: number[];
    time: number;
}

// ---- views and tables

type Tab = 'graph' | 'tree' | 'methods' | 'lines' | 'account' | 'callers' | 'locks';

/** What a function needs to know of the page. */
interface View {
    model: Model;
    metric: Metric;
    base: number;
    zoom: number;
}

/** Reads figures and texts from the rows of a table. */
interface RowReader {
    self(measure: string, row: any): number;
    total(measure: string, row: any): number;
    /** Half the width of the error bar of the row's own time, or of its total; NaN: not known. */
    error(measure: string, row: any, main: 'self' | 'total'): number;
    /** Of the row itself; where it is a group, of all below it. */
    calls(row: any): number;
    /** What the counted trees know of a row of a sampled tree. */
    counted?(row: any): RowCalls | undefined;
    /** How deep the calls of a folded recursion were in each other. */
    depth?(row: any): number | undefined;
    text(row: any): string;
    tone(row: any): string;
}

interface Column {
    key: string;
    title: string;
    hint: string;
    /** True for the column with the names. */
    name?: boolean;
    value(row: any): number | string;
    text(row: any): string;
    tone?(row: any): string;
    bar?(row: any): number;
}

/** The row of a table is what its reader or its value function takes: a node's number, or a HotRow. */
type ColumnMaker = (key: string, title: string, hint: string, value: (row: any) => number) => Column;

interface Sort {
    key: string;
    down: boolean;
}

interface GridEvents {
    sort(): void;
    activate(row: any): void;
    toggle?(row: any, open: boolean): void;
}

interface GridTree {
    level(row: any): number;
    isOpen(row: any): boolean;
    canOpen(row: any): boolean;
    parent(row: any): any;
}

/** CSS colours. `part` is from 0, no change, to 1. */
interface Theme {
    package(hue: number): string;
    states: { [state: string]: string };
    slower(part: number): string;
    faster(part: number): string;
    other: string;
    jdk: string;
    pseudo: string;
    group: string;
    text: string;
    textDim: string;
    line: string;
    found: string;
    foundText: string;
    muted: string;
    hover: string;
    chosen: string;
    hatch: string;
    same: string;
}

interface FlameEvents {
    zoom(node: number): void;
    /** `node` is -1 where the mouse is over no box. */
    hover(node: number, event: MouseEvent): void;
    choose(node: number): void;
}

interface Box {
    node: number;
    x0: number;
    x1: number;
}

// ---- elements of index.html that are more than an HTMLElement

interface PageElements {
    search: HTMLInputElement;
    compact: HTMLInputElement;
    shortcuts: HTMLInputElement;
    help: HTMLDialogElement;
    back: HTMLButtonElement;
    reset: HTMLButtonElement;
    [id: string]: HTMLElement;
}

// ---- the part of d3-hierarchy that the page uses

interface FlameNode {
    data: number;
    depth: number;
    height: number;
    parent: FlameNode | null;
    children?: FlameNode[];
    value: number;
    x0: number;
    x1: number;
    each(action: (node: FlameNode) => void): void;
}

declare const d3: {
    Node: new (data: number) => FlameNode;
    partition(): { size(size: [number, number]): (root: FlameNode) => FlameNode };
};
