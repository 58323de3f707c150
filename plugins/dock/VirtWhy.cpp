// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtWhy.cpp
 * @brief	The dock's page "Why", which explains where time went.
 */
#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <map>
#include <tuple>

#include <QHeaderView>
#include <QLabel>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "VirtClockStreams.hpp"
#include "VirtCommand.hpp"
#include "VirtDock.hpp"
#include "VirtFlow.hpp"
#include "VirtLegend.hpp"
#include "VirtList.hpp"
#include "VirtWhoseBox.hpp"
#include "VirtWhy.hpp"

namespace {

/** More than anybody reads, and what a frame has time for. */
constexpr size_t MOST_SEGMENTS = 10000;
constexpr int LEAST_LINES = 9;		/* a tree with less says little */
constexpr int MOST_WORDS = 420;		/* pixels of a column; the rest is in its tip */

enum { COLUMN_LENGTH, COLUMN_WORDS, COLUMN_TIME, COLUMN_RECORDS, N_COLUMNS };

const struct {
	const char	*title, *meaning;
} columns[N_COLUMNS] = {
	{ "Length", "Duration; the segments below have the details" },
	{ "What", "Activity, reason and culprit. Click: zoom to it and mark it" },
	{ "From [s]", "Start time, by the trace's own clock" },
	{ "Records", "The records at its ends, by their numbers in the file" },
};

enum { ROLE_FROM = Qt::UserRole, ROLE_TO, ROLE_SEGMENT };

/** What is written into memory. */
class Words {
public:
	Words() : _out(new output) { out_collect(_out.get()); }
	output *out() { return _out.get(); }

	/** What has come since the last call. */
	QString take()
	{
		const char *text = out_collected(_out.get());
		QString words = QString::fromUtf8(text ? text : "");

		out_collect(_out.get());
		return words;
	}

private:
	std::unique_ptr<output>	_out;
};

/** The lines of a tree, copied: each of its own time. */
std::vector<why_line> linesOf(const virt_why &why)
{
	std::vector<why_line> lines;

	why_each_line(&why, [] (void *arg, const why_line *line) {
		static_cast<std::vector<why_line> *>(arg)->push_back(*line);
	}, &lines);
	return lines;
}

why_writing writingOf(const VirtWhyTree &tree, Words &words)
{
	return { tree.file.c_str(), nullptr, &tree.answer.why, tree.evidence, words.out(),
		 nullptr, nullptr, 0 };
}

QString durationOf(Words &words, int64_t ns)
{
	why_put_duration(words.out(), ns, 0);
	return words.take();
}

} // namespace

VirtWhyTree::~VirtWhyTree()
{
	virt_path_free(path);
	why_evidence_free(evidence);
	virt_why_free(&answer.why);
}

int32_t VirtWhyTree::numberOf(int streamId, int pid) const
{
	int guest = lives ? lives->guestOf(streamId) : -1;

	if (guest >= 0)
		return virt_guests_number(&lives->guests, guest,
					  virt_guest_find(&lives->guests.all[guest], pid));
	if (streamId != stream.id)
		return VIRT_NONE;

	int32_t number = virt_model_find_vcpu(stream.model.get(), pid);

	return number == VIRT_NONE ? virt_model_find_task(stream.model.get(), pid) : number;
}

std::pair<int, int> VirtWhyTree::graphOf(int32_t who) const
{
	int guest = 0, pid = VirtDock::pidOf(stream.model.get(), who);
	const virt_guest_task *task = !lives ? nullptr :
				      virt_guests_task(&lives->guests, who, &guest);

	if (task)
		return { lives->files.guests[static_cast<size_t>(guest)].stream, task->pid };
	return { pid > 0 ? stream.id : VIRT_NONE, pid };
}

/** The records that show a tree. */
struct VirtWhy::Job : VirtJob {
	std::shared_ptr<VirtWhyTree>	tree;		/* whose answer is only read */
	why_evidence			*evidence = nullptr;
	QString				problem;

	~Job() override { why_evidence_free(evidence); }

	void work() override
	{
		char error[512] = "";
		VirtLivesFiles files;

		files.host = tree->file;
		if (tree->lives)
			files = tree->lives->files;
		evidence = files.with(isStopped, jobArg(), [&] (const virt_lives_source *source) {
			return virt_lives_evidence(source, &tree->answer, error, sizeof(error));
		});
		problem = virtShown(error);
	}
};

VirtWhy::VirtWhy(VirtDock *dock)
: _dock(dock),
  _worker(this),
  _lives(&_worker, [this] { fillWhose(); })
{
	_listed.subject.stream = VIRT_NONE;
	buildUi();
}

