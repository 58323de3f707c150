# SPDX-License-Identifier: LGPL-2.1-or-later
"""A JSON document of kshark-virt: the reports of several files, the answers of why, or itself."""
import json


def documents(path):
    document = json.load(open(path))
    yield from document.get("answers", document.get("reports", [document]))
