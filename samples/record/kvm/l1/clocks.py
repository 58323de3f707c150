#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# clocks.py serve PORT: answer with the wall clock, for ever
# clocks.py compare HOST PORT [set]: how far the wall clock of HOST is ahead of this one: LOWEST HIGHEST, in ns, of all
#     exchanges together; with "set", this clock is set by it before, and the kernel gets to know its error, as by chrony
# clocks.py reference: the kernel's clock has no error: the others are set by it
import ctypes, socket, struct, sys, time

ADJ_MAXERROR, ADJ_ESTERROR, ADJ_STATUS = 4, 8, 16

# sure of it within some us: no longer "not synchronised"
def set_error(us):
    timex = bytearray(208)
    struct.pack_into("=I4xqqqqi", timex, 0, ADJ_MAXERROR | ADJ_ESTERROR | ADJ_STATUS, 0, 0, us, us, 0)
    if ctypes.CDLL(None).adjtimex((ctypes.c_char * 208).from_buffer(timex)) < 0:
        sys.exit("adjtimex fails")

def compare(host, port):
    low, high = -(1 << 62), 1 << 62
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(1)
    for _ in range(300):
        before = time.time_ns()
        sock.sendto(b"?", (host, port))
        try:
            there = struct.unpack("=q", sock.recv(64))[0]
        except TimeoutError:
            continue
        after = time.time_ns()
        low, high = max(low, there - after), min(high, there - before)
    return low, high

if sys.argv[1] == "serve":
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("", int(sys.argv[2])))
    while True:
        _, peer = sock.recvfrom(64)
        sock.sendto(struct.pack("=q", time.time_ns()), peer)
elif sys.argv[1] == "reference":
    set_error(1)
else:
    low, high = compare(sys.argv[2], int(sys.argv[3]))
    if sys.argv[4:] == ["set"]:
        # setting it takes time, most of all the first time
        for _ in range(4):
            time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns() + (low + high) // 2)
            low, high = compare(sys.argv[2], int(sys.argv[3]))
        set_error(max(-low, high) // 1000 + 1)
    print(low, high)