VirtWhy::~VirtWhy()
{
	_lives.forget();
	_worker.finish();
}

void VirtWhy::buildUi()
{
	auto layout = new QVBoxLayout(this);
	auto head = new VirtFlow(nullptr, 0);
	auto list = new VirtList<QTreeWidget>;

	_back = new QToolButton;
	_back->setToolTip("Explain the visible window again, or the time from A to B");
	_back->hide();
	_whose = new VirtWhoseBox(_dock->plots());
	_path = new QToolButton;
	_path->setText("Path");
	_path->setCheckable(true);
	_path->setToolTip(virtTip("The critical path: go back from the task that ended each wait to"
				  " its earlier activity, through guests and host"));
	head->addWidget(_whose);
	for (int i = 0; i < 2; i++) {
		_at[i] = new QToolButton;
		_at[i]->setText(i ? "At B" : "At A");
		_at[i]->setToolTip(virtTip(QString("Explain the state at marker %1, from its begin"
						   " to its end").arg(i ? 'B' : 'A')));
		head->addWidget(_at[i]);
		connect(_at[i], &QToolButton::clicked, this, [this, i] { ask(i); });
	}
	head->addWidget(_path);
	head->addWidget(_back);
	_head = new QLabel;
	_head->setTextFormat(Qt::PlainText);
	virtWrapLabel(_head);
	_list = list;
	list->setLines(LEAST_LINES);
	_list->setColumnCount(N_COLUMNS);
	_list->setAlternatingRowColors(true);
	_list->setUniformRowHeights(true);
	_list->setIndentation(12);
	_list->setExpandsOnDoubleClick(false);
	_list->header()->setStretchLastSection(false);
	for (int i = 0; i < N_COLUMNS; i++) {
		_list->headerItem()->setText(i, columns[i].title);
		_list->headerItem()->setToolTip(i, virtTip(columns[i].meaning));
	}
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(2);
	layout->addLayout(head);
	layout->addWidget(_head);
	layout->addWidget(_list, 1);
	connect(_whose, QOverload<int>::of(&QComboBox::currentIndexChanged), this, [this] (int) {
		_isAt = false;
		look();
	});
	_whose->onClosed([this] { fillWhose(); });
	connect(_path, &QToolButton::toggled, this, [this] (bool) { look(); });
	connect(_back, &QToolButton::clicked, this, [this] {
		_isAt = false;
		look();
	});
	connect(_list, &QTreeWidget::itemClicked, this,
		[this] (QTreeWidgetItem *item) { go(item); });
	connect(_list, &QTreeWidget::itemActivated, this,
		[this] (QTreeWidgetItem *item) { go(item); });
}

/* ---- what is shown ---- */

bool VirtWhy::isWalking() const
{
	return _set.first < _set.second && _dock->view().isStill(_set);
}

void VirtWhy::follow(const VirtListed &listed)
{
	std::pair<int64_t, int64_t> old = { _listed.from, _listed.to };
	bool stays = isWalking() && !listed.isSelection && !_listed.isSelection;

	if (!isWalking())
		_set = { 0, 0 };
	_listed = listed;
	if (stays)
		std::tie(_listed.from, _listed.to) = old;
	for (int i = 0; i < 2; i++) {
		int64_t ns;

		_at[i]->setEnabled(_dock->markerTime(i, &ns));
	}
	fillWhose();
}

/** What there is to choose from has changed, or what is known of it. */
void VirtWhy::fillWhose()
{
	_whose->fill(_listed, _lives);
	look();
}

void VirtWhy::forget()
{
	_listed.streams.clear();
	_isAt = false;
	look();
	_lives.forget();
}

VirtWhose VirtWhy::chosen() const
{
	return _whose->chosen();
}

void VirtWhy::choose(const VirtWhose &whose)
{
	_whose->choose(whose);
	_isAt = false;
	if (!_listed.streams.empty())
		look();
}

/** For a machine with one vCPU, that; none if none is chosen. */
VirtWhose VirtWhy::whose() const
{
	VirtWhose whose = _whose->chosen();

	if (whose.stream != VIRT_NONE)
		return whose;
	if (const VirtStream *stream = streamOf(_listed.subject.stream)) {
		std::vector<int32_t> all = _listed.subject.vcpus(stream->model.get());

		whose.vcpu = all.size() == 1 ? all.front() : _listed.subject.vcpu;
		whose.stream = whose.vcpu == VIRT_NONE ? VIRT_NONE : stream->id;
	}
	return whose;
}

