/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtShapes.hpp
 * @brief	Rectangles and hatching in OpenGL, pixel by pixel; ksplot's shapes are rounded and
 *		blurred at their edges.
 */
#ifndef KSHARK_VIRT_VIRTSHAPES_HPP
#define KSHARK_VIRT_VIRTSHAPES_HPP

#include <KsPlotTools.hpp>

#include "virt_colors.h"

struct VirtRect {
	int x0, y0, x1, y1;	/* x1 and y1 are outside */

	bool contains(int x, int y) const
	{
		return x >= x0 && x < x1 && y >= y0 && y < y1;
	}
};

inline void virtSetColor(virt_color color)
{
	glColor3ub(color.red, color.green, color.blue);
}

inline void virtAddRect(const VirtRect &rect)
{
	glVertex2i(rect.x0, rect.y0);
	glVertex2i(rect.x1, rect.y0);
	glVertex2i(rect.x1, rect.y1);
	glVertex2i(rect.x0, rect.y1);
}

/** Diagonal lines that go on from one rectangle to the next. */
inline void virtAddHatch(const VirtRect &rect)
{
	for (int x = rect.x0; x < rect.x1; x++)
		for (int y = rect.y0 + (6 - (x + rect.y0) % 6) % 6; y < rect.y1; y += 6)
			virtAddRect({ x, y, x + 1, y + 1 });
}

#endif
