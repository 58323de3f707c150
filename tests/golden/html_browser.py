# SPDX-License-Identifier: LGPL-2.1-or-later
"""html_browser.py CHROMIUM KSHARK-VIRT TRACE PAGE [HOSTILE-PAGE...]: use a page of report --format html.

Opens PAGE, which is about TRACE, in a headless Chromium over its pipe for debuggers. After each click, the sums
in the page are those of report --format json about the same window. Nothing may be an error on the console, and
nothing may be loaded. Prints what was checked."""

import csv
import glob
import json
import os
import re
import select
import shlex
import subprocess
import sys
import tempfile
import time

PATIENCE = 120  # seconds without an answer


class Browser:
    """Commands and events as JSON, each ended by a NUL, on the descriptors 3 and 4."""

    def __init__(self, program, folder):
        to_it, self.write_to = os.pipe()
        self.read_from, from_it = os.pipe()
        # as a shell does: the program finds its ends at 3 and 4
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_it} 4>&{from_it}', "bash", program, "--headless", "--no-sandbox",
             "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--disable-extensions",
             "--disable-dev-shm-usage", f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(to_it, from_it), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_it)
        os.close(from_it)
        self.number, self.rest, self.session, self.events = 0, b"", None, []

    def receive(self):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.read_from], [], [], PATIENCE)
            data = os.read(self.read_from, 1 << 16) if ready else b""
            if not data:
                sys.exit("the browser does not answer")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def run(self, script):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            sys.exit(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, script):
        end = time.monotonic() + PATIENCE
        while not self.run(script):
            if time.monotonic() > end:
                sys.exit(f"never true: {script}; events: {self.events[-5:]}")
            time.sleep(0.05)

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url="file://" + path)
        self.wait("document.querySelector('.figure') && "
                  "document.querySelector('.figure').dataset.ready === 'yes' && "
                  "document.querySelector('.view').dataset.to !== undefined")

    def key(self, key):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **({"text": key} if len(key) == 1 else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def complaints(self, path):
        """Errors, dialogs, and requests of all kinds but for the page itself."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded",
                          "Page.javascriptDialogOpening"):
                found.append(json.dumps(parameters)[:300])
            if method == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if not url.startswith(("blob:", "data:")) and parameters.get("type") != "Document":
                    found.append(url)
        return found

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(timeout=PATIENCE)


checked = []


def check(what, one, other=True):
    if one != other:
        sys.exit(f"{what}: {one!r}, not {other!r}")
    checked.append(what)


# --- sums from A to B --------------------------------------------------------------------------------------------

SUMS = """Array.from(document.querySelectorAll('.sums-table tbody tr')).map((row) =>
    Array.from(row.cells).map((cell) => cell.dataset.n === undefined ? cell.textContent : Number(cell.dataset.n)))"""
TITLES = """Array.from(document.querySelectorAll('.sums-table thead th')).map((cell) => cell.textContent)"""


def check_sums(browser, command, trace, what):
    """The table from A to B, against a report about that window."""
    ends = [browser.run(f"document.querySelector('.figure .{end}').value") for end in "ab"]
    report = json.loads(subprocess.run([command, "report", "-q", "-f", "json", "--from", ends[0], "--to", ends[1], trace],
                                       stdout=subprocess.PIPE, check=True).stdout)
    vcpus = {vcpu["vcpu"]: vcpu for machine in report["machines"] for vcpu in machine["vcpus"]}
    titles, rows = browser.run(TITLES), browser.run(SUMS)
    all_row = rows.pop() if len(vcpus) > 1 else None
    check(f"{what}: vCPUs", [row[0] for row in rows], list(vcpus))
    for row in rows:
        for title, ns in list(zip(titles, row))[1:]:
            value = vcpus[row[0]]["states"][title.split("+")[0]]
            total = value and value["total_ns"]
            check(f"{what}: {row[0]} {title} {ends}", ns, "unknown" if total is None else total)
    if all_row:
        for i, ns in enumerate(all_row[1:], 1):
            if ns != "unknown":
                check(f"{what}: all {titles[i]}", ns, sum(row[i] for row in rows))


def select_window(browser, first, last):
    browser.run(f"""(() => {{ const figure = document.querySelector('.figure');
        figure.querySelector('.a').value = '{first}'; figure.querySelector('.b').value = '{last}';
        figure.querySelector('button.sum').click(); }})()""")


def at(facts, part):
    ns = int(facts["begin_ns"]) + int(facts["length_ns"] * part)
    return f"{ns // 10 ** 9}.{ns % 10 ** 9:09d}"


# --- parts of the page -------------------------------------------------------------------------------------------

def check_moment(browser, command, trace):
    """One click on a moment shows and selects it."""
    moment = browser.run("""(() => { const button = document.querySelector('table[id$=worst] button.show');
        if (!button) return null;
        button.click(); return { ...button.dataset }; })()""")
    if not moment:
        return
    browser.wait(f"Number(document.querySelector('.view').dataset.to) < {int(moment['to'])} + "
                 f"Math.max({int(moment['to']) - int(moment['from'])}, 200) + 2")
    check("the moment is visible", browser.run("Number(document.querySelector('.view').dataset.from)")
          <= int(moment["from"]))
    check_sums(browser, command, trace, "moment")
    check("the moment is described", len(browser.run("document.querySelector('.detail').textContent")) > 10)


def check_tables(browser):
    order = """Array.from(document.querySelectorAll('#t0-state tbody tr')).map((row) => {
        const cells = Array.from(row.cells).filter((cell) => cell.dataset.n !== undefined);
        return cells.length > 1 ? Number(cells[1].dataset.n) : null; })"""
    browser.run("""(() => { for (const head of document.querySelectorAll('#t0-state thead th'))
        if (head.textContent === 'total') head.firstChild.click(); })()""")
    values = browser.run(order)
    known = [value for value in values if value is not None]
    check("sorted, largest first", known, sorted(known, reverse=True))
    check("unknown ones come last", values[:len(known)], known)
    check("the order is announced", browser.run("document.querySelectorAll('#t0-state [aria-sort=descending]').length"), 1)
    name = browser.run("document.querySelector('#t0-vcpus tbody th').textContent")
    browser.run(f"""(() => {{ const input = document.getElementById('filter'); input.value = {json.dumps(name)};
        input.dispatchEvent(new Event('input')); }})()""")
    check("filter", browser.run(f"""Array.from(document.querySelectorAll('table.data tbody tr')).every((row) =>
        row.hidden !== row.textContent.toLowerCase().includes({json.dumps(name.lower())}))"""))
    browser.run("""(() => { const input = document.getElementById('filter'); input.value = '';
        input.dispatchEvent(new Event('input')); })()""")
    check("all rows again", browser.run("document.querySelectorAll('table.data tr[hidden]').length"), 0)
    check("each table has a caption and titles", browser.run("""Array.from(document.querySelectorAll('table')).every((table) =>
        table.caption && table.caption.textContent && table.tHead && table.tHead.querySelector('th[scope=col]'))"""))


def check_keys(browser):
    span = "Number(document.querySelector('.view').dataset.to) - Number(document.querySelector('.view').dataset.from)"
    browser.run("document.querySelector('canvas').focus()")
    browser.key("0")
    browser.wait(f"{span} === JSON.parse(document.querySelector('script.facts').textContent).length_ns")
    whole = browser.run(span)
    browser.key("+")
    browser.wait(f"Math.abs({span} - {whole} / 2) < 2")
    before = browser.run("Number(document.querySelector('.view').dataset.from)")
    browser.key("ArrowRight")
    browser.wait(f"Number(document.querySelector('.view').dataset.from) > {before}")
    browser.key("0")
    browser.wait(f"{span} === {whole}")
    check("keys zoom and move", True)
    box = browser.run("(() => { const box = document.querySelector('canvas').getBoundingClientRect(); "
                      "return [box.left + box.width / 2, box.top + 30]; })()")
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=box[0], y=box[1], deltaX=0, deltaY=-300)
    browser.wait(f"{span} < {whole}")
    check("the wheel zooms", True)
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)
    check("a click describes an interval", " from " in browser.run("document.querySelector('.detail').textContent"))
    browser.key("0")


def check_search(browser, command, trace):
    """As many intervals match as export has."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([command, "export", "-q", "-f", "csv-tables", "-o", folder + "/tables", trace], check=True)
        path, = glob.glob(folder + "/tables/*interval*")
        with open(path, encoding="utf-8", newline="") as file:
            details = [row["detail"] for row in csv.DictReader(file)]
    names = sorted(set(details) - {""})
    if not names:
        return
    name = names[0]
    browser.run(f"""(() => {{ const input = document.querySelector('.search'); input.value = {json.dumps(name)};
        input.dispatchEvent(new Event('input')); }})()""")
    said = browser.run("document.querySelector('.matches').textContent")
    n = sum(name.lower() in detail.lower() for detail in details)
    check(f"search for {name}", int(re.search(r"(\d+) interval", said)[1]), n)
    browser.run("document.querySelector('button.next').click()")
    check("next", name.lower() in browser.run("document.querySelector('.detail').textContent").lower())


CONTRAST = """(() => {
    const parts = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = (color) => { const [r, g, b] = parts(color).map((part) => { part /= 255;
        return part <= 0.03928 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4); });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const back = (element) => { for (; element; element = element.parentElement) {
        const color = getComputedStyle(element).backgroundColor;
        if (parts(color).length === 3 || parts(color)[3] > 0) return color; } return 'rgb(255, 255, 255)'; };
    let least = 21;
    for (const element of document.querySelectorAll('body *')) {
        if (element.disabled || !Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.data.trim()) ||
            ['SCRIPT', 'STYLE'].includes(element.tagName)) continue;
        const one = light(getComputedStyle(element).color), other = light(back(element));
        least = Math.min(least, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05));
    }
    for (const input of document.querySelectorAll('input[placeholder]')) {
        const one = light(getComputedStyle(input, '::placeholder').color), other = light(back(input));
        least = Math.min(least, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05));
    }
    return least; })()"""


def check_copies(browser, command, page):
    """What the buttons copy are commands that give the same page, and a report of the window."""
    browser.run("""Object.defineProperty(navigator, 'clipboard', { value: { writeText: (text) => {
        window.copied = text; return Promise.resolve(); } } })""")

    def output(button, *more):
        browser.run(f"document.querySelector('{button}').click()")
        words = shlex.split(browser.run("window.copied"))
        check(f"{button} copies a command", words[:2], ["kshark-virt", "report"])
        return subprocess.run([command, *words[1:], *more], stdout=subprocess.PIPE, check=True).stdout

    with open(page, "rb") as file:
        before = file.read()
    os.unlink(page)
    output(".made button.copy")
    with open(page, "rb") as file:
        check("the command makes the same page", file.read() == before)
    ends = [browser.run(f"document.querySelector('.figure .{end}').value") for end in "ab"]
    report = json.loads(output("button.copy-window", "-q", "-f", "json"))
    check("the command is about the window", [f"{ns // 10 ** 9}.{ns % 10 ** 9:09d}" for ns in report["window_ns"]], ends)


def check_touch(browser):
    """Two fingers that part zoom; one finger moves."""
    span = "Number(document.querySelector('.view').dataset.to) - Number(document.querySelector('.view').dataset.from)"
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    x, y = browser.run("""(() => { const canvas = document.querySelector('canvas'); canvas.scrollIntoView({ block: 'center' });
        const box = canvas.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; })()""")
    before = browser.run(span)

    def touch(kind, *places):
        browser.call("Input.dispatchTouchEvent", type=kind,
                     touchPoints=[{"x": place, "y": y, "id": i} for i, place in enumerate(places)])

    touch("touchStart", x - 20)
    touch("touchStart", x - 20, x + 20)
    for part in (30, 40, 60):
        touch("touchMove", x - part, x + part)
    touch("touchEnd")
    browser.wait(f"{span} < {before} / 2")
    first = browser.run("Number(document.querySelector('.view').dataset.from)")
    touch("touchStart", x)
    for part in (10, 30, 60):
        touch("touchMove", x - part)
    touch("touchEnd")
    browser.wait(f"Number(document.querySelector('.view').dataset.from) > {first}")
    check("fingers zoom and move", True)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=False)


