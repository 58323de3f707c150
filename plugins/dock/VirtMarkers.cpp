// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtMarkers.cpp
 * @brief	The dock's part about markers.
 */
#include <algorithm>

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QSettings>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include "VirtDock.hpp"
#include "VirtFindings.hpp"
#include "VirtFlow.hpp"
#include "VirtMarkers.hpp"
#include "VirtNames.hpp"
#include "VirtTasks.hpp"
#include "virt_colors.h"
#include "virt_pairing.h"
#include "virt_text.h"

namespace {

constexpr int DEFAULT_NUMBER = 10;
constexpr int DEFAULT_US = 1000;
constexpr int MOST_US = 100000000;
constexpr int SPIN_WIDTH = 84, LEAST_CHARACTERS = 10;
constexpr ssize_t MOST_ROWS = 100000;	/* that are looked at for the guest's first event */

unsigned int theKinds;		/* that are chosen, also while no markers are shown */
virt_marker_rules theRules = { 0, false, DEFAULT_NUMBER, {} };
uint64_t theRulesSerial;

/** What has been selected last. */
struct {
	uint64_t	model = 0;
	virt_worst_hit	hit = {};
} theSelection;

/** What a hit belongs to: deliveries come and go while the model stays. */
uint64_t serialOf(const VirtModelRef &model, const virt_worst_hit &hit)
{
	return hit.kind == VIRT_WORST_IRQ ? model.worstSerial() : model.serial();
}

} // namespace

QIcon VirtMarkers::icon(virt_worst_kind kind)
{
	const char *const *glyph = virt_marker_glyph(kind);
	virt_color color = virt_worst_look(kind)->color;
	QImage image(VIRT_MARKER_SIZE, VIRT_MARKER_SIZE, QImage::Format_ARGB32);

	image.fill(Qt::transparent);
	for (int y = 0; y < VIRT_MARKER_SIZE; y++)
		for (int x = 0; x < VIRT_MARKER_SIZE; x++)
			if (glyph[y][x] != '.')
				image.setPixel(x, y, glyph[y][x] == '#' ? qRgb(0x20, 0x20, 0x20) :
						     qRgb(color.red, color.green, color.blue));
	return QIcon(QPixmap::fromImage(image));
}

namespace {

QString key(const char *what, int kind)
{
	return QString("markers/%1_%2").arg(what,
		virt_worst_kind_name(static_cast<virt_worst_kind>(kind)));
}

} // namespace

const virt_marker_rules &VirtMarkers::rules()
{
	return theRules;
}

unsigned int VirtMarkers::kinds()
{
	return theKinds;
}

int64_t VirtMarkers::leastNs(int kind)
{
	return theRules.absolute ? theRules.min_ns[kind] : 0;
}

uint64_t VirtMarkers::rulesSerial()
{
	return theRulesSerial;
}

virt_worst_hit VirtMarkers::selected(const VirtModelRef &model)
{
	virt_worst_hit none = {};

	none.kind = VIRT_WORST_N_KINDS;
	return theSelection.model && theSelection.model == serialOf(model, theSelection.hit) ?
	       theSelection.hit : none;
}

VirtMarkers::VirtMarkers(VirtDock *dock)
: _dock(dock)
{
	buildUi();
	restore();
	adopt();
}

/* ---- the widgets ---- */

