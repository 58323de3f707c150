# SPDX-License-Identifier: LGPL-2.1-or-later
# What stands beside a trace takes no more memory than a trace may.
. "$(dirname "$0")/lib.sh"

if sanitized; then
	echo "a sanitizer takes memory of its own"
	exit 77
fi
check "within the promise" python3 "$GOLDEN/side_files.py" "$KSV_BIN" "$SAMPLES" "$WORK"
finish
