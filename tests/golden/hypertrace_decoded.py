# SPDX-License-Identifier: LGPL-2.1-or-later
"""hypertrace_decoded.py DUMP HYPERTRACE.PY TRACE: does our dump (JSON) decode switches and entries of functions,
call by call, like the script that decodes them without us? Prints how many calls there are."""
import json
import sys

scope = {"__name__": "hypertrace"}
exec(open(sys.argv[2]).read().split("# CPUs of the guest: ")[0], scope)
reported, counts, _ = scope["reported"](sys.argv[3])
ours = {}
for call in map(json.loads, open(sys.argv[1])):
    f = call.get("fields", {})
    if call.get("kind") == "switch":
        ours.setdefault(call["vcpu"], []).append((f["prev_pid"], f["prev_state"], f["pid"], f["prio"]))
    elif call["event"] == "function_entry":
        ours.setdefault(call["vcpu"], []).append(f["address"])
assert reported, "nothing is reported"
for cpu, events in reported.items():
    wanted = [e[0] if len(e) == 1 else (e[0], e[2], e[3], e[4]) for _, e in events]
    assert wanted == ours[cpu], (cpu, len(wanted), len(ours[cpu]))
assert not counts["missing"], counts
print(counts["calls"], "calls")
