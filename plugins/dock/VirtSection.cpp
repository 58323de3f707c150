// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtSection.cpp
 * @brief	A part of the dock that can be closed.
 */
#include <utility>

#include <QHBoxLayout>
#include <QLabel>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>

#include "VirtKs.hpp"
#include "VirtSection.hpp"

VirtSection::VirtSection(const QString &title, const QString &key, QWidget *content,
			 std::function<void(VirtSection *)> opened)
: _key("sections/" + key),
  _opened(std::move(opened)),
  _head(new QToolButton),
  _badge(new QLabel),
  _content(content)
{
	auto layout = new QVBoxLayout(this);
	auto first = new QHBoxLayout;
	QSettings settings(virtSettingsFile(), QSettings::IniFormat);

	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(0);
	first->addWidget(_head);
	first->addWidget(_badge);
	first->addStretch();
	layout->addLayout(first);
	layout->addWidget(_content);
	_head->setObjectName("section-" + key);
	_head->setText(title);
	_head->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
	_head->setAutoRaise(true);
	_head->setToolTip("Open or close this part");
	_badge->setTextFormat(Qt::PlainText);
	_badge->setStyleSheet(VIRT_WARNING_STYLE);
	_byUser = settings.contains(_key);
	setOpen(settings.value(_key, true).toBool());
	connect(_head, &QToolButton::clicked, this, [this] {
		_byUser = true;
		setOpen(!_isOpen);
		QSettings(virtSettingsFile(), QSettings::IniFormat).setValue(_key, _isOpen);
		if (_isOpen)
			_opened(this);
	});
}

void VirtSection::setOpen(bool open)
{
	_isOpen = open;
	_head->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
	_content->setVisible(open);
	_badge->setVisible(!open && !_badge->text().isEmpty());
}

void VirtSection::suggest(bool open)
{
	if (!_byUser)
		setOpen(open);
}

void VirtSection::setBadge(const QString &text)
{
	_badge->setText(text);
	setOpen(_isOpen);
}
