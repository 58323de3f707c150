# SPDX-License-Identifier: LGPL-2.1-or-later
# build-all makes what a service for continuous fuzzing takes: each target runs in its folder, with an input
# of its corpus.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
KSV_FUZZ_BUILD=$KSV_BUILD_DIR "$here/build-all" "$work/out" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
n=0
for source in "$here"/fuzz_*.c; do
	name=$(basename "$source" .c)
	mkdir "$work/corpus"
	python3 -m zipfile -e "$work/out/${name}_seed_corpus.zip" "$work/corpus"
	first=$(find "$work/corpus" -type f | sort | head -n 1)
	(cd "$work" && "$work/out/$name" "$first" > "$work/log" 2>&1) || { cat "$work/log"; exit 1; }
	grep -q 'Executed .* in ' "$work/log" || { cat "$work/log"; exit 1; }
	rm -r "$work/corpus"
	n=$((n + 1))
done
[ "$n" -gt 20 ]