/** Of a marker: what goes on there. */
void VirtWhy::ask(int marker)
{
	int64_t ns;

	if (!_dock->markerTime(marker, &ns))
		return;
	_isAt = true;
	_atNs = ns;
	_back->setText(QString("At %1, %2 s %3").arg(marker ? 'B' : 'A').arg(virtSeconds(ns))
		       .arg(QChar(0x2715)));
	look();
}

/** Return: nullptr if it is not there any more. */
const VirtStream *VirtWhy::streamOf(int id) const
{
	for (const VirtStream &stream : _listed.streams)
		if (stream.id == id)
			return &stream;
	return nullptr;
}

/** All values that the tree depends on, but for the guests' traces. */
std::vector<int64_t> VirtWhy::key(const VirtWhose &whose) const
{
	const VirtStream *stream = streamOf(whose.stream);

	if (!stream)
		return { 0 };
	return { stream->id, stream->offset, static_cast<int64_t>(stream->model.serial()),
		 whose.vcpu, whose.pcpu, whose.guest, whose.pid, _path->isChecked(), _isAt,
		 _isAt ? _atNs : _listed.from, _isAt ? _atNs : _listed.to };
}

/** Show the tree again if anything has changed, also what is known of guests. */
void VirtWhy::look()
{
	VirtWhose now = whose();
	const VirtStream *stream = streamOf(now.stream);
	std::vector<int64_t> wanted = key(now);
	QString problem;

	_back->setVisible(_isAt);
	_path->setEnabled(now.pcpu == VIRT_NONE);
	if (stream) {
		/* a tree of before says whether the host's tasks are worth reading */
		auto lives = _lives.of(*stream, _tree && why_asks_for_host(&_tree->answer.why));

		wanted.push_back(reinterpret_cast<intptr_t>(lives.get()));
		wanted.push_back(_lives.isReading(stream->id));
	}
	if (wanted == _key)
		return;
	_key = wanted;
	if (_job)
		_job->stop = true;
	_job.reset();
	if (!stream) {
		clear("Select a vCPU in the table, or a pCPU or guest task above");
		return;
	}
	problem = makeTree(*stream, now);
	if (!problem.isEmpty()) {
		clear(problem);
		return;
	}
	fill();
	findEvidence();
	_dock->view().redraw();
	/* it may ask for more */
	if (why_asks_for_host(&_tree->answer.why) && !(_tree->lives && _tree->lives->guests.host))
		look();
}

/** Find its number in the tree. Return: false if it is not known yet. */
bool VirtWhy::findNumber(VirtWhyTree &tree) const
{
	tree.answer.pcpu = tree.whose.pcpu;
	tree.answer.who = tree.whose.vcpu;
	if (tree.whose.guest == VIRT_NONE)
		return true;
	tree.answer.who = tree.numberOf(tree.whose.guest, tree.whose.pid);
	return tree.answer.who != VIRT_NONE;
}

/** What goes on at a time, of any subject. */
bool VirtWhy::goesOnAt(const VirtWhyTree &tree, int64_t ns, int64_t *from, int64_t *to) const
{
	const virt_model *model = tree.stream.model.get();

	if (tree.whose.pcpu != VIRT_NONE)
		return virt_why_pcpu_at(model, tree.whose.pcpu, ns, from, to);
	if (tree.whose.guest != VIRT_NONE)
		return virt_why_task_at(model, &tree.lives->guests, tree.answer.who, ns, from, to);
	return virt_why_at(model, tree.answer.who, ns, from, to);
}

int VirtWhy::answer(VirtWhyTree &tree, int64_t from, int64_t to) const
{
	const virt_model *model = tree.stream.model.get();
	const virt_guests *guests = tree.lives ? &tree.lives->guests : nullptr;
	virt_why *why = &tree.answer.why;

	if (tree.whose.pcpu != VIRT_NONE)
		return virt_why_pcpu(model, guests, tree.whose.pcpu, from, to, MOST_SEGMENTS, why);
	if (_path->isChecked())
		return virt_why_path(model, guests, tree.answer.who, from, to, MOST_SEGMENTS, why);
	return (tree.whose.guest != VIRT_NONE ? virt_why_task : virt_why_vcpu)
	       (model, guests, tree.answer.who, from, to, MOST_SEGMENTS, why);
}

