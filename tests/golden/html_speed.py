# SPDX-License-Identifier: LGPL-2.1-or-later
"""html_speed.py CHROMIUM PAGE...: how long pages of report --format html take to open, and to draw while they zoom.

Prints for each page the number of intervals, the ms until its figure is there, and the ms that drawing takes, of the
steps from all of the window to a millionth and back the slowest but for a twentieth: as the page is, and with a search that finds much.
"""
import sys
import tempfile

import html_browser

# Each step is a notch of the wheel, and a call of what the page wants to draw.
ZOOM = """new Promise((done) => {
    const canvas = document.querySelector('.figure canvas'), box = canvas.getBoundingClientRect(), times = [];
    const native = window.requestAnimationFrame;
    let turn = 0;

    /* nothing else waits to be drawn */
    native(() => native(begin));
    function begin() {
        window.requestAnimationFrame = drawn;
        step();
    }
    function drawn(draw) {
        native((now) => {
            const start = performance.now();
            draw(now);
            times.push(performance.now() - start);
            turn++;
            if (turn < 60) {
                step();
                return;
            }
            window.requestAnimationFrame = native;
            done(times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)]);
        });
    }
    function step() {
        canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: turn < 30 ? -300 : 300, clientX: box.left +
            box.width * 0.6, clientY: box.top + box.height / 2, bubbles: true, cancelable: true }));
    }
})"""


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = html_browser.start(sys.argv[1], folder)
        for page in sys.argv[2:]:
            best = None
            for _ in range(3):
                browser.open(page)
                opened = browser.run("performance.getEntriesByName('figure')[0].startTime")
                plain = browser.run(ZOOM)
                browser.run("""(() => { const search = document.querySelector('.figure .search');
                    search.value = 'e'; search.dispatchEvent(new Event('input')); })()""")
                found = opened, plain, browser.run(ZOOM)
                best = [min(pair) for pair in zip(best or found, found)]
            facts = browser.run("JSON.parse(document.querySelector('script.facts').textContent)")
            print(sum(vcpu["n"] for vcpu in facts["vcpus"]), *("%.1f" % value for value in best), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
