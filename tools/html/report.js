/* SPDX-License-Identifier: LGPL-2.1-or-later */
"use strict";
(function () {

/* --- small helpers --------------------------------------------------------------------------- */

/** An element with text and attributes. Text never becomes markup. */
function make(name, text, attributes) {
	const element = document.createElement(name);

	if (text !== undefined && text !== null)
		element.textContent = text;
	for (const key of Object.keys(attributes || {}))
		element.setAttribute(key, attributes[key]);
	return element;
}

/** For screen readers. */
function say(text) {
	document.getElementById("said").textContent = text;
}

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

function duration(ns) {
	for (const [size, unit] of UNITS)
		if (Math.abs(ns) >= size)
			return Number((ns / size).toPrecision(4)) + " " + unit;
	return "0 ns";
}

function share(ns, whole) {
	return whole > 0 ? (100 * ns / whole).toFixed(2) + " %" : "";
}

/** Seconds with nine decimals; @ns is a BigInt. */
function seconds(ns) {
	const sign = ns < 0n ? "-" : "", digits = String(ns < 0n ? -ns : ns).padStart(10, "0");

	return sign + digits.slice(0, -9) + "." + digits.slice(-9);
}

/** A text such as "1.5" as ns, a BigInt; null: it is no time. */
function parseSeconds(text) {
	const match = /^\s*(-?)(\d+)(?:\.(\d{0,9}))?\s*s?\s*$/.exec(text);

	if (!match)
		return null;
	const ns = BigInt(match[2]) * 1000000000n + BigInt((match[3] || "").padEnd(9, "0"));

	return match[1] ? -ns : ns;
}

/** A word for a shell. */
function quote(word) {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'";
}

function copy(text, button) {
	const done = function (ok) {
		const before = button.dataset.text || button.textContent;

		button.dataset.text = before;
		button.textContent = ok ? "Copied" : "Not copied";
		say(button.textContent);
		setTimeout(() => { button.textContent = before; }, 1500);
	};
	const byHand = function () {
		const area = make("textarea");
		let ok = false;

		area.value = text;
		document.body.append(area);
		area.select();
		try {
			ok = document.execCommand("copy");
		} catch (error) {
			ok = false;
		}
		area.remove();
		done(ok);
	};

	/* pages from files may have no clipboard */
	if (navigator.clipboard)
		navigator.clipboard.writeText(text).then(() => done(true), byHand);
	else
		byHand();
}

/* --- tables ---------------------------------------------------------------------------------- */

/** What a cell is sorted by: its number, a share as such, or its text. Unknown ones come last. */
function keyOf(cell) {
	if (!cell || cell.classList.contains("unknown") || cell.textContent === "")
		return null;
	if (cell.dataset.n === undefined)
		return cell.textContent;
	return cell.dataset.of === undefined ? Number(cell.dataset.n) :
	       Number(cell.dataset.of) > 0 ? Number(cell.dataset.n) / Number(cell.dataset.of) : null;
}

function compare(a, b) {
	if (typeof a === "number" && typeof b === "number")
		return a - b;
	return String(a).localeCompare(String(b), "en", { numeric: true });
}

function sortTable(table, column) {
	const heads = table.tHead.rows[0].cells, head = heads[column], body = table.tBodies[0];
	const rows = Array.from(body.rows).map((row, i) => ({ row, i, key: keyOf(row.cells[column]) }));
	const numbers = rows.some((row) => typeof row.key === "number");
	const before = head.getAttribute("aria-sort");
	const down = before ? before === "ascending" : numbers;

	rows.sort(function (a, b) {
		if (a.key === null || b.key === null)
			return (a.key === null) - (b.key === null) || a.i - b.i;
		return (down ? -1 : 1) * compare(a.key, b.key) || a.i - b.i;
	});
	for (const cell of heads)
		cell.removeAttribute("aria-sort");
	head.setAttribute("aria-sort", down ? "descending" : "ascending");
	body.append(...rows.map((row) => row.row));
	say("Sorted by " + head.textContent + (down ? ", largest first" : ", smallest first"));
}

function makeSortable(table) {
	Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
		const button = make("button", head.textContent, { type: "button" });

		head.textContent = "";
		head.append(button);
		button.addEventListener("click", () => sortTable(table, column));
	});
}

function filterTables(text) {
	const words = text.toLowerCase().split(/\s+/).filter((word) => word);
	let shown = 0;

	for (const table of document.querySelectorAll("table.data")) {
		let some = false;

		for (const row of table.tBodies[0].rows) {
			const content = row.textContent.toLowerCase();

			row.hidden = !words.every((word) => content.includes(word));
			some = some || !row.hidden;
			shown += !row.hidden;
		}
		const details = table.closest("details");

		if (!details)
			continue;
		details.hidden = words.length > 0 && !some;
		if (words.length)
			details.open = some;
	}
	say(words.length ? shown + " rows match" : "All rows are shown");
}

