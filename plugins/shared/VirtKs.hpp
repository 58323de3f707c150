/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtKs.hpp
 * @brief	Our plugins' access to KernelShark's window and streams, by public means.
 */
#ifndef KSHARK_VIRT_VIRTKS_HPP
#define KSHARK_VIRT_VIRTKS_HPP

#include <cstdint>
#include <utility>
#include <vector>

#include <QMainWindow>
#include <QPointer>
#include <QString>
#include <QStringList>
#include <QVector>

#include "virt_registry.h"

class QComboBox;
class QLabel;

/*
 * KernelShark's class; its header is not installed. Only these exported, non-virtual functions are
 * called, on a pointer whose class Qt has confirmed.
 */
class KsTraceGraph {
public:
	void cpuReDraw(int sd, QVector<int> cpus);
	void taskReDraw(int sd, QVector<int> pids);
	void removeTaskPlot(int sd, int pid);
	void comboReDraw(int n, QVector<int> combos);
};

/** What it draws them in; the same holds for it. */
class KsGLWidget {
public:
	void render();				/* makes the graphs, and does not draw them */
};

/** KernelShark's rows, a child of its window; the same holds for it. */
class KsDataStore {
public:
	void registerCPUCollections();
	void unregisterCPUCollections();
	void updateWidgets(KsDataStore *data);	/* its signal: all that shows rows looks anew */
	void reload();
};

/** KernelShark's markers, a child of its window; the same holds for it. */
class KsDualMarkerSM {
public:
	void deselectA();			/* its signals, as of its own buttons */
	void deselectB();
};

/** A counted reference to a stream's model. */
class VirtModelRef {
public:
	VirtModelRef() = default;
	explicit VirtModelRef(int streamId) : _shared(virt_registry_get(streamId)) {}
	VirtModelRef(const VirtModelRef &other)
	: _shared(other._shared ? virt_shared_ref(other._shared) : nullptr) {}
	VirtModelRef(VirtModelRef &&other) noexcept { std::swap(_shared, other._shared); }
	VirtModelRef &operator=(VirtModelRef other) noexcept
	{
		std::swap(_shared, other._shared);
		return *this;
	}
	~VirtModelRef() { virt_shared_put(_shared); }

	explicit operator bool() const { return _shared; }
	const virt_model *get() const { return _shared ? virt_shared_model(_shared) : nullptr; }
	const virt_worst *worst(bool byPcpu) const
	{
		return _shared ? virt_shared_worst(_shared, byPcpu) : nullptr;
	}
	int setIrqs(const virt_irq_delivery *irqs, size_t n) const
	{
		return _shared ? virt_shared_set_irqs(_shared, irqs, n) : 0;
	}
	/** They belong to the model from here on. */
	void setDevices(virt_devices *devices) const
	{
		if (_shared)
			virt_shared_set_devices(_shared, devices);
		else
			virt_devices_free(devices);
	}
	uint64_t serial() const { return _shared ? virt_shared_serial(_shared) : 0; }
	uint64_t worstSerial() const { return _shared ? virt_shared_worst_serial(_shared) : 0; }

private:
	struct virt_shared	*_shared = nullptr;
};

/** A stream with a model, and the window of it that is seen. */
struct VirtStream {
	int		id;
	int64_t		offset;		/* added to the model's times */
	VirtModelRef	model;
};

/** All open streams that have a model. */
std::vector<VirtStream> virtStreams();

/** What others have chosen as a name or is part of a text, to be shown: escaped, see escape.h. */
QString virtShown(const char *text);
QString virtShown(const QString &text);

/** The same on a button or a check box, where an ampersand would underline what follows it. */
QString virtLabel(QString text);

/** The same as a field of CSV, which no spreadsheet calculates. */
QString virtCsv(const QByteArray &text);

/** A column of CSV: what stands above it, and its field of a row. */
template<typename Row> struct VirtCsvColumn {
	const char	*title;
	QString		(*field)(const Row &row);
};

