# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file of JSON documents, one behind the other, as kshark-virt prints them; of why, its answers."""
import json


def documents(path):
    text, decoder, at = open(path).read(), json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        answer, at = decoder.raw_decode(text, at)
        yield from answer.get("answers", [answer])
