/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtWarning.hpp
 * @brief	A warning of a part of the dock, shown before everything else.
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
