# SPDX-License-Identifier: LGPL-2.1-or-later
"""A trace for Perfetto, decoded by protoc, checked against the rules of its importer, as tables of SQLite.

The tables and columns have the names of trace_processor's: machine, cpu, thread, process, sched, thread_state,
ftrace_event, track, slice, state, counter, flow, args, clock_snapshot; extract_arg() is there, too. The rules are
those of src/trace_processor/importers in github.com/google/perfetto at commit ec5d16b1; the headers of export_ftrace.c
and export_perfetto.c name the files. What breaks a rule ends the test.
"""
import collections
import gc
import os
import re
import sqlite3
import subprocess
import sys

BOOTTIME = 6
CLEARED, NEEDED = 1, 2
CPUS_PER_MACHINE = 4096
TYPES = {"SLICE_BEGIN": "slice", "SLICE_END": "slice", "INSTANT": "slice", "COUNTER": "counter", "STATE": "state"}
# of sched_switch: from Linux 4.14 on
STATES = ((1, "S"), (2, "D"), (4, "T"), (8, "t"), (16, "X"), (32, "Z"), (64, "P"), (128, "I"))
GENERIC_STATES = {"RUNNABLE": "R", "RUNNING": "Running", "INTERRUPTIBLE_SLEEP": "S", "STOPPED": "T", "DESTROYED": "X"}
SCHEMA = """
CREATE TABLE machine(id INTEGER PRIMARY KEY, raw_id, name, sysname, release, arch);
CREATE TABLE cpu(ucpu INTEGER PRIMARY KEY, cpu, machine_id);
CREATE TABLE process(upid INTEGER PRIMARY KEY, pid, name, machine_id);
CREATE TABLE thread(utid INTEGER PRIMARY KEY, tid, name, upid, machine_id);
CREATE TABLE sched(ts, dur, ucpu, cpu, utid, end_state, priority);
CREATE TABLE thread_state(ts, dur, utid, state, ucpu, waker_utid);
CREATE TABLE ftrace_event(ts, name, utid, ucpu, arg_set_id);
CREATE TABLE track(id INTEGER PRIMARY KEY, name, parent_id);
CREATE TABLE slice(id INTEGER PRIMARY KEY, ts, dur, track_id, name, arg_set_id);
CREATE TABLE state(ts, dur, track_id, value, arg_set_id);
CREATE TABLE counter(ts, value, track_id);
CREATE TABLE flow(slice_out, slice_in);
CREATE TABLE args(arg_set_id, key, int_value, string_value);
CREATE TABLE clock_snapshot(ts, clock_id, clock_value, machine_id);
"""


def wrong(text, *args):
    sys.exit("Perfetto's trace: " + text % args)


def need(is_so, text, *args):
    if not is_so:
        wrong(text, *args)


def unquoted(text):
    if text[:1] != '"':
        return text
    if "\\" not in text:
        return text[1:-1]
    return re.sub(r"\\(\d{3}|.)", lambda at: chr(int(at[1], 8)) if at[1].isdigit() else
                  {"n": "\n", "t": "\t", "r": "\r"}.get(at[1], at[1]), text[1:-1])


def packets(path):
    """Each packet as nested lists of (field, value)."""
    proto = os.path.join(os.environ["KSV_SOURCE_DIR"], "tools", "export")
    with open(path, "rb") as trace, subprocess.Popen(
            ["protoc", "--decode=ksv.Trace", "-I" + proto, "perfetto.proto"], stdin=trace,
            stdout=subprocess.PIPE, text=True) as decoder:
        stack, top = [], []
        for line in decoder.stdout:
            line = line.strip()
            if line == "}":
                done, top = top, stack.pop()
                if not stack:
                    yield done
                    top.clear()
            elif line.endswith(" {"):
                need(not line[0].isdigit(), "%s has fields that perfetto.proto does not know", path)
                stack.append(top)
                top.append((line[:-2], []))
                top = top[-1][1]
            else:
                name, value = line.split(": ", 1)
                need(not name.isdigit(), "%s has fields that perfetto.proto does not know", path)
                top.append((name, unquoted(value)))
    need(decoder.returncode == 0, "protoc does not decode %s", path)