void VirtMarkers::buildUi()
{
	constexpr int inRow = 4;
	auto layout = new QVBoxLayout(this);
	auto head = new VirtFlow(nullptr, 0), kinds = new VirtFlow(nullptr, inRow);
	auto how = new QWidget;
	auto howLayout = new QHBoxLayout(how);

	_shown = new QCheckBox("Markers:");
	_shown->setToolTip("Mark the worst moments below the graphs. Where there is no room for"
			   " two, the costlier one is shown. Double-click to describe it");
	_mode = new QComboBox;
	_mode->addItems({ "the worst of each kind", "all that cost at least" });
	_mode->setMinimumContentsLength(LEAST_CHARACTERS);
	_mode->setToolTip("Moments of the visible window to mark");
	_number = new QSpinBox;
	_number->setRange(1, VIRT_MARKER_MOST);
	_number->setToolTip("Number of moments of each kind to mark in the visible window");
	howLayout->setContentsMargins(0, 0, 0, 0);
	howLayout->addWidget(_mode);
	howLayout->addWidget(_number);
	head->addWidget(_shown);
	head->addWidget(how);
	for (int i = 0; i < VIRT_WORST_N_KINDS; i++) {
		auto kind = static_cast<virt_worst_kind>(i);
		const virt_kind_look *look = virt_worst_look(kind);
		auto entry = new QWidget;
		auto entryLayout = new QHBoxLayout(entry);

		_kinds[i] = new QCheckBox(look->title);
		_kinds[i]->setObjectName(QString("marker-") + virt_worst_kind_name(kind));
		_kinds[i]->setIcon(icon(kind));
		_kinds[i]->setToolTip(look->meaning);
		_us[i] = new QSpinBox;
		_us[i]->setRange(0, MOST_US);
		_us[i]->setSuffix(" us");
		_us[i]->setFixedWidth(SPIN_WIDTH);
		_us[i]->setToolTip(QString("Least cost: ") + look->meaning);
		entryLayout->setContentsMargins(0, 0, 0, 0);
		entryLayout->addWidget(_kinds[i], 1);
		entryLayout->addWidget(_us[i]);
		entry->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
		kinds->addWidget(entry);
		connect(_kinds[i], &QCheckBox::toggled, this, [this] { adopt(); });
		connect(_us[i], QOverload<int>::of(&QSpinBox::valueChanged), this,
			[this] { adopt(); });
	}
	layout->setContentsMargins(2, 2, 2, 2);
	layout->setSpacing(2);
	layout->addLayout(head);
	layout->addLayout(kinds);
	connect(_shown, &QCheckBox::toggled, this, [this] { adopt(); });
	connect(_mode, QOverload<int>::of(&QComboBox::currentIndexChanged), this,
		[this] { adopt(); });
	connect(_number, QOverload<int>::of(&QSpinBox::valueChanged), this, [this] { adopt(); });
}

void VirtMarkers::restore()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);
	const QSignalBlocker blockers[] = {
		QSignalBlocker(_shown), QSignalBlocker(_mode), QSignalBlocker(_number),
	};

	_shown->setChecked(settings.value("markers/shown", true).toBool());
	_mode->setCurrentIndex(settings.value("markers/absolute", false).toBool());
	_number->setValue(settings.value("markers/number", DEFAULT_NUMBER).toInt());
	for (int i = 0; i < VIRT_WORST_N_KINDS; i++) {
		const QSignalBlocker kind(_kinds[i]), us(_us[i]);

		_kinds[i]->setChecked(settings.value(key("mark", i), true).toBool());
		_us[i]->setValue(settings.value(key("us", i), DEFAULT_US).toInt());
	}
}

void VirtMarkers::save()
{
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);

	settings.setValue("markers/shown", _shown->isChecked());
	settings.setValue("markers/absolute", theRules.absolute);
	settings.setValue("markers/number", theRules.n);
	for (int i = 0; i < VIRT_WORST_N_KINDS; i++) {
		settings.setValue(key("mark", i), _kinds[i]->isChecked());
		settings.setValue(key("us", i), _us[i]->value());
	}
}

/** From now on, mark what the widgets say. */
void VirtMarkers::adopt()
{
	bool isFirst = !theRulesSerial++;

	theKinds = 0;
	theRules.absolute = _mode->currentIndex() == 1;
	theRules.n = _number->value();
	for (int i = 0; i < VIRT_WORST_N_KINDS; i++) {
		bool costs = virt_worst_costs(static_cast<virt_worst_kind>(i));

		if (_kinds[i]->isChecked())
			theKinds |= 1u << i;
		theRules.min_ns[i] = costs ? static_cast<int64_t>(_us[i]->value()) * 1000 : 0;
		/* where they do not count, the kinds have their room */
		_us[i]->setVisible(theRules.absolute && costs);
	}
	theRules.kinds = _shown->isChecked() ? theKinds : 0;
	_number->setEnabled(!theRules.absolute);
	if (isFirst)
		return;
	save();
	_dock->view().redraw();
	_dock->schedule();
}

