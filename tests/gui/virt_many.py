# SPDX-License-Identifier: LGPL-2.1-or-later
"""A xentrace file with 240 vCPUs, of 60 domains, and more wake-ups than texts are made for.

virt_many.py FILE [DOMAINS TURNS]   prints the domains, the vCPUs of each, and how many wake-ups there are

Each vCPU wakes up, gets its pCPU, of 8, and sleeps again, in turns. Those of d1v0 wait for longest, by
the number of its turn; those of the last vCPU for less than all others. CPU 7 is idle as long as d1v0,
on CPU 0, waits.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
from scale_files import BLOCKED, RUNNABLE, RUNNING, Xen, change  # noqa: E402

OF_EACH, PCPUS = 4, 8
DOMAINS, TURNS = map(int, sys.argv[2:] or (60, 430))
US = 2400  # cycles, of what is assumed without any other word


def main():
    xen = Xen(step=US)
    numbers = sorted(range(DOMAINS * OF_EACH), key=lambda number: number % PCPUS)
    for turn in range(TURNS):
        for number in numbers:
            if number < PCPUS or xen.pcpu != number % PCPUS:
                xen.at(number % PCPUS)
            vcpu = (1 + number // OF_EACH) << 16 | number % OF_EACH
            xen.add(change(BLOCKED, RUNNABLE), vcpu)
            if number == 0:
                xen.tsc += (1000 + turn) * US
            elif number < DOMAINS * OF_EACH - 1:
                xen.tsc += US
            xen.add(change(RUNNABLE, RUNNING), vcpu)
            xen.add(change(RUNNING, BLOCKED), vcpu)
    with open(sys.argv[1], "wb") as file:
        file.write(xen.data())
    print(DOMAINS, OF_EACH, TURNS * len(numbers))


main()
