#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names that want to do harm: make them, and look for them in outputs.

    hostile.py trace FROM TO        a trace.dat that is not compressed, with other names of tasks
    hostile.py sidecar TO           a domain's name
    hostile.py check KIND FILE [NAME...]    KIND: text, json, jsonl, csv, svg
"""
import csv
import io
import json
import re
import sys
import unicodedata
import xml.etree.ElementTree as tree

# The same length, so that nothing moves: colours, bidi, quotes; formulas; C1, no UTF-8, half an emoji.
TASKS = {
    b"qemu-system-x86": b"\x1b[31m=\xc3(\xe2\x80\xae\"<&,",
    b"ksoftirqd/1": b"=1+1\x07\xef\xbf\xbe\x7f\r!",
    b"kworker/2:1": b"\xc2\x9b2J\xff\xfe\xf0\x9f\x98\x80\xe2",
    b"rcu_preempt": b"@SUM(A1)\t\x01\\",
}
DOMAIN = (b'"\\u001b]0;title\\u0007\\r\\n=\\u202e\xc3\xa9<&>\\"\'\\\\ \xff \\ufffe\\u0085"')
DOMAIN_BYTES = "\x1b]0;title\x07\r\n=\u202e\u00e9<&>\"'\\ ".encode() + b"\xff " + \
    "\ufffe\u0085".encode()

NUMBER = re.compile(r"[+-](\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
failed = 0


def fail(what):
    global failed
    failed += 1
    print("hostile: %s" % what)


def escaped(name):
    """As people see it: what the manual page says of names."""
    out = []
    for char in name.decode("utf-8", "surrogateescape"):
        code = ord(char)
        if 0xdc80 <= code <= 0xdcff:
            out.append("\\x%02x" % (code - 0xdc00))
        elif char == "\\":
            out.append("\\\\")
        elif unicodedata.category(char) in ("Cc", "Cf", "Cn", "Zl", "Zp"):
            out.append("\\x%02x" % code if code < 0x80 else
                       "\\u%04x" % code if code < 0x10000 else "\\U%08x" % code)
        else:
            out.append(char)
    return "".join(out)


def check_plain(data, what):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        fail("%s: not UTF-8: %s" % (what, error))
        return ""
    bad = {c for c in text if c not in "\n\t" and
           unicodedata.category(c) in ("Cc", "Cf", "Cn", "Zl", "Zp")}
    if bad:
        fail("%s: has %s" % (what, ascii(sorted(bad))))
    return text


def strings(value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str):
        yield value


def check_json(text, names):
    there = set(strings(json.loads(text)))
    for name in names:
        wanted = name.decode("utf-8", "replace")
        # of bytes that are no UTF-8, decoders may make one replacement or several
        squeeze = re.compile("\ufffd+")
        if not any(squeeze.sub("?", wanted) in squeeze.sub("?", s) for s in there):
            fail("json: %s is not there" % ascii(wanted))


def check_csv(text, names):
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if any(len(row) != len(rows[0]) for row in rows):
        fail("csv: rows of %s cells" % {len(row) for row in rows})
    cells = {cell for row in rows for cell in row}
    for cell in cells:
        if cell[:1] in ("=", "@", "+", "-") and not NUMBER.match(cell):
            fail("csv: a formula: %s" % cell)
    back = {cell[1:] if cell.startswith("'") else cell for cell in cells}
    for name in names:
        if not any(escaped(name) in cell for cell in back):
            fail("csv: %s is not there" % escaped(name))


def check_svg(data, names):
    there = [text for element in tree.fromstring(data).iter()
             for text in (element.text or "", *element.attrib.values())]
    for name in names:
        if not any(escaped(name) in text for text in there):
            fail("svg: %s is not there" % escaped(name))


def check(kind, path, names):
    data = open(path, "rb").read()
    text = check_plain(data, kind)
    if kind == "json":
        check_json(text, names)
    elif kind == "jsonl":
        for line in text.splitlines():
            json.loads(line)
    elif kind == "csv":
        check_csv(text, names)
    elif kind == "svg":
        check_svg(data, names)
    else:
        for name in names:
            if escaped(name) not in text:
                fail("%s: %s is not there" % (path, escaped(name)))


def trace(source, target):
    data = open(source, "rb").read()
    for old, new in TASKS.items():
        assert len(old) == len(new) and old in data, old
        data = data.replace(old, new)
    open(target, "wb").write(data)


if sys.argv[1] == "trace":
    trace(*sys.argv[2:])
elif sys.argv[1] == "sidecar":
    with open(sys.argv[2], "wb") as out:
        out.write(b'{ "domains": [ { "id": 0, "name": %s }, { "id": 1, "name": %s } ] }\n' %
                  (DOMAIN, DOMAIN))
else:
    known = {"domain": DOMAIN_BYTES, "qemu": TASKS[b"qemu-system-x86"],
             "softirq": TASKS[b"ksoftirqd/1"], "worker": TASKS[b"kworker/2:1"],
             "rcu": TASKS[b"rcu_preempt"]}
    check(sys.argv[2], sys.argv[3], [known.get(name, name.encode("utf-8", "surrogateescape"))
                                     for name in sys.argv[4:]])
    sys.exit(failed > 0)
