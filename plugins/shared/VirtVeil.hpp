/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtVeil.hpp
 * @brief	Fade what KernelShark has drawn.
 */
#ifndef KSHARK_VIRT_VIRTVEIL_HPP
#define KSHARK_VIRT_VIRTVEIL_HPP

#include <vector>

#include "VirtShapes.hpp"
#include "virt_veil.h"

constexpr int VIRT_VEIL_STEPS = 32;	/* a window's n_parts */
constexpr int VIRT_VEIL_MOST = 200;	/* of 255: how much of a graph goes */

/** Draw it over a part of a graph, from a column on; smoothing would mix neighbours. */
inline void virtDrawVeil(const std::vector<virt_veil_run> &runs, int x0, int y0, int y1)
{
	glBegin(GL_QUADS);
	for (const virt_veil_run &run : runs) {
		int x = x0 + run.first;

		glColor4ub(255, 255, 255, static_cast<GLubyte>(VIRT_VEIL_MOST * run.parts /
							       VIRT_VEIL_STEPS));
		virtAddRect({ x, y0, x + run.n, y1 });
	}
	glEnd();
}

#endif
