// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtFont.cpp
 * @brief	Text in OpenGL.
 */
#include <map>

#include <KsCmakeDef.hpp>

#include "VirtFont.hpp"

const ksplot_font *virtFont(int size)
{
	static std::map<int, ksplot_font> fonts;
	auto found = fonts.find(size);

	if (found == fonts.end()) {
		found = fonts.emplace(size, ksplot_font()).first;
		ksplot_init_font(&found->second, static_cast<float>(size), TT_FONT_FILE);
	}
	return ksplot_font_is_loaded(&found->second) ? &found->second : nullptr;
}

int virtTextWidth(const ksplot_font *font, const std::string &text)
{
	float width = 0;

	for (char c : text)
		if (c >= KS_SPACE_CHAR && c < KS_TILDA_CHAR)
			width += font->cdata[c - KS_SPACE_CHAR].xadvance;
	return static_cast<int>(width + 1);
}

std::string virtElided(const ksplot_font *font, const std::string &text, int room)
{
	std::string shown = text;

	for (size_t n = text.size(); n > 1 && virtTextWidth(font, shown) > room; n--)
		shown = text.substr(0, n / 2) + ".." + text.substr(text.size() - (n - 1) / 2);
	return shown;
}

void virtDrawText(const ksplot_font *font, const std::string &text, int x, int y, virt_color color)
{
	const ksplot_color ks = { color.red, color.green, color.blue };

	ksplot_print_text(font, &ks, x, y, text.c_str());
}
