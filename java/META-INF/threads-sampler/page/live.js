// SPDX-License-Identifier: Apache-2.0
// Only where the page's own server says so by a <meta>: fetches the report again every few
// seconds. A hidden page rests; a server that says "too many" is given the time it wants.

class Live {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    timer;

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
        this.button = byId('live-pause');
        this.status.hidden = this.button.hidden = false;
        this.button.addEventListener('click', () => this.setPaused(!this.paused));
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

    /** @param {number} millis */
    next(millis) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.fetchReport(), millis);
    }

    async fetchReport() {
        let wait = this.pause;
        try {
            if (!document.hidden) {
                const answer = await fetch(this.url, { cache: 'no-store', credentials: 'same-origin' });
                if (answer.ok) {
                    this.use(await answer.json());
                } else {
                    wait = Math.max(wait, 1000 * (Number(answer.headers.get('Retry-After')) || 0));
                    this.say('off', 'No new report: the server answered ' + answer.status);
                }
            }
        } catch (failure) {
            this.say('off', 'Not reached, trying again');
        }
        if (!this.paused) {
            this.next(wait);
        }
    }

    /** @param {SamplerReport | ReportPair} data */
    use(data) {
        if (!this.paused) {
            this.on.report(data);
            this.say('on', 'Live, ' + clockOf(new Date()));
        }
    }

    /**
     * @param {string} state
     * @param {string} words
     */
    say(state, words) {
        this.status.className = 'live ' + state;
        this.words.textContent = words;
    }
}
