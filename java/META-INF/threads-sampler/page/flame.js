// SPDX-License-Identifier: Apache-2.0
/* global d3 */
// The flame graph: d3-hierarchy's partition lays out the frames wide enough to be seen, a canvas of
// the size of the window shows them. So neither the number of nodes nor the depth of a stack decides
// how long drawing takes. The scroller above the canvas has the true height and takes the mouse.

const ROW = 20;
const NARROWEST = 0.5; // CSS pixels; what is narrower is not laid out
const FONT = '12px "JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';
const PADDING = 5;
const SPLIT = 3; // CSS pixels: the height of the edge that shows a box's states
const SPLIT_FROM = 12; // CSS pixels; narrower boxes have the colour of their main state only
const IDLE_EDGE = 6; // CSS pixels
const TEXT_FROM = 24; // CSS pixels; narrower boxes carry no text

class Flame {
    /** @type {Model} */
    model;
    /** @type {Box[][]} the boxes of each row, from left to right; undefined before the first layout */
    rows;
    base = -1;
    node = -1;
    /** @type {Metric} */
    metric = 'active';
    callers = 0; // rows of callers above the zoomed node
    whole = 0; // width of the zoomed node
    width = 0;
    height = 0;
    contentHeight = 0;
    letter = 1; // width of a letter
    isPrinting = false; // paper has all rows

    /**
     * @param {HTMLElement} host
     * @param {Colours} colours
     * @param {FlameEvents} on
     */
    constructor(host, colours, on) {
        this.colours = colours;
        this.on = on;
        this.canvas = element('canvas');
        this.scroller = element('div', 'scroller');
        this.spacer = element('div');
        this.scroller.tabIndex = 0;
        this.scroller.setAttribute('role', 'application');
        this.scroller.setAttribute('aria-label', 'Graph: arrow keys move, Enter zooms, Escape resets');
        this.scroller.append(this.spacer);
        host.append(this.canvas, this.scroller);
        this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
        this.direction = 'icicle';
        this.hovered = -1;
        this.chosen = -1;
        /** @type {Finds | null} */
        this.found = null;
        this.listen();
    }

    listen() {
        this.scroller.addEventListener('scroll', () => this.redraw());
        this.scroller.addEventListener('mousemove', (event) => this.hover(this.at(event), event));
        this.scroller.addEventListener('mouseleave', (event) => this.hover(-1, event));
        this.scroller.addEventListener('click', (event) => {
            const node = this.at(event);
            if (node >= 0) {
                this.chosen = node;
                this.on.zoom(node);
            }
        });
        this.scroller.addEventListener('keydown', (event) => this.key(event));
        this.scroller.addEventListener('focus', () => this.redraw());
        this.scroller.addEventListener('blur', () => this.redraw());
        new ResizeObserver(() => this.show()).observe(this.scroller);
    }

    /** @param {Model} model */
    setModel(model) {
        this.model = model;
        this.hovered = -1;
        this.chosen = -1;
    }

    /**
     * Looks at node, with its callers up to base above it.
     *
     * @param {number} base
     * @param {number} node
     * @param {Metric} metric
     */
    view(base, node, metric) {
        const moved = node !== this.node || base !== this.base;
        this.base = base;
        this.node = node;
        this.metric = metric;
        if (this.chosen < 0 || !this.model.contains(base, this.chosen)) {
            this.chosen = node;
        }
        this.show(moved);
    }

    /** @param {string} direction */
    turn(direction) {
        this.direction = direction;
        this.show(true);
    }

    /** Lays out and draws; nothing while the panel is hidden. */
    show(moved = false) {
        this.width = this.scroller.clientWidth;
        if (!this.model || this.width === 0) {
            return;
        }
        this.layOut();
        const content = this.rows.length * ROW;
        this.height = this.isPrinting ? Math.min(content, PRINTED_ROWS * ROW) : this.scroller.clientHeight;
        this.contentHeight = Math.max(content, this.height);
        this.spacer.style.height = content + 'px';
        if (moved) {
            const row = Math.max(0, this.callers - 3) * ROW;
            this.scroller.scrollTop = this.direction === 'icicle' ? row : this.contentHeight - this.height - row;
        }
        this.draw();
    }

