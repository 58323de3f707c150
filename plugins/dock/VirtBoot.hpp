/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtBoot.hpp
 * @brief	Read the boots of guests from their own traces, and make lanes of them for drawing.
 *
 * The initcall events of a guest's kernel show the levels of its boot. A guest that reports by
 * hypercalls has lanes without this.
 */
#ifndef KSHARK_VIRT_VIRTBOOT_HPP
#define KSHARK_VIRT_VIRTBOOT_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "VirtWorker.hpp"

struct virt_inside;

class VirtBoot {
public:
	/**
	 * @owner: in whose thread files are taken; as long as it lives
	 * @changed: the lanes of a stream have come or gone
	 */
	VirtBoot(QObject *owner, std::function<void()> changed);
	~VirtBoot();
	VirtBoot(const VirtBoot &) = delete;
	VirtBoot &operator=(const VirtBoot &) = delete;

	/** Streams or their clocks may be others; not while KernelShark loads. */
	void look();

private:
	struct Job;

	/** Of a stream: what its lanes were made from. */
	struct Known {
		std::string		file;
		std::vector<int64_t>	clock;
		std::shared_ptr<Job>	job;
		virt_inside		*inside = nullptr;	/* that the registry has */
	};

	void read(int stream, const Known &wanted);
	void take(int stream, const std::shared_ptr<Job> &job);
	bool drop(int stream, const Known &known);

	VirtWorker		_worker;	/* of its own: figures do not wait for files */
	std::function<void()>	_changed;
	std::map<int, Known>	_known;
};

#endif
