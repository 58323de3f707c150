/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtTask.hpp
 * @brief	A function for a pool of threads, which Qt itself takes only since 5.15.
 */
#ifndef KSHARK_VIRT_VIRTTASK_HPP
#define KSHARK_VIRT_VIRTTASK_HPP

#include <utility>

#include <QRunnable>

template <typename F> class VirtTask : public QRunnable {
public:
	explicit VirtTask(F function) : _function(std::move(function)) {}
	void run() override { _function(); }

private:
	F	_function;
};

/** To be given to a pool, which deletes it. */
template <typename F> QRunnable *virtNewTask(F function)
{
	return new VirtTask<F>(std::move(function));
}

#endif
