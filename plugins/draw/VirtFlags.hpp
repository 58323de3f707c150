/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtFlags.hpp
 * @brief	Marks that hang from KernelShark's axis of time: bookmarks, with a line through all
 *		graphs, and the beginnings of the levels of guests' boots.
 */
#ifndef KSHARK_VIRT_VIRTFLAGS_HPP
#define KSHARK_VIRT_VIRTFLAGS_HPP

#include <cstdint>
#include <set>
#include <vector>

#include <KsPlugins.hpp>

#include "VirtFact.hpp"
#include "VirtShapes.hpp"

struct VirtBookmark;
struct virt_inside;

/** Of a frame. */
class VirtFlags {
public:
	/** @graph: any one; @height: of all graphs together */
	VirtFlags(const KsCppArgV *graph, int height);

	void addBookmarks(const std::vector<VirtBookmark> &bookmarks);

	/** The levels of the boot of a stream, once. */
	void addBoot(int streamId, const virt_inside *inside);

	/** Return: false if there is none. */
	bool factAt(int x, int y, VirtFact *fact) const;
	void draw() const;

private:
	struct Flag {
		int	x0, x1;		/* columns; x1 is within */
		bool	begins, ends;	/* there: not before or after the window */
		VirtFact fact;
	};

	bool place(int64_t from, int64_t to, Flag *flag) const;
	void drawBookmark(const Flag &flag) const;
	static void drawLevel(const Flag &flag);

	int		_x0, _columns, _height;
	int64_t		_from, _column;
	std::vector<Flag> _bookmarks, _levels;
	std::set<int>	_streams;
};

#endif
