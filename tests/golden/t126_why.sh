# SPDX-License-Identifier: LGPL-2.1-or-later
# why: formats agree, segments fill their window, records are those that dump shows.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

laws()
{
	python3 "$GOLDEN/why_laws.py" "$@"
}

# agree SAMPLE ARGUMENT...: text says what JSON says, which obeys the laws
agree()
{
	local sample=$1
	shift

	for format in json text; do
		run why --quiet --format "$format" "$@" "$sample"
		status 0
		cp "$OUT" "$WORK/why.$format"
	done
	case $sample in
	*.xen | *.xen.gz)
		"$KSV_BIN" dump --quiet --format csv "$sample" > "$WORK/records.csv"
		check "$sample $*" laws "$WORK/why.json" "$WORK/why.text" "$WORK/records.csv"
		;;
	*)
		check "$sample $*" laws "$WORK/why.json" "$WORK/why.text"
		;;
	esac
}

hosts="*.xen domU.xen.gz hypertrace-packed.dat hypertrace-plain.dat kvm-host.dat kvm-hypercall.dat \
	kvm-migration.dat kvm-nested-g1.dat kvm-nested-linux-g1.dat kvm-nested-linux.dat \
	kvm-nested-shift-g1.dat kvm-nested-shift.dat kvm-nested.dat kvm-nosync.dat kvm-ptp.dat \
	kvm-shared.dat recording-kvm recording-xen"

! sanitized || hosts="credit2-basic.xen lost-records.xen kvm-host.dat kvm-nested.dat"

# The ten worst are explained, but for what is not in a trace: kvm-nested-g1 is of a guest that hosts
# another one; it has records of exits only where they began before the trace did.
for sample in $hosts; do
	agree "$sample" --worst 10
	least=90
	[ "$sample" = kvm-nested-g1.dat ] && least=60
	[ "$sample" = lost-records.xen ] && least=89.99
	share=$(laws --share "$least" "$WORK/why.json") || fail "$sample: explained is only $share"
	checks=$((checks + 1))
	echo "$sample: explained of the ten worst $share"
done

agree credit2-4.20.xen --worst 5 --kind blocked,wake --vcpu d1
agree credit2-basic.xen --vcpu d1v0 --from 1.2 --to 1.25
agree kvm-migration.dat --vcpu g1v1 --from 1020 --to 1020.02
agree kvm-migration.dat --pcpu 1-2 --from 1020 --to 1020.02
agree dom0.xen --pcpu 0 --at 1.5
agree dom0.xen --vcpu d1 --at 1.5

for question in "kvm-migration --vcpu g1v0 --at 1024.7" "credit2-basic --worst 3 --kind steal" \
		"hvm-io --worst 2 --kind exit"; do
	read -r sample arguments <<< "$question"
	file=$(ls "$sample".*[nt])
	# shellcheck disable=SC2086
	run why --quiet $arguments "$file"
	status 0
	golden "t126_$sample" "$OUT"
done

# Drawn: each segment that can be seen, where it belongs.
while read -r sample arguments; do
	# shellcheck disable=SC2086
	run why --quiet --format json $arguments "$sample"
	status 0
	cp "$OUT" "$WORK/why.json"
	# shellcheck disable=SC2086
	run why --quiet --format svg $arguments "$sample"
	status 0
	found=$(laws --figure "$OUT" "$WORK/why.json")
	check "$sample $arguments: drawn are $found" test "$found" -ge 3
done << 'END'
credit2-basic.xen --worst 1 --kind steal
hvm-exits.xen --worst 1
lost-records.xen --vcpu d1v0 --from 5.0 --to 5.4
kvm-host.dat --worst 1
kvm-migration.dat --pcpu 2 --from 1020 --to 1020.02
recording-kvm --worst 1 --kind wake
END
run why --quiet --worst 1 --format png -o "$WORK/why.png" recording-kvm
status 0
check "a PNG" test "$(head -c 4 "$WORK/why.png" | tail -c 3)" = PNG
run why --quiet --worst 2 --format svg recording-kvm
status 2
says "$ERR" "a picture shows one answer, but there are 2"
run why --quiet --worst 1 --kind steal --format svg kvm-ptp.dat --from 1ns --to 2ns
status 2

# Who had a physical CPU.
run why --quiet --pcpu 3 --from 76.6893 --to 76.7176 recording-kvm
status 0
says "$OUT" "  rcu_preempt-15 has pCPU 3"
says "$OUT" "  db v0 has pCPU 3"

# Machines by the names that others have given them.
for name in "web v0" g1v0; do
	run why --quiet --vcpu "$name" --at 80 recording-kvm
	status 0
	cp "$OUT" "$WORK/$name"
	says "$OUT" "host.dat: web v0"
done
same "$WORK/web v0" "$WORK/g1v0"
run why --quiet --vcpu burny --worst 1 recording-xen
status 0
says "$OUT" ": d1v"

# Without a question: the worst moments, of a subject or a window if one is given.
for asked in "" "--vcpu d1v0" "--from 1 --to 2" "--kind steal" "--vcpu d1v0 --path"; do
	# shellcheck disable=SC2086
	run why --quiet $asked credit2-basic.xen
	status 0
	cp "$OUT" "$WORK/asked"
	# shellcheck disable=SC2086
	run why --quiet --worst 3 $asked credit2-basic.xen
	same "$WORK/asked" "$OUT"
	check "three of '$asked'" test "$(grep -c 'that costs' "$OUT")" = 3
done
run why --quiet --format svg credit2-basic.xen
status 0
cp "$OUT" "$WORK/asked"
run why --quiet --worst 1 --format svg credit2-basic.xen
same "$WORK/asked" "$OUT"

# What is asked must be a question.
for wrong in "--pcpu 1" "--at 1" "--vcpu d1v0 --pcpu 1 --at 1" "--worst 3 --at 1" \
		"--pcpu 1 --worst 3" "--vcpu d1v0 --at 1 --from 1" "--vcpu d1v0 --kind wake --at 1" \
		"--vcpu d7v0 --at 1" "--vcpu nobody --at 1" "--pcpu 99 --at 1" "--vcpu d1v0 --at 999" \
		"--vcpu d1v0 --from 2 --to 1" "--worst 0" "--worst 3 --kind lost"; do
	# shellcheck disable=SC2086
	run why --quiet $wrong dom0.xen
	status 2
	check "$wrong: nothing is written" test ! -s "$OUT"
done
run why --quiet --worst 3 dom0.xen dom0.xen
status 2
run why --quiet --worst 3 nothing.xen
status 3
finish
