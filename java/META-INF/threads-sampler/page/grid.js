// SPDX-License-Identifier: Apache-2.0
// A table of any length: only the rows in the window are in the document. Rows are opaque to it;
// columns say how to show and to order them. With a tree's functions it is a table that opens and closes.

const GRID_ROW = 26;
const PRINTED_ROWS = 500;
const INDENT = 14;
const DEEPEST_INDENT = 40; // levels; what is deeper says so by a number

/**
 * Room for its title, the sign of its order and numbers of ten digits.
 *
 * @param {Column} column
 */
function widthOf(column) {
    return Math.max(82, column.title.length * 8 + 28) + 'px';
}

// Packages, class, method, file and line. A place begins at the last bracket: names of methods may hold others.
const NAME_PARTS = /^((?:[^.()\s]+\.)*)([^.()]+\.)([^.()]+)(\([^()]*\))?$/;

/**
 * The parts of a name: a narrow cell cuts packages and class at their left, then the method, never the file and line.
 *
 * @param {string} text
 * @returns {HTMLElement[]}
 */
function nameParts(text) {
    const parts = NAME_PARTS.exec(text);
    if (parts === null) {
        return [element('span', 'method', text)];
    }
    const [, packages, className, method, place] = parts;
    const left = element('bdi'); // keeps its last dot at the right
    left.append(element('span', '', packages), className);
    const holder = element('span', 'package');
    holder.append(left);
    return [holder, element('span', 'method', method), placeParts(place ?? '')];
}

/**
 * The file and the line, as parts of one name.
 *
 * @param {string} place in its brackets
 */
function placeParts(place) {
    const made = element('span', 'place');
    const [, file, line] = /^(.*?)(:\d+)?\)?$/.exec(place) ?? [];
    made.append(element('span', 'file', file), line ?? '', element('span', 'file', place === '' ? '' : ')'));
    return made;
}

class Grid {
    /** @type {Column[]} */
    columns;
    /** @type {Sort} */
    sort;

    /**
     * @param {HTMLElement} host
     * @param {string} label
     * @param {GridEvents} on
     * @param {GridTree} [tree] of a table that opens and closes
     */
    constructor(host, label, on, tree) {
        this.on = on;
        this.tree = tree;
        /** @type {any[]} */
        this.rows = [];
        this.current = -1;
        this.isPrinting = false; // paper has more than the rows in the window
        this.host = host;
        this.host.setAttribute('role', tree ? 'treegrid' : 'grid');
        this.host.setAttribute('aria-label', label);
        this.host.tabIndex = 0;
        this.head = element('div', 'head');
        this.head.setAttribute('role', 'row');
        this.head.setAttribute('aria-rowindex', '1');
        this.space = element('div', 'space');
        this.window = element('div', 'window');
        this.empty = element('p', 'empty');
        this.space.append(this.window);
        host.append(this.head, this.space, this.empty);
        host.addEventListener('scroll', () => this.redraw());
        host.addEventListener('keydown', (event) => this.key(event));
        this.space.addEventListener('click', (event) => this.click(event));
        this.space.addEventListener('dblclick', (event) => this.doubleClick(event));
        new ResizeObserver(() => this.draw()).observe(host);
    }

    /**
     * @param {Column[]} columns
     * @param {Sort} sort
     */
    setColumns(columns, sort) {
        this.columns = columns;
        this.sort = columns.some((column) => column.key === this.sort?.key) ? this.sort : sort;
        this.host.style.setProperty(
            '--columns',
            columns.map((c) => (c.name ? 'minmax(460px, 1fr)' : widthOf(c))).join(' ')
        );
        this.head.replaceChildren(...columns.map((column) => this.headCell(column)));
    }

    /** @param {Column} column */
    headCell(column) {
        const cell = element('div', column.name ? 'name' : 'number');
        const button = element('button', '', column.title);
        cell.setAttribute('role', 'columnheader');
        button.type = 'button';
        button.title = column.hint;
        button.addEventListener('click', () => this.sortBy(column));
        cell.append(button);
        cell.dataset.key = column.key;
        this.markSort(cell);
        return cell;
    }

