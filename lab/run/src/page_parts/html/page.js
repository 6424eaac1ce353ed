// Charts, tables and the timeline of a page. The page is complete without this script: it has a static chart and tables.
(() => {
  const make = (tag, attributes = {}, ...children) => {
    const svgTags = ["svg", "g", "circle", "line", "path", "rect", "text", "title"];
    const node = svgTags.includes(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== undefined && value !== false) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  };
  const short = (value) => {
    if (typeof value !== "number") return String(value ?? "");
    if (Number.isInteger(value)) return value.toLocaleString("en");
    return Math.abs(value) < 1e-3 ? value.toExponential(1) : value.toPrecision(4).replace(/\.?0+$/, "");
  };

  // The unit whose prefix gives the largest value one to three digits before the point, and the factor of numbers.
  const PREFIXES = [["ps", "ns", "µs", "ms", "s"], ["pJ", "nJ", "µJ", "mJ", "J"]];
  const fitting = (unit, largest) => {
    const units = PREFIXES.find((units) => units.includes(unit));
    if (!units || !(largest > 0)) return [unit, 1];
    const from = units.indexOf(unit), to = Math.min(Math.max(from + Math.floor(Math.log10(largest) / 3), 0), units.length - 1);
    return [units[to], 1000 ** (from - to)];
  };

  // ---- Tables: a click on a heading sorts.
  const sortable = (table) => {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = make("button", { type: "button" }, ...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const up = heading.getAttribute("aria-sort") !== "ascending";
        [...table.tHead.rows[0].cells].forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", up ? "ascending" : "descending");
        const read = (row) => {
          const text = row.cells[column]?.textContent.trim() ?? "";
          const number = Number(text.replace(/[,%*\u00a0 ]/g, ""));
          return text !== "" && !Number.isNaN(number) ? number : text;
        };
        const order = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
        const rows = [...body.rows].map((row) => [read(row), row]);
        rows.sort(([a], [b]) => (up ? order(a, b) : order(b, a)));
        body.append(...rows.map(([, row]) => row));
      });
    });
  };

  // ---- Scales and ticks.
  const scale = (low, high, from, to, log) => {
    const f = log ? Math.log10 : (x) => x;
    const [a, b] = [f(low), f(high)];
    const span = b - a || 1;
    const map = (x) => from + ((f(x) - a) / span) * (to - from);
    map.invert = (p) => { const t = a + ((p - from) / (to - from)) * span; return log ? 10 ** t : t; };
    return map;
  };
  const ticks = (low, high, log, count) => {
    if (log) {
      const marks = [];
      for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
        for (const m of high / low > 300 ? [1] : [1, 2, 5]) marks.push(m * 10 ** e);
      }
      const inside = marks.filter((x) => x >= low * 0.999 && x <= high * 1.001);
      if (inside.length >= 3) return inside;
    }
    const raw = (high - low) / count || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
    const marks = [];
    for (let x = Math.ceil(low / step) * step; x <= high + step * 1e-9; x += step) marks.push(Number(x.toPrecision(12)));
    return marks;
  };

  // ---- The points that no other one dominates, in some columns; none if neither less nor more is better in one.
  // Points beyond a constraint are not on it, nor are ideal machines beside real ones.
  const frontOf = (points, indices, columns) => {
    if (!indices.every((i) => columns[i].better)) return [];
    const kept = points.filter((point) => !point.beyond);
    const competing = kept.every((point) => point.ideal) ? kept : kept.filter((point) => !point.ideal);
    const known = competing.filter((point) => indices.every((i) => typeof point.values[i] === "number"));
    const costs = (point) => indices.map((i) => (columns[i].better === "more" ? -point.values[i] : point.values[i]));
    const order = known.map((point) => [costs(point), point]).sort(([a], [b]) => {
      const first = a.findIndex((cost, i) => cost !== b[i]);
      return first < 0 ? 0 : a[first] - b[first];
    });
    const front = [];
    for (const [own, point] of order) {
      const dominates = ([better]) => better.every((cost, i) => cost <= own[i]) && better.some((cost, i) => cost < own[i]);
      if (!front.some(dominates)) front.unshift([own, point]);
    }
    return front.map(([, point]) => point);
  };

  const bars = (title, entries, given) => {
    const most = Math.max(...entries.map(([, value]) => value), 1e-12), [unit, factor] = fitting(given, most);
    const shown = entries.filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);
    return make("div", {}, make("h3", {}, title), ...shown.map(([name, value]) => make("div", { class: "bar" },
      make("span", {}, name), make("b", { style: `width:${(100 * value) / most}%` }), make("span", {}, `${short(value * factor)} ${unit}`))));
  };

  // ---- A chart as a file of its own: with the colours and the font that the page's style gives it.
  const save = (picture, name) => {
    const pixel = make("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
    const colours = new Map();
    // Programs that draw do not know all notations of colours.
    const plain = (value) => {
      if (value === "none") return value;
      if (!colours.has(value)) {
        pixel.fillStyle = value;
        pixel.fillRect(0, 0, 1, 1);
        colours.set(value, `rgb(${[...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3).join(",")})`);
      }
      return colours.get(value);
    };
    const copy = picture.cloneNode(true);
    const [sources, copies] = [picture, copy].map((root) => [...root.querySelectorAll("*")]);
    sources.forEach((source, i) => {
      const style = getComputedStyle(source);
      for (const name of ["fill", "stroke"]) copies[i].setAttribute(name, plain(style[name]));
      for (const name of ["fill-opacity", "stroke-width", "stroke-dasharray"]) copies[i].setAttribute(name, style.getPropertyValue(name));
      if (source.tagName === "text") ["font-size", "font-family"].forEach((name) => copies[i].setAttribute(name, style.getPropertyValue(name)));
      for (const name of ["class", "tabindex", "role", "data-key"]) copies[i].removeAttribute(name);
    });
    const { width, height } = picture.viewBox.baseVal;
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    copy.prepend(make("rect", { width, height, fill: plain(getComputedStyle(picture.parentElement).backgroundColor) }));
    const url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
    make("a", { href: url, download: `${name}.svg` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };

  // ---- The chart of a sweep.
  const chart = (data, group, index, memory) => {
    const holder = document.querySelector(`#chart-${index}`);
    const state = memory[index] ??= { x: group.objectives[0], y: group.objectives[1], colour: group.colour ?? "", filter: "", chosen: null, zoom: null, log: {} };
    const columns = data.columns;
    const at = (name) => columns.findIndex((column) => column.name === name);
    const rows = [...document.querySelectorAll(`#table-${index} tbody tr`)];
    const numeric = columns.filter((_, i) => group.points.some((point) => typeof point.values[i] === "number"));
    const select = (label, key, options) => {
      const box = make("select", { "aria-label": label, onchange: () => { state[key] = box.value; state.zoom = null; draw(); } },
        ...options.map(([value, text]) => make("option", { value, selected: value === state[key] }, text)));
      return make("label", {}, label + " ", box);
    };
    const axes = numeric.map((column) => [column.name, column.label]);
    const kinds = [["", "none"], ...data.settings.filter((name) => at(name) >= 0).map((name) => [name, columns[at(name)].label]), ...axes.filter(([name]) => !data.settings.includes(name))];
    const log = (axis) => {
      const box = make("input", { type: "checkbox", onchange: () => { state.log[axis] = box.checked; state.zoom = null; draw(); } });
      return [make("label", {}, box, ` log ${axis}`), box];
    };
    const [logX, logXBox] = log("x");
    const [logY, logYBox] = log("y");
    const count = make("output", {});
    const filter = make("input", { type: "text", "aria-label": "Filter", placeholder: "Filter: vdm.banks >= 64 and area < 25 mm2", value: state.filter,
      oninput: () => { state.filter = filter.value; draw(); } });
    const button = (text, action) => make("button", { type: "button", onclick: action }, text);
    const plot = make("div", { class: "plot" });
    const details = make("div", { class: "details", "aria-live": "polite" });
    holder.replaceChildren(
      make("div", { class: "controls" }, select("x", "x", axes), select("y", "y", axes), select("colour", "colour", kinds), logX, logY,
        button("+", () => zoomBy(0.6)), button("−", () => zoomBy(1 / 0.6)), button("reset", () => { state.zoom = null; draw(); }), button("save SVG", () => save(plot.querySelector("svg"), "chart")), filter, count),
      plot, details);

    const choose = (point) => {
      state.chosen = point.key;
      rows.forEach((row) => row.classList.toggle("chosen", row.dataset.key === point.key));
      show(point);
      draw();
    };
    const show = (point) => {
      const value = (name) => point.values[at(name)];
      const parts = (of) => columns.map((column, i) => [column, point.values[i]])
        .filter(([column, number]) => column.of === of && typeof number === "number")
        .map(([column, number]) => [column.part, number]);
      const settings = data.settings.map((name) => make("tr", {}, make("td", { class: "name" }, name), make("td", {}, short(value(name)))));
      const results = columns.filter((column) => column.shown && value(column.name) !== null)
        .map((column) => make("tr", {}, make("td", { class: "name" }, column.label), make("td", {}, short(value(column.name)))));
      details.replaceChildren(
        make("div", {}, make("h3", {}, `Machine ${point.label ?? point.name}`), make("table", { class: "narrow" }, make("tbody", {}, ...settings, ...results)),
          make("p", {}, "Run it again: ", make("code", {}, `rpu sweep replay DIR ${point.key.slice(0, 12)}`))),
        make("div", {}, bars("Where the cycles go", parts("cycles"), "cycles"), bars("Area", parts("area"), "mm²"), bars("Energy", parts("energy"), "µJ")));
    };

    let view;
    const zoomBy = (factor, px, py) => {
      const { x, y, box } = view;
      px ??= (box.left + box.right) / 2;
      py ??= (box.top + box.bottom) / 2;
      const near = (map, p, from, to) => [map.invert(p + (from - p) * factor), map.invert(p + (to - p) * factor)];
      state.zoom = { x: near(x, px, box.left, box.right), y: near(y, py, box.bottom, box.top) };
      draw();
    };

    const draw = () => {
      const [xi, yi, ci] = [at(state.x), at(state.y), at(state.colour)];
      let keep = () => true;
      try {
        if (state.filter.trim()) keep = condition(state.filter, columns, group.points.map((point) => point.values));
        filter.removeAttribute("aria-invalid");
        filter.title = "";
      } catch (error) {
        filter.setAttribute("aria-invalid", "true");
        filter.title = error.message;
      }
      const valid = group.points.filter((point) => typeof point.values[xi] === "number" && typeof point.values[yi] === "number");
      const points = valid.filter((point) => keep(point.values));
      const kept = new Set(group.points.filter((point) => keep(point.values)).map((point) => point.key));
      rows.forEach((row) => { row.hidden = row.dataset.key !== undefined && !kept.has(row.dataset.key); });
      count.textContent = filter.title || `${kept.size} of ${group.points.length} points`;

      const width = Math.max(plot.clientWidth, 320), height = 480;
      const box = { left: 70, right: width - 20, top: 34, bottom: height - 50 };
      // Colours: a palette for at most eight values, else a gradient between the first two colours.
      const kinds = ci < 0 ? [] : [...new Set(points.map((point) => point.values[ci]))].sort((a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1));
      const numbers = kinds.filter((kind) => typeof kind === "number");
      const paint = (point) => {
        if (ci < 0) return "var(--c0)";
        if (kinds.length <= 8) return `var(--c${kinds.indexOf(point.values[ci])})`;
        const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
        const share = typeof point.values[ci] === "number" ? Math.round((100 * (point.values[ci] - low)) / (high - low || 1)) : 50;
        return `color-mix(in oklab, var(--c1) ${share}%, var(--c0))`;
      };
      // The legend, in as many rows as it needs.
      const shown = ci < 0 ? [] : kinds.length <= 8 ? kinds.map((kind, i) => [short(kind), `var(--c${i})`]) : [[short(Math.min(...numbers)), "var(--c0)"], [short(Math.max(...numbers)), "var(--c1)"]];
      let [next, row] = [box.left + (ci < 0 ? 0 : columns[ci].label.length * 7 + 14), 0];
      const entries = shown.map(([text, fill]) => {
        const wide = 26 + text.length * 7.5;
        if (next + wide > width) [next, row] = [box.left, row + 1];
        next += wide;
        return { text, fill, x: next - wide, row, end: next };
      });
      box.top += 16 * row;
      const range = (i, axis) => {
        const values = points.map((point) => point.values[i]);
        let [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
        const isLog = low > 0 && (state.log[axis] ?? high / low > 20);
        const pad = isLog ? (high / low) ** 0.06 : (high - low || Math.abs(high) || 1) * 0.06;
        [low, high] = isLog ? [low / (pad > 1 ? pad : 1.5), high * (pad > 1 ? pad : 1.5)] : [low - pad, high + pad];
        const zoom = state.zoom?.[axis];
        return zoom && (!isLog || zoom[0] > 0) ? [...zoom, isLog] : [low, high, isLog];
      };
      const [x0, x1, xLog] = range(xi, "x");
      const [y0, y1, yLog] = range(yi, "y");
      logXBox.checked = xLog;
      logYBox.checked = yLog;
      const x = scale(x0, x1, box.left, box.right, xLog), y = scale(y0, y1, box.bottom, box.top, yLog);
      view = { x, y, box };

      const picture = make("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": `${columns[yi].label} against ${columns[xi].label}` });
      const axis = make("g", { class: "axis" });
      const scaled = (i) => {
        const { label, unit } = columns[i];
        const [fits, factor] = fitting(unit, Math.max(...points.map((point) => Math.abs(point.values[i]))));
        return [label.replace(`(${unit})`, `(${fits})`), factor];
      };
      const [[xLabel, byX], [yLabel, byY]] = [scaled(xi), scaled(yi)];
      for (const mark of ticks(x0 * byX, x1 * byX, xLog, width / 110)) {
        const at = x(mark / byX);
        axis.append(make("line", { x1: at, x2: at, y1: box.top, y2: box.bottom }), make("text", { x: at, y: box.bottom + 18, "text-anchor": "middle" }, short(mark)));
      }
      for (const mark of ticks(y0 * byY, y1 * byY, yLog, 7)) {
        const at = y(mark / byY);
        axis.append(make("line", { x1: box.left, x2: box.right, y1: at, y2: at }), make("text", { x: box.left - 8, y: at + 4, "text-anchor": "end" }, short(mark)));
      }
      axis.append(make("text", { x: (box.left + box.right) / 2, y: height - 12, "text-anchor": "middle" }, xLabel),
        make("text", { x: 16, y: (box.top + box.bottom) / 2, transform: `rotate(-90 16 ${(box.top + box.bottom) / 2})`, "text-anchor": "middle" }, yLabel));
      picture.append(axis);

      if (ci >= 0) {
        const legend = make("g", {}, make("text", { x: box.left, y: 20 }, columns[ci].label));
        for (const { text, fill, x, row } of entries) {
          legend.append(make("rect", { x, y: 11 + 16 * row, width: 10, height: 10, fill }), make("text", { x: x + 14, y: 20 + 16 * row }, text));
        }
        picture.append(legend);
        // What the names of points list, where there is room beside the colours.
        const text = group.labels && `labels: ${group.labels}`;
        if (text && entries.at(-1).row === 0 && entries.at(-1).end + text.length * 6.6 < box.right) picture.append(make("text", { x: box.right, y: 20, "text-anchor": "end" }, text));
      }

      const inside = points.map((point) => ({ point, px: x(point.values[xi]), py: y(point.values[yi]) }))
        .filter(({ px, py }) => px >= box.left - 1 && px <= box.right + 1 && py >= box.top - 1 && py <= box.bottom + 1);
      // Names of points keep clear of points and of the front: left, top, right and bottom of each.
      const taken = inside.map(({ px, py }) => [px - 6, py - 6, px + 6, py + 6]);
      // The front of all objectives if the axes are two of them, else of the axes, if less or more is better on both.
      // A line joins a front of two objectives.
      const both = [state.x, state.y];
      const objectives = both.every((name) => group.objectives.includes(name)) ? group.objectives : both;
      const front = new Set(frontOf(points, objectives.map(at), columns).map((point) => point.key));
      if (objectives.length === 2 && front.size > 0) {
        const steps = points.filter((point) => front.has(point.key)).sort((a, b) => a.values[xi] - b.values[xi]);
        const clip = (value, low, high) => Math.min(Math.max(value, low), high);
        const corners = steps.map((point) => [clip(x(point.values[xi]), box.left, box.right), clip(y(point.values[yi]), box.top, box.bottom)]);
        const path = corners.map(([px, py], i) => (i === 0 ? `M${px} ${py}` : `H${px}V${py}`));
        corners.slice(1).forEach(([px, py], i) => taken.push([corners[i][0], corners[i][1], px, corners[i][1]], [px, corners[i][1], px, py]));
        picture.append(make("path", { class: "frontline", d: path.join("") }));
      }
      for (const { point, px, py } of inside) {
        const circle = make("circle", { cx: px, cy: py, r: front.has(point.key) ? 6 : 4.5, fill: paint(point), "data-key": point.key, tabindex: 0, role: "button", "aria-label": point.name,
          onkeydown: (event) => { if (event.key === "Enter") choose(point); }, onfocus: () => tell(point, px, py), onblur: () => tip.remove() });
        if (point.beyond) circle.classList.add("beyond");
        if (point.key === state.chosen) circle.classList.add("chosen");
        picture.append(circle);
        if (point.searched) picture.append(make("circle", { cx: px, cy: py, r: 1.8, fill: "#fff", "pointer-events": "none" }));
      }
      // Names of points on the front, where there is room.
      for (const { point, px, py } of inside.filter(({ point }) => front.has(point.key) || front.size === 0 && inside.length <= 40)) {
        const label = point.label ?? point.name, w = label.length * 6.6;
        const places = [[px + 9, py - 5], [px + 9, py + 15], [px - 9 - w, py - 5], [px - 9 - w, py + 15],
          [px + 14, py + 4], [px - 14 - w, py + 4], [px - w / 2, py - 12], [px - w / 2, py + 22]];
        const free = places.find(([left, base]) => left >= box.left && left + w <= box.right && base - 12 >= box.top && base <= box.bottom
          && taken.every(([l, t, r, b]) => left > r || left + w < l || base - 11 > b || base + 3 < t));
        if (free) {
          taken.push([free[0], free[1] - 11, free[0] + w, free[1] + 3]);
          picture.append(make("text", { x: free[0], y: free[1], class: "label" }, label));
        }
      }
      plot.replaceChildren(picture);

      const tip = make("div", { class: "tip", role: "status" });
      const tell = (point, px, py) => {
        tip.textContent = `${point.label ?? point.name}\n${xLabel}: ${short(point.values[xi] * byX)}\n${yLabel}: ${short(point.values[yi] * byY)}` + (ci >= 0 ? `\n${columns[ci].label}: ${short(point.values[ci])}` : "");
        plot.append(tip);
        tip.style.left = `${Math.min(px + 12, width - tip.offsetWidth - 4)}px`;
        tip.style.top = `${Math.max(py - tip.offsetHeight - 8, 2)}px`;
      };
      const place = (event) => {
        const frame = picture.getBoundingClientRect();
        return [(event.clientX - frame.left) * (width / frame.width), (event.clientY - frame.top) * (height / frame.height)];
      };
      const nearest = ([mx, my]) => {
        let found = null, least = 14;
        for (const item of inside) {
          const distance = Math.hypot(item.px - mx, item.py - my);
          if (distance < least) [found, least] = [item, distance];
        }
        return found;
      };
      let start = null, band = null;
      picture.addEventListener("pointerdown", (event) => { start = place(event); });
      picture.addEventListener("pointermove", (event) => {
        const now = place(event);
        if (start && Math.hypot(now[0] - start[0], now[1] - start[1]) > 5) {
          band ??= picture.appendChild(make("rect", { class: "box" }));
          band.setAttribute("x", Math.min(start[0], now[0]));
          band.setAttribute("y", Math.min(start[1], now[1]));
          band.setAttribute("width", Math.abs(now[0] - start[0]));
          band.setAttribute("height", Math.abs(now[1] - start[1]));
          return;
        }
        const near = nearest(now);
        if (near) tell(near.point, near.px, near.py); else tip.remove();
      });
      picture.addEventListener("pointerleave", () => tip.remove());
      picture.addEventListener("pointerup", (event) => {
        const now = place(event);
        if (band && start) {
          const sort = (a, b) => (a < b ? [a, b] : [b, a]);
          state.zoom = { x: sort(x.invert(start[0]), x.invert(now[0])), y: sort(y.invert(start[1]), y.invert(now[1])) };
          start = band = null;
          draw();
          return;
        }
        start = null;
        const near = nearest(now);
        if (near) choose(near.point);
      });
      picture.addEventListener("dblclick", () => { state.zoom = null; draw(); });
      picture.addEventListener("wheel", (event) => { event.preventDefault(); zoomBy(event.deltaY < 0 ? 0.8 : 1.25, ...place(event)); }, { passive: false });
    };
    rows.forEach((row) => row.addEventListener("click", () => {
      const point = group.points.find((point) => point.key === row.dataset.key);
      if (point) choose(point);
    }));
    const chosen = group.points.find((point) => point.key === state.chosen);
    if (chosen) show(chosen);
    draw();
    chart.redraw.push(draw);
  };
  chart.redraw = [];

  // Launches and transfers from their differences, in ns.
  const slicesOf = (numbers) => {
    const slices = [];
    for (let i = 0, begin = 0; i < numbers.length; i += 5) {
      begin += numbers[i + 1];
      const [a, b] = [begin / 10, (begin + numbers[i + 2]) / 10];
      slices.push([numbers[i], a, a, a, b, b, null, numbers[i + 3], numbers[i + 4]]);
    }
    return slices;
  };

  // More launches and transfers on one screen are no more than busy shares.
  const MOST = 3000;

  // ---- The timeline of a run: the front end and a row for each pipe.
  const timeline = (data) => {
    const holder = document.querySelector("#timeline");
    // Rows of a kernel's run are the front end and the pipes. Without causes, rows are busy shares, and below them intervals in ns.
    const { pipes, causes, cycles, loads = [], names = [] } = data.timeline;
    const instructions = data.timeline.instructions ?? slicesOf(data.timeline.slices);
    const first = causes ? 1 : loads.length;
    const [unit, factor] = causes ? ["cycles", 1] : fitting("ns", cycles);
    const ROW = 34, TOP = 26, LEFT = 92;
    const isEmpty = instructions.length === 0;
    let isCrowded = false;
    const height = TOP + (isEmpty ? first : pipes.length + first) * ROW + 6;
    const plot = make("div", { class: "plot", tabindex: 0, role: "img", "aria-label": "Pipeline timeline" });
    const told = make("output", {});
    let [from, to] = [0, cycles];
    // Hundredths of a nanosecond, in the unit.
    const digits = Math.max(0, 2 - Math.round(Math.log10(factor)));
    const time = (value) => (value * factor).toLocaleString("en", { maximumFractionDigits: digits });
    const button = (text, action) => make("button", { type: "button", onclick: action }, text);
    holder.replaceChildren(make("div", { class: "controls" }, button("+", () => zoom(0.5)), button("−", () => zoom(2)),
      button("earlier", () => move(-0.5)), button("later", () => move(0.5)), button("reset", () => { [from, to] = [0, cycles]; draw(); }),
      button("save SVG", () => save(plot.querySelector("svg"), "timeline")), told), plot);
    const zoom = (factor, centre = (from + to) / 2) => {
      const span = Math.min(Math.max((to - from) * factor, 20), cycles);
      from = Math.max(0, Math.min(centre - ((centre - from) / (to - from)) * span, cycles - span));
      to = from + span;
      draw();
    };
    const move = (share) => {
      const step = Math.max(-from, Math.min((to - from) * share, cycles - to));
      from += step;
      to += step;
      draw();
    };
    let width = 900;
    const draw = () => {
      width = Math.max(plot.clientWidth, 320);
      const x = scale(from, to, LEFT, width - 8, false);
      const picture = make("svg", { viewBox: `0 0 ${width} ${height}`, height });
      const axis = picture.appendChild(make("g", { class: "axis" }));
      [...(causes ? ["front end"] : loads.map(({ name }) => name)), ...(isEmpty ? [] : pipes)].forEach((name, row) => {
        const y = TOP + row * ROW + ROW - 1;
        axis.append(make("text", { x: 6, y: y - 13 }, name), make("line", { x1: LEFT, x2: width - 8, y1: y, y2: y }));
      });
      ticks(from * factor, to * factor, false, width / 110).forEach((mark, i) => {
        const text = mark.toLocaleString("en", { maximumFractionDigits: 9 }) + (i === 0 ? ` ${unit}` : "");
        axis.append(make("text", { x: Math.min(x(mark / factor), width - 4 - text.length * 3.5), y: 14, "text-anchor": "middle" }, text));
      });
      // The blocks of one row, height and colour are one path, in which blocks closer than the eye sees are one.
      const lanes = new Map();
      const block = (a, b, row, top, tall, fill) => {
        if (b < from || a > to) return;
        const [left, right] = [Math.max(x(a), LEFT), Math.min(x(b), width - 8)];
        const end = left + Math.max(right - left - (right - left > 4 ? 0.7 : 0), 0.6);
        const key = [row, top, tall, fill].join();
        if (!lanes.has(key)) lanes.set(key, { top: TOP + row * ROW + top, tall, fill, spans: [] });
        const { spans } = lanes.get(key), last = spans.at(-1);
        if (last && left >= last[0] && left - last[1] < 0.3) last[1] = Math.max(last[1], end);
        else spans.push([left, end]);
      };
      // The busy share of all events; single ones where few are in sight.
      loads.forEach(({ shares }, row) => {
        const bin = cycles / shares.length, base = TOP + (row + 1) * ROW - 1;
        let d = `M${LEFT} ${base}`;
        for (let i = Math.max(0, Math.floor(from / bin)); i < shares.length && i * bin < to; i++) {
          const [left, right] = [Math.max(x(i * bin), LEFT), Math.min(x((i + 1) * bin), width - 8)];
          d += `L${left.toFixed(2)} ${(base - shares[i] * (ROW - 8)).toFixed(2)}H${right.toFixed(2)}`;
        }
        picture.append(make("path", { d: `${d}V${base}Z`, fill: `var(--c${row % 7})` }));
      });
      const shown = causes ? instructions : instructions.filter(([, , , begin, end]) => end >= from && begin <= to);
      isCrowded = !causes && shown.length > MOST;
      if (isCrowded) {
        const text = `zoom in to see ${shown.length.toLocaleString("en")} of them`;
        axis.append(make("text", { x: (LEFT + width) / 2, y: TOP + (first + 1) * ROW + 4, "text-anchor": "middle" }, text));
      }
      for (const [pipe, arrival, dispatch, issue, free, complete, cause] of isCrowded ? [] : shown) {
        if (dispatch > arrival) block(arrival, dispatch, 0, 6, 8, cause === null ? "var(--line)" : "var(--c7)");
        if (causes) block(dispatch, dispatch + 1, 0, 15, 10, `var(--c${pipe})`);
        if (issue > dispatch) block(dispatch, issue, pipe + first, 24, 3, "var(--line)");
        block(issue, free, pipe + first, 5, 15, `var(--c${pipe})`);
        if (complete > free) block(free, complete, pipe + first, 20, 3, `var(--c${pipe})`);
      }
      for (const { top, tall, fill, spans } of lanes.values()) {
        const d = spans.map(([a, b]) => `M${a.toFixed(2)} ${top}H${b.toFixed(2)}v${tall}H${a.toFixed(2)}Z`).join("");
        picture.append(make("path", { d, fill }));
      }
      plot.querySelector("svg")?.remove();
      plot.prepend(picture);
    };
    const tip = make("div", { class: "tip", role: "status" });
    plot.addEventListener("pointermove", (event) => {
      const frame = plot.getBoundingClientRect();
      const [mx, my] = [event.clientX - frame.left, event.clientY - frame.top];
      if (held !== null) {
        const by = ((held - mx) / (width - LEFT - 8)) * (to - from);
        held = mx;
        const step = Math.max(-from, Math.min(by, cycles - to));
        from += step;
        to += step;
        draw();
        return;
      }
      const cycle = scale(from, to, LEFT, width - 8, false).invert(mx), row = Math.floor((my - TOP) / ROW) - first;
      const slack = (to - from) / (width - LEFT);
      const load = loads[row + first];
      if (mx >= LEFT && load) {
        const last = load.shares.length - 1, bin = Math.floor((cycle / cycles) * load.shares.length);
        tip.textContent = `${load.name}: ${(100 * load.shares[Math.min(Math.max(bin, 0), last)]).toFixed(1)} % at ${time(cycle)} ${unit}`;
        plot.append(tip);
        tip.style.left = `${Math.min(mx + 12, width - tip.offsetWidth - 4)}px`;
        tip.style.top = `${my + 14}px`;
        return;
      }
      const found = mx < LEFT || isCrowded || row < (causes ? -1 : 0) ? undefined : instructions.find(([pipe, arrival, dispatch, issue, free]) =>
        row < 0 ? cycle >= arrival - slack && cycle < dispatch + 1 + slack : pipe === row && cycle >= issue - slack && cycle < free + slack);
      if (!found) { tip.remove(); return; }
      const [pipe, arrival, dispatch, issue, free, complete, cause, text, number] = found;
      if (!causes) tip.textContent = `${names[text]} ${number.toLocaleString("en")}\n${time(issue)} to ${time(free)} ${unit}`;
      else tip.textContent = `${instructions.indexOf(found) + data.timeline.first}: ${text}\n` + (dispatch > arrival ? `stalls ${dispatch - arrival} cycles` + (cause === null ? "" : `: ${causes[cause]}`) + "\n" : "")
        + `dispatch ${dispatch}, issue ${issue}, ${pipes[pipe]} until ${free}, complete ${complete}`;
      plot.append(tip);
      tip.style.left = `${Math.min(mx + 12, width - tip.offsetWidth - 4)}px`;
      tip.style.top = `${my + 14}px`;
    });
    let held = null;
    plot.addEventListener("pointerdown", (event) => { held = event.clientX - plot.getBoundingClientRect().left; });
    window.addEventListener("pointerup", () => { held = null; });
    plot.addEventListener("pointerleave", () => tip.remove());
    plot.addEventListener("dblclick", () => { [from, to] = [0, cycles]; draw(); });
    plot.addEventListener("wheel", (event) => {
      event.preventDefault();
      const mx = event.clientX - plot.getBoundingClientRect().left;
      zoom(event.deltaY < 0 ? 0.8 : 1.25, scale(from, to, LEFT, width - 8, false).invert(mx));
    }, { passive: false });
    plot.addEventListener("keydown", (event) => {
      const action = { ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), "+": () => zoom(0.5), "-": () => zoom(2) }[event.key];
      if (action) { event.preventDefault(); action(); }
    });
    draw();
    chart.redraw.push(draw);
  };

  // ---- A click on a name of a flame graph makes it as wide as the graph, and another one resets it.
  const flame = (graph) => {
    const frames = [...graph.children].map((node) => [node, parseFloat(node.style.left), parseFloat(node.style.width)]);
    let chosen = null;
    graph.addEventListener("click", ({ target }) => {
      const found = frames.find(([node]) => node === target);
      if (!found) return;
      chosen = chosen === found ? frames[0] : found;
      const [, left, width] = chosen;
      for (const [node, a, b] of frames) {
        const [begin, end] = [Math.max(a, left), Math.min(a + b, left + width)];
        node.hidden = end - begin < width * 4e-4;
        node.style.left = `${(100 * (begin - left)) / width}%`;
        node.style.width = `${(100 * (end - begin)) / width}%`;
      }
    });
  };

  // ---- Start.
  const memory = {};
  const start = () => {
    chart.redraw.length = 0;
    const text = document.querySelector("#data")?.textContent;
    document.querySelectorAll("table.sortable").forEach(sortable);
    document.querySelectorAll(".flame").forEach(flame);
    if (!text) return;
    document.body.classList.add("live");
    const data = JSON.parse(text);
    (data.groups ?? []).forEach((group, index) => { if (document.querySelector(`#chart-${index}`)) chart(data, group, index, memory); });
    if (data.timeline) timeline(data);
  };
  start();
  // A page may get new data.
  document.addEventListener("data", start);
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth !== width) { width = window.innerWidth; chart.redraw.forEach((draw) => draw()); }
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart.redraw.forEach((draw) => draw()));
})();
