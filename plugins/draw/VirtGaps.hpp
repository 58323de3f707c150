/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtGaps.hpp
 * @brief	Mark the times of missing records of a stream, in red, below KernelShark's axis of
 *		time.
 */
#ifndef KSHARK_VIRT_VIRTGAPS_HPP
#define KSHARK_VIRT_VIRTGAPS_HPP

#include <vector>

#include <KsPlugins.hpp>

#include "VirtFact.hpp"
#include "VirtKs.hpp"
#include "VirtShapes.hpp"
#include "virt_shading.h"

/** Of a stream, in one frame. */
class VirtGaps {
public:
	VirtGaps(const KsCppArgV *argv, VirtStream stream);

	int streamId() const { return _stream.id; }
	bool contains(int x, int y) const { return spanAt(x, y); }
	/** Return: false if nothing is missing there. */
	bool factAt(int x, int y, VirtFact *fact) const;
	void draw() const;

private:
	VirtRect area(const virt_shade_span &span) const;
	const virt_shade_span *spanAt(int x, int y) const;

	VirtStream			_stream;
	int				_x0;
	virt_shade_window		_window;
	std::vector<virt_shade_span>	_spans;
};

#endif