    /** @param {HTMLElement} cell */
    markSort(cell) {
        const sorted = cell.dataset.key === this.sort.key;
        cell.setAttribute('aria-sort', sorted ? (this.sort.down ? 'descending' : 'ascending') : 'none');
    }

    /**
     * Most first for numbers, A first for names; again turns it over.
     *
     * @param {Column} column
     */
    sortBy(column) {
        const again = this.sort.key === column.key;
        this.sort = { key: column.key, down: again ? !this.sort.down : !column.name };
        /** @type {HTMLElement[]} */ ([...this.head.children]).forEach((cell) => this.markSort(cell));
        this.on.sort();
    }

    /**
     * @param {any} a
     * @param {any} b
     */
    compare(a, b) {
        const column = /** @type {Column} */ (this.columns.find((candidate) => candidate.key === this.sort.key));
        const left = column.value(a);
        const right = column.value(b);
        const order = left < right ? -1 : left > right ? 1 : 0;
        return this.sort.down ? -order : order;
    }

    /**
     * @param {any[]} rows
     * @param {any} [current]
     */
    setRows(rows, current) {
        this.rows = rows;
        this.current = current !== undefined ? rows.indexOf(current) : Math.min(this.current, rows.length - 1);
        this.host.setAttribute('aria-rowcount', String(rows.length + 1));
        this.draw();
    }

    redraw() {
        if (!this.pending) {
            this.pending = true;
            requestAnimationFrame(() => {
                this.pending = false;
                this.draw();
            });
        }
    }

    draw() {
        const count = this.isPrinting ? Math.min(this.rows.length, PRINTED_ROWS) : this.rows.length;
        this.space.style.height = count * GRID_ROW + 'px';
        this.empty.hidden = this.rows.length > 0 && count === this.rows.length;
        this.empty.textContent = count > 0 ? `${whole(this.rows.length - count)} more rows.` : 'Nothing to show.';
        if (!this.columns || this.host.clientHeight === 0) {
            return;
        }
        const first = this.isPrinting ? 0 : Math.max(0, Math.floor(this.host.scrollTop / GRID_ROW) - 5);
        const shown = this.isPrinting ? count : Math.ceil(this.host.clientHeight / GRID_ROW) + 10;
        const last = Math.min(count, first + shown);
        const made = [];
        for (let i = first; i < last; i++) {
            made.push(this.row(i));
        }
        this.window.style.transform = `translateY(${first * GRID_ROW}px)`;
        this.window.replaceChildren(...made);
        if (this.current >= first && this.current < last) {
            this.host.setAttribute('aria-activedescendant', made[this.current - first].id);
        } else {
            this.host.removeAttribute('aria-activedescendant');
        }
    }

    /** @param {number} index */
    row(index) {
        const row = this.rows[index];
        const line = element('div', 'row' + (index === this.current ? ' current' : ''));
        line.id = this.host.id + '-row-' + index;
        line.dataset.index = /** @type {any} */ (index);
        line.setAttribute('role', 'row');
        line.setAttribute('aria-rowindex', String(index + 2));
        line.setAttribute('aria-selected', String(index === this.current));
        if (this.tree) {
            line.setAttribute('aria-level', String(this.tree.level(row)));
            if (this.tree.canOpen(row)) {
                line.setAttribute('aria-expanded', String(this.tree.isOpen(row)));
            }
        }
        line.append(
            ...this.columns.map((column) => (column.name ? this.nameCell(column, row) : this.numberCell(column, row)))
        );
        return line;
    }

    /**
     * @param {Column} column
     * @param {any} row
     */
    numberCell(column, row) {
        const cell = element('div', 'number ' + (column.tone?.(row) ?? ''), column.text(row));
        cell.dataset.key = column.key;
        cell.setAttribute('role', 'gridcell');
        const bar = /** @type {number} */ (column.bar?.(row));
        if (bar > 0) {
            cell.style.setProperty('--bar', Math.min(100, 100 * bar).toFixed(1) + '%');
            cell.classList.add('bar');
        }
        return cell;
    }

