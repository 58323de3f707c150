#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""files.py FROM TO: move 50,000 bytes by sendfile(), 30,000 by splice(), and read beyond the end of FROM."""
import os
import sys

source, target = os.open(sys.argv[1], os.O_RDONLY), os.open(sys.argv[2], os.O_WRONLY)
for _ in range(5):
    assert os.sendfile(target, source, None, 10000) == 10000
reader, writer = os.pipe()
for _ in range(3):
    assert os.splice(source, writer, 10000) == 10000
    assert os.splice(reader, target, 10000) == 10000
os.lseek(source, 0, os.SEEK_END)
assert os.read(source, 100) == b""
