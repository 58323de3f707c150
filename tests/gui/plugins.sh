# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Other plugins come and go, which loads the trace again; an event's field is plotted; one file is
# closed and another opened.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# switch_plugins FILE: the dialog's plugins off and on again
switch_plugins()
{
	local round

	for round in 1 2; do
		gui_menu Tools 'Manage Plotting plugins'
		gui_dialog 'Manage plugins'
		gui_shot "dialog-$round"
		gui_toggle 'event_field_plot*'
		gui_apply
		gui_check_list "$1"
	done
}

# plot_field FILE EVENT FIELD: coloured bars of the field's values appear in the graphs
plot_field()
{
	local name before field

	name=$(basename "$1" .xen)
	gui_shot "$name-without"
	gui_graphs
	before=$(gui_pixels "$GUI_X0" "$GUI_TOP" $((GUI_X1 - GUI_X0)) 250 | md5sum)
	gui_menu Tools 'Plot Event Field'
	gui_dialog 'Plot Event Field'
	# the field of the event that is chosen first; the other event has another field
	field=$(gui_combo_at 3)
	gui_click QLineEdit '*'
	xdotool key ctrl+a type --delay 1 "$2"
	gui_until gui_find widgets QLineEdit "$2" >/dev/null
	xdotool key Return
	gui_until gui_not gui_find widgets QComboBox "$field" >/dev/null
	gui_combo "$(gui_combo_at 3)" "$3"
	gui_shot "$name-field-dialog"
	gui_apply
	gui_shot "$name-field"
	gui_need [ "$before" != \
		"$(gui_pixels "$GUI_X0" "$GUI_TOP" $((GUI_X1 - GUI_X0)) 250 | md5sum)" ]
}

gui_init
first=$GUI_SAMPLES/hvm-exits.xen second=$GUI_SAMPLES/pinned.xen
gui_open "$first"
gui_check_list "$first"
plot_field "$first" hvm/intr_window vector
switch_plugins "$first"
gui_menu File 'Open Trace File'
gui_file "$second"
gui_loaded "$second"
gui_check_list "$second"
plot_field "$second" sched/switch_infprev runtime
switch_plugins "$second"
gui_quit
