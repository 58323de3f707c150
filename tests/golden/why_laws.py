# SPDX-License-Identifier: LGPL-2.1-or-later
"""What "why" says as JSON obeys its laws, and as text it says the same.

usage: why_laws.py ANSWERS.json ANSWERS.text [RECORDS.csv]
       why_laws.py --share LEAST ANSWERS.json
       why_laws.py --figure FIGURE.svg ANSWERS.json

RECORDS.csv is what "dump" writes of the same trace: its records are at the ends of the segments that
they are evidence for. With --share, the mean share of the windows that is explained is printed,
and must be LEAST at least. With --figure, each segment that can be seen is in the figure, in the lane of
its level, from where to where it belongs.
"""
import csv
import re
import sys
import xml.etree.ElementTree as ET

from json_documents import documents

MOST_BELOW = 12
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def check_laws(segments, window, fill):
    """Below a segment lies what is within it, in order; the uppermost fill the window."""
    at = window[0]
    for segment in segments:
        assert at <= segment["from_ns"] < segment["to_ns"] <= window[1], segment
        assert not fill or segment["from_ns"] == at, segment
        assert segment["kind"] != "unexplained" or not segment["segments"]
        at = segment["to_ns"]
        check_laws(segment["segments"], (segment["from_ns"], segment["to_ns"]), False)
    assert not fill or at == window[1]


def all_of(segments):
    for segment in segments:
        yield segment
        yield from all_of(segment["segments"])


def unexplained(segments):
    return sum(s["to_ns"] - s["from_ns"] for s in all_of(segments) if s["kind"] == "unexplained")


def check_evidence(answer, times):
    for segment in all_of(answer["segments"]):
        for number in segment["evidence"]:
            assert times[number] in (segment["from_ns"], segment["to_ns"]), segment


def ns_of(number, unit):
    whole, _, fraction = number.partition(".")
    return int(whole) * UNITS[unit] + int((fraction + "0" * 9)[:9]) * UNITS[unit] // 10**9


LINE = re.compile(r" *(-?\d+)\.(\d{9}) +([\d.]+) (s|ms|us|ns)  ( *)(.*)$")


def text_lines(path):
    """Per answer: from, length, level, what."""
    answers = []
    for line in open(path):
        match = LINE.match(line)
        if not match:
            if "from [s]" in line:
                answers.append([])
            continue
        seconds, fraction, number, unit, blanks, what = match.groups()
        answers[-1].append((int(seconds) * 10**9 + int(fraction), ns_of(number, unit),
                            len(blanks) // 2, what))
    return answers


def wanted_lines(segments, level):
    """What text has of a level: the longest ones, and the rest together."""
    shown = sorted(range(len(segments)),
                   key=lambda i: (segments[i]["from_ns"] - segments[i]["to_ns"], i))
    shown = set(shown if level == 0 else shown[:MOST_BELOW])
    for i, segment in enumerate(segments):
        if i in shown:
            yield segment["from_ns"], segment["to_ns"] - segment["from_ns"], level, segment
            yield from wanted_lines(segment["segments"], level + 1)
    rest = [segment for i, segment in enumerate(segments) if i not in shown]
    if rest:
        yield (rest[0]["from_ns"], sum(s["to_ns"] - s["from_ns"] for s in rest), level,
               "%d more" % len(rest))


def check_text(answer, lines):
    *lines, last = lines
    window = answer["window_ns"]
    assert last[:3] == (window[0], window[1] - window[0], 0)
    assert ns_of(*re.fullmatch(r"in all, (\S+) (\S+) of it unexplained", last[3]).groups()) == \
        answer["unexplained_ns"]
    wanted = list(wanted_lines(answer["segments"], 0))
    assert len(lines) == len(wanted), (len(lines), len(wanted))
    for line, want in zip(lines, wanted):
        assert line[:3] == want[:3], (line, want)
        if isinstance(want[3], str):
            assert line[3].startswith(want[3])
            continue
        numbers = re.findall(r" #(\d+)", line[3])
        assert [int(number) for number in numbers] == want[3]["evidence"], (line, want)
        if "who" in want[3]:
            assert want[3]["who"] in line[3], (line, want)


def share_of(answers):
    shares = [1 - a["unexplained_ns"] / (a["window_ns"][1] - a["window_ns"][0]) for a in answers]
    return 100 * sum(shares) / len(shares)


SVG = "{http://www.w3.org/2000/svg}"


def figure_stages(path):
    """By lane: [(left, right, title, hatched)]"""
    lanes = []
    for lane in ET.parse(path).getroot().iter(SVG + "g"):
        if lane.get("class") != "lane":
            continue
        lanes.append([])
        for stage in lane.iter(SVG + "g"):
            if stage.get("class") == "stage":
                shape = stage.find(SVG + "path")
                x, _, width = re.match(r"M([\d.]+) ([\d.]+)v-?[\d.]+h([\d.]+)", shape.get("d")).groups()
                lanes[-1].append((float(x), float(x) + float(width), stage.find(SVG + "title").text,
                                  shape.get("class") == "no-end"))
    return lanes


def levels_of(segments, level=0):
    for segment in segments:
        yield level, segment
        yield from levels_of(segment["segments"], level + 1)


def check_figure(answer, lanes):
    """Return: how many segments have been found."""
    begin, end = answer["window_ns"]
    left, right = lanes[0][0][0], lanes[0][-1][1]
    found = 0
    for level, segment in levels_of(answer["segments"]):
        edges = [left + (ns - begin) * (right - left) / (end - begin)
                 for ns in (segment["from_ns"], segment["to_ns"])]
        if edges[1] - edges[0] < 2:
            continue
        there = [stage for stage in lanes[level]
                 if abs(stage[0] - edges[0]) < 0.1 and abs(stage[1] - edges[1]) < 0.1]
        assert len(there) == 1, (segment, edges, lanes[level])
        number, unit = there[0][2].rsplit(": ", 1)[1].split()
        assert ns_of(number, unit) == segment["to_ns"] - segment["from_ns"], (segment, there)
        assert there[0][3] == (segment["kind"] == "unexplained"), (segment, there)
        assert segment.get("who", "") in there[0][2], (segment, there)
        found += 1
    return found


def main(argv):
    if argv[0] == "--figure":
        answer, = documents(argv[2])
        print(check_figure(answer, figure_stages(argv[1])))
        return 0
    if argv[0] == "--share":
        share = share_of(list(documents(argv[2])))
        print("%6.2f %%" % share)
        return share < float(argv[1])
    answers, texts = list(documents(argv[0])), text_lines(argv[1])
    times = [int(row["time_ns"]) for row in csv.DictReader(open(argv[2]))] if argv[2:] else []
    assert answers and len(answers) == len(texts), (len(answers), len(texts))
    for answer, lines in zip(answers, texts):
        check_laws(answer["segments"], answer["window_ns"], True)
        assert answer["unexplained_ns"] == unexplained(answer["segments"])
        check_text(answer, lines)
        if times:
            check_evidence(answer, times)
    if times:
        assert any(s["evidence"] for a in answers for s in all_of(a["segments"]))
    return 0


sys.exit(main(sys.argv[1:]))