    layOut() {
        const { model, metric } = this;
        const callers = [];
        for (let i = this.node; i !== this.base; i = model.parent[i]) {
            callers.push(model.parent[i]);
        }
        this.callers = callers.length;
        this.rows = callers.reverse().map((node) => [{ node, x0: 0, x1: this.width }]);
        this.whole = model.width(metric, this.node);
        const least = (this.whole * NARROWEST) / this.width;
        const root = this.wideNodes(least);
        d3.partition().size([this.width, 1])(root);
        root.each((item) => {
            const row = this.callers + item.depth;
            (this.rows[row] ??= []).push({ node: item.data, x0: item.x0, x1: item.x1 });
        });
        this.rows.forEach((row) => row.sort((a, b) => a.x0 - b.x0));
    }

    /**
     * The zoomed node and what below it is wider than least, most first, as the partition wants it. d3's own
     * hierarchy() would do, but takes the square of the depth of a stack.
     *
     * @param {number} least
     */
    wideNodes(least) {
        const { model, metric } = this;
        /**
         * @param {number} data
         * @param {number} depth
         * @param {FlameNode | null} parent
         * @returns {FlameNode}
         */
        const nodeOf = (data, depth, parent) =>
            Object.assign(new d3.Node(data), { depth, parent, value: model.width(metric, data) });
        const root = nodeOf(this.node, 0, null);
        const open = [root];
        for (let item = open.pop(); item !== undefined; item = open.pop()) {
            root.height = Math.max(root.height, item.depth);
            const children = [];
            for (const child of model.children(item.data)) {
                if (model.width(metric, child) > least) {
                    children.push(nodeOf(child, item.depth + 1, item));
                }
            }
            if (children.length > 0) {
                item.children = children.sort((a, b) => b.value - a.value || a.data - b.data);
                open.push(...children);
            }
        }
        return root;
    }

    redraw() {
        if (!this.pending && this.rows) {
            this.pending = true;
            requestAnimationFrame(() => {
                this.pending = false;
                this.draw();
            });
        }
    }

