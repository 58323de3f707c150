#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Run a command on a pseudo terminal, print what the terminal receives, and exit as the command does.

on_terminal.py COLUMNS LINES COMMAND...

The terminal is the command's controlling terminal and its standard output and error. Its input is the input of
this program, so that a pager reads keys from it.
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios


def main():
    columns, lines, *command = sys.argv[1:]
    pid, terminal = pty.fork()
    if not pid:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", int(lines), int(columns), 0, 0))
        os.execvp(command[0], command)
    text = b""
    keys = True
    while True:
        ready = select.select([terminal] + [0] * keys, [], [], 60)[0]
        if not ready:
            os.kill(pid, 9)
            sys.exit("no output for a minute")
        if 0 in ready:
            typed = os.read(0, 4096)
            keys = bool(typed)
            os.write(terminal, typed)
        if terminal in ready:
            try:
                part = os.read(terminal, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
    sys.stdout.buffer.write(text.replace(b"\r\n", b"\n"))
    sys.stdout.buffer.flush()
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


main()
