/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtLives.hpp
 * @brief	Read the activity of the tasks of a host's guests in the background, for the page
 *		"Why".
 *
 * KernelShark's rows do not show why a task left its CPU and who woke it; the files do.
 */
#ifndef KSHARK_VIRT_VIRTLIVES_HPP
#define KSHARK_VIRT_VIRTLIVES_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "VirtKs.hpp"
#include "VirtWorker.hpp"
#include "virt_lives.h"

/** Files of a host and its guests, as copies. */
struct VirtLivesFiles {
	struct Guest {
		int			stream;
		std::string		file;
		std::vector<int64_t>	clock;
		std::vector<int32_t>	tids;
	};

	std::string		host;
	int64_t			hostOffset = 0;
	std::vector<Guest>	guests;

	/** Calls @use with them for virt_lives.h. */
	template <typename F> auto with(bool (*stop)(void *arg), void *arg, F use) const
	{
		std::vector<virt_lives_guest> all;
		virt_lives_source source = {};

		for (const Guest &guest : guests)
			all.push_back({ { guest.file.c_str(),
					  { const_cast<int64_t *>(guest.clock.data()),
					    guest.clock.size() }, hostOffset },
					guest.tids.data(), static_cast<int>(guest.tids.size()) });
		source.host = host.c_str();
		source.guests = all.data();
		source.n_guests = static_cast<int>(all.size());
		source.stop = stop;
		source.arg = arg;
		return use(&source);
	}
};

/** Those of one host; never changed once it is there. */
struct VirtLivesOf {
	VirtLivesFiles		files;
	VirtModelRef		model;
	virt_guests		guests = {};
	virt_guest		host = {};

	VirtLivesOf() = default;
	VirtLivesOf(const VirtLivesOf &) = delete;
	VirtLivesOf &operator=(const VirtLivesOf &) = delete;
	~VirtLivesOf();

	/** Which of them is the stream of a guest; -1: none. */
	int guestOf(int stream) const;
};

class VirtLives {
public:
	/** @changed: something has been read */
	VirtLives(VirtWorker *worker, std::function<void()> changed);
	~VirtLives();

	/**
	 * Those of a host, if they have been read; else begin.
	 * @withHost: what its own tasks did is wanted, too
	 */
	std::shared_ptr<const VirtLivesOf> of(const VirtStream &host, bool withHost);

	/** The streams of its guests that can be read. */
	static std::vector<int> guestsOf(const VirtStream &host);

	/** Of a host: are they being read? What has kept them from it? */
	bool isReading(int host) const;
	QString problem(int host) const;
	void forget();

private:
	struct Job;

	/** Of a host. */
	struct Known {
		std::vector<int64_t>			key;
		bool					withHost = false;
		std::shared_ptr<Job>			job;
		std::shared_ptr<const VirtLivesOf>	found;
		QString					problem;
	};

	static VirtLivesFiles filesOf(const VirtStream &host);
	static std::vector<int64_t> keyOf(const VirtStream &host, const VirtLivesFiles &files);
	static void drop(Known &known);

	VirtWorker		*_worker;
	std::function<void()>	_changed;
	std::map<int, Known>	_known;
};

#endif
