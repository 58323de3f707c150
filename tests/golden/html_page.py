# SPDX-License-Identifier: LGPL-2.1-or-later
"""html_page.py PAGE REPORT.json [PAGES.json...]: a page of report --format html says what JSON says.

The page is parsed strictly: each element is closed, attributes and elements are of a fixed list, only the
script and the style of the Content Security Policy are there. The numbers of tables, and the sums of the
intervals inside the page, are those of JSON. PAGES.json are NAME=FILE: report --NAME --format json. Prints how
many numbers were compared."""

import base64
import hashlib
import html.parser
import json
import re
import sys
import zlib

VOID = {"meta", "br", "input"}
ELEMENTS = VOID | {"html", "head", "title", "style", "body", "header", "span", "label", "button", "main", "article",
                   "h1", "h2", "h3", "p", "section", "b", "ul", "li", "div", "table", "caption", "thead", "tbody",
                   "tr", "th", "td", "canvas", "details", "summary", "pre", "code", "script"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "type", "id", "placeholder", "scope",
              "data-n", "data-of", "data-vcpu", "data-from", "data-to", "disabled", "title", "aria-label", "role",
              "tabindex", "aria-hidden", "hidden", "inputmode", "aria-live"}
compared = 0


def fail(text):
    sys.exit(f"{sys.argv[1]}: {text}")


class Page(html.parser.HTMLParser):
    """Tables by id: rows of (text, number or None); scripts by class."""

    def __init__(self):
        super().__init__()
        self.open, self.tables, self.scripts, self.meta, self.said = [], {}, [], {}, []
        self.table = self.cell = None

    def handle_starttag(self, tag, attrs):
        if tag not in ELEMENTS:
            fail(f"element {tag}")
        for name, _ in attrs:
            if name not in ATTRIBUTES:
                fail(f"attribute {name} of {tag}")
        values = dict(attrs)
        if len(values) != len(attrs):
            fail(f"an attribute of {tag} comes twice")
        if "id" in values and values["id"] in self.tables:
            fail(f"id {values['id']} comes twice")
        if tag == "meta":
            self.meta[values.get("http-equiv") or values.get("name")] = values.get("content")
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.table = self.tables[values["id"]] = []
        elif tag == "tr":
            self.table.append([])
        elif tag in ("td", "th"):
            if tag == "th" and "scope" not in values:
                fail("a th without scope")
            self.cell = ["", values.get("data-n")]
            self.table[-1].append(self.cell)
        elif tag in ("script", "style"):
            self.scripts.append([tag, values.get("class"), values.get("type"), ""])

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            fail(f"</{tag}> ends nothing")
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            self.scripts[-1][3] += data
        elif self.cell is not None:
            self.cell[0] += data
        elif self.open and self.open[-1] in ("p", "b", "li", "summary", "code"):
            self.said.append(data)

    def handle_comment(self, data):
        fail("a comment")


def policy(page):
    """Only what is built in may be executed, and nothing is loaded."""
    rules = dict(rule.strip().split(" ", 1) for rule in page.meta["Content-Security-Policy"].split(";"))
    if rules["default-src"] != "'none'" or rules["base-uri"] != "'none'" or rules["form-action"] != "'none'":
        fail("the policy permits to load")
    if set(rules) != {"default-src", "base-uri", "form-action", "script-src", "style-src"}:
        fail(f"other rules: {rules}")
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        built_in = [text for kind, _, of, text in page.scripts if kind == tag and of is None]
        digest = base64.b64encode(hashlib.sha256(built_in[0].encode()).digest()).decode()
        if len(built_in) != 1 or rules[rule] != f"'sha256-{digest}'":
            fail(f"the policy does not permit the {tag}")


def same(what, one, other):
    global compared
    if one != other:
        fail(f"{what}: the page has {one}, JSON {other}")
    compared += 1


# --- tables ------------------------------------------------------------------------------------------------------

def rows(page, key, trace):
    """Rows of a table as dictionaries: numbers, or the text; none that is blank."""
    table = page.tables.get(f"t{trace}-{key}", [[]])
    titles = [text for text, _ in table[0]]
    for row in table[1:]:
        if len(row) != len(titles):
            fail(f"{key}: a row has {len(row)} cells")
        yield {title: int(number) if number is not None and re.fullmatch("-?[0-9]+", number) else text
               for title, (text, number) in zip(titles, row) if text}


def numbers_of(one):
    """A distribution or a stretch in JSON, as the columns of a table."""
    names = {"count": "count", "total_ns": "total", "mean_ns": "mean", "min_ns": "min", "p5_ns": "p5", "p50_ns": "p50",
             "p95_ns": "p95", "p99_ns": "p99", "max_ns": "max", "before": "before"}
    found = {names[key]: value for key, value in one.items() if key in names}
    if not found.get("before"):
        found.pop("before", None)
    return found


def check_states(page, report, trace):
    """Each vCPU's states, runs and waits, and each machine's states."""
    table = {}
    for key in ("state", "runs", "runnable", "machine-state", "machine_state"):
        for row in rows(page, key, trace):
            table[key, row.get("machine"), row.get("vCPU"), row.get("name")] = row
    for machine in report["machines"]:
        # names are escaped where a terminal or a browser would change them
        name = escaped(machine["machine"])
        for state, value in machine["states"].items():
            check_row(table.get(("machine_state", name, None, state)), value, (name, state))
        for vcpu in machine["vcpus"]:
            who = escaped(vcpu["vcpu"])
            for state, value in vcpu["states"].items():
                check_row(table.get(("state", name, who, state)), value, (who, state))
            for key in ("runs", "runnable"):
                check_row(table.get((key, name, who, None)), vcpu[key], (who, key))


