# SPDX-License-Identifier: LGPL-2.1-or-later
"""html_speed.py CHROMIUM PAGE...: how long pages of report --format html take to open, and to draw while they zoom.

Prints for each page the number of intervals, the ms until its figure is there, and twice the ms that drawing a step
of a zoom takes: first as the page is, then with a search that finds much. The zoom has 60 steps, in to a millionth of
the window and back; 95 % of the steps take as long as printed, or less. Each time, also that of a step, is the least
of three attempts: another process may have the CPU in one of them.
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
            done(times);
        });
    }
    function step() {
        canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: turn < 30 ? -300 : 300, clientX: box.left +
            box.width * 0.6, clientY: box.top + box.height / 2, bubbles: true, cancelable: true }));
    }
})"""

# When is the figure there? This runs before the page does.
WATCH = """new MutationObserver((changes, observer) => {
    if (!document.querySelector('.figure[data-ready]'))
        return;
    window.openedAfter = performance.now();
    observer.disconnect();
}).observe(document, { subtree: true, attributes: true, attributeFilter: ['data-ready'] })"""


def most(attempts):
    """The time that 95 % of the steps take at most."""
    steps = sorted(min(times) for times in zip(*attempts))
    return steps[int(len(steps) * 0.95)]


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = html_browser.start(sys.argv[1], folder)
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        for page in sys.argv[2:]:
            opened, plain, found = [], [], []
            for _ in range(3):
                browser.open(page)
                opened.append(browser.run("window.openedAfter"))
                plain.append(browser.run(ZOOM))
                browser.run("""(() => { const search = document.querySelector('.figure .search');
                    search.value = 'e'; search.dispatchEvent(new Event('input')); })()""")
                found.append(browser.run(ZOOM))
            facts = browser.run("JSON.parse(document.querySelector('script.facts').textContent)")
            print(sum(vcpu["n"] for vcpu in facts["vcpus"]), *("%.1f" % value for value in (min(opened), most(plain), most(found))), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
