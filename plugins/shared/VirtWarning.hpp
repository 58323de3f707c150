/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtWarning.hpp
 * @brief	What the parts of the dock have to say first of all.
 */
#ifndef KSHARK_VIRT_VIRTWARNING_HPP
#define KSHARK_VIRT_VIRTWARNING_HPP

#include <functional>

#include <QString>

/** A warning, and what can be done about it. */
struct VirtWarning {
	QString			text, button;	/* without a button: nothing */
	std::function<void()>	act;
};

#endif
