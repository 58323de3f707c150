/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	KvmCombos.hpp
 * @brief	Visible combos of vCPUs: pairs of the open streams, and the user's wishes.
 */
#ifndef KSHARK_VIRT_KVMCOMBOS_HPP
#define KSHARK_VIRT_KVMCOMBOS_HPP

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <QMainWindow>
#include <QPointer>
#include <QStringList>
#include <QTimer>

#include <libkshark-model.h>

#include "virt_pairing.h"

class QDialog;

/** A vCPU of an open stream. */
struct KvmVcpu {
	int		stream;
	int32_t		machine;	/* index */
	QString		machineName, name;
	int32_t		pid;
	double		share;		/* of known time on a pCPU */
	bool		isKvm;
	virt_pair	pair;		/* guest_stream is VIRT_NONE if it has no guest */
};

/** A CPU of a stream that can be a guest. */
struct KvmGuestCpu {
	int	stream, cpu;
};

class KvmCombos : public QObject {
public:
	explicit KvmCombos(QMainWindow *window);

	/** That of this process, made if there is a main window; or nullptr. */
	static KvmCombos *instance();

	/** A graph has been drawn; called often. @top, @base: where it is in the widget. */
	void graphDrawn(kshark_trace_histo *histo, int streamId, int id, int drawAction, int top,
			int base);

	/** All vCPUs of all streams, machine by machine. */
	std::vector<KvmVcpu> vcpus() const;

	/** CPUs of all streams but one. */
	std::vector<KvmGuestCpu> guestCpus(int otherThan) const;

	/** Find the pairs anew, from the traces, by guessing, from the user's earlier choices. */
	void findPairs();

	/** As findPairs(), without the user's choices. */
	void findPairsWithoutChoices();

	/** Remember which pairs the user has chosen, by the names of the files. */
	void saveChoices();

	/** What a user should know about the pairs. */
	QStringList notes() const;

	/**
	 * Show these as combos instead of those that are seen.
	 * @isReveal: scroll to them
	 */
	void show(const std::vector<KvmVcpu> &vcpus, bool isReveal);

	/** Is its combo, as it would be now, among those that are seen? */
	bool isShown(const KvmVcpu &vcpu) const;

	/** Has the user not taken it away? */
	bool isWanted(const KvmVcpu &vcpu) const;
	void setWanted(const KvmVcpu &vcpu, bool wanted);

	bool isAutomatic() const { return _automatic; }
	void setAutomatic(bool automatic);

	/** Are guests' CPUs faded while they do not execute? */
	static bool fades() { return _fades; }
	void setFades(bool fades);

private:
	using Key = std::pair<int, int>;	/* stream, pid */

	bool eventFilter(QObject *object, QEvent *event) override;
	void frameDone();
	void dropOldCollections();
	void dropTaskPlots();
	void clocksChanged(bool foreign);
	void showByItself();
	void showNotes();
	void reveal();
	void loadChoices();
	void hideStockMenu();
	void showDialog();

	QMainWindow			*_window;
	QTimer				_timer;
	kshark_trace_histo		*_histo = nullptr;
	kshark_entry			**_rows = nullptr;	/* as of the last frame */
	size_t				_nRows = 0;
	std::vector<std::string>	_signature;	/* of the streams */
	std::vector<std::vector<int64_t>> _clocks;	/* of these streams */
	uint64_t			_pairs = 0;	/* as found or kept last */
	std::set<std::vector<int>>	_drawn, _mine;	/* graphs of combos: stream, action, id */
	std::set<std::vector<int>>	_seen;		/* _drawn of the last whole frame */
	std::set<Key>			_tasks, _seenTasks;	/* the same outside combos */
	int				_top = 0, _base = 0;	/* of all combos */
	bool				_reveal = false;
	int				_revealed = -1;	/* where it has been scrolled to */
	std::pair<int, int>		_place;		/* height that is seen, top of the combos */
	bool				_automatic = true;
	std::set<Key>			_unwanted;
	QPointer<QDialog>		_dialog;

	static bool			_fades;
};

#endif