class Machine:
    """A machine: its CPUs, threads, and what they do now."""

    def __init__(self, tables, number, raw):
        self.tables, self.number, self.raw = tables, number, raw
        self.threads, self.processes, self.gone = {}, {}, []
        self.running = {}       # CPU: (since, utid, priority)
        self.states = {}        # utid: (since, state, ucpu, waker)
        self.cpus, self.lasts = set(), {}
        self.has_release = self.is_synced = self.has_info = False
        self.clocks = {}

    def ucpu(self, cpu):
        if cpu not in self.cpus:
            self.cpus.add(cpu)
            self.tables.add("cpu", self.number * CPUS_PER_MACHINE + cpu, cpu, self.number)
        return self.number * CPUS_PER_MACHINE + cpu

    def thread(self, tid, name=None):
        # each CPU has a thread 0
        if tid not in self.threads:
            self.threads[tid] = [self.tables.number("thread"), None, None]
        if name is not None:
            self.threads[tid][1] = name
        return self.threads[tid][0]

    def process(self, pid, name=None):
        if pid not in self.processes:
            self.processes[pid] = [self.tables.number("process"), None]
        if name is not None:
            self.processes[pid][1] = name
        return self.processes[pid][0]

    def state(self, time, utid, state, ucpu=None, waker=None):
        if utid in self.states:
            since, before, at, woken = self.states[utid]
            self.tables.add("thread_state", since, time - since, utid, before, at, woken)
        self.states[utid] = time, state, ucpu, waker

    def run(self, time, cpu, utid, priority, end_state):
        if cpu in self.running:
            since, before, was = self.running[cpu]
            self.tables.add("sched", since, time - since, self.ucpu(cpu), cpu, before, end_state, was)
        if utid is None:
            self.running.pop(cpu, None)
        else:
            self.running[cpu] = time, utid, priority

    def switch(self, time, cpu, event):
        raw = int(event["prev_state"])
        state = "".join(letter for bit, letter in STATES if raw & bit)
        need(self.has_release or not raw & ~0x3f, "prev_state %d, but which kernel is it?", raw)
        state = state or ("R+" if raw & 0x100 else "R")
        prev = self.thread(event["prev_pid"], event["prev_comm"])
        after = self.thread(event["next_pid"], event["next_comm"])
        self.run(time, cpu, after, int(event["next_prio"]), state)
        if event["prev_pid"] != "0":
            self.state(time, prev, state)
        if event["next_pid"] != "0":
            self.state(time, after, "Running", self.ucpu(cpu))

    def wake(self, time, event, waker):
        utid = self.thread(event["pid"], event["comm"])
        # only one that sleeps becomes runnable
        if self.states.get(utid, (0, "S"))[1] not in ("R", "R+", "Running"):
            self.state(time, utid, "R", None, waker)

    def end(self):
        for cpu, (since, utid, priority) in self.running.items():
            self.tables.add("sched", since, -1, self.ucpu(cpu), cpu, utid, None, priority)
        for utid, (since, state, ucpu, waker) in self.states.items():
            self.tables.add("thread_state", since, -1, utid, state, ucpu, waker)
        for tid, (utid, name, upid) in [*self.threads.items(), *self.gone]:
            self.tables.add("thread", utid, int(tid), name, upid, self.number)
        for pid, (upid, name) in self.processes.items():
            self.tables.add("process", upid, int(pid), name, self.number)


class Tables:
    def __init__(self):
        self.rows = collections.defaultdict(list)
        self.numbers = collections.Counter()

    def number(self, name):
        self.numbers[name] += 1
        return self.numbers[name]

    def add(self, name, *row):
        self.rows[name].append(row)

    def args(self, values):
        number = self.number("args")
        for key, value in values:
            is_text = isinstance(value, str)
            self.add("args", number, key, None if is_text else value, value if is_text else None)
        return number

    def database(self):
        database = sqlite3.connect(":memory:")
        database.executescript(SCHEMA)
        for name, rows in self.rows.items():
            # ids of 64 bits have no sign in the trace, and one here
            rows = [[value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value
                     for value in row] for row in rows]
            database.executemany("INSERT INTO %s VALUES (%s)" % (name, ",".join("?" * len(rows[0]))), rows)
        database.executescript("CREATE INDEX arg ON args(arg_set_id); CREATE INDEX at ON slice(track_id)")
        arg = "SELECT coalesce(string_value, int_value) FROM args WHERE arg_set_id = ? AND key = ?"
        database.create_function("extract_arg", 2, lambda number, key: (
            database.execute(arg, (number, key)).fetchone() or (None,))[0])
        return database