/* --- the intervals --------------------------------------------------------------------------- */

const BLOCK = 64;	/* intervals whose sum is kept */
const MIXED = 15;	/* state of an interval that sums up shorter ones */

/** Reads numbers as html_pack.c writes them. */
function Reader(bytes) {
	this.bytes = bytes;
	this.at = 0;
}

Reader.prototype.byte = function () {
	return this.bytes[this.at++];
};

Reader.prototype.number = function () {
	let byte = this.bytes[this.at++], value = byte & 127, scale = 128;

	while (byte & 128) {
		byte = this.bytes[this.at++];
		value += (byte & 127) * scale;
		scale *= 128;
	}
	return value;
};

Reader.prototype.signed = function () {
	const value = this.number(), half = Math.floor(value / 2);

	return value % 2 ? -half : half;
};

/** A vCPU's intervals: interval i lasts from starts[i] to starts[i + 1], ns from the window's begin. */
function readLane(reader, n, nStates) {
	const lane = {
		n, states: reader.bytes.subarray(reader.at, reader.at + n),
		starts: new Float64Array(n + 1), pcpus: new Int16Array(n), details: new Uint32Array(n),
		partsAt: null, partState: [], partNs: [], found: [],
	};
	let time = 0, pcpu = 0, mixed = 0;

	reader.at += n;
	for (let i = 0; i < n; i++) {
		lane.starts[i] = time;
		time += reader.number();
		mixed += lane.states[i] === MIXED;
	}
	lane.starts[n] = time;
	for (let i = 0; i < n; i++) {
		pcpu += reader.signed();
		lane.pcpus[i] = pcpu;
	}
	for (let i = 0; i < n; i++)
		lane.details[i] = reader.number();
	if (mixed) {
		lane.partsAt = new Uint32Array(n + 1);
		for (let i = 0; i < n; i++) {
			lane.partsAt[i] = lane.partState.length;
			if (lane.states[i] !== MIXED)
				continue;
			const mask = reader.number();

			for (let state = 0; state < nStates; state++) {
				if (!(mask >> state & 1))
					continue;
				lane.partState.push(state);
				lane.partNs.push(reader.number());
			}
		}
		lane.partsAt[n] = lane.partState.length;
	}
	return lane;
}

/** Add @part of the time of interval @i to sums by state. */
function addInterval(lane, i, part, sums, at) {
	const state = lane.states[i], length = lane.starts[i + 1] - lane.starts[i];

	if (state !== MIXED) {
		sums[at + state] += part;
		return;
	}
	for (let k = lane.partsAt[i]; k < lane.partsAt[i + 1]; k++)
		sums[at + lane.partState[k]] += part === length ? lane.partNs[k] :
						lane.partNs[k] * part / length;
}

/** Sums up to each block, so that a sum over any window needs few steps. */
function sumBlocks(lane, nStates) {
	const blocks = Math.ceil(lane.n / BLOCK);

	lane.nStates = nStates;
	lane.sums = new Float64Array((blocks + 1) * nStates);
	for (let block = 0; block < blocks; block++) {
		const at = (block + 1) * nStates, end = Math.min((block + 1) * BLOCK, lane.n);

		for (let state = 0; state < nStates; state++)
			lane.sums[at + state] = lane.sums[at - nStates + state];
		for (let i = block * BLOCK; i < end; i++)
			addInterval(lane, i, lane.starts[i + 1] - lane.starts[i], lane.sums, at);
	}
}

