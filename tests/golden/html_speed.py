# SPDX-License-Identifier: LGPL-2.1-or-later
"""html_speed.py CHROMIUM LARGE SMALL OPENS DRAWS SEARCHES: how much longer a page with more intervals takes.

Both are pages of report --format html. Prints the intervals of the large one, and three ratios: of the time until its
figure is there, and twice of the time that drawing a step of a zoom takes: first as the page is, then with a search
that finds much. The zoom has 60 steps, in to a millionth of the window and back; the time is that of 95 % of them.

The pages are opened in turns. Each time, also that of a step, is the least of all rounds: another process may have
the CPU in one of them. There are three rounds, and more of them until no ratio is above its limit, up to 20.
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


class Page:
    def __init__(self, path):
        self.path = path
        self.opened, self.plain, self.found = [], [], []
        self.intervals = 0

    def measure(self, browser):
        browser.open(self.path)
        self.opened.append(browser.run("window.openedAfter"))
        self.plain.append(browser.run(ZOOM))
        browser.run("""(() => { const search = document.querySelector('.figure .search');
            search.value = 'e'; search.dispatchEvent(new Event('input')); })()""")
        self.found.append(browser.run(ZOOM))
        facts = browser.run("JSON.parse(document.querySelector('script.facts').textContent)")
        self.intervals = sum(vcpu["n"] for vcpu in facts["vcpus"])

    def times(self):
        return min(self.opened), most(self.plain), most(self.found)


def main():
    limits = [float(limit) for limit in sys.argv[4:]]
    large, small = (Page(path) for path in sys.argv[2:4])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = html_browser.start(sys.argv[1], folder)
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        for turn in range(20):
            large.measure(browser)
            small.measure(browser)
            ratios = [a / b for a, b in zip(large.times(), small.times())]
            if turn >= 2 and all(ratio <= limit for ratio, limit in zip(ratios, limits)):
                break
        browser.close()
    print(large.intervals, *("%.2f" % ratio for ratio in ratios))


if __name__ == "__main__":
    main()
