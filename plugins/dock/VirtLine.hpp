/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtLine.hpp
 * @brief	A line of text that leaves out parts rather than cutting a number.
 */
#ifndef KSHARK_VIRT_VIRTLINE_HPP
#define KSHARK_VIRT_VIRTLINE_HPP

#include <cmath>

#include <QLabel>
#include <QStringList>
#include <QTextDocument>

class VirtLine : public QLabel {
public:
	/** A line of one height, as wide as its layout lets it be. */
	VirtLine()
	{
		setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
		setTextFormat(Qt::RichText);
	}

	/** Show the first of these rich texts for which there is room, or else the last one. */
	void showFirst(const QStringList &texts)
	{
		_texts = texts;
		choose();
	}

protected:
	void resizeEvent(QResizeEvent *event) override
	{
		QLabel::resizeEvent(event);
		choose();
	}

private:
	int widthOf(const QString &text) const
	{
		QTextDocument document;

		document.setDocumentMargin(0);
		document.setDefaultFont(font());
		document.setHtml(text);
		return static_cast<int>(std::ceil(document.idealWidth()));
	}

	void choose()
	{
		for (const QString &one : _texts) {
			if (&one != &_texts.last() && widthOf(one) > contentsRect().width())
				continue;
			if (one != text())
				setText(one);
			break;
		}
	}

	QStringList	_texts;
};

#endif
