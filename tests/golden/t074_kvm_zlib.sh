# SPDX-License-Identifier: LGPL-2.1-or-later
# trace.dat files that zlib has compressed, which Debian's libtracecmd does not know.
. "$(dirname "$0")/lib.sh"

if ! command -v trace-cmd > /dev/null; then
	echo "trace-cmd is missing"
	exit 77
fi
cd "$WORK" || exit 1
mkdir plain zlib options tmp
export TMPDIR=$WORK/tmp
for name in kvm-nested kvm-nested-g1 kvm-shared; do
	trace-cmd convert --file-version 7 --compression none -i "$SAMPLES/$name.dat" \
		-o "plain/$name.dat" > said 2>&1
	python3 "$GOLDEN/trace_dat_zlib.py" "plain/$name.dat" "zlib/$name.dat"
	python3 "$GOLDEN/trace_dat_zlib.py" "plain/$name.dat" "options/$name.dat" --options
	check "$name: zlib compresses" test "$(stat -c %s "zlib/$name.dat")" -lt \
		"$(stat -c %s "plain/$name.dat")"
done

# equal ARGUMENT...: the command says the same in all folders
equal()
{
	local expected folder

	for folder in plain $FOLDERS; do
		cd "$folder" || exit 1
		run "$@"
		cat "$ERR" >> "$OUT"
		cd ..
		[ "$folder" != plain ] || { cp "$OUT" expected; expected=$STATUS; }
		status "$expected"
		same expected "$OUT"
	done
	check "$1: no output" test -s expected
	check "$1: temporary files are left: $(ls -A tmp)" test -z "$(ls -A tmp)"
}

FOLDERS="zlib options"
equal report --format json kvm-nested.dat kvm-nested-g1.dat
FOLDERS=zlib
equal report --worst 5 kvm-shared.dat
equal report --tracing kvm-shared.dat
equal plot --format csv kvm-shared.dat
equal check --affinity g1=2 kvm-shared.dat
equal compare kvm-shared.dat kvm-shared.dat
equal align --format json kvm-nested.dat kvm-nested-g1.dat

# view hands the file itself to KernelShark, where the plugin reads it: with its name and its sidecar
mkdir plugins
for name in xentrace virt kvm_combo; do
	: > "plugins/plugin-$name.so"
done
KSHARK_VIRT_PLUGIN_DIR=$WORK/plugins equal view --dry-run kvm-nested.dat kvm-nested-g1.dat

# bad NAME PYTHON: zlib/kvm-shared.dat, changed
bad()
{
	python3 "$GOLDEN/trace_dat_edit.py" zlib/kvm-shared.dat "$1" "$2"
}

# refused FILE TEXT: nothing is left behind
refused()
{
	local command

	for command in report "view --dry-run"; do
		KSHARK_VIRT_PLUGIN_DIR=$WORK/plugins run $command "$1"
		status 3
		says "$ERR" "$1: $2"
	done
	check "$1: temporary files are left" test -z "$(ls -A tmp)"
}

bad data.dat 'd[cpu(1) + 40] ^= 255'
refused data.dat "damaged: its zlib data"
bad longer.dat 'put(section(18) + 16 + 4, 1 << 20)'
refused longer.dat "damaged: its zlib data"
bad bomb.dat 'put(section(18) + 16 + 4, 0xffffffff)'
refused bomb.dat "damaged: its zlib data"
bad chunk.dat 'put(cpu(0) + 8, 0x7fffffff)'
refused chunk.dat "damaged: its zlib data"
bad chunks.dat 'put(cpu(0), 0xffffffff)'
refused chunks.dat "damaged: its zlib data"
bad page.dat 'put(buffer(), 0x80000001)'
refused page.dat "damaged: its zlib data"
bad lzma.dat 'd[d.index(b"zlib"):d.index(b"zlib") + 4] = b"lzma"'
refused lzma.dat "compressed with lzma"
says "$ERR" "trace-cmd convert --file-version 7 --compression none"
head -c 500000 zlib/kvm-shared.dat > cut.dat
refused cut.dat "cut off"

# 1.1 GB of zeros in 1.2 MB, which is what zlib can do: no trace grows like that. And what is there
# once, unpacked for 64 CPUs.
python3 - << 'END'
import struct, zlib
d = bytearray(open("zlib/kvm-shared.dat", "rb").read())
link = d.index(b"\0", d.index(b"zlib\0") + 5) + 1
zeros = zlib.compress(bytes(64 << 20), 9)
chunk = struct.pack("<II", len(zeros), 64 << 20) + zeros
place = len(d)
d += struct.pack("<HHIQ", 3, 1, 0, 0)
data = len(d)

def write(name, d, cpus, chunks):
    d = d + struct.pack("<I", chunks) + chunk * chunks
    size = len(d) - data - 4
    options = len(d)
    option = struct.pack("<Q", place) + b"bomb\0x86-tsc\0" + struct.pack("<II", 4096, cpus) + \
        b"".join(struct.pack("<IQQ", cpu, data, size) for cpu in range(cpus))
    body = struct.pack("<HI", 3, len(option)) + option + \
        struct.pack("<HIQ", 0, 8, struct.unpack_from("<Q", d, link)[0])
    d += struct.pack("<HHIQ", 0, 0, 0, len(body)) + body
    struct.pack_into("<Q", d, link, options)
    open(name, "wb").write(d)

write("large.dat", d, 1, 18)
zeros = zlib.compress(bytes(4096), 0)
chunk = struct.pack("<II", len(zeros), 4096) + zeros
write("many.dat", d, 64, 100)
END
refused large.dat "it would unpack to more than 1073741824 bytes"
refused many.dat "damaged: the data of CPU 0, at offset 983106, and the data of CPU 1, at offset 983106, overlap"

# no room
if [ ! -d /nonexistent ]; then
	TMPDIR=/nonexistent run report --full zlib/kvm-shared.dat
	status 3
	says "$ERR" "set TMPDIR"
fi
finish
