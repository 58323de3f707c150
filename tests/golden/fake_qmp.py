#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Take the place of QEMU's monitor: answer one client by QMP.

Usage: fake_qmp.py SOCKET HOW ANSWER

ANSWER is the text of "info mtree -f -o". HOW is right (with an event in between, and in pieces), busy (another
client is served: there is no greeting), error (it has no such command), end (the connection ends),
endless (an answer without an end), or odd (JSON, but not QMP). What the client sent is printed.
"""
import json
import os
import socket
import sys

GREETING = {"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}}, "capabilities": ["oob"]}}
EVENT = {"event": "RTC_CHANGE", "data": {"offset": 1}, "timestamp": {"seconds": 1, "microseconds": 2}}


def main(path, how, answer):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path + ".new")
    listener.listen(1)
    os.rename(path + ".new", path)
    client, _ = listener.accept()
    lines = client.makefile("r")

    def send(value):
        data = json.dumps(value, indent=4 if how == "right" else None).encode() + b"\r\n"
        for at in range(0, len(data), 1000):
            client.sendall(data[at:at + 1000])

    def command():
        line = lines.readline()
        print(line.strip(), flush=True)
        return json.loads(line or "{}").get("execute")

    try:
        if how == "busy":
            lines.readline()
            return
        if how == "odd":
            send([1, 2])
            lines.readline()
            return
        send(GREETING)
        assert command() == "qmp_capabilities"
        send({"return": {}})
        assert command() == "human-monitor-command"
        send(EVENT)
        if how == "end":
            return
        if how == "error":
            send({"error": {"class": "CommandNotFound", "desc": "The command has not been found"}})
        elif how == "endless":
            client.sendall(b'{"return": "')
            while True:
                client.sendall(b"x" * 65536)
        else:
            send({"return": open(answer).read().replace("\n", "\r\n")})
        lines.readline()
    except (BrokenPipeError, ConnectionResetError):
        pass


main(*sys.argv[1:])
