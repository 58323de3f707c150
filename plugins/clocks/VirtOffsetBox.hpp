/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtOffsetBox.hpp
 * @brief	A spin box for 64-bit numbers of ns, which Qt's own spin boxes cannot hold exactly.
 */
#ifndef KSHARK_VIRT_VIRTOFFSETBOX_HPP
#define KSHARK_VIRT_VIRTOFFSETBOX_HPP

#include <cstdint>
#include <functional>
#include <utility>

#include <QAbstractSpinBox>
#include <QLineEdit>

class VirtOffsetBox : public QAbstractSpinBox {
public:
	static constexpr int64_t MOST = 4000000000000000000;	/* 126 years */
	static constexpr int64_t STEP = 1000;

	/** @changed: called when a user has set another value. */
	explicit VirtOffsetBox(std::function<void(int64_t)> changed)
	: _changed(std::move(changed))
	{
		connect(this, &QAbstractSpinBox::editingFinished, this, [this] { take(); });
		setValue(0);
	}

	/** Is another value being typed? */
	bool isEdited() const { return lineEdit()->text() != QString::number(_value); }

	/** Show another value. One that is shown already may be selected, to be typed over. */
	void setValue(int64_t value)
	{
		_value = value;
		if (isEdited())
			lineEdit()->setText(QString::number(value));
	}

	void stepBy(int steps) override
	{
		int64_t value = qBound(-MOST, typed() + steps * STEP, MOST);

		lineEdit()->setText(QString::number(value));
		take();
	}

	QValidator::State validate(QString &text, int &) const override
	{
		bool ok;
		qlonglong value = text.toLongLong(&ok);

		if (ok)
			return value >= -MOST && value <= MOST ? QValidator::Acceptable :
								 QValidator::Invalid;
		return text.isEmpty() || text == "-" || text == "+" ? QValidator::Intermediate :
								      QValidator::Invalid;
	}

	QSize sizeHint() const override
	{
		QSize size = QAbstractSpinBox::sizeHint();

		size.setWidth(fontMetrics().horizontalAdvance("-9999999999999999") + 30);
		return size;
	}

protected:
	StepEnabled stepEnabled() const override { return StepUpEnabled | StepDownEnabled; }

private:
	int64_t typed() const
	{
		bool ok;
		qlonglong value = lineEdit()->text().toLongLong(&ok);

		return ok ? value : _value;
	}

	void take()
	{
		int64_t value = typed();

		lineEdit()->setText(QString::number(value));
		if (value == _value)
			return;
		_value = value;
		_changed(value);
	}

	std::function<void(int64_t)>	_changed;
	int64_t				_value = 0;
};

#endif
