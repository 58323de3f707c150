// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtListWidths.cpp
 * @brief	The widths of the columns of KernelShark's list.
 */
#include <QAbstractItemModel>
#include <QApplication>
#include <QEvent>
#include <QHeaderView>
#include <QStyle>
#include <QTableView>

#include "VirtKs.hpp"
#include "VirtListWidths.hpp"

namespace {

constexpr char NAME[] = "virtListWidths";
constexpr int SPARED = 2;	/* pixels of the last column: KernelShark leaves them, too */

class Widths : public QObject {
public:
	Widths(QWidget *list, QTableView *view) : QObject(list), _list(list), _view(view)
	{
		setObjectName(NAME);
		list->installEventFilter(this);
		view->installEventFilter(this);
		connect(view->model(), &QAbstractItemModel::modelReset, this,
			[this] { _isMeasured = false; });
		connect(view->model(), &QAbstractItemModel::layoutChanged, this,
			[this] { _isMeasured = false; });
	}

private:
	/** KernelShark hides the table while it measures, whether or not it is on the screen. */
	bool eventFilter(QObject *object, QEvent *event) override
	{
		if (object == _view && event->type() == QEvent::ShowToParent)
			note();
		if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
			_isMeasured = false;
		if (object != _list || event->type() != QEvent::Resize || !isMeasured())
			return false;
		stretch();
		return true;
	}

	int last() const { return _view->horizontalHeader()->count() - 1; }

	void note()
	{
		_isMeasured = last() >= 0;
		_first = _view->rowAt(0);
		_lastWidth = _isMeasured ? _view->columnWidth(last()) : 0;
		_n = last();
	}

	bool isMeasured() const
	{
		return _isMeasured && _n == last() && _first == _view->rowAt(0);
	}

	void stretch()
	{
		int room = _view->width() -
			   QApplication::style()->pixelMetric(QStyle::PM_ScrollBarExtent);

		for (int i = 0; i < last(); i++)
			room -= _view->columnWidth(i);
		_view->setColumnWidth(last(), room > _lastWidth ? room - SPARED : _lastWidth);
	}

	QWidget		*_list;
	QTableView	*_view;
	bool		_isMeasured = false;
	int		_first = -1;		/* row in sight when it was measured */
	int		_n = -1;		/* last column then, */
	int		_lastWidth = 0;		/* and what its texts need */
};

} // namespace

void virtKeepWidths(QMainWindow *window)
{
	QWidget *list = window ? virtChild(window, "KsTraceViewer") : nullptr;
	QTableView *view = list ? list->findChild<QTableView *>() : nullptr;

	if (view && view->model() && !list->findChild<QObject *>(NAME, Qt::FindDirectChildrenOnly))
		new Widths(list, view);
}