def check_looks(browser):
    for theme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        check(f"contrast, {theme}", browser.run(CONTRAST) >= 4.5)
    before = browser.run("getComputedStyle(document.documentElement).backgroundColor")
    browser.run("document.getElementById('theme').click()")
    check("the button changes the theme",
          browser.run("getComputedStyle(document.documentElement).backgroundColor") != before)
    check("contrast after that", browser.run(CONTRAST) >= 4.5)
    browser.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=2, mobile=True)
    check("a phone need not scroll sideways", browser.run("document.documentElement.scrollWidth") <= 390)
    check_touch(browser)
    browser.call("Emulation.clearDeviceMetricsOverride")
    check("the figure is drawn", browser.run("""(() => { const canvas = document.querySelector('canvas');
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const colors = new Set(); for (let i = 0; i < data.length; i += 4)
            colors.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]); return colors.size; })()""") > 3)


def start(program, folder):
    """A browser with one empty page, whose events are reported."""
    browser = Browser(program, folder)
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(domain + ".enable")
    return browser


def main():
    program, command, trace, page, *hostile = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        browser = start(program, folder)
        browser.open(page)
        facts = browser.run("JSON.parse(document.querySelector('script.facts').textContent)")
        for first, last in ((0, 1), (0.1, 0.7), (0.33, 0.330001)):
            select_window(browser, at(facts, first), at(facts, last))
            check_sums(browser, command, trace, "window")
        check_moment(browser, command, trace)
        check_copies(browser, command, page)
        check_tables(browser)
        check_keys(browser)
        check_search(browser, command, trace)
        tree = browser.run("""(() => { const details = document.querySelector('.why details');
            if (!details) return true; details.querySelector('summary').click(); return details.open; })()""")
        check("a tree unfolds", tree)
        check_looks(browser)
        check("complaints", browser.complaints(page), [])
        for path in hostile:
            browser.open(path)
            check("one script, no image", browser.run("""[document.querySelectorAll('script:not([type])').length,
                document.querySelectorAll('img, svg, iframe, object, embed, link, a').length]"""), [1, 0])
            browser.run("document.querySelector('button.sum').click()")
            check(f"complaints of {path}", browser.complaints(path), [])
        browser.close()
    print(len(checked))


if __name__ == "__main__":
    main()