class Trace:
    def __init__(self):
        self.tables = Tables()
        self.machines, self.sequences = {}, {}
        self.names, self.notes = {}, {}
        self.kinds = {}         # of tracks
        self.events, self.ftrace, self.tasks = [], [], []

    def machine(self, raw):
        if raw not in self.machines:
            need(raw or not self.machines, "the host comes after other machines")
            self.machines[raw] = Machine(self.tables, len(self.machines), raw)
        return self.machines[raw]

    def take(self, packet):
        fields = dict(packet)
        sequence, flags = fields.get("trusted_packet_sequence_id"), int(fields.get("sequence_flags", 0))
        machine = self.machine(int(fields.get("machine_id", 0)))
        need(sequence, "a packet without a sequence")
        if sequence not in self.sequences:
            self.sequences[sequence] = [machine, False]
        need(self.sequences[sequence][0] is machine, "a sequence of two machines")
        self.sequences[sequence][1] |= bool(flags & CLEARED)
        need(not flags & NEEDED or self.sequences[sequence][1], "names are needed before they are there")
        need(not machine.raw or machine.is_synced or "remote_clock_sync" in fields,
             "machine %d has no clock yet", machine.raw)
        time = int(fields.get("timestamp", 0))
        need(time >= 0, "a time below 0")
        for name, value in packet:
            handler = getattr(self, "take_" + name, None)
            if handler:
                handler(machine, value, time)

    def take_remote_clock_sync(self, machine, value, _):
        need(machine.raw and len(value) >= 2, "a clock needs two rounds, and another machine")
        for _, rounds in value:
            clocks = [{clock["clock_id"]: int(clock["timestamp"]) for clock in (
                dict(entry) for _, entry in side)} for _, side in rounds]
            need([sorted(side) for side in clocks] == [[str(BOOTTIME)]] * 2, "clocks but BOOTTIME")
            need(clocks[0] == clocks[1] and clocks[0][str(BOOTTIME)], "a machine is not on the host's axis")
        machine.is_synced = True

    def take_clock_snapshot(self, machine, value, _):
        clocks = {int(entry["clock_id"]): int(entry["timestamp"]) for entry in (
            dict(entry) for name, entry in value if name == "clocks")}
        need(BOOTTIME in clocks, "a snapshot without BOOTTIME")
        for clock, time in clocks.items():
            before = machine.clocks.get(clock, -1)
            need(time > before, "clock %d goes back from %d to %d", clock, before, time)
            machine.clocks[clock] = time
            self.tables.add("clock_snapshot", clocks[BOOTTIME], clock, time, machine.number)

    def take_system_info(self, machine, value, _):
        info = dict(value)
        system = dict(info.get("utsname", ()))
        need(not machine.has_info, "a machine with two names")
        machine.has_info, machine.has_release = True, "release" in system
        self.tables.add("machine", machine.number, machine.raw, info["machine_name"], system.get("sysname"),
                        system.get("release"), system.get("machine"))

    def take_process_tree(self, machine, value, _):
        for kind, entry in value:
            entry = dict(entry)
            if kind == "processes":
                machine.process(entry["pid"], entry["cmdline"])
            else:
                machine.thread(entry["tid"])
                machine.threads[entry["tid"]][2] = machine.process(entry["tgid"])

    def take_generic_kernel_process_tree(self, machine, value, time):
        self.tasks.append((time, machine, dict((kind, dict(entry)) for kind, entry in value)))

    def take_generic_kernel_task_state_event(self, machine, value, time):
        self.tasks.append((time, machine, dict(value)))

    def take_interned_data(self, _, value, time):
        del time
        for kind, entry in value:
            entry = dict(entry)
            if kind != "debug_annotation_string_values":
                (self.names if kind == "event_names" else self.notes)[entry["iid"]] = entry["name"]

    def take_track_descriptor(self, _, value, time):
        del time
        track = dict(value)
        parent = track.get("parent_uuid")
        need(track["uuid"] not in self.kinds, "a track that is there twice")
        need(not parent or parent in self.kinds, "a track comes before its parent")
        need(not parent or self.kinds[parent] == "slice", "only tracks of slices have others below them")
        self.kinds[track["uuid"]] = "state" if "state" in track else "counter" if "counter" in track else "slice"
        self.tables.add("track", int(track["uuid"]), track["name"], int(parent) if parent else None)

    def take_track_event(self, _, value, time):
        event = dict(value)
        need(self.kinds.get(event["track_uuid"]) == TYPES[event["type"]], "an event on a track of another kind")
        if "name_iid" in event:
            event["name"] = self.names[event["name_iid"]]
        event["args"] = []
        for field, entry in value:
            if field == "debug_annotations":
                entry = dict(entry)
                event["args"].append(("debug." + self.notes[entry["name_iid"]], int(entry["int_value"])
                                      if "int_value" in entry else entry["string_value"]
                                      if "string_value" in entry else self.names[entry["string_value_iid"]]))
        self.events.append((time, event))

    def take_ftrace_events(self, machine, value, _):
        cpu = int(dict(value)["cpu"])
        need(cpu < 1024, "CPU %d", cpu)
        need(machine.has_info, "records of a machine without a name")
        for field, event in value:
            if field != "event":
                continue
            kinds = [entry for entry in event if isinstance(entry[1], list)]
            fields = dict(event)
            need(len(kinds) == 1 and {"timestamp", "pid"} <= set(fields), "a record without time, pid or event")
            time = int(fields["timestamp"])
            need(time >= machine.lasts.get(cpu, 0), "records of CPU %d are not in order", cpu)
            machine.lasts[cpu] = time
            self.ftrace.append((time, machine, cpu, fields["pid"], *kinds[0]))

    # --- as the importer does, all is in order of time now

    def end_ftrace(self):
        for time, machine, cpu, pid, kind, value in sorted(self.ftrace, key=lambda record: record[0]):
            event = dict(value)
            utid, ucpu = machine.thread(pid), machine.ucpu(cpu)
            if kind == "sched_switch":
                utid = machine.thread(event["prev_pid"])
                machine.switch(time, cpu, event)
            elif kind == "sched_waking":
                machine.wake(time, event, utid)
            if kind == "generic":
                kind = event["event_name"]
                entries = (dict(entry) for name, entry in value if name == "field")
                value = [(entry["name"], next(entry[key] for key in entry if key != "name"))
                         for entry in entries]
            self.tables.add("ftrace_event", time, kind, utid, ucpu, self.tables.args(value))

    def end_tasks(self):
        for time, machine, event in sorted(self.tasks, key=lambda task: task[0]):
            if "threads" in event:
                entry = event["threads"]
                machine.thread(entry["tid"], entry["comm"])
                machine.threads[entry["tid"]][2] = machine.process(entry["pid"], event["processes"]["cmdline"])
                continue
            need(event["tid"] in machine.threads, "%s is of no process", event["comm"])
            utid, state, cpu = machine.thread(event["tid"], event["comm"]), event["state"], int(event.get("cpu", -1))
            ran = machine.states.get(utid, (0, None))[1] == "Running"
            need(state != "RUNNING" or not ran, "%s runs, and then runs", event["comm"])
            need(not ran or machine.running.get(cpu, (0, None))[1] == utid, "%s stops on another CPU", event["comm"])
            need(state != "RUNNING" or cpu >= 0, "%s runs on no CPU", event["comm"])
            if state == "RUNNING":
                machine.run(time, cpu, utid, None, None)
            elif cpu in machine.running and machine.running[cpu][1] == utid:
                machine.run(time, cpu, None, None, GENERIC_STATES[state])
            machine.state(time, utid, GENERIC_STATES[state], machine.ucpu(cpu) if state == "RUNNING" else None)
            if state == "DESTROYED":
                machine.gone.append((event["tid"], machine.threads.pop(event["tid"])))

    def end_slice(self, time, event, track, begun, flows):
        if event["type"] == "SLICE_END":
            need(begun[track], "a slice ends that has not begun")
            row = begun[track].pop()
            self.tables.add("slice", row[0], row[1], time - row[1], *row[2:])
            return
        row = (self.tables.number("slice"), time, track, event.get("name"), self.tables.args(event["args"]))
        if event["type"] == "INSTANT":
            self.tables.add("slice", row[0], time, 0, *row[2:])
        else:
            need(not begun[track], "slices of a track overlap")
            begun[track].append(row)
        for end in ("flow_ids", "terminating_flow_ids"):
            if end in event:
                need(end not in flows[event[end]], "a flow has two ends of a kind")
                flows[event[end]][end] = row[0], time

    def end_state(self, time, event, track, states):
        if track in states:
            since, value, args = states.pop(track)
            need(value != event.get("name"), "a state after itself becomes one row")
            self.tables.add("state", since, time - since, track, value, args)
        if "name" in event:
            states[track] = time, event["name"], self.tables.args(event["args"])

    def end_events(self):
        begun, flows, states = collections.defaultdict(list), collections.defaultdict(dict), {}
        for time, event in sorted(self.events, key=lambda entry: entry[0]):
            track = int(event["track_uuid"])
            if event["type"] == "STATE":
                self.end_state(time, event, track, states)
            elif event["type"] == "COUNTER":
                self.tables.add("counter", time, int(event["counter_value"]), track)
            else:
                self.end_slice(time, event, track, begun, flows)
        need(not any(begun.values()) and not states, "slices or states without an end")
        for ends in flows.values():
            need(len(ends) == 2, "a flow without two ends")
            need(ends["flow_ids"][1] <= ends["terminating_flow_ids"][1], "a flow goes back in time")
            self.tables.add("flow", ends["flow_ids"][0], ends["terminating_flow_ids"][0])

    def end(self):
        self.end_ftrace()
        self.end_tasks()
        self.end_events()
        for machine in self.machines.values():
            machine.end()
        return self.tables.database()


def read(path):
    # millions of small lists, and no cycle among them
    gc.disable()
    trace = Trace()
    for packet in packets(path):
        trace.take(packet)
    return trace.end()


def load_module(database):
    """The views of examples/perfetto; only the word PERFETTO is not SQLite's."""
    folder = os.path.join(os.environ["KSV_SOURCE_DIR"], "examples", "perfetto", "kshark_virt")
    with open(os.path.join(folder, "vcpus.sql")) as module:
        database.executescript(module.read().replace("CREATE PERFETTO VIEW", "CREATE VIEW"))
