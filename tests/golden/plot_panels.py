# SPDX-License-Identifier: LGPL-2.1-or-later
"""plot_panels.py FIGURE.svg TABLE.csv one|part|metric: are the bars of compare --plot --panels those of its CSV?

A bar is as high as its value on the axis of its panel, whose ticks are read as they are drawn; an interval, too. Each
value of the table has a bar, in the panel of its metric or of its metric's first part, and no other bar is there.
Panels do not overlap. Prints how many bars there are."""

import collections
import csv
import math
import re
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


def fail(*words):
    sys.exit("plot_panels.py: " + " ".join(map(str, words)))


def parts(element, name):
    return [child for child in element if child.get("class") == name]


def scale_of(panel):
    """The function from a height in the figure to a value, by the first and the last tick."""
    [axis] = parts(panel, "axis")
    ticks = [(float(tick.get("y")), float(tick.text.split(" ")[0])) for tick in parts(axis, "tick")]
    [base] = parts(axis, "base")
    bottom = float(re.match(r"M[-.\d]+ ([-.\d]+)h", base.get("d"))[1])
    (low_y, low), (high_y, high) = ticks[0], ticks[-1]
    zero_y = low_y + (0 - low) * (high_y - low_y) / (high - low)
    per_pixel = (high - low) / (high_y - low_y)
    return lambda y: (y - bottom) * per_pixel, abs(per_pixel), zero_y - bottom


def heights(path):
    """The heights that a path of "M x y", "v dy" and "h dx" has."""
    found, y = [], 0.0
    for kind, one, other in re.findall(r"([Mvh])([-.\d]+)(?: ([-.\d]+))?", path):
        y = float(other) if kind == "M" else y + float(one) if kind == "v" else y
        found.append(y)
    return found


def bars_of(figure, how):
    """(panel, group, run): value, low, high, and what a pixel is."""
    panels, found, places = parts(figure, "panel") or [figure], {}, []
    for panel in panels:
        to_value, pixel, shift = scale_of(panel)
        if not 3 < shift < 5:
            fail("the base is not at 0")
        [grid] = parts(parts(panel, "axis")[0], "grid")
        left, width = map(float, re.match(r"M([-.\d]+) [-.\d]+h([-.\d]+)", grid.get("d")).groups())
        ys = [float(y) for y in re.findall(r"M[-.\d]+ ([-.\d]+)h", grid.get("d"))]
        for other in places:
            if left < other[1] and other[0] < left + width and min(ys) < other[3] and other[2] < max(ys):
                fail("panels overlap")
        places.append((left, left + width, min(ys), max(ys)))
        for group in parts(panel, "group"):
            for bar in parts(group, "bar"):
                [value] = parts(bar, "value")
                ends = [to_value(y) for interval in parts(bar, "interval") for y in heights(interval.get("d"))]
                top = heights(value.get("d"))
                key = panel.get("data-name"), group.get("data-name"), bar.get("data-name")
                if key in found:
                    fail(key, "is there twice")
                found[key] = to_value(min(top) if min(top) < max(top) - 1e-9 else top[0]), ends, pixel
    if how != "one" and len(panels) < 2:
        fail("there is one panel only")
    return found


def wanted_of(rows, how):
    values = {(row["metric"], row["statistic"], row["run"]): [float(row[key]) if row[key] else None
              for key in ("value", "low", "high")] for row in rows}
    baseline = rows[0]["run"]
    judged = rows[0]["statistic"]
    percent = how == "part" or how == "one" and len({row["metric"] for row in rows}) > 1
    wanted, kinds = {}, {row["statistic"] for row in rows}
    for (metric, kind, run), numbers in values.items():
        if numbers[0] is None or percent and kind != judged or kind == "stddev" and len(kinds) > 1:
            continue
        if percent:
            base = values[metric, kind, baseline][0]
            if not base:
                continue
            numbers = [None if number is None else 100 * number / base for number in numbers]
        part, point, rest = metric.partition(".")
        if how == "part":
            key = (part, rest) if point and rest else ("", metric)
        else:
            key = (metric if how == "metric" else None, metric if percent else kind)
        wanted[(*key, run)] = numbers
    return wanted


def main():
    figure, table, how = sys.argv[1:]
    with open(table, newline="", encoding="utf-8") as file:
        wanted = wanted_of(list(csv.DictReader(file)), how)
    found = bars_of(ET.parse(figure).getroot(), how)
    if set(found) != set(wanted):
        fail("bars and values differ:", sorted(map(str, set(found) ^ set(wanted)))[:4])
    for key, (value, ends, pixel) in found.items():
        number, low, high = wanted[key]
        if abs(value - number) > 0.05 * pixel:
            fail(key, "is", value, "and should be", number)
        if bool(ends) != (low is not None and high is not None and math.isfinite(low) and math.isfinite(high)):
            fail(key, "has an interval, or lacks it")
        if ends and (abs(min(ends) - low) > 0.1 * pixel or abs(max(ends) - high) > 0.1 * pixel):
            fail(key, "has the interval", min(ends), max(ends), "and should have", low, high)
    if collections.Counter(key[0] for key in found) != collections.Counter(key[0] for key in wanted):
        fail("panels")
    print(len(found))


if __name__ == "__main__":
    main()
