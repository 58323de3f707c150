/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtFont.hpp
 * @brief	Text in OpenGL, in KernelShark's font, in any size.
 */
#ifndef KSHARK_VIRT_VIRTFONT_HPP
#define KSHARK_VIRT_VIRTFONT_HPP

#include <string>

#include <KsPlotTools.hpp>

#include "virt_colors.h"

constexpr int VIRT_FONT_SIZE = 12;	/* of names ... */
constexpr int VIRT_CAPITAL_SIZE = 9;	/* ... and how high its capitals are */

/** A font, or nullptr if it cannot be read. */
const ksplot_font *virtFont(int size);

int virtTextWidth(const ksplot_font *font, const std::string &text);

/** A text without its middle if it needs more than @room. */
std::string virtElided(const ksplot_font *font, const std::string &text, int room);

/** @y: of the base line. */
void virtDrawText(const ksplot_font *font, const std::string &text, int x, int y, virt_color color);

#endif
