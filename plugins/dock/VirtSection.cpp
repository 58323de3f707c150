// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtSection.cpp
 * @brief	A part of the details that can be shown and hidden.
 */
#include <utility>

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QSettings>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

#include "VirtKs.hpp"
#include "VirtSection.hpp"

VirtSection::VirtSection(const QString &title, const QString &key, QWidget *content,
			 std::function<void(VirtSection *)> opened)
: _title(title),
  _action(new QAction(title, this))
{
	auto layout = new QVBoxLayout(this);
	auto head = new QHBoxLayout;
	auto close = new QToolButton;
	QString setting = "sections/" + key;
	bool isShown = QSettings(virtSettingsFile(), QSettings::IniFormat).value(setting)
		       .toBool();

	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(0);
	head->addWidget(new QLabel("<b>" + title + "</b>"), 1);
	head->addWidget(close);
	layout->addLayout(head);
	layout->addWidget(content);
	close->setIcon(style()->standardIcon(QStyle::SP_TitleBarCloseButton));
	close->setAutoRaise(true);
	close->setToolTip("Hide this part: View > " + title + " shows it again");
	close->setAccessibleName("Hide " + title);
	setVisible(isShown);
	_action->setCheckable(true);
	_action->setChecked(isShown);
	connect(close, &QToolButton::clicked, _action, &QAction::trigger);
	connect(_action, &QAction::triggered, this,
		[this, setting, opened = std::move(opened)] (bool on) {
			setVisible(on);
			QSettings(virtSettingsFile(), QSettings::IniFormat).setValue(setting, on);
			if (on)
				opened(this);
		});
}

void VirtSection::setBadge(const QString &text)
{
	_action->setText(text.isEmpty() ? _title : QString("%1 (%2)").arg(_title, text));
}