/** The interval at a time: the last one that begins at it or before. */
function intervalAt(lane, time) {
	let low = 0, high = lane.n - 1;

	while (low < high) {
		const middle = (low + high + 1) >> 1;

		if (lane.starts[middle] <= time)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/** Time in each state from the begin of the window to @time. */
function sumUpTo(lane, time) {
	const sums = new Float64Array(lane.nStates);

	if (!lane.n || time <= 0)
		return sums;
	const last = intervalAt(lane, time), block = Math.floor(last / BLOCK);

	for (let state = 0; state < lane.nStates; state++)
		sums[state] = lane.sums[block * lane.nStates + state];
	for (let i = block * BLOCK; i < last; i++)
		addInterval(lane, i, lane.starts[i + 1] - lane.starts[i], sums, 0);
	addInterval(lane, last, Math.min(time, lane.starts[last + 1]) - lane.starts[last], sums, 0);
	return sums;
}

function sumsBetween(lane, from, to) {
	const sums = sumUpTo(lane, to), before = sumUpTo(lane, from);

	for (let state = 0; state < sums.length; state++)
		sums[state] -= before[state];
	return sums;
}

async function unpack(text) {
	const raw = atob(text), packed = new Uint8Array(raw.length);

	for (let i = 0; i < raw.length; i++)
		packed[i] = raw.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* --- the figure ------------------------------------------------------------------------------ */

const AXIS = 22, LANE = 18, GAP = 6, LABEL = 14;
const COSTS = ["preempted", "waking"];	/* are seen even if they are short */

function rgb(hex) {
	const value = parseInt(hex.slice(1), 16);

	/* as the bytes of an image have it */
	return 0xff000000 | (value & 0xff) << 16 | (value & 0xff00) | value >> 16;
}

function Figure(section, facts, lanes) {
	this.section = section;
	this.facts = facts;
	this.lanes = lanes;
	this.begin = BigInt(facts.begin_ns);
	this.length = facts.length_ns;
	this.from = 0;
	this.to = this.length;
	this.a = this.b = null;
	this.lane = 0;
	this.found = new Set();
	this.selects = false;
	this.pointers = new Map();
	this.colors = facts.states.map((state) => rgb(state.color) >>> 0);
	this.hatches = facts.states.map((state) => state.hatch ? rgb(state.hatch) >>> 0 : 0);
	this.isCost = facts.states.map((state) => COSTS.includes(state.name));
	this.build();
	this.listen();
	this.layout();
}

Figure.prototype.part = function (name) {
	return this.section.querySelector("." + name);
};

Figure.prototype.build = function () {
	this.view = this.part("view");
	this.canvas = this.view.querySelector("canvas");
	this.context = this.canvas.getContext("2d");
	this.room = this.part("room");
	this.tip = this.part("tip");
	this.detail = this.part("detail");
	this.inputA = this.part("a");
	this.inputB = this.part("b");
	const legend = this.part("legend");

	for (const state of this.facts.states) {
		const item = make("li"), swatch = make("span", "", { class: "swatch" });

		swatch.style.background = state.hatch ?
			"repeating-linear-gradient(45deg, " + state.hatch + " 0 2px, " + state.color +
			" 2px 5px)" : state.color;
		item.append(swatch, state.label);
		item.title = state.meaning;
		legend.append(item);
	}
};

/** Names stand above the lanes on narrow screens. */
Figure.prototype.layout = function () {
	const width = this.view.clientWidth;

	this.narrow = width < 640;
	this.left = this.narrow ? 4 : 150;
	this.step = LANE + GAP + (this.narrow ? LABEL : 0);
	this.width = Math.max(width, 50);
	this.whole = AXIS + this.lanes.length * this.step + GAP;
	this.height = Math.min(this.whole, Math.max(160, Math.floor(window.innerHeight * 0.7)));
	this.view.style.height = this.height + 2 + "px";
	this.room.style.height = this.whole + "px";
	this.ratio = Math.min(window.devicePixelRatio || 1, 2);
	this.canvas.width = Math.round(this.width * this.ratio);
	this.canvas.height = Math.round(this.height * this.ratio);
	this.canvas.style.height = this.height + "px";
	this.plot = this.width - this.left - 4;
	this.redraw();
};

Figure.prototype.redraw = function () {
	if (this.pending)
		return;
	this.pending = true;
	requestAnimationFrame(() => {
		this.pending = false;
		this.draw();
	});
};

Figure.prototype.timeAt = function (x) {
	return this.from + (x - this.left) / this.plot * (this.to - this.from);
};

Figure.prototype.xOf = function (time) {
	return this.left + (time - this.from) / (this.to - this.from) * this.plot;
};

Figure.prototype.laneY = function (i) {
	return AXIS + i * this.step + (this.narrow ? LABEL : 0) - this.view.scrollTop;
};

/** Fill a column of pixels with the states of @sums, each as high as its share of @whole. */
Figure.prototype.column = function (pixels, stride, x, y0, height, bottom, sums, whole) {
	let at = 0;

	for (let state = 0; state < sums.length && at < height; state++) {
		if (!sums[state])
			continue;
		let end = Math.round(at + sums[state] / whole * height);

		if (this.isCost[state] && end === at)
			end++;
		if (sums[state] === whole)
			end = height;
		for (let y = at; y < end && y < height; y++) {
			const line = y0 + y;

			if (line < 0 || line >= bottom)
				continue;
			pixels[line * stride + x] = this.hatches[state] && (x + line) % 7 < 2 ?
						    this.hatches[state] : this.colors[state];
		}
		at = Math.min(end, height);
	}
	/* rounding leaves a line at most */
	for (let y = at; y < height && at > 0; y++) {
		const line = y0 + y;

		if (line > 0 && line < bottom)
			pixels[line * stride + x] = pixels[(line - 1) * stride + x];
	}
};

Figure.prototype.drawLane = function (lane, pixels, stride, y0, height, bottom, left, width) {
	const span = (this.to - this.from) / width, nStates = lane.nStates;
	const sums = new Float64Array(nStates), starts = lane.starts;
	let i = lane.n ? intervalAt(lane, this.from) : 0;

	for (let x = 0; x < width && i < lane.n; x++) {
		const begin = this.from + x * span, end = begin + span;
		let whole = 0;

		sums.fill(0);
		while (i < lane.n) {
			/* many at once */
			if (i % BLOCK === 0 && i + BLOCK <= lane.n && starts[i] >= begin &&
			    starts[i + BLOCK] <= end) {
				const at = i / BLOCK * nStates;

				for (let state = 0; state < nStates; state++)
					sums[state] += lane.sums[at + nStates + state] -
						       lane.sums[at + state];
				i += BLOCK;
				continue;
			}
			const from = Math.max(starts[i], begin), to = Math.min(starts[i + 1], end);

			if (to > from)
				addInterval(lane, i, to - from, sums, 0);
			if (starts[i + 1] > end)
				break;
			i++;
		}
		for (let state = 0; state < nStates; state++)
			whole += sums[state];
		if (whole > 0)
			this.column(pixels, stride, left + x, y0, height, bottom, sums, whole);
	}
};

Figure.prototype.draw = function () {
	const context = this.context, ratio = this.ratio, style = getComputedStyle(document.documentElement);
	const image = context.createImageData(this.canvas.width, this.canvas.height);
	const pixels = new Uint32Array(image.data.buffer), stride = this.canvas.width;
	const left = Math.round(this.left * ratio), width = Math.round(this.plot * ratio);
	const text = style.getPropertyValue("--text").trim(), mark = style.getPropertyValue("--mark").trim();

	this.shown = [];
	for (let i = 0; i < this.lanes.length; i++) {
		const y = this.laneY(i);

		if (y + LANE < AXIS || y > this.height)
			continue;
		this.shown.push(i);
		this.drawLane(this.lanes[i], pixels, stride, Math.round(y * ratio),
			      Math.round(LANE * ratio), this.canvas.height, left, width);
	}
	context.setTransform(1, 0, 0, 1, 0, 0);
	context.putImageData(image, 0, 0);
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, this.width, AXIS);
	context.font = "12px system-ui, sans-serif";
	context.textBaseline = "middle";
	for (const i of this.shown) {
		const y = this.laneY(i), name = this.facts.vcpus[i].shown;

		context.fillStyle = text;
		if (this.narrow)
			context.fillText(name, this.left, y - LABEL / 2, this.plot);
		else
			context.fillText(name, 8, y + LANE / 2, this.left - 16);
		if (i === this.lane) {
			context.strokeStyle = mark;
			context.strokeRect(this.left - 1.5, y - 1.5, this.plot + 3, LANE + 3);
		}
		this.drawFound(i, y, mark);
	}
	context.clearRect(0, 0, this.width, AXIS);
	this.drawAxis(text);
	this.drawSelection(mark);
	/* what is visible, ns from the begin of the window */
	this.view.dataset.from = Math.round(this.from);
	this.view.dataset.to = Math.round(this.to);
};

/** The first of the intervals that the search has found, from interval @k on: an index of lane.found. */
function firstFound(lane, k) {
	let low = 0, high = lane.found.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (lane.found[middle] < k)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/** Signs below what the search has found: at most one for two pixels, however many there are. */
Figure.prototype.drawFound = function (i, y, mark) {
	const lane = this.lanes[i];

	if (!this.found.size || !lane.found.length)
		return;
	this.context.fillStyle = mark;
	for (let at = firstFound(lane, intervalAt(lane, this.from)); at < lane.found.length;) {
		const k = lane.found[at];

		if (lane.starts[k] >= this.to)
			break;
		const x = Math.max(this.xOf(lane.starts[k]), this.left);

		this.context.fillRect(x, y + LANE + 1, 2, 4);
		at = Math.max(at + 1, firstFound(lane, intervalAt(lane, this.timeAt(x + 2))));
	}
};

Figure.prototype.drawAxis = function (text) {
	const context = this.context, span = this.to - this.from, most = Math.max(2, Math.floor(this.plot / 130));
	let step = Math.pow(10, Math.floor(Math.log10(span / most || 1)));

	for (const factor of [1, 2, 5, 10]) {
		if (span / (step * factor) <= most) {
			step *= factor;
			break;
		}
	}
	step = Math.max(1, Math.round(step));
	const decimals = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(step))));
	const first = this.begin + BigInt(Math.ceil(this.from)), size = BigInt(step);
	let tick = first / size * size;

	if (tick < first)
		tick += size;
	context.fillStyle = context.strokeStyle = text;
	for (; Number(tick - this.begin) <= this.to; tick += size) {
		const x = this.xOf(Number(tick - this.begin)), whole = seconds(tick);
		const label = whole.slice(0, whole.length - (9 - decimals)).replace(/\.$/, "") + " s";

		context.fillRect(x, AXIS - 4, 1, 4);
		if (x + 3 + context.measureText(label).width < this.width)
			context.fillText(label, x + 3, AXIS / 2);
	}
};