/** As the command has it. */
static QString optionsOf(const VirtWhyTree &tree, bool isPath)
{
	QString options = isPath ? " --path" : "";
	const virt_model *model = tree.stream.model.get();

	if (tree.whose.pcpu != VIRT_NONE)
		return QString(" --pcpu %1").arg(tree.whose.pcpu);
	if (tree.whose.guest != VIRT_NONE) {
		int guest = tree.lives->guestOf(tree.whose.guest);

		QString name = QString::fromUtf8(tree.lives->guests.all[guest].name);

		return options + virtTaskOption(name + QString(":%1").arg(tree.whose.pid));
	}

	int32_t vcpu = tree.whose.vcpu, machine = virt_model_vcpu(model, vcpu)->machine;

	return options + virtVcpuOption(tree.stream, { tree.stream.id, machine, vcpu, 0 });
}

/** Return: what is wrong; or nothing. */
QString VirtWhy::makeTree(const VirtStream &stream, const VirtWhose &whose)
{
	auto tree = std::make_shared<VirtWhyTree>();
	int64_t from = _listed.from - stream.offset, to = _listed.to - stream.offset;
	int ret;

	tree->stream = stream;
	tree->whose = whose;
	tree->file = virtPathOf(stream.id).toStdString();
	tree->lives = _lives.of(stream, false);
	if (!findNumber(*tree)) {
		QString problem = _lives.problem(stream.id);

		if (_lives.isReading(stream.id))
			return "Reading the traces of guests";
		return problem.isEmpty() ? QString("Nothing is known of this task") :
					   "The tasks of guests are unknown: " + problem;
	}
	if (_isAt && !goesOnAt(*tree, _atNs - stream.offset, &from, &to))
		return "The marker is outside of the time of this trace";
	ret = answer(*tree, from, to);
	if (ret == -E2BIG)
		return QString("There are more than %1 segments: zoom in, or mark a"
			       " shorter time from A to B").arg(MOST_SEGMENTS);
	if (ret == -EINVAL)
		return "The trace has no records at this time";
	if (!ret)
		tree->path = virt_path_new(&tree->answer.why);
	if (!tree->path)
		return "Not enough memory";
	tree->options = optionsOf(*tree, _path->isChecked());
	_tree = tree;
	return QString();
}

/** Show nothing, and @why. */
void VirtWhy::clear(const QString &why)
{
	bool wasDrawn = _tree != nullptr;

	_tree.reset();
	_list->clear();
	_head->setText(why);
	if (wasDrawn)
		_dock->view().redraw();
}

/* ---- how it is shown ---- */

void VirtWhy::fillHead()
{
	const virt_why &why = _tree->answer.why;
	int64_t offset = _tree->stream.offset;
	Words words;
	char subject[256];
	QString text;

	why_subject(&_tree->answer, subject, sizeof(subject));
	text = virtShown(subject);
	text += QString(", %1: ").arg(_dock->view().span(why.from_ns + offset, why.to_ns + offset));
	text += durationOf(words, why.to_ns - why.from_ns);
	if (why.unexplained_ns)
		text += ", unexplained: " + durationOf(words, why.unexplained_ns);
	else
		text += ", fully explained";
	QString problem = _lives.problem(_tree->stream.id);

	if (_lives.isReading(_tree->stream.id))
		text += ". Reading the traces of guests";
	else if (!problem.isEmpty())
		text += ". Tasks of guests are unknown: " + problem;
	_head->setText(_note.isEmpty() ? text : text + ". " + _note);
}

void VirtWhy::fill()
{
	std::vector<QTreeWidgetItem *> above;
	QList<QTreeWidgetItem *> tops;
	Words words;
	why_writing writing = writingOf(*_tree, words);

	for (const why_line &line : linesOf(_tree->answer.why)) {
		auto item = new QTreeWidgetItem;
		auto level = static_cast<size_t>(line.level);

		why_put_words(words.out(), writing.why, &line);
		item->setText(COLUMN_WORDS, words.take());
		item->setToolTip(COLUMN_WORDS, virtTip(item->text(COLUMN_WORDS)));
		item->setText(COLUMN_LENGTH, durationOf(words, line.length_ns));
		out_ns(words.out(), line.from_ns, 0);
		item->setText(COLUMN_TIME, words.take());
		if (line.segment) {
			item->setIcon(COLUMN_LENGTH, virtLookIcon(virt_path_look(writing.why->model,
										 line.segment)));
			item->setData(COLUMN_LENGTH, ROLE_SEGMENT,
				      static_cast<qlonglong>(line.segment -
							     _tree->answer.why.segments));
		}
		item->setData(COLUMN_LENGTH, ROLE_FROM, static_cast<qlonglong>(line.from_ns));
		item->setData(COLUMN_LENGTH, ROLE_TO, static_cast<qlonglong>(line.to_ns));
		above.resize(level);
		if (level)
			above.back()->addChild(item);
		else
			tops << item;
		above.push_back(item);
	}
	_list->setUpdatesEnabled(false);
	_list->clear();
	_list->addTopLevelItems(tops);
	_list->expandAll();
	for (int i = 0; i < N_COLUMNS; i++)
		_list->resizeColumnToContents(i);
	_list->setColumnWidth(COLUMN_WORDS, std::min(_list->columnWidth(COLUMN_WORDS), MOST_WORDS));
	_list->setUpdatesEnabled(true);
}

