# SPDX-License-Identifier: LGPL-2.1-or-later
# Commands that write, on a disk that fails or loses power at each use of it.
. "$(dirname "$0")/lib.sh"

if sanitized; then
	echo "a sanitizer wants to be the first library"
	exit 77
fi
cc -shared -fPIC -D_GNU_SOURCE -o "$WORK/broken_disk.so" "$KSV_SOURCE_DIR/tests/hostile/broken_disk.c" -ldl
check "the old result or the new one" python3 "$GOLDEN/broken_disk.py" "$KSV_BIN" "$WORK/broken_disk.so" \
	"$SAMPLES" "$WORK"
finish
