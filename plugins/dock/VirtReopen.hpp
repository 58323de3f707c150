/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtReopen.hpp
 * @brief	The view that "kshark-virt view" wants the window to begin with, and the command
 *		that opens the window again with the view of now.
 */
#ifndef KSHARK_VIRT_VIRTREOPEN_HPP
#define KSHARK_VIRT_VIRTREOPEN_HPP

#include <cstdint>
#include <utility>
#include <vector>

#include <QString>

#include "VirtSession.hpp"
#include "view_state.h"

class VirtPlots;
class VirtView;

/** A marker may be unset. */
struct VirtMarks {
	int64_t	ns[2];		/* A and B; VIEW_STATE_NO_TIME: not set */
};

class VirtReopen {
public:
	/** Takes it from the environment. */
	VirtReopen();
	~VirtReopen();
	VirtReopen(const VirtReopen &) = delete;
	VirtReopen &operator=(const VirtReopen &) = delete;

	/** Is a view wanted, and are all its files open? To be asked again until it is taken. */
	bool isDue() const;

	/** Show its time, set its markers. @seen: receives what needs no figures or graphs. */
	void take(VirtView *view, VirtSeen *seen);

	/** Bring its graphs, if there are any. */
	void bringGraphs(VirtPlots *plots) const;

	/** The name of what is selected in the table, empty without one; and of which stream. */
	QString selected() const { return QString::fromUtf8(_state.select ? _state.select : ""); }
	int selectedStream() const;

	/**
	 * The pCPU or task of the page "Why"; the stream is VIRT_NONE if none is wanted, or known.
	 * @problem: receives what is wrong
	 */
	VirtWhose why(QString *problem) const;

	/** What is wrong with the text; or nothing. */
	const QString &problem() const { return _problem; }

	/** The command. @marks: as in KernelShark, on its axis */
	QString command(const VirtView &view, const VirtPlots &plots, const VirtSeen &seen,
			const VirtMarks &marks) const;

private:
	struct File {
		int		id;
		QByteArray	path;		/* to be given; empty: the command makes it again */
	};

	std::vector<File> files() const;
	int streamOf(int32_t file) const;

	view_state	_state;
	bool		_isWanted = false;
	QString		_problem;
};

#endif