/** A line of CSV: the titles, or the fields of a row. */
template<typename Row, size_t N>
QString virtCsvLine(const VirtCsvColumn<Row> (&columns)[N], const Row *row = nullptr)
{
	QStringList cells;

	for (const VirtCsvColumn<Row> &column : columns)
		cells << (row ? column.field(*row) : column.title);
	return cells.join(',') + '\n';
}

/** Nanoseconds, with a fitting unit. */
QString virtDuration(int64_t ns);

/** Seconds, to the nanosecond. */
QString virtSeconds(int64_t ns);

/** Plain text as a tooltip, as HTML: Qt wraps no other ones, and may take plain text for HTML. */
QString virtTip(const QString &text);

/** The same for all plain tooltips of a widget's children; to be called once. */
void virtWrapTips(QWidget *root);

/** Let a label wrap in whatever width there is; a long word does not make the window wider. */
void virtWrapLabel(QLabel *label);

/** Let a box be narrower than the names, as of files, that it lists. */
void virtNarrowBox(QComboBox *box);

/** A ground on which words are seen, for labels. */
constexpr char VIRT_WARNING_STYLE[] =
	"background: #fff3b0; border: 1px solid #c9a400; color: black; padding: 1px;";

/** Path of a stream's file, as it is. */
QByteArray virtPathOf(int streamId);

/** The calib_array of a stream without a text after it (ks_memo.h); { 0 } if it has none. */
std::vector<int64_t> virtClockParts(int streamId);

/** Name of a stream's file, without its directory, to be shown. */
QString virtFileOf(int streamId);

/** Where the settings are: beside KernelShark's own if that has a place of its own. */
QString virtSettingsFile();

/** KernelShark's window, or nullptr. */
QMainWindow *virtMainWindow();

/**
 * Is KernelShark loading a file? Another thread moves the rows then, while the window's events are
 * still handled now and then: nothing may be drawn or change its size.
 */
bool virtIsLoading();

/**
 * virtMustWait - does KernelShark load a file, so that the user must wait?
 *
 * Then the status bar shows that the request was not carried out.
 */
bool virtMustWait();

/**
 * Keep KernelShark's graphs from being drawn while it loads, make them before it needs them, and
 * one after the other: it would crash. May be called by each plugin, in the window's thread; the
 * first one does it.
 */
void virtGuardGraphs(QMainWindow *window);

/**
 * As long as there is one of these, KernelShark's graphs do not learn that they have another size:
 * each one costs as much as the step of a zoom. Then they learn the last one. Needs the guard.
 */
class VirtOneResize {
public:
	explicit VirtOneResize(QMainWindow *window);
	~VirtOneResize();
	VirtOneResize(const VirtOneResize &) = delete;
	VirtOneResize &operator=(const VirtOneResize &) = delete;

private:
	void hold(int n);

	QPointer<QWidget> _graphs;
};

/**
 * A property that the guard gives to KernelShark's window when a file has been loaded, before its
 * first frame: first for those that bring graphs, and then for those that give them their place.
 */
constexpr char VIRT_LOADED[] = "kshark-virt-loaded";
constexpr int VIRT_LOADED_GRAPHS = 1, VIRT_LOADED_PANES = 2;

/** Is an event of the window this? The property stays as it was last. */
bool virtIsLoaded(QObject *window, const QEvent *event, int what);

/** Has KernelShark restored a session since the guard looks? It has set the sizes of its parts. */
bool virtHasRestored(const QMainWindow *window);

/** The ids of all open streams. */
std::vector<int> virtOpenStreams();

/** KernelShark's rows, or nullptr. */
KsDataStore *virtDataStore(QMainWindow *window);

/** Let KernelShark read all open files anew. Return: false if it cannot just now. */
bool virtReload(QMainWindow *window);

/** Remove the markers A and B. */
void virtDropMarkers(QMainWindow *window);

/**
 * Let KernelShark forget where the rows of each task are. It looks anew when it draws a task's
 * graph, but not by itself when rows have got other places.
 */
void virtDropTaskCollections();

/** Draw all graphs anew, soon. */
void virtRedrawGraphs(QMainWindow *window);

/** The widget of a class of KernelShark's in its window, or nullptr. */
QWidget *virtChild(QMainWindow *window, const char *className);

#endif
