// SPDX-License-Identifier: Apache-2.0
// Only where the page's own server says so by a <meta>: fetches the report of a window again every few
// seconds. A hidden page rests; a server that says "too many" is given the time it wants.

const USUAL_WINDOW = '5m'; // the server's, too

/** The other forms of the server: the name there, and the text of the link. */
const SERVER_FORMS = [
    ['report.txt', 'Text'],
    ['top.txt', 'Top'],
    ['collapsed', 'Collapsed'],
    ['profile.json', 'Speedscope'],
    ['profile.pb.gz', 'pprof'],
    ['report.json', 'JSON'],
];

class Live {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    timer;
    fetches = 0;
    state = '';

    /**
     * @param {HTMLMetaElement} meta
     * @param {{ report(data: SamplerReport | ReportPair): void }} on
     */
    constructor(meta, on) {
        // Not relative: where the page's address has a user and password in it, fetch would refuse that.
        this.url = new URL(meta.content, location.origin + location.pathname).href;
        this.pause = Math.max(1, Number(meta.dataset.seconds) || 5) * 1000;
        this.on = on;
        this.paused = false;
        this.status = byId('live');
        this.words = byId('live-text');
        this.news = byId('live-news');
        this.button = byId('live-pause');
        this.buttons = [...dataElements('window')];
        const given = new URLSearchParams(location.search).get('window');
        this.window = this.buttons.some((each) => each.dataset.window === given) ? String(given) : USUAL_WINDOW;
        byId('windows').hidden = byId('server-forms').hidden = this.status.hidden = this.button.hidden = false;
        this.button.addEventListener('click', () => this.setPaused(!this.paused));
        this.buttons.forEach((each) =>
            each.addEventListener('click', () => this.setWindow(String(each.dataset.window)))
        );
        this.showWindow();
        this.say('on', 'Live');
        this.next(this.pause);
    }

    /** @param {boolean} paused */
    setPaused(paused) {
        this.paused = paused;
        this.button.setAttribute('aria-pressed', String(paused));
        this.button.textContent = paused ? 'Resume' : 'Pause';
        clearTimeout(this.timer);
        this.say(paused ? 'off' : 'on', paused ? 'Paused' : 'Live');
        if (!paused) {
            this.next(0);
        }
    }

    /** @param {string} code */
    setWindow(code) {
        this.window = code;
        history.replaceState(null, '', '?window=' + code + location.hash);
        this.showWindow();
        this.next(0, true); // also while paused: a person wants to see it now
    }

    nextWindow() {
        const at = this.buttons.findIndex((each) => each.dataset.window === this.window);
        this.setWindow(String(this.buttons[(at + 1) % this.buttons.length].dataset.window));
    }

    showWindow() {
        this.buttons.forEach((each) =>
            each.setAttribute('aria-pressed', String(each.dataset.window === this.window))
        );
        byId('server-forms').replaceChildren(
            'From the server: ',
            ...SERVER_FORMS.flatMap(([name, words]) => {
                const link = element('a', '', words);
                link.href = name + '?window=' + this.window;
                link.download = name === 'collapsed' ? 'report.collapsed' : name;
                return [link, ' '];
            })
        );
    }

    /**
     * @param {number} millis
     * @param {boolean} wanted by a person
     */
    next(millis, wanted = false) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.fetchReport(wanted), millis);
    }

    /** @param {boolean} wanted */
    async fetchReport(wanted) {
        const fetched = ++this.fetches;
        let wait = this.pause;
        try {
            if (!document.hidden) {
                const answer = await fetch(this.url + '?window=' + this.window, {
                    cache: 'no-store',
                    credentials: 'same-origin',
                });
                if (answer.ok) {
                    this.use(await answer.json(), fetched, wanted);
                } else {
                    wait = Math.max(wait, 1000 * (Number(answer.headers.get('Retry-After')) || 0));
                    this.say('off', 'No new report: the server answered ' + answer.status);
                }
            }
        } catch (failure) {
            this.say('off', 'Not reached, trying again');
        }
        if (!this.paused && fetched === this.fetches) {
            this.next(wait);
        }
    }

    /**
     * @param {SamplerReport | ReportPair} data
     * @param {number} fetched its number; an answer that a later request has overtaken is of another window
     * @param {boolean} wanted
     */
    use(data, fetched, wanted) {
        if (fetched === this.fetches && (wanted || !this.paused)) {
            this.on.report(data);
            if (!this.paused) {
                this.say('on', 'Live, ' + clockOf(new Date()));
            }
        }
    }

    /**
     * A screen reader hears of another state, and not of each report.
     *
     * @param {string} state
     * @param {string} words
     */
    say(state, words) {
        if (state !== this.state) {
            this.news.textContent = words;
        }
        this.state = state;
        this.status.className = 'live ' + state;
        this.words.textContent = words;
    }
}