Figure.prototype.drawSelection = function (mark) {
	const context = this.context;

	for (const [time, name] of [[this.a, "A"], [this.b, "B"]]) {
		if (time === null || time < this.from || time > this.to)
			continue;
		const x = this.xOf(time);

		context.fillStyle = mark;
		context.fillRect(x - 0.5, 0, 1.5, this.height);
		context.fillText(name, Math.min(x + 3, this.width - 12), AXIS - 6);
	}
	if (this.a === null || this.b === null)
		return;
	const x0 = Math.max(this.left, this.xOf(Math.min(this.a, this.b)));
	const x1 = Math.min(this.left + this.plot, this.xOf(Math.max(this.a, this.b)));

	if (x1 <= x0)
		return;
	context.globalAlpha = 0.14;
	context.fillRect(x0, AXIS, x1 - x0, this.height);
	context.globalAlpha = 1;
};

/* --- moving through the figure --------------------------------------------------------------- */

Figure.prototype.show = function (from, to) {
	const span = Math.min(Math.max(to - from, 20), this.length);

	this.from = Math.min(Math.max(from, 0), this.length - span);
	this.to = this.from + span;
	this.redraw();
};

/** @factor below 1 shows less time; @time stays where it is. */
Figure.prototype.zoom = function (factor, time) {
	const span = Math.min(Math.max((this.to - this.from) * factor, 20), this.length);
	const part = (time - this.from) / (this.to - this.from);

	this.show(time - part * span, time + (1 - part) * span);
};

