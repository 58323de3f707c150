# SPDX-License-Identifier: LGPL-2.1-or-later
# What tests of "why" share.

# laws ARGUMENT...: text says what JSON says; the uppermost segments fill the window, what is below is within
laws()
{
	for format in json text; do
		run why -q --format "$format" "$@"
		status 0
		cp "$OUT" "$WORK/why.$format"
	done
	check "laws: ${*##*/}" python3 "$GOLDEN/why_laws.py" "$WORK/why.json" "$WORK/why.text"
}
