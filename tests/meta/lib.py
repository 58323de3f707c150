# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the checks of the source tree share: the files of the project, its public headers."""
import os
import re
import subprocess
import sys

TOP = os.environ.get("KSV_SOURCE_DIR") or os.path.realpath(
    os.path.join(os.path.dirname(__file__), "..", ".."))
SKIP = 77


def project_files():
    """Paths, relative to TOP, of all files that are tracked or would be after 'git add'."""
    try:
        out = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", TOP, "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"],
            check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        print("skipped: not a git work tree (%s)" % error)
        sys.exit(SKIP)
    files = sorted(set(os.fsdecode(name) for name in out.split(b"\0") if name))
    return [name for name in files if os.path.isfile(os.path.join(TOP, name))]


def read(name):
    """A file of the project as bytes."""
    with open(os.path.join(TOP, name), "rb") as file:
        return file.read()


def public_headers():
    """The headers that are installed: those named in an install(FILES ...) of a CMakeLists.txt."""
    headers = []
    for name in project_files():
        if os.path.basename(name) != "CMakeLists.txt":
            continue
        for block in re.findall(r"install\(FILES([^)]*)\)", read(name).decode()):
            headers += [os.path.join(os.path.dirname(name), word)
                        for word in block.split() if word.endswith(".h")]
    if not headers:
        sys.exit("no installed header found: has the way of installing them changed?")
    return headers


# Headers that are not installed, of functions that our own binaries share.
PRIVATE_HEADERS = ["virt/base/held_file.h",
                   "kvm-combo/tracker/kvm_follow.h", "kvm-combo/tracker/kvm_recorded.h",
                   "virt/clock/clock_steps.h",
                   "virt/inside/virt_inside.h",
                   "virt/irq/virt_delivered.h", "virt/irq/virt_finding.h",
                   "virt/irq/virt_spread.h", "virt/model/virt_affinity.h",
                   "virt/model/exit_arguments.h",
                   "virt/model/exit_causes.h", "virt/model/virt_block.h",
                   "virt/model/exit_reasons.h",
                   "virt/model/virt_arguments.h", "virt/model/virt_colors.h", "virt/model/virt_limits.h",
                   "virt/model/virt_devices.h", "virt/model/virt_exits.h", "virt/model/virt_handlers.h",
                   "virt/model/virt_loss_walk.h",
                   "virt/model/virt_moments.h", "virt/model/virt_move.h",
                   "virt/model/virt_needs.h",
                   "virt/model/virt_vcpu_lives.h",
                   "virt/model/virt_matrix.h", "virt/model/virt_part.h", "virt/model/virt_steal.h",
                   "virt/model/virt_part_json.h", "kvm-combo/tracker/kvm_part.h",
                   "virt/model/virt_power.h", "virt/model/virt_recorded.h",
                   "virt/model/virt_threads.h",
                   "virt/model/virt_waits.h", "virt/why/virt_guest.h",
                   "virt/why/virt_verdict.h", "virt/why/virt_why.h",
                   "virt/model/virt_search.h",
                   "virt/model/virt_window_walk.h",
                   "virt/registry/virt_pairing.h", "virt/registry/virt_registry.h",
                   "xen-input/file/xentrace_copy.h", "xen-input/file/xentrace_facts.h",
                   "xen-input/trace/xen_part.h", "xen-input/trace/xen_trace_note.h",
                   "xen-input/trace/xen_trace_window.h",
                   "xen-input/trace/xen_window.h",
                   "xen-input/tracker/xen_live.h", "xen-input/tracker/xen_tracker_feed.h"]


FUNCTION = re.compile(r"\b([a-z_]\w*)\s*\(((?:[^()]|\([^()]*\))*)\)\s*$", re.S)


def functions(header):
    """Names of the functions that a header declares or defines, with the line of each."""
    text = read(header).decode()
    # Comments, preprocessor lines and strings become blanks of the same number of lines.
    def blank(match):
        return "\n" * match.group().count("\n")
    text = re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)
    text = re.sub(r'^[ \t]*#(?:\\\n|[^\n])*', blank, text, flags=re.M)
    text = re.sub(r'extern\s*"C"\s*\{', "", text)
    found, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char == "{" and depth == 0:
            found.append((text[start:i], start, "static" in text[start:i]))
        depth += (char == "{") - (char == "}")
        if depth <= 0 and char in ";}":
            depth = 0
            if char == ";":
                found.append((text[start:i], start, "static" in text[start:i]))
            start = i + 1
    result = {}
    for declaration, position, static in found:
        declaration = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", declaration, flags=re.S)
        match = FUNCTION.search(declaration.strip())
        if match and not declaration.strip().startswith("typedef"):
            skipped = len(declaration) - len(declaration.lstrip())
            line = text.count("\n", 0, position + skipped) + 1
            result.setdefault(match.group(1), (line, static))
    return result