/* ---- the records that show it ---- */

void VirtWhy::findEvidence()
{
	/* whether such a model was made with trace-cmd's offsets is not known any more */
	if (VirtClockStreams::hidesOffsets(_tree->stream.id)) {
		_note = "Its records are not shown, because its clock was aligned again";
		fillHead();
		return;
	}
	_job = std::make_shared<Job>();
	_job->tree = _tree;
	_note = "Looking for the records that show it";
	fillHead();
	_worker.start(_job, [this, job = _job] { showEvidence(job); });
}

void VirtWhy::showEvidence(const std::shared_ptr<Job> &job)
{
	Words words;
	QTreeWidgetItemIterator item(_list);

	if (job != _job || !_tree)
		return;
	_job.reset();
	std::swap(_tree->evidence, job->evidence);
	_note = _tree->evidence ? QString() : "Its records are unknown: " + job->problem;
	fillHead();

	why_writing writing = writingOf(*_tree, words);

	for (const why_line &line : linesOf(_tree->answer.why)) {
		why_put_records(&writing, &line);
		(*item)->setText(COLUMN_RECORDS, words.take());
		++item;
	}
	_list->resizeColumnToContents(COLUMN_RECORDS);
}

/* ---- a click ---- */

/** Whose time it is, and who is to blame; those that the user sees anyway stay as they are. */
void VirtWhy::bring(const virt_why_segment &segment)
{
	VirtPlots &plots = _dock->plots();
	std::map<int, VirtWish> wishes;		/* by stream */

	for (int32_t who : { _tree->answer.who, segment.subject, segment.who, segment.task,
			     segment.who_task }) {
		std::pair<int, int> graph = _tree->graphOf(who);

		if (graph.first == VIRT_NONE ||
		    (plots.isShown(graph.first, graph.second) &&
		     !plots.isBrought(graph.first, graph.second)))
			continue;

		VirtWish none = { graph.first, {}, VIRT_NONE, VIRT_CPU_IN_ORDER };
		VirtWish &rows = wishes.emplace(graph.first, none).first->second;

		if (graph.first == _tree->stream.id)
			rows.pcpu = segment.pcpu;
		if (std::find(rows.pids.begin(), rows.pids.end(), graph.second) == rows.pids.end())
			rows.pids.push_back(graph.second);
	}
	for (const auto &wish : wishes)
		_dock->bringRows(wish.second);
}

void VirtWhy::go(const QTreeWidgetItem *item)
{
	std::shared_ptr<VirtWhyTree> tree = _tree;
	int64_t offset = tree ? tree->stream.offset : 0;
	QVariant at = item->data(COLUMN_LENGTH, ROLE_SEGMENT);
	VirtView &view = _dock->view();
	VirtFact fact;

	if (!tree || virtMustWait())
		return;
	fact.text = item->text(COLUMN_WORDS) + ": " + item->text(COLUMN_LENGTH);
	fact.from = item->data(COLUMN_LENGTH, ROLE_FROM).toLongLong() + offset;
	fact.to = item->data(COLUMN_LENGTH, ROLE_TO).toLongLong() + offset;
	view.showAround(fact.from, fact.to);
	/* events go on while KernelShark draws graphs that come */
	_set = view.visible();
	if (at.isValid())
		bring(tree->answer.why.segments[at.toLongLong()]);
	_dock->showFact(fact);
	_set = view.visible();
}

/* ---- copies ---- */

QString VirtWhy::asText() const
{
	Words words;
	QString text;

	if (!_tree)
		return text;

	why_writing writing = writingOf(*_tree, words);

	why_put_head(&writing, &_tree->answer);
	text = words.take();
	for (const why_line &line : linesOf(_tree->answer.why)) {
		why_put_line(&writing, &line);
		text += words.take();
	}
	why_put_sum(&writing);
	return text + words.take();
}

QString VirtWhy::command() const
{
	return _tree ? virtWhyCommand(_tree->stream, _tree->options, _tree->answer.why.from_ns,
				      _tree->answer.why.to_ns) : QString();
}
