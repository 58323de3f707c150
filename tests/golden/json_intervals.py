#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Print the intervals of "top --format json", a line each, whether they come as one document or as JSON Lines.

Usage: json_intervals.py [--notes] FILE

With --notes, print the texts of all warnings instead, without the name of the trace.
"""
import json
import sys

text = open(sys.argv[-1]).read()
try:
    documents = [json.loads(text)]
except json.JSONDecodeError:
    documents = [json.loads(line) for line in text.splitlines()]
intervals = [interval for document in documents
             for interval in document.get("intervals", [document]) if "facts" in interval]
if sys.argv[1] == "--notes":
    for part in documents + intervals:
        for warning in part.get("warnings", []):
            print(warning["text"].split(": ", 1)[1])
    sys.exit()
for interval in intervals:
    print(json.dumps({key: interval[key] for key in ("from_ns", "to_ns", "facts")}))