Figure.prototype.pan = function (part) {
	const by = part * (this.to - this.from);

	this.show(this.from + by, this.to + by);
};

Figure.prototype.choose = function (i) {
	this.lane = Math.min(Math.max(i, 0), this.lanes.length - 1);
	const top = AXIS + this.lane * this.step, seen = this.view.scrollTop;

	if (top - AXIS < seen)
		this.view.scrollTop = top - AXIS;
	else if (top + this.step > seen + this.height)
		this.view.scrollTop = top + this.step - this.height;
	this.redraw();
};

/** Show a moment of a vCPU, with as much time around it. */
Figure.prototype.goTo = function (vcpu, from, to) {
	const around = Math.max((to - from), 200);

	this.choose(vcpu);
	this.setSelection(from, to);
	this.show(from - around, to + around);
	this.view.scrollIntoView({ block: "center" });
	this.canvas.focus({ preventScroll: true });
	this.describe(vcpu, intervalAt(this.lanes[vcpu], from));
};

Figure.prototype.words = function (i, k) {
	const lane = this.lanes[i], facts = this.facts, state = lane.states[k];
	const length = lane.starts[k + 1] - lane.starts[k];
	let text = facts.vcpus[i].shown + ": ";

	if (state === MIXED) {
		const parts = [];

		for (let p = lane.partsAt[k]; p < lane.partsAt[k + 1]; p++)
			parts.push(facts.states[lane.partState[p]].label + " " + duration(lane.partNs[p]));
		text += "short intervals together: " + parts.join(", ");
	} else {
		text += facts.states[state].label;
		if (lane.details[k])
			text += (facts.states[state].name === "preempted" ? " by " : ", ") +
				facts.details[lane.details[k]];
	}
	text += ", " + duration(length) + " from " +
		seconds(this.begin + BigInt(Math.round(lane.starts[k]))) + " s";
	return lane.pcpus[k] >= 0 ? text + ", pCPU " + lane.pcpus[k] : text;
};

Figure.prototype.describe = function (i, k) {
	if (!this.lanes[i] || !this.lanes[i].n)
		return;
	this.detail.textContent = this.words(i, k);
};

/** Which vCPU and interval a point is on; null: none. */
Figure.prototype.hit = function (event) {
	const box = this.canvas.getBoundingClientRect();
	const x = event.clientX - box.left, y = event.clientY - box.top;
	const i = Math.floor((y - AXIS + this.view.scrollTop) / this.step);

	if (i < 0 || i >= this.lanes.length || x < this.left || y < AXIS || !this.lanes[i].n)
		return null;
	return { i, k: intervalAt(this.lanes[i], this.timeAt(x)) };
};