/* ---- texts ---- */

namespace {

/** The first event inside the guest of a vCPU after an entry; or VIRT_NO_TIME. */
int64_t firstGuestEvent(const kshark_trace_histo *histo, const VirtStream &stream, int32_t vcpu,
			int64_t entryNs)
{
	const virt_vcpu *who = virt_model_vcpu(stream.model.get(), vcpu);
	const virt_interval *at;
	int64_t end;
	virt_pair pair;
	ssize_t row, n = histo ? static_cast<ssize_t>(histo->data_size) : 0;

	if (!who || !n || entryNs == VIRT_NO_TIME ||
	    !virt_pairing_of_vcpu(stream.id, who->host_pid, &pair) ||
	    pair.guest_stream == VIRT_NONE)
		return VIRT_NO_TIME;
	at = virt_vcpu_at(stream.model.get(), vcpu, entryNs, &end);
	if (!at || at->state != VIRT_GUEST)
		return VIRT_NO_TIME;
	row = kshark_find_entry_by_time(entryNs + stream.offset, histo->data, 0, n - 1);
	if (row < 0)
		return VIRT_NO_TIME;
	for (n = std::min(n, row + MOST_ROWS); row < n; row++) {
		const kshark_entry *entry = histo->data[row];

		if (entry->ts >= end + stream.offset)
			break;
		if (entry->stream_id == pair.guest_stream && entry->cpu == pair.guest_cpu &&
		    entry->ts >= entryNs + stream.offset)
			return entry->ts - stream.offset;
	}
	return VIRT_NO_TIME;
}

} // namespace

/** Of steal and exits: the guest's tasks, and those of the guest that took the pCPU. */
static QString taskWords(const kshark_trace_histo *histo, const VirtStream &stream,
			 const virt_moment &moment)
{
	const virt_model *model = stream.model.get();
	const virt_vcpu *vcpu = virt_model_vcpu(model, moment.vcpu);
	const virt_interval *at;
	VirtTasks tasks;
	QString words;
	int64_t end;

	if (!histo || !histo->data_size || !vcpu ||
	    (moment.kind != VIRT_WORST_STEAL && moment.kind != VIRT_WORST_EXIT))
		return words;
	tasks.add(histo, stream.id, model);
	words = tasks.words(stream.id, vcpu->host_pid, moment.cost_from_ns + stream.offset,
			    moment.cost_to_ns + stream.offset);
	at = virt_vcpu_at(model, moment.vcpu, moment.cost_from_ns, &end);
	if (at && at->state == VIRT_PREEMPTED)
		words += tasks.culpritWords(stream, moment.vcpu, *at, end);
	return words;
}

bool VirtMarkers::describe(const VirtStream &stream, const virt_worst_hit &hit,
			   const QString &before, VirtFact *fact)
{
	const virt_worst *worst = stream.model.worst(false);
	VirtDock *dock = VirtDock::instance();
	char text[VIRT_TEXT_SIZE];
	virt_moment moment;

	if (!worst || !virt_worst_describe(worst, &hit, &moment))
		return false;

	virt_name_parts parts = VirtNames().parts(stream.id, moment.vcpu);

	virt_text_moment(text, sizeof(text), stream.model.get(), &parts, &moment,
			 firstGuestEvent(dock ? dock->view().histo() : nullptr, stream, moment.vcpu,
					 moment.entry_ns));
	*fact = { before + virtShown(text) +
		  taskWords(dock ? dock->view().histo() : nullptr, stream, moment),
		  moment.cost_from_ns + stream.offset,
		  moment.cost_to_ns + stream.offset, stream.id, moment.vcpu };
	return true;
}

QString VirtMarkers::show(const VirtStream &stream, const virt_worst_hit &hit,
			  const QString &before)
{
	VirtDock *dock = VirtDock::instance();
	VirtFact fact;

	if (!describe(stream, hit, before, &fact))
		return QString();
	theSelection.model = serialOf(stream.model, hit);
	theSelection.hit = hit;
	if (dock) {
		dock->showFact(fact);
		dock->_findings->selectCurrent();
		dock->view().redraw();
	}
	return fact.text;
}
