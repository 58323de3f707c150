# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The dock's page "Why" names the locks for which a vCPU's thread of the host, or a task of a guest, waits, and who has them, as
# "kshark-virt why" prints it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"
. "$(dirname "$0")/lib_why.sh"

# page NAME: of this vCPU
page()
{
	gui_click_found items '*' "$1 | *"
	gui_until gui_find widgets QLabel "<b>$1</b>: *" >/dev/null
	gui_click QToolButton Why
	as_printed
}

gui_init
file=$GUI_DIR/futexes.dat
gunzip -c "$GUI_SAMPLES/host-futexes.dat.gz" >"$file"
combo_view "$file"
page g1v0
gui_need grep -q 'waits for rwsem read 0x' "$GUI_DIR/printed"
gui_shot host
gui_quit

# a task of a guest, by the guest's own trace
file=$GUI_SAMPLES/kvm-locks.dat
combo_view "$file" "$GUI_SAMPLES/kvm-locks-web.dat"
gui_click QToolButton Why
gui_combo 'Selected vCPU' 'kvm-locks-web.dat: sh-143'
gui_until why_shown
as_printed
gui_need grep -q 'waits for mutex 0x' "$GUI_DIR/printed"
gui_shot guest
gui_quit