Figure.prototype.hover = function (event) {
	const hit = this.hit(event);

	this.tip.hidden = !hit || event.pointerType === "touch";
	if (!hit)
		return;
	this.tip.textContent = this.words(hit.i, hit.k);
	this.tip.style.left = Math.min(event.clientX + 12, window.innerWidth - 260) + "px";
	this.tip.style.top = event.clientY + 14 + "px";
};

Figure.prototype.pointerDown = function (event) {
	const box = this.canvas.getBoundingClientRect();

	this.pointers.set(event.pointerId, event.clientX - box.left);
	this.moved = 0;
	if (this.pointers.size === 1 && (this.selects || event.shiftKey)) {
		this.dragA = this.timeAt(event.clientX - box.left);
		this.dragged = true;
	} else {
		this.dragged = false;
	}
	try {
		this.canvas.setPointerCapture(event.pointerId);
	} catch (error) {
		/* the pointer may be gone */
	}
};

Figure.prototype.pointerMove = function (event) {
	const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left;
	const before = this.pointers.get(event.pointerId);

	if (before === undefined) {
		this.hover(event);
		return;
	}
	this.tip.hidden = true;
	this.moved += Math.abs(x - before);
	if (this.pointers.size === 2) {
		const other = Array.from(this.pointers).find((pair) => pair[0] !== event.pointerId)[1];
		const middle = this.timeAt((x + other) / 2);

		this.zoom(Math.max(Math.abs(before - other), 10) / Math.max(Math.abs(x - other), 10), middle);
	} else if (this.dragged) {
		this.setSelection(this.dragA, this.timeAt(x));
	} else {
		this.pan((before - x) / this.plot);
	}
	this.pointers.set(event.pointerId, x);
};

Figure.prototype.pointerUp = function (event) {
	const hit = this.hit(event);

	if (this.pointers.delete(event.pointerId) && this.moved < 4 && hit) {
		this.lane = hit.i;
		this.describe(hit.i, hit.k);
		this.redraw();
	}
	if (this.dragged && this.moved >= 4)
		this.writeSums();
	this.dragged = false;
};

Figure.prototype.key = function (event) {
	const middle = (this.from + this.to) / 2;
	const keys = {
		ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2),
		ArrowUp: () => this.choose(this.lane - 1), ArrowDown: () => this.choose(this.lane + 1),
		"+": () => this.zoom(0.5, middle), "=": () => this.zoom(0.5, middle),
		"-": () => this.zoom(2, middle), "0": () => this.show(0, this.length),
		Home: () => this.show(0, this.to - this.from),
		End: () => this.show(this.length, this.length + this.to - this.from),
		a: () => this.setEnd("a", middle), b: () => this.setEnd("b", middle),
		n: () => this.find(1), p: () => this.find(-1),
		Escape: () => this.clear(),
		Enter: () => this.describe(this.lane, intervalAt(this.lanes[this.lane], middle)),
	};

	if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key])
		return;
	event.preventDefault();
	keys[event.key]();
	if (event.key.startsWith("Arrow"))
		this.describe(this.lane, intervalAt(this.lanes[this.lane], (this.from + this.to) / 2));
};

Figure.prototype.listen = function () {
	const canvas = this.canvas, middle = () => (this.from + this.to) / 2;
	const click = (name, action) => this.part(name).addEventListener("click", action);

	canvas.addEventListener("wheel", (event) => {
		/* with Shift, the page or the lanes scroll */
		if (event.shiftKey)
			return;
		event.preventDefault();
		const x = event.clientX - canvas.getBoundingClientRect().left;

		if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
			this.pan(event.deltaX / this.plot);
		else
			this.zoom(Math.pow(1.0015, event.deltaY), this.timeAt(Math.max(x, this.left)));
	}, { passive: false });
	canvas.addEventListener("pointerdown", (event) => this.pointerDown(event));
	canvas.addEventListener("pointermove", (event) => this.pointerMove(event));
	canvas.addEventListener("pointerup", (event) => this.pointerUp(event));
	canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
	canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
	canvas.addEventListener("keydown", (event) => this.key(event));
	this.view.addEventListener("scroll", () => this.redraw());
	window.addEventListener("resize", () => this.layout());
	click("in", () => this.zoom(0.5, middle()));
	click("out", () => this.zoom(2, middle()));
	click("back", () => this.pan(-0.5));
	click("on", () => this.pan(0.5));
	click("all", () => this.show(0, this.length));
	click("select", (event) => {
		this.selects = !this.selects;
		event.currentTarget.setAttribute("aria-pressed", this.selects);
	});
	click("sum", () => this.readSelection());
	click("clear", () => this.clear());
	click("next", () => this.find(1));
	click("prev", () => this.find(-1));
	click("copy-window", (event) => copy(this.command(), event.currentTarget));
	this.part("search").addEventListener("input", () => this.search());
	this.part("search").addEventListener("keydown", (event) => {
		if (event.key === "Enter")
			this.find(event.shiftKey ? -1 : 1);
	});
};

