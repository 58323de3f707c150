/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtWhy.hpp
 * @brief	The dock's page "Why", which explains where time went, as "kshark-virt why" does.
 *
 * The GUI's thread makes the tree; a job in the background counts the records that show it. After a
 * zoom to a segment, the page keeps the tree of the window in which the segment was found.
 */
#ifndef KSHARK_VIRT_VIRTWHY_HPP
#define KSHARK_VIRT_VIRTWHY_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <QWidget>

#include "VirtFindings.hpp"
#include "VirtLives.hpp"
#include "VirtWhose.hpp"
#include "VirtWorker.hpp"
#include "virt_path.h"
#include "why_answer.h"

class QLabel;
class QToolButton;
class QTreeWidget;
class QTreeWidgetItem;
class VirtDock;
class VirtWhoseBox;

/** An answer of one stream. Only its evidence comes later. */
struct VirtWhyTree {
	VirtStream		stream;
	std::string		file;		/* of it */
	VirtWhose		whose;
	QString			options;	/* of the command that prints it */
	std::shared_ptr<const VirtLivesOf> lives;	/* of its guests; or nothing */
	why_answer		answer = {};
	virt_path		*path = nullptr;	/* on the graphs */
	why_evidence		*evidence = nullptr;	/* not yet */

	VirtWhyTree() = default;
	VirtWhyTree(const VirtWhyTree &) = delete;
	VirtWhyTree &operator=(const VirtWhyTree &) = delete;
	~VirtWhyTree();

	/** The number in the tree of the task that a graph of a stream shows; or VIRT_NONE. */
	int32_t numberOf(int streamId, int pid) const;

	/** The stream and the pid of a graph; the stream is VIRT_NONE if there is none. */
	std::pair<int, int> graphOf(int32_t who) const;
};

class VirtWhy : public QWidget {
public:
	explicit VirtWhy(VirtDock *dock);
	~VirtWhy() override;

	/** Show the chosen one in this window, unless the user looks at an earlier segment. */
	void follow(const VirtListed &listed);

	/** Let go of it: it is not visible, or its trace may not be open any more. */
	void forget();

	/** The pCPU or task that is chosen here; without one, the stream is VIRT_NONE. */
	VirtWhose chosen() const;
	void choose(const VirtWhose &whose);

	/** What is shown; or nothing. */
	const std::shared_ptr<VirtWhyTree> &tree() const { return _tree; }

	/** What the command prints, with its records as soon as they are known; the command. */
	QString asText() const;
	QString command() const;

private:
	struct Job;

	void buildUi();
	VirtWhose whose() const;
	bool isWalking() const;
	void ask(int marker);
	void fillWhose();
	void look();
	std::vector<int64_t> key(const VirtWhose &whose) const;
	const VirtStream *streamOf(int id) const;
	bool findNumber(VirtWhyTree &tree) const;
	bool goesOnAt(const VirtWhyTree &tree, int64_t ns, int64_t *from, int64_t *to) const;
	int answer(VirtWhyTree &tree, int64_t from, int64_t to) const;
	QString makeTree(const VirtStream &stream, const VirtWhose &whose);
	void clear(const QString &why);
	void fill();
	void fillHead();
	void findEvidence();
	void showEvidence(const std::shared_ptr<Job> &job);
	void go(const QTreeWidgetItem *item);
	void bring(const virt_why_segment &segment);

	VirtDock			*_dock;
	VirtWorker			_worker;
	VirtLives			_lives;
	std::shared_ptr<Job>		_job;
	QLabel				*_head;
	VirtWhoseBox			*_whose;
	QToolButton			*_at[2], *_back, *_path;
	QTreeWidget			*_list;
	VirtListed			_listed = {};
	std::pair<int64_t, int64_t>	_set = { 0, 0 };	/* window that a click has set */
	bool				_isAt = false;		/* of what goes on at a time */
	int64_t				_atNs = 0;		/* as KernelShark shows it */
	std::vector<int64_t>		_key;
	std::shared_ptr<VirtWhyTree>	_tree;
	QString				_note;			/* about its records */
};

#endif
