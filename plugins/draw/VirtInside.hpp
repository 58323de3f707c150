/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtInside.hpp
 * @brief	Draw the activity inside a guest, as far as it is known, over the graph of its CPU.
 *
 * System calls, functions, interrupts and levels of the boot are above KernelShark's boxes, where a
 * vCPU's graph has its states. The boxes are hatched where the task that had the CPU is unknown.
 */
#ifndef KSHARK_VIRT_VIRTINSIDE_HPP
#define KSHARK_VIRT_VIRTINSIDE_HPP

#include <utility>
#include <vector>

#include <KsPlugins.hpp>

#include "VirtFact.hpp"
#include "VirtShapes.hpp"
#include "virt_registry.h"
#include "virt_slices.h"

/** A counted reference to what is known of the inside of a stream. */
class VirtInsideRef {
public:
	explicit VirtInsideRef(int streamId) : _inside(virt_registry_inside(streamId)) {}
	VirtInsideRef(const VirtInsideRef &) = delete;
	VirtInsideRef &operator=(const VirtInsideRef &) = delete;
	VirtInsideRef(VirtInsideRef &&other) noexcept { std::swap(_inside, other._inside); }
	~VirtInsideRef() { virt_inside_put(_inside); }

	explicit operator bool() const { return _inside; }
	const virt_inside *get() const { return _inside; }

private:
	struct virt_inside	*_inside = nullptr;
};

class VirtInside {
public:
	/** @inside: of the stream, not nothing. */
	VirtInside(const KsCppArgV *argv, int streamId, int cpu, int drawAction,
		   VirtInsideRef &&inside);

	void draw() const;
	void drawNames() const;
	bool contains(int x, int y) const { return _area.contains(x, y); }
	bool factAt(int x, int y, VirtFact *fact) const;

private:
	struct Row {
		virt_slice_row			place;
		std::vector<virt_slice_run>	runs;
	};

	Row newRow(const virt_slice_row &place) const;
	VirtRect rectOf(const Row &row, const virt_slice_run &run) const;
	void drawRow(const Row &row) const;
	void drawHatch(const Row &row, bool ground) const;
	const Row *rowAt(int y) const;

	VirtInsideRef		_inside;
	int64_t			_offset;
	virt_shade_window	_window;
	VirtRect		_area, _boxes;
	std::vector<Row>	_rows, _unknown, _doubtful;
};

#endif