/* --- from A to B ----------------------------------------------------------------------------- */

Figure.prototype.setSelection = function (a, b) {
	this.a = Math.round(Math.min(Math.max(Math.min(a, b), 0), this.length));
	this.b = Math.round(Math.min(Math.max(Math.max(a, b), 0), this.length));
	this.inputA.value = seconds(this.begin + BigInt(this.a));
	this.inputB.value = seconds(this.begin + BigInt(this.b));
	if (!this.dragged)
		this.writeSums();
	this.redraw();
};

Figure.prototype.setEnd = function (end, time) {
	const other = end === "a" ? this.b : this.a;

	if (other === null) {
		this[end] = Math.round(time);
		(end === "a" ? this.inputA : this.inputB).value = seconds(this.begin + BigInt(this[end]));
		this.redraw();
	} else {
		this.setSelection(time, other);
	}
	say((end === "a" ? "A" : "B") + " is set");
};

Figure.prototype.readSelection = function () {
	const a = parseSeconds(this.inputA.value), b = parseSeconds(this.inputB.value);

	if (a === null || b === null || a === b) {
		this.part("sums").textContent = "A and B are two times in seconds.";
		return;
	}
	this.setSelection(Number(a - this.begin), Number(b - this.begin));
};

Figure.prototype.clear = function () {
	this.a = this.b = null;
	this.inputA.value = this.inputB.value = "";
	this.part("sums").textContent = "";
	this.redraw();
};

/** A table: time of each vCPU in each state from A to B. */
Figure.prototype.writeSums = function () {
	const facts = this.facts, place = this.part("sums"), whole = this.b - this.a;
	const table = make("table", null, { class: "sums-table" }), head = make("tr"), body = make("tbody");
	const all = new Float64Array(facts.states.length), known = facts.states.map((state) => state.known);

	table.append(make("caption", "From " + this.inputA.value + " s to " + this.inputB.value + " s: " +
		duration(whole) + (facts.resolution_ns ? "; the ends are exact to " +
				   duration(facts.resolution_ns) : "")));
	head.append(make("th", "vCPU", { scope: "col" }));
	facts.states.forEach((state) => head.append(make("th", state.label, { scope: "col" })));
	table.append(make("thead"));
	table.tHead.append(head);
	const addRow = (name, sums, of) => {
		const row = make("tr");

		row.append(make("th", name, { scope: "row" }));
		sums.forEach((ns, state) => row.append(known[state] ?
			make("td", duration(Math.round(ns)) + " " + share(ns, of),
			     { "data-n": Math.round(ns), "data-of": of }) :
			make("td", "unknown", { class: "unknown" })));
		body.append(row);
	};

	this.lanes.forEach((lane, i) => {
		const sums = sumsBetween(lane, this.a, this.b);

		sums.forEach((ns, state) => { all[state] += ns; });
		addRow(facts.vcpus[i].shown, Array.from(sums), whole);
	});
	if (this.lanes.length > 1)
		addRow("all", Array.from(all), whole * this.lanes.length);
	table.append(body);
	makeSortable(table);
	place.textContent = "";
	place.append(table);
};

/** The command that reports the same window. */
Figure.prototype.command = function () {
	const from = this.a === null ? this.from : this.a, to = this.b === null ? this.to : this.b;

	return "kshark-virt report --full --from " + seconds(this.begin + BigInt(Math.round(from))) +
	       " --to " + seconds(this.begin + BigInt(Math.round(to))) + " " +
	       this.facts.files.map(quote).join(" ");
};

/* --- search ---------------------------------------------------------------------------------- */

/** A vCPU by its name, or intervals by their exit reason, culprit or cause. */
Figure.prototype.search = function () {
	const text = this.part("search").value.trim().toLowerCase(), place = this.part("matches");
	let n = 0;

	this.found = new Set();
	place.textContent = "";
	if (text) {
		this.facts.details.forEach((name, i) => {
			if (i && name.toLowerCase().includes(text))
				this.found.add(i);
		});
		const vcpu = this.facts.vcpus.findIndex((one) => one.shown.toLowerCase().includes(text));

		for (const lane of this.lanes) {
			lane.found = [];
			for (let k = 0; k < lane.n && this.found.size; k++)
				if (this.found.has(lane.details[k]))
					lane.found.push(k);
			n += lane.found.length;
		}
		if (vcpu >= 0)
			this.choose(vcpu);
		place.textContent = (vcpu >= 0 ? this.facts.vcpus[vcpu].shown + " is marked; " : "") + n +
				    (n === 1 ? " interval matches" : " intervals match") +
				    (this.facts.resolution_ns ? ", without short ones" : "");
	}
	this.redraw();
};