    draw() {
        const ratio = window.devicePixelRatio || 1;
        if (
            this.canvas.width !== Math.round(this.width * ratio) ||
            this.canvas.height !== Math.round(this.height * ratio)
        ) {
            this.canvas.width = Math.round(this.width * ratio);
            this.canvas.height = Math.round(this.height * ratio);
            this.canvas.style.width = this.width + 'px';
            this.canvas.style.height = this.height + 'px';
        }
        const context = this.context;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, this.width, this.height);
        context.font = FONT;
        context.textBaseline = 'middle';
        this.letter = context.measureText('mmmmmmmmmm').width / 10;
        for (let row = 0; row < this.rows.length; row++) {
            const y = this.top(row);
            if (y > -ROW && y < this.height) {
                this.rows[row].forEach((box) => this.drawBox(box, y, row < this.callers));
            }
        }
        this.outline(this.hovered, this.colours.theme.hover, 1.5);
        if (document.activeElement === this.scroller) {
            this.outline(this.chosen, this.colours.theme.chosen, 3);
        }
    }

    /**
     * Top of a row in the window.
     *
     * @param {number} row
     */
    top(row) {
        const y = this.direction === 'icicle' ? row * ROW : this.contentHeight - (row + 1) * ROW;
        return this.isPrinting ? y : y - this.scroller.scrollTop;
    }

    /**
     * @param {Box} box
     * @param {number} y
     * @param {boolean} isCaller
     */
    drawBox(box, y, isCaller) {
        const { context, model } = this;
        const theme = this.colours.theme;
        const frame = model.frame[box.node];
        const isFound = this.found !== null && this.found.frames[frame] === 1;
        const width = Math.max(box.x1 - box.x0 - (box.x1 - box.x0 > 3 ? 1 : 0), NARROWEST);
        context.globalAlpha = isCaller ? 0.6 : 1;
        context.fillStyle = this.fill(box.node, frame, isFound);
        context.fillRect(box.x0, y, width, ROW - 1);
        if (model.frames.kind[frame] === KIND.PSEUDO && width > 3 && !isFound) {
            this.hatch(box.x0, y, width);
        }
        if (this.found === null && width > SPLIT_FROM && this.colours.isByState(model)) {
            this.split(box.node, box.x0, y + ROW - 1 - SPLIT, width);
        }
        context.globalAlpha = 1;
        if (this.hasIdleEdge(box.node) && width > 3 * IDLE_EDGE) {
            context.fillStyle = theme.states.idle;
            context.fillRect(box.x0 + width - IDLE_EDGE, y, IDLE_EDGE, ROW - 1);
        }
        if (width >= TEXT_FROM) {
            context.fillStyle = isFound ? theme.foundText : this.found !== null ? theme.textDim : theme.text;
            this.write(frame, box.x0 + PADDING, y + ROW / 2, width - 2 * PADDING);
        }
    }

    /**
     * Idle time has no width in a graph of active time: the edge of its group stands for it.
     *
     * @param {number} node
     */
    hasIdleEdge(node) {
        const { model } = this;
        return (
            this.metric === 'active' &&
            model.frames.kind[model.frame[node]] === KIND.GROUP &&
            model.total.wall[node] > model.total.active[node]
        );
    }

    /**
     * The lower edge of a box: how its time is split between the states.
     *
     * @param {number} node
     * @param {number} x
     * @param {number} y
     * @param {number} width
     */
    split(node, x, y, width) {
        const states = this.model.statesOf(this.metric, node);
        const whole = states.reduce((sum, { time }) => sum + time, 0);
        let from = x;
        for (const { state, time } of states) {
            const part = whole > 0 ? (width * time) / whole : 0;
            this.context.fillStyle = this.colours.theme.states[state];
            this.context.fillRect(from, y, part, SPLIT);
            from += part;
        }
    }

    /**
     * @param {number} node
     * @param {number} frame
     * @param {boolean} isFound
     */
    fill(node, frame, isFound) {
        if (isFound) {
            return this.colours.theme.found;
        }
        if (this.found !== null) {
            return this.colours.theme.muted;
        }
        if (this.model.isDiff && node !== 0) {
            const delta = this.model.delta(this.metric, node);
            return this.colours.ofChange(delta, this.model.width(this.metric, node) / 2, this.whole);
        }
        return this.colours.isByState(this.model)
            ? this.colours.ofStates(this.model.statesOf(this.metric, node))
            : this.colours.ofFrame(this.model.frames, frame);
    }

    /**
     * @param {number} x
     * @param {number} y
     * @param {number} width
     */
    hatch(x, y, width) {
        const context = this.context;
        context.save();
        context.beginPath();
        context.rect(x, y, width, ROW - 1);
        context.clip();
        context.strokeStyle = this.colours.theme.hatch;
        context.beginPath();
        const till = Math.min(x + width, this.width);
        for (let at = x - ROW; at < till; at += 8) {
            context.moveTo(at, y + ROW);
            context.lineTo(at + ROW, y);
        }
        context.stroke();
        context.restore();
    }

    /**
     * @param {number} frame
     * @param {number} x
     * @param {number} y
     * @param {number} room
     */
    write(frame, x, y, room) {
        const text = fitted(this.model.frames, frame, Math.floor(room / this.letter));
        // A letter outside of the font may be wider than those counted with.
        if (text !== '') {
            this.context.fillText(text, x, y, room);
        }
    }

    /**
     * @param {number} node
     * @param {string} colour
     * @param {number} line
     */
    outline(node, colour, line) {
        const place = node >= 0 ? this.placeOf(node) : null;
        if (place) {
            this.context.strokeStyle = colour;
            this.context.lineWidth = line;
            const width = Math.max(place.x1 - place.x0 - 1, 2);
            this.context.strokeRect(place.x0 + line / 2, this.top(place.row) + line / 2, width - line, ROW - 1 - line);
            this.context.lineWidth = 1;
        }
    }

    /** @param {number} node */
    placeOf(node) {
        let row = -1;
        for (let i = node; i >= this.base; i = this.model.parent[i]) {
            row++;
        }
        const box = this.rows[row]?.find((candidate) => candidate.node === node);
        return box ? { row, x0: box.x0, x1: box.x1 } : null;
    }

    /**
     * The node under the mouse, or -1.
     *
     * @param {MouseEvent} event
     */
    at(event) {
        if (!this.rows) {
            return -1;
        }
        const frame = this.scroller.getBoundingClientRect();
        const x = event.clientX - frame.left;
        const y = event.clientY - frame.top + this.scroller.scrollTop;
        const row = Math.floor((this.direction === 'icicle' ? y : this.contentHeight - y) / ROW);
        return boxAt(this.rows[row] ?? [], x)?.node ?? -1;
    }

    /**
     * @param {number} node
     * @param {MouseEvent} event
     */
    hover(node, event) {
        if (node !== this.hovered) {
            this.hovered = node;
            this.scroller.style.cursor = node >= 0 ? 'pointer' : 'default';
            this.redraw();
        }
        this.on.hover(node, event);
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        const place = this.placeOf(this.chosen) ?? this.placeOf(this.node);
        if (!place) {
            return;
        }
        const deeper = this.direction === 'icicle' ? 'ArrowDown' : 'ArrowUp';
        const higher = this.direction === 'icicle' ? 'ArrowUp' : 'ArrowDown';
        const row = this.rows[place.row];
        const index = row.findIndex((box) => box.node === this.chosen);
        let box;
        switch (event.key) {
            case deeper:
                box = this.rows[place.row + 1]?.find((child) => child.x0 >= place.x0 - 1e-6 && child.x0 < place.x1);
                break;
            case higher:
                box = this.rows[place.row - 1] && boxAt(this.rows[place.row - 1], (place.x0 + place.x1) / 2);
                break;
            case 'ArrowRight':
                box = row[index + 1];
                break;
            case 'ArrowLeft':
                box = row[index - 1];
                break;
            case 'Enter':
                this.on.zoom(this.chosen);
                break;
            default:
                return;
        }
        event.preventDefault();
        if (box) {
            this.choose(box.node);
        }
    }

    /**
     * Marks a node and brings its row into the window.
     *
     * @param {number} node
     */
    choose(node) {
        this.chosen = node;
        const place = this.placeOf(node);
        if (place) {
            const y = this.top(place.row);
            if (y < 0) {
                this.scroller.scrollTop += y;
            } else if (y + ROW > this.height) {
                this.scroller.scrollTop += y + ROW - this.height;
            }
        }
        this.on.choose(node);
        this.redraw();
    }
}

