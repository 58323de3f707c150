#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do things in KernelShark at random, and see that it lives, answers, and says nothing unexpected.

steps.py SEED STEPS, as steps.sh starts it. What is there to be clicked is what the window shows (of
probe.cpp); which of it, the seed says. Each step ends when nothing is left to do (eye.c), so that a seed
leads along the same way again; how long a thread of ours takes is the one thing that may differ. The
steps after the choice of a file come at once: they interrupt the loading.

A hang is judged by the time on a CPU that KernelShark's main thread needs for a round of its event loop,
which a busy machine does not change; only if it does not answer at all, by the clock.
"""
import os
import random
import re
import signal
import subprocess
import sys
import time

# Nobody waits for longer; by how much sanitizers slow drawing down.
ROUND_SECONDS = 2 * float(os.environ["STEPS_SLOWER"])
# An answer comes after some rounds, as there may be questions before; it will not come any more.
CPU_SECONDS = 5 * ROUND_SECONDS
PATIENCE = 120
# On a machine with a lot of other work, if it still gets on; looked at so often.
MOST_PATIENCE, LOOK = 10 * PATIENCE, 30
# What a step waits for what it has set going, before the next one comes anyway.
SETTLE = 2
# Steps that come at once after a file has been chosen, while it is being loaded, at most.
MOST_HASTY = 4

SETS = [
    ["kvm-host.dat", "kvm-guest.dat"],
    ["kvm-nosync.dat", "kvm-nosync-g1.dat"],
    ["dom0-ftrace.dat", "dom0.xen"],
    ["pinned.xen"],
    ["lost-records.xen"],
    ["cut.xen"],
    ["kvm-host.dat", "kvm-guest.dat", "pinned.xen"],
]
FILES = sorted({name for files in SETS for name in files}) + [
    "none.dat", "s1.json", "s2.json", "f.json", "picture.png", "picture.svg"]
WORDS = ["0", "1", "-1", "1000000000", "99999999999999999999", "d1v0", "kvm", "%s%n", "(", "*", ""]
KEYS = ["Escape", "Return", "Tab", "space", "Up", "Down", "Left", "Right", "Page_Down", "Home", "End",
        "KP_Add", "minus", "a", "d", "w", "s", "n", "p", "shift+n", "ctrl+f", "ctrl+s", "F5", "Delete",
        "alt+F"]
SIZES = [(1600, 1000), (960, 534), (1024, 768), (640, 480)]
# Not ours to test: they start other programs, or end this one (which "again" does).
FORBIDDEN = re.compile("Quit|Record|web|bug|Contents|Help")
CLICKABLE = {"QPushButton", "QCheckBox", "QToolButton", "QComboBox", "QRadioButton",
             "KsMarkerButton", "QDockWidgetTitleButton", "QTreeWidget", "QScrollBar", "QSlider",
             "QTabBar", "QTableWidget", "QHeaderView", "QTableView", "KsTableView", "QLabel", "QListWidget"}
TEXTS = {"QLineEdit", "QAbstractSpinBox", "QSpinBox", "QDoubleSpinBox"}
FILE_DIALOG = re.compile("FileDialog")

# KernelShark's buttons and keys that move the graphs as long as they are pressed
# (KsTraceGraph::_updateGraphs()); if it sees them released before it has begun, it goes on for ever.
# Of other keyboards' "plus", Shift is let go of first: what is released then is another key.
MOVING = {"<", "+", "-", ">", "KP_Add", "minus", "Left", "Right", "a", "d", "w", "s"}
# It also does if a key is let go of when another window has the focus; all else works during this time,
# but it never ends.
MOVES = re.compile(r"^ +#\d+ .* in KsTraceGraph::_updateGraphs", re.M)

# What our plugins may say; anything else of them fails the test.
EXPECTED = re.compile(
    "Its clock is wrong|No overlap in time with the host|no markers of interrupts|is damaged|damaged"
    "|does not fit|cannot be read|is no |was cut|ends within|lost|truncated|not a |changed|has been"
    "|Not aligned|aligned|stored|alignment|pair|is a guess, please check it"
    "|No host trace is open|it is unknown which machine this is"
    "|have no vCPU on the host|have no CPU in the guest's trace")
OURS = re.compile(r"^(kshark-virt|plugin-(virt|xentrace|kvm_combo))\b|virt[A-Z]\w+|Virt[A-Z]\w+")
# Qt's word that an object was used wrongly; KernelShark has none of these by itself. But Ctrl+A is both its
# "Append Trace File" and "Select All" in the menu of Qt's number boxes; no shortcut of ours has Ctrl.
MISUSE = re.compile(r"^(QObject|QPainter|QTimer|QThread|QLayout|QAction|ASSERT)\b.*:"
                    r"(?! Ambiguous shortcut overload: Ctrl\+A)")
SANITIZER = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:")


# Crashes that KernelShark has without any plugin; no frame of ours is in them.
KNOWN = re.compile("|".join([
    # "Graph follows" with a row selected that no search has found
    r"SUMMARY: .* in KsTraceViewer::_graphFollowsChanged",
    r"SEGV(.*\n){1,3} +#0 .* in KsTraceGraph::markEntry(.*\n){1,4} +#\d+ .* in QCheckBox::stateChanged",
    # kshark_data_container_sort() frees what has no rows, as realloc() to nothing does
    r"double-free(.*\n){2,9} +#1 .* in kshark_free_data_container",
    # "Plot Latency" goes on to use an array that it has sorted, which gets another place by that; only with
    # a sanitizer's malloc() (docs/upstream)
    r"SEGV(.*\n){1,3} +#0 .*/plugin-latency_plot\.so.*\n +#1 .* in KsGLWidget::_makePluginShapes",
    # "TEP Advance Filtering" loads all anew and notifies no plugin, so plugins draw what has been freed (docs/upstream)
    r"SEGV(.*\n){1,3} +#0 .*/plugin-sched_events\.so.*\n +#1 .* in KsGLWidget::_makePluginShapes",
    # ">" goes on while something lies to the right, so that the end is empty, and a range there has no rows
    r"ksmodel_set_lower_edge: Assertion (.*\n){1,20} +#\d+ .* in KsGLWidget::_rangeChanged",
    # "Add Time Offset" moves all rows out of the window
    r"ksmodel_set_(lower|upper)_edge: Assertion (.*\n){1,20} +#\d+ .* in KsWidgetsLib::KsTimeOffsetDialog::apply",
    # "TEP Advance Filtering" goes on to use the text of a filter whose string is gone
    r"heap-use-after-free(.*\n){3,9} +#1 .* in KsAdvFilteringDialog::_applyPress",
]))
OUR_FRAME = re.compile(r"^ +#\d+ .*(plugin-(virt|xentrace)|kshark-virt/plugins|libkshark-virt)", re.M)


class Failure(Exception):
    pass


class Known(Exception):
    """KernelShark has ended as it is known to."""


class Talk:
    """A command to the probe or the eye; its answer."""
    def __init__(self, who):
        self.directory, self.who = os.environ["KSV_PROBE"], who
        self.to = os.open(self.path("ask"), os.O_RDWR | os.O_NONBLOCK)
        self.back = os.open(self.path("answer"), os.O_RDWR | os.O_NONBLOCK)

    def path(self, what):
        return "%s/%s.%s" % (self.directory, self.who, what)

    def drain(self):
        """What was asked when the last one ended is not for the next one."""
        for end in self.to, self.back:
            try:
                while os.read(end, 4096):
                    pass
            except BlockingIOError:
                pass

    def ask(self, command, alive):
        """alive() raises when nobody will answer any more."""
        os.write(self.to, (command + "\n").encode())
        while True:
            try:
                if os.read(self.back, 1) == b"\n":
                    break
            except BlockingIOError:
                alive()
                time.sleep(0.002)
        with open(self.path("said"), errors="replace") as file:
            return file.read()


def xdotool(*words):
    subprocess.run(["xdotool", *map(str, words)], check=False, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Shark:
    def __init__(self, rng):
        self.rng, self.process, self.step = rng, None, 0
        self.probe, self.eye = Talk("probe"), Talk("eye")
        self.log = open(os.environ["STEPS_LOG"], "ab", 0)
        self.read = self.log.tell()
        self.history, self.slowest, self.slowest_step, self.known = [], 0, 0, 0
        self.hasty = 0
        self.since = self.asked = self.end = 0
        self.ran = None

    # ---- KernelShark ----

    def start(self, *words):
        env = dict(os.environ, LD_PRELOAD=os.environ["STEPS_PRELOAD"])
        self.probe.drain()
        self.started = self.log.seek(0, os.SEEK_END)
        self.process = subprocess.Popen(
            ["kernelshark", "-p", os.environ["STEPS_PLUGINS"], *words], env=env,
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        end = time.monotonic() + MOST_PATIENCE
        while not self.loaded(words):
            if time.monotonic() > end:
                raise Failure("it does not show its files")
            time.sleep(0.05)
        self.settle()

    def loaded(self, words):
        """Only its window, with rows; a session may have nothing, or say that it cannot be restored."""
        windows = self.ask("windows").splitlines()
        if not any(window.startswith("KsMainWindow") for window in windows):
            return False
        if words[0] == "-s":
            return True
        with open(os.environ["STEPS_LOG"], "rb") as file:
            file.seek(self.started)
            n = file.read().count(b"Loading  ")
        return n >= len(words) - words.count("-a") and len(windows) == 1

    def cpu(self):
        """Seconds of its main thread."""
        try:
            with open("/proc/%d/task/%d/stat" % (self.process.pid, self.process.pid)) as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            return 0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def alive(self):
        self.ended()
        if self.process.poll() is not None:
            raise Failure("it ended")
        if self.cpu() - self.since > CPU_SECONDS:
            raise Failure("it has not answered for %d s on a CPU" % CPU_SECONDS)
        now = time.monotonic()
        if now > self.end:
            if now > self.asked + MOST_PATIENCE or self.cpu() == self.ran:
                raise Failure("it has not answered for %d s" % (now - self.asked))
            self.ran, self.end = self.cpu(), now + LOOK

    def ask(self, command):
        self.since, self.ran, self.asked = self.cpu(), None, time.monotonic()
        self.end = self.asked + PATIENCE
        answer = self.probe.ask(command, self.alive)
        return [line.split("\t") for line in answer.splitlines()] if command != "windows" else answer

    def is_searching(self):
        """Its search of many rows shows how far it is, in its window. A dialog with such a bar is of
        a file or a session that it loads, and may stay open below a question."""
        return (len(self.ask("windows").splitlines()) == 1 and
                any(widget[0] == "QProgressBar" for widget in self.ask("widgets")))

    def settle(self):
        """As far as it comes soon: an answer, and then rest. But KernelShark's search of many rows
        handles events with a lock held: another one that begins in this time, by Return or Next, waits
        for ever (KsTraceViewer::_searchItemsMT); no step comes before it has ended."""
        end = time.monotonic() + PATIENCE
        while self.is_searching():
            if time.monotonic() > end:
                raise Failure("its search does not end")
            time.sleep(0.01)
        self.end = time.monotonic() + PATIENCE
        self.eye.ask("rest %d %s %d" % (SETTLE, os.environ["STEPS_DISPLAY"], self.process.pid),
                     lambda: None)
        self.judge_round()
        self.judge()

    def judge_round(self):
        if self.process.poll() is not None:
            return
        longest = int(self.ask("round")[0][0]) / 1000
        if longest > self.slowest:
            self.slowest, self.slowest_step = longest, self.step
        if longest > ROUND_SECONDS:
            raise Failure("the window was busy for %.1f s on a CPU" % longest)

    def said(self):
        """The whole lines that have come since."""
        with open(os.environ["STEPS_LOG"], "rb") as file:
            file.seek(self.read)
            text = file.read()
        whole = text[:text.rfind(b"\n") + 1]
        self.read += len(whole)
        return whole.decode(errors="replace")

    def ended(self):
        """By itself: that is a failure, unless it is known."""
        status = self.process.poll()
        if not status:
            return
        text = self.said()
        if KNOWN.search(text) and not OUR_FRAME.search(text):
            raise Known
        for line in text.splitlines():
            if SANITIZER.search(line):
                raise Failure("it ended with status %d: %s" % (status, line))
        raise Failure("it ended with status %d" % status)

    def judge(self):
        self.ended()
        text = self.said()
        for line in text.splitlines():
            if "ERROR: " in line and SANITIZER.search(line):
                # its report is still being written
                self.read -= len(text.encode(errors="replace"))
                try:
                    self.process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    # a sanitizer can wait for itself while it writes; what it has written counts
                    self.process.kill()
                    self.process.wait()
                self.ended()
            if SANITIZER.search(line) or MISUSE.match(line):
                raise Failure("it says: " + line)
            if OURS.search(line) and not EXPECTED.search(line):
                raise Failure("one of ours says: " + line)

    def stop(self):
        """As the window manager closes it."""
        for window in subprocess.run(["xdotool", "search", "--onlyvisible", "--pid",
                                      str(self.process.pid), "--name", "^Kernel ?Shark"],
                                     text=True, capture_output=True).stdout.split()[:1]:
            xdotool("windowactivate", "--sync", window, "key", "--clearmodifiers", "alt+F4")
        self.wait_end()

    def wait_end(self):
        self.end, self.since = time.monotonic() + PATIENCE, self.cpu()
        while self.process.poll() is None:
            if time.monotonic() > self.end:
                self.judge_endless()
            time.sleep(0.02)
        self.judge()

    def judge_endless(self):
        """Its graphs still move, and it answers; or that is a failure."""
        self.ask("count")
        self.abort_process()
        if MOVES.search(self.said()):
            raise Known
        raise Failure("it does not end")

    def abort_process(self):
        """If it hangs: a sanitizer prints where a process is that aborts."""
        if not self.process or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGABRT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()

    # ---- what can be done ----

    def click(self, x, y, button=1, repeat=1):
        xdotool("mousemove", x, y, "click", "--delay", 10, "--repeat", repeat, button)

    def press(self, x, y):
        """Until it has been noticed, and what it does has begun: it answers from there."""
        end = time.monotonic() + PATIENCE
        xdotool("mousemove", x, y, "mousedown", 1)
        while self.ask("mouse")[0][0] == "0" and time.monotonic() < end:
            time.sleep(0.01)
        self.ask("widgets")
        self.ask("widgets")
        xdotool("mouseup", 1)

    def inside(self, x, y, w, h):
        return (int(x) + self.rng.randrange(max(1, int(w))), int(y) + self.rng.randrange(max(1, int(h))))

    def widgets(self):
        """[class, text, x, y, w, h, state] of those that can be used"""
        return [widget for widget in self.ask("widgets")
                if len(widget) >= 7 and widget[6].startswith("on") and int(widget[4]) > 0]

    def middle(self, widget):
        return (int(widget[2]) + int(widget[4]) // 2, int(widget[3]) + int(widget[5]) // 2)

    def use_widget(self, widgets):
        wanted = [widget for widget in widgets if widget[0] in CLICKABLE | TEXTS and
                  not FORBIDDEN.search(widget[1])]
        if not wanted:
            return self.key()
        # each class alike: a table of a hundred boxes is not all there is
        name = self.rng.choice(sorted({widget[0] for widget in wanted}))
        widget = self.rng.choice([widget for widget in wanted if widget[0] == name])
        if name in TEXTS:
            word = self.rng.choice(WORDS)
            self.click(*self.middle(widget))
            xdotool("key", "ctrl+a", "type", "--delay", 1, "--", word)
            xdotool("key", "Return")
            return "%s '%s': type '%s'" % (name, widget[1][:30], word)
        if name.endswith(("View", "Widget", "Bar", "Label")):
            x, y = self.inside(*widget[2:6])
            button, repeat = self.rng.choice([(1, 1), (1, 2), (3, 1), (4, 3), (5, 3)])
            self.click(x, y, button, repeat)
            return "%s: button %d %d times at %d,%d" % (name, button, repeat, x, y)
        if widget[1] in MOVING:
            self.press(*self.middle(widget))
        else:
            self.click(*self.middle(widget))
        return "%s '%s'" % (name, widget[1][:40])

    def key(self):
        key = self.rng.choice(KEYS)
        if key in MOVING:
            xdotool("keydown", key)
            self.ask("widgets")
            xdotool("keyup", key)
        else:
            xdotool("key", key)
        return "key " + key

    def menu_bar(self):
        entries = [entry for entry in self.ask("actions") if entry[0] == "QMenuBar" and
                   not FORBIDDEN.search(entry[1])]
        if not entries:
            return self.key()
        entry = self.rng.choice(entries)
        self.click(*self.middle(entry))
        return "menu " + entry[1]

    def popup(self, entries):
        entries = [entry for entry in entries if entry[6].startswith("on") and
                   not FORBIDDEN.search(entry[1])]
        if not entries or self.rng.random() < 0.15:
            xdotool("key", "Escape")
            return "menu closed"
        entry = self.rng.choice(entries)
        self.click(*self.middle(entry))
        return "menu entry " + entry[1]

    def choice(self):
        lines = self.ask("choices")
        if not lines or self.rng.random() < 0.2:
            xdotool("key", self.rng.choice(["Escape", "Down", "Return"]))
            return "choice by key"
        line = self.rng.choice(lines[:30])
        xdotool("key", "Home", *["Down"] * lines.index(line), "Return")
        return "choice " + line[0]

    def file(self):
        name = os.path.join(os.getcwd(), self.rng.choice(FILES))
        if self.rng.random() < 0.3:
            xdotool("key", "Escape")
            return "no file"
        for widget in self.widgets():
            if widget[0] == "QLineEdit":
                self.click(*self.middle(widget))
                break
        xdotool("key", "ctrl+a", "type", "--delay", 1, "--", name)
        xdotool("key", "Return")
        return "file " + os.path.basename(name)

    def graph(self):
        for widget in self.widgets():
            if widget[0] == "KsGLWidget":
                break
        else:
            return self.key()
        x, y = self.inside(*widget[2:6])
        how = self.rng.choice(["move", "drag", "drag", "click", "double", "double", "right", "wheel",
                               "wheel", "ctrl-wheel"])
        if how == "move":
            xdotool("mousemove", x, y)
        elif how == "drag":
            x1, y1 = self.inside(*widget[2:6])
            xdotool("mousemove", x, y, "mousedown", 1, "mousemove", (x + x1) // 2, (y + y1) // 2,
                    "mousemove", x1, y1, "mouseup", 1)
            return "drag %d,%d to %d,%d" % (x, y, x1, y1)
        elif how == "ctrl-wheel":
            xdotool("keydown", "ctrl", "mousemove", x, y, "click", "--delay", 5, "--repeat",
                    self.rng.randrange(1, 6), self.rng.choice([4, 5]), "keyup", "ctrl")
        elif how == "wheel":
            self.click(x, y, self.rng.choice([4, 5]), self.rng.randrange(1, 6))
        else:
            self.click(x, y, 3 if how == "right" else 1, 2 if how == "double" else 1)
        return "graph: %s at %d,%d" % (how, x, y)

    def resize(self):
        width, height = self.rng.choice(SIZES)
        xdotool("search", "--onlyvisible", "--pid", self.process.pid, "--name", "^Kernel ?Shark",
                "windowsize", width, height, "windowmove", 0, 0)
        return "size %dx%d" % (width, height)

    def again(self):
        """End it, or let it die while it works; then begin with something else."""
        how = self.rng.choice(["close", "close", "in a hurry"])
        if how == "in a hurry":
            for widget in self.widgets():
                if widget[:2] == ["QPushButton", "Align"]:
                    self.click(*self.middle(widget))
        self.stop()
        sessions = [name for name in ("s1.json", "s2.json") if os.path.exists(name)]
        if sessions and self.rng.random() < 0.5:
            words = ["-s", self.rng.choice(sessions)]
        else:
            words = self.files()
        self.start(*words)
        return "end (%s), start %s" % (how, " ".join(words))

    def files(self):
        first, *more = self.rng.choice(SETS)
        return [first] + [word for name in more for word in ("-a", name)]

    def one(self):
        windows = self.ask("windows").splitlines()
        open_menus = [entry for entry in self.ask("actions") if len(entry) >= 7 and
                      entry[0] != "QMenuBar"]
        if open_menus:
            return self.popup(open_menus)
        if self.ask("choices"):
            return self.choice()
        # the topmost dialog is where all input goes
        if any(FILE_DIALOG.search(window) for window in windows):
            return self.file()
        if len(windows) > 1 and self.rng.random() < 0.25:
            xdotool("key", self.rng.choice(["Escape", "Return"]))
            return "dialog: key"
        if len(windows) > 1:
            return "dialog: " + self.use_widget(self.widgets())
        kind = self.rng.choices(["widget", "graph", "menu", "key", "size", "again"],
                                [35, 35, 20, 5, 2, 1])[0]
        return {"widget": lambda: self.use_widget(self.widgets()), "graph": self.graph,
                "menu": self.menu_bar, "key": self.key, "size": self.resize,
                "again": self.again}[kind]()

    def run(self, steps):
        words = self.files()
        hasty = 0
        self.history.append("start " + " ".join(words))
        self.start(*words)
        for self.step in range(steps):
            try:
                done = self.one()
                self.history.append(done)
                self.log.write(("STEP %d: %s\n" % (self.step, done)).encode())
                if done.startswith("file "):
                    hasty = self.rng.randrange(MOST_HASTY + 1)
                    self.hasty += hasty
                if hasty and self.process.poll() is None and not self.is_searching():
                    hasty -= 1
                elif self.process.poll() is None:
                    self.settle()
                self.ended()
            except Known:
                self.known += 1
                self.history.append("(crash of KernelShark's own)")
            if self.process.poll() is not None:	# a step may close the window
                self.start(*self.files())
        for _ in range(5):
            if len(self.ask("windows").splitlines()) > 1 or self.ask("choices"):
                xdotool("key", "Escape")
                self.settle()
        try:
            self.stop()
        except Known:
            self.known += 1


def main():
    seed, steps = int(sys.argv[1]), int(sys.argv[2])
    shark = Shark(random.Random(seed))
    began = time.monotonic()
    try:
        shark.run(steps)
    except Failure as failure:
        print("FAILED at step %d: %s" % (shark.step, failure))
        shark.eye.ask("shot " + os.environ["STEPS_PICTURE"], lambda: None)
        shark.abort_process()
        print("the last steps:\n  " + "\n  ".join(shark.history[-25:]))
        with open(os.environ["STEPS_LOG"], errors="replace") as file:
            print("".join(file.readlines()[-120:]))
        print("again: KSV_STEPS_SEED=%d KSV_STEPS=%d ctest -R crash.steps" % (seed, steps))
        return 1
    print("seed %d: %d steps (%d of them while a file may be loaded) in %d s, at most %.2f s of CPU busy (%.1f allowed), in step %d; "
          "%d known crashes of KernelShark's own"
          % (seed, steps, shark.hasty, time.monotonic() - began, shark.slowest, ROUND_SECONDS,
             shark.slowest_step, shark.known))
    return 0


sys.exit(main())
