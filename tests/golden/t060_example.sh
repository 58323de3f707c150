# SPDX-License-Identifier: LGPL-2.1-or-later
# A program that uses the library as others do: installed headers, pkg-config, shared library.
. "$(dirname "$0")/lib.sh"

root=$WORK/root
cached()
{
	sed -n "s/^$1:[^=]*=//p" "$KSV_BUILD_DIR/CMakeCache.txt"
}
DESTDIR=$root cmake --install "$KSV_BUILD_DIR" > "$WORK/install" || {
	cat "$WORK/install"
	exit 1
}
export PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name kshark-virt.pc)")
LD_LIBRARY_PATH=$(dirname "$(find "$root" -name libkshark-virt.so)")
export PKG_CONFIG_PATH LD_LIBRARY_PATH

# a library with sanitizers wants programs with the same
sanitize=$(cached KSHARK_VIRT_SANITIZE)
# shellcheck disable=SC2046
check "the example compiles" "$(cached CMAKE_C_COMPILER)" -Wall -Wextra -Werror \
	${sanitize:+"-fsanitize=$sanitize"} -o "$WORK/example" \
	"$KSV_SOURCE_DIR/examples/xentrace_stat.c" $(pkg-config --cflags --libs kshark-virt)

example()
{
	XEN_CPUHZ=2300M "$WORK/example" "$@" > "$OUT" 2> "$ERR"
	STATUS=$?
}

for name in credit2-basic lost-records; do
	example "$SAMPLES/$name.xen"
	status 0
	golden "t060_$name" "$OUT"
done

# The same counts as the command's, by other means.
run dump --quiet --format csv "$SAMPLES/lost-records.xen"
status 0
tail -n +2 "$OUT" | cut -d , -f 7 | sort | uniq -c | sort > "$WORK/theirs"
example "$SAMPLES/lost-records.xen"
status 0
sed -n '/^records per event/,/^$/ { /^ / p }' "$OUT" | awk '{ printf "%7d %s\n", $1, $2 }' |
	sort > "$WORK/ours"
same "$WORK/theirs" "$WORK/ours"
check "something was counted" test -s "$WORK/ours"

example "$WORK/missing"
status 1
says "$ERR" "$WORK/missing"
finish