/**
 * The name of a frame in so many letters: whole, else without packages, else without its place, else with its class cut at
 * the left, else the beginning of the method.
 *
 * @param {Frames} frames
 * @param {number} frame
 * @param {number} letters
 */
function fitted(frames, frame, letters) {
    const text = frames.text[frame];
    const short = frames.short[frame];
    const packages = frames.methods[frames.method[frame]].text.length - short.length;
    const whole = [text, text.slice(packages), short].find((one) => one.length <= letters);
    if (whole !== undefined || letters < 3) {
        return whole ?? '';
    }
    const isMethod = frames.kind[frame] === KIND.JAVA || frames.kind[frame] === KIND.JDK;
    const method = isMethod ? short.slice(short.lastIndexOf('.') + 1) : short;
    return method.length < letters
        ? '…' + short.slice(1 - letters).replace(/^[\udc00-\udfff]/, '')
        : wholeCharacters(method.slice(0, letters - 1)) + '…';
}

/**
 * The box of a sorted row that x is in.
 *
 * @param {Box[]} row
 * @param {number} x
 */
function boxAt(row, x) {
    let low = 0;
    let high = row.length - 1;
    while (low <= high) {
        const middle = (low + high) >> 1;
        if (x < row[middle].x0) {
            high = middle - 1;
        } else if (x >= row[middle].x1) {
            low = middle + 1;
        } else {
            return row[middle];
        }
    }
    return undefined;
}
