# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs that use the library as others do: installed headers, pkg-config, shared library; all of it may be
# elsewhere than it was configured for.
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
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name kshark-virt.pc)")
LD_LIBRARY_PATH=$(dirname "$(find "$root" -name libkshark-virt.so)")
export PKG_CONFIG_PATH LD_LIBRARY_PATH

# a library with sanitizers wants programs with the same
sanitize=$(cached KSHARK_VIRT_SANITIZE)
for name in align_clocks kvm_feed vcpu_costs xentrace_stat; do
	# shellcheck disable=SC2046
	check "$name compiles" "$(cached CMAKE_C_COMPILER)" -Wall -Wextra -Werror -MD \
		${sanitize:+"-fsanitize=$sanitize"} -o "$WORK/$name" \
		"$KSV_SOURCE_DIR/examples/$name.c" $(pkg-config --cflags --libs kshark-virt)
done

# The same by CMake's find_package().
mkdir "$WORK/cmake"
cat > "$WORK/cmake/CMakeLists.txt" << EOF2
cmake_minimum_required(VERSION 3.25)
project(example C)
find_package(kshark-virt 0.1 REQUIRED)
add_executable(example $KSV_SOURCE_DIR/examples/xentrace_stat.c)
target_compile_options(example PRIVATE ${sanitize:+-fsanitize=$sanitize})
target_link_options(example PRIVATE ${sanitize:+-fsanitize=$sanitize})
target_link_libraries(example PRIVATE kshark-virt::kshark-virt)
EOF2
check "find_package() finds it" cmake -S "$WORK/cmake" -B "$WORK/cmake/build" \
	-DCMAKE_C_COMPILER="$(cached CMAKE_C_COMPILER)" \
	-DCMAKE_PREFIX_PATH="${PKG_CONFIG_PATH%/lib*}" > "$WORK/cmake.log"
check "it links" cmake --build "$WORK/cmake/build" > "$WORK/cmake.log"
check "it runs" "$WORK/cmake/build/example" "$SAMPLES/pinned.xen" > "$WORK/stat"
check "it reads records" grep -q 'records per pCPU' "$WORK/stat"

# Each installed header is used by one of them.
cat "$WORK"/*.d > "$WORK/used"
find "$root" -path '*/include/kshark-virt/*.h' -printf '%f\n' | sort > "$WORK/headers"
check "there are headers" test -s "$WORK/headers"
while read -r header; do
	says "$WORK/used" "/$header"
done < "$WORK/headers"

# example NAME ARGUMENTS...
example()
{
	XEN_CPUHZ=2300M "$WORK/$1" "${@:2}" > "$OUT" 2> "$ERR"
	STATUS=$?
}

example align_clocks
status 0
golden t060_align_clocks "$OUT"
example kvm_feed
status 0
golden t060_kvm_feed "$OUT"
example vcpu_costs "$SAMPLES/credit2-basic.xen"
status 0
golden t060_vcpu_costs "$OUT"
example vcpu_costs "$WORK/missing"
status 1
says "$ERR" "$WORK/missing"

for name in credit2-basic lost-records; do
	example xentrace_stat "$SAMPLES/$name.xen"
	status 0
	golden "t060_$name" "$OUT"
done

# The same counts as the command's, by other means.
run dump --quiet --format csv "$SAMPLES/lost-records.xen"
status 0
tail -n +2 "$OUT" | cut -d , -f 7 | sort | uniq -c | sort > "$WORK/theirs"
example xentrace_stat "$SAMPLES/lost-records.xen"
status 0
sed -n '/^records per event/,/^$/ { /^ / p }' "$OUT" | awk '{ printf "%7d %s\n", $1, $2 }' |
	sort > "$WORK/ours"
same "$WORK/theirs" "$WORK/ours"
check "something was counted" test -s "$WORK/ours"

example xentrace_stat "$WORK/missing"
status 1
says "$ERR" "$WORK/missing"
finish