def check_row(row, value, what):
    if row is None:
        fail(f"{what}: no row")
    if value is None or value.get("total_ns") is None:
        same(what, row.get("total"), "unknown")
        return
    for title, number in numbers_of(value).items():
        if number is not None:
            same((what, title), row.get(title, 0 if number == 0 else None), number)


def escaped(name):
    """As out_text() has it."""
    return "".join("\\\\" if c == "\\" else c if c.isprintable() else f"\\x{ord(c):02x}" if ord(c) < 128 else
                   f"\\u{ord(c):04x}" for c in name)


def check_summary(page, report, trace):
    """The table of vCPUs: steal and guest as in JSON, the most steal first."""
    vcpus = {escaped(vcpu["vcpu"]): vcpu for machine in report["machines"] for vcpu in machine["vcpus"]}
    table = list(rows(page, "vcpus", trace))
    same("vCPUs", sorted(row["vCPU"] for row in table), sorted(vcpus))
    for row in table:
        for title, state in (("steal", "preempted"), ("guest", "guest"), ("blocked", "blocked")):
            value = vcpus[row["vCPU"]]["states"][state]
            same((row["vCPU"], title), row.get(title),
                 value["total_ns"] if value and value["total_ns"] is not None else "unknown")


# --- the figure --------------------------------------------------------------------------------------------------

class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.number()
        return -(value >> 1) if value & 1 else value >> 1


def check_figure(page, report, trace):
    """The sums of the intervals inside are those of JSON, and those of all vCPUs fill the window."""
    facts = json.loads([text for _, name, _, text in page.scripts if name == "facts"][trace])
    packed = [text for _, name, _, text in page.scripts if name == "intervals"][trace]
    reader = Reader(zlib.decompress(base64.b64decode(packed), -15))
    vcpus = [vcpu for machine in report["machines"] for vcpu in machine["vcpus"]]
    same("vCPUs of the figure", [vcpu["shown"] for vcpu in facts["vcpus"]],
         [escaped(vcpu["vcpu"]) for vcpu in vcpus])
    same("window", int(facts["begin_ns"]), report["window_ns"][0])
    same("window", facts["length_ns"], report["window_ns"][1] - report["window_ns"][0])
    for shown, vcpu in zip(facts["vcpus"], vcpus):
        n = shown["n"]
        states = reader.data[reader.at:reader.at + n]
        reader.at += n
        lengths = [reader.number() for _ in range(n)]
        pcpus = [reader.signed() for _ in range(n)]
        details = [reader.number() for _ in range(n)]
        if details and max(details) >= len(facts["details"]):
            fail("a detail that does not exist")
        del pcpus
        sums = [0] * len(facts["states"])
        for state, length in zip(states, lengths):
            if state != 15:
                sums[state] += length
                continue
            mask = reader.number()
            parts = {i: reader.number() for i in range(len(sums)) if mask >> i & 1}
            same("parts of a mixed interval", sum(parts.values()), length)
            for i, ns in parts.items():
                sums[i] += ns
        same("all states", sum(sums), facts["length_ns"])
        for state, ns in zip(facts["states"], sums):
            value = vcpu["states"][state["name"]]
            known = value is not None and value["total_ns"] is not None
            same(("known", state["name"]), state["known"], known)
            if known:
                same((vcpu["vcpu"], state["name"]), ns, value["total_ns"])
    same("bytes", reader.at, len(reader.data))


# --- other pages -------------------------------------------------------------------------------------------------

def check_page(page, name, report, trace):
    """Each number of rows that JSON has is in the page's tables of that name, as often."""
    have = {}
    for key in page.tables:
        if key.startswith(f"t{trace}-{name}-"):
            for row in rows(page, key[len(f"t{trace}-"):], trace):
                for value in row.values():
                    if isinstance(value, int):
                        have[value] = have.get(value, 0) + 1
    wanted = 0
    for groups in ("machines", "vcpus", "pcpus"):
        for group in report.get(groups) or []:
            for kind in ("migrations", "threads", "handlers", "causes", "exits", "reasons"):
                for row in group.get(kind) or []:
                    for key in ("count", "total_ns"):
                        if isinstance(row.get(key), int):
                            same((name, kind, key), row[key] in have, True)
                            wanted += 1
    return wanted


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    page = Page()
    page.feed(text)
    page.close()
    if page.open:
        fail(f"not closed: {page.open}")
    policy(page)
    # no permitted attribute loads anything
    if any(re.search(r"@import|url\(", content) for tag, _, _, content in page.scripts if tag == "style"):
        fail("the style loads something")
    document = json.load(open(sys.argv[2], encoding="utf-8"))
    for trace, report in enumerate(document.get("reports", [document])):
        check_states(page, report, trace)
        check_summary(page, report, trace)
        check_figure(page, report, trace)
    for argument in sys.argv[3:]:
        name, path = argument.split("=", 1)
        check_page(page, name, json.load(open(path, encoding="utf-8")), 0)
    print(compared)


if __name__ == "__main__":
    main()