/** The next interval that the search finds, of the marked vCPU first, then of the others. */
Figure.prototype.find = function (step) {
	const middle = this.at === undefined ? (this.from + this.to) / 2 : this.at;
	let best = null;

	for (let turn = 0; turn <= this.lanes.length && !best && this.found.size; turn++) {
		const i = (this.lane + step * turn + this.lanes.length * 2) % this.lanes.length;
		const lane = this.lanes[i], all = lane.found;
		/* after the middle or before it; of other vCPUs, the first or the last one */
		const at = turn ? (step > 0 ? 0 : all.length - 1) :
			   firstFound(lane, intervalAt(lane, middle) + (step > 0 ? 1 : 0)) - (step < 0);

		if (all[at] !== undefined)
			best = { i, k: all[at] };
	}
	if (!best)
		return;
	const lane = this.lanes[best.i], from = lane.starts[best.k], to = lane.starts[best.k + 1];

	this.choose(best.i);
	this.at = (from + to) / 2;
	this.show(from - 4 * (to - from + 50), to + 4 * (to - from + 50));
	this.describe(best.i, best.k);
};

/* --- the page -------------------------------------------------------------------------------- */

function showMoment(figure, row) {
	figure.goTo(Number(row.dataset.vcpu), Number(row.dataset.from), Number(row.dataset.to));
}

/** Rows that lead to the figure have a button. */
function linkRows(trace, figure) {
	for (const button of trace.querySelectorAll("button.show")) {
		button.disabled = false;
		button.addEventListener("click", () => {
			if (button.dataset.from !== undefined) {
				showMoment(figure, button);
				return;
			}
			figure.choose(Number(button.dataset.vcpu));
			figure.view.scrollIntoView({ block: "center" });
			figure.canvas.focus({ preventScroll: true });
		});
	}
}

async function makeFigure(trace) {
	const section = trace.querySelector(".figure"), said = section.querySelector(".detail");

	if (typeof DecompressionStream === "undefined") {
		said.textContent = "This browser cannot unpack the figure. The tables have all numbers.";
		return;
	}
	const facts = JSON.parse(section.querySelector("script.facts").textContent);
	const packed = section.querySelector("script.intervals");
	const reader = new Reader(await unpack(packed.textContent));
	const lanes = facts.vcpus.map(function (vcpu) {
		const lane = readLane(reader, vcpu.n, facts.states.length);

		sumBlocks(lane, facts.states.length);
		return lane;
	});

	packed.textContent = "";
	for (const control of section.querySelectorAll(".tools button, .tools input"))
		control.disabled = false;
	const figure = new Figure(section, facts, lanes);

	linkRows(trace, figure);
	figures.push(figure);
	said.textContent = window.matchMedia("(pointer: coarse)").matches ?
		"Two fingers zoom, one finger moves; after Select, it selects a time; tap for details." :
		"Scroll or + and - zoom, drag or arrows move; Shift and drag, or a and b, select a " +
		"time; click for details.";
	section.dataset.ready = "yes";
}

const figures = [];

function isDark() {
	const chosen = document.documentElement.dataset.theme;

	return chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

function setTheme(theme) {
	const button = document.getElementById("theme");

	if (theme)
		document.documentElement.dataset.theme = theme;
	button.textContent = isDark() ? "Light" : "Dark";
	figures.forEach((figure) => figure.redraw());
}

function start() {
	document.querySelectorAll("table.data").forEach(makeSortable);
	document.getElementById("filter").addEventListener("input", (event) => filterTables(event.target.value));
	document.getElementById("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
	setTheme();
	for (const button of document.querySelectorAll("button.copy"))
		button.addEventListener("click", () =>
			copy(button.parentElement.querySelector("code").textContent, button));
	window.addEventListener("beforeprint", () =>
		document.querySelectorAll("details").forEach((details) => { details.open = true; }));
	for (const trace of document.querySelectorAll(".trace"))
		if (trace.querySelector(".figure"))
			makeFigure(trace).catch((error) => {
				trace.querySelector(".detail").textContent =
					"The figure cannot be shown: " + error.message;
				console.error(error);
			});
}

start();
})();
