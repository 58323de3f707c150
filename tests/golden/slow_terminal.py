#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does top read on when its terminal takes nothing any more?

slow_terminal.py KSV_BIN FILE.xen

Its terminal has no reader. Keys make it write until that is full; then all of the
trace, and that is more than a pipe holds, has to go into its standard input. When the terminal is
read again, it shows the end.
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import threading
import time


def main():
    data = open(sys.argv[2], "rb").read()
    reading, writing = os.pipe()
    pid, terminal = pty.fork()
    if not pid:
        os.dup2(reading, 0)
        os.close(writing)
        os.environ["TERM"] = "xterm"
        os.execv(sys.argv[1], [sys.argv[1], "top", "--cpu-hz", "2.4G", "--interval", "100ms", "-"])
    os.close(reading)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    os.set_blocking(terminal, False)
    begin = data[:len(data) // 2]
    feeder = threading.Thread(target=lambda: os.write(writing, begin), daemon=True)
    feeder.start()
    # it writes until nothing more fits: help and no help are quite different
    still = 0
    while still < 20:
        before = select.select([terminal], [], [], 0)[0]
        waiting = struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, b"\0" * 4))[0]
        try:
            os.write(terminal, b"h" * 50)
        except BlockingIOError:
            pass
        time.sleep(0.1)
        now = struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, b"\0" * 4))[0]
        still = still + 1 if now == waiting and before else 0
    rest = data[len(begin):]
    done = []

    def feed():
        at = 0
        while at < len(rest):
            at += os.write(writing, rest[at:])
        os.close(writing)
        done.append(True)

    feeder.join(60)
    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    feeder.join(60)
    if not done:
        sys.exit("it does not read on")
    # now its terminal is read: it shows the end, and can be left
    os.set_blocking(terminal, True)
    shown, deadline = b"", time.monotonic() + 60
    while b"has ended" not in shown and time.monotonic() < deadline:
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 65536)
        else:
            os.write(terminal, b"hx")
    os.write(terminal, b"hq")
    os.write(terminal, b"q")
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                os.read(terminal, 65536)
            except OSError:
                pass
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            sys.exit(status if b"has ended" in shown else "it shows no end")
    sys.exit("it does not end")


main()