    /**
     * @param {Column} column
     * @param {any} row
     */
    nameCell(column, row) {
        const cell = element('div', 'name');
        const text = column.text(row);
        cell.setAttribute('role', 'gridcell');
        if (this.tree) {
            const level = this.tree.level(row) - 1;
            cell.style.paddingLeft = Math.min(level, DEEPEST_INDENT) * INDENT + 'px';
            const mark = this.tree.canOpen(row) ? (this.tree.isOpen(row) ? 'open' : 'closed') : 'leaf';
            cell.append(element('span', 'mark ' + mark));
            if (level > DEEPEST_INDENT) {
                cell.append(element('span', 'depth', '+' + (level - DEEPEST_INDENT)));
            }
        }
        const name = element('span', 'text ' + (column.tone?.(row) ?? ''));
        name.append(...nameParts(shorten(text, NAME_LIMIT)));
        name.title = shorten(text, TITLE_LIMIT);
        cell.append(name);
        return cell;
    }

    /** @param {Event} event */
    indexOf(event) {
        const line = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest('.row'));
        return line ? Number(line.dataset.index) : -1;
    }

    /** @param {Event} event */
    click(event) {
        const index = this.indexOf(event);
        if (index < 0) {
            return;
        }
        this.current = index;
        if (this.tree && /** @type {Element} */ (event.target).classList.contains('mark')) {
            this.toggle(this.tree, index);
        } else {
            this.draw();
        }
    }

    /** @param {Event} event */
    doubleClick(event) {
        const index = this.indexOf(event);
        if (index >= 0 && !/** @type {Element} */ (event.target).classList.contains('mark')) {
            this.on.activate(this.rows[index]);
        }
    }

    /**
     * @param {GridTree} tree
     * @param {number} index
     */
    toggle(tree, index) {
        const row = this.rows[index];
        if (tree.canOpen(row)) {
            this.on.toggle?.(row, !tree.isOpen(row));
        }
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        if (event.target !== this.host || event.ctrlKey || event.altKey || event.metaKey) {
            return;
        }
        const page = Math.max(1, Math.floor(this.host.clientHeight / GRID_ROW) - 2);
        /** @type {{ [key: string]: number }} */
        const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
        if (event.key in moves) {
            this.moveTo(this.current + moves[event.key]);
        } else if (this.current < 0) {
            return;
        } else if (event.key === 'Enter') {
            this.on.activate(this.rows[this.current]);
        } else if (this.tree && (event.key === 'ArrowRight' || event.key === 'ArrowLeft' || event.key === ' ')) {
            this.openOrClose(this.tree, event.key);
        } else {
            return;
        }
        event.preventDefault();
    }

    /**
     * @param {GridTree} tree
     * @param {string} key
     */
    openOrClose(tree, key) {
        const row = this.rows[this.current];
        const isOpen = tree.canOpen(row) && tree.isOpen(row);
        if (key === ' ' || (key === 'ArrowRight' && !isOpen) || (key === 'ArrowLeft' && isOpen)) {
            this.toggle(tree, this.current);
        } else if (key === 'ArrowRight') {
            this.moveTo(this.current + 1);
        } else {
            const parent = this.rows.indexOf(tree.parent(row));
            this.moveTo(parent >= 0 ? parent : this.current);
        }
    }

    /** @param {number} index */
    moveTo(index) {
        this.current = Math.max(0, Math.min(this.rows.length - 1, index));
        this.reveal();
        this.draw();
    }

    /** Brings the current row into the window, below the head. */
    reveal() {
        const top = this.current * GRID_ROW;
        const room = this.host.clientHeight - this.head.offsetHeight - GRID_ROW;
        if (top < this.host.scrollTop) {
            this.host.scrollTop = top;
        } else if (top > this.host.scrollTop + room) {
            this.host.scrollTop = top - room;
        }
    }
}
