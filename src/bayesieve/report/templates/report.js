(() => {
  "use strict";
  const { summary, specs, labels, unit } = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const $ = (id) => document.getElementById(id);
  const path = summary.path || [];
  const number = (n) => n.toLocaleString("en-US");
  const percent = (share) => (100 * share).toFixed(1) + "\u202f%";
  const two = labels.length === 2;
  const views = {};

  // ------------------------------------------------------------------ charts

  function theme(name) {
    const style = getComputedStyle(root);
    const color = (name) => style.getPropertyValue("--" + name).trim();
    const font = style.fontFamily;
    const axis = { labelColor: color("quiet"), titleColor: color("quiet"), gridColor: color("grid"),
      domainColor: color("line"), tickColor: color("line"), labelFont: font, titleFont: font, labelFontSize: 12,
      titleFontSize: 12.5, titleFontWeight: 500, titlePadding: 10,
      labelLimit: root.clientWidth < 600 ? 120 : 220 };
    return {
      background: null, font, view: { stroke: null },
      axis, legend: { labelColor: color("ink"), labelFont: font, labelFontSize: 13, symbolStrokeWidth: 3, symbolType: "stroke" },
      range: { category: name === "bars" ? [color("side0"), color("side1")] : [color("ink"), color("quiet")] },
      rule: { color: color("quiet") }, text: { color: color("quiet") }, line: { color: color("side1") },
      style: {
        band: { opacity: Number(color("band")) }, curve: { strokeWidth: 2.2 },
        target: { size: 260, opacity: 0, filled: true },
        reference: { strokeDash: [4, 4], opacity: 0.8 },
        "reference-name": { align: "left", baseline: "bottom", dx: 3, dy: -4, font, fontSize: 12 },
        chosen: { strokeWidth: 1.5 },
        "chosen-point": { size: 90, filled: true, opacity: 1, stroke: color("panel"), strokeWidth: 1.5 },
        coverage: { strokeWidth: 2.2 },
        weight: { height: { band: 0.7 }, cornerRadiusEnd: 2 },
      },
    };
  }

  const accuracy = (point) => (point.test_accuracy === null ? point.cv_mean : point.test_accuracy);

  function pathRows() {
    return path.flatMap((p) => [
      ["held-out folds", p.cv_mean, p.cv_std], ["test rows", p.test_accuracy, null],
    ].filter(([, score]) => score !== null).map(([series, score, std]) => ({
      k: p.k, series, score, ...(std ? { low: Math.max(0, score - std), high: Math.min(1, score + std) } : {}),
    })));
  }

  function coverageRows() {
    const c = summary.coverage;
    const rows = c.coverage.map((coverage, i) => ({ coverage, accuracy: c.accuracy[i], threshold: c.threshold[i] }));
    return [{ ...rows[0], coverage: 0 }, ...rows];  // the surest rows come all at once
  }

  function barRows() {
    const most = root.clientWidth < 600 ? 10 : 14;
    const label = labels[two ? 1 : Number($("label").value)];
    const all = summary.model.features.map((f) => ({ name: f.name, weight: f.weights[label] })).filter((f) => f.weight);
    if (!two) all.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
    const side = (sign) => all.filter((f) => f.weight * sign > 0).slice(0, sign < 0 && !two ? most / 2 : most);
    return [...side(1), ...side(-1)].sort((a, b) => b.weight - a.weight).map((f) => ({
      ...f, side: f.weight > 0 ? "1" : "0", label: f.weight > 0 ? label : two ? labels[0] : "other classes",
    }));
  }

  const datasets = {
    path: () => ({ path: pathRows(), all: summary.scores.baseline.accuracy === null ? [] : [
      { score: summary.scores.baseline.accuracy, k: path[0].k, name: "all " + unit.features }] }),
    coverage: () => ({ coverage: coverageRows() }),
    bars: () => ({ bars: barRows() }),
  };

  // at least five points high: a curve that hardly moves must not look wild
  function between(values) {
    const low = Math.min(...values), high = Math.max(...values), missing = Math.max(0, 0.05 - (high - low)) / 2;
    const top = Math.min(1, high + missing);
    return [Math.max(0, Math.min(low - missing, top - 0.05)), top];
  }

  async function draw(name) {
    const place = $("chart-" + name);
    if (!place || (name !== "bars" && !summary[name])) return;
    const spec = structuredClone(specs[name]);
    spec.datasets = datasets[name]();
    spec.config = theme(name);
    if (name === "bars") {
      place.hidden = !spec.datasets.bars.length;
      $("no-bars").hidden = !place.hidden;
      if (place.hidden) return;
      spec.height = 21 * spec.datasets.bars.length;
    }
    if (name !== "bars") {
      const rows = Object.values(spec.datasets).flat();
      const domain = between(rows.flatMap((r) => [r.score ?? r.accuracy, r.low, r.high].filter((v) => v !== undefined)));
      for (const { encoding } of spec.layer) if (encoding.y) encoding.y.scale = { domain, zero: false };
    }
    if (name === "path") {
      const empty = { band: !path.some((p) => p.cv_std), reference: !spec.datasets.all.length };
      spec.layer = spec.layer.filter(({ mark }) => !empty[mark.style.split("-")[0]]);
      spec.params.find((p) => p.name === "chosen").value = path[Number($("k").value)].k;
      const series = new Set(spec.datasets.path.map((row) => row.series));
      for (const { encoding } of spec.layer) for (const by of [encoding.color, encoding.strokeDash])
        if (by?.scale) by.scale.domain = by.scale.domain.filter((name) => series.has(name));
      for (const { encoding } of spec.layer) if (encoding.x?.title) encoding.x.title = "number of " + unit.features;
    }
    views[name]?.finalize();
    views[name] = await window.vegaEmbed(place, spec, {
      ast: true, actions: false, renderer: "svg", defaultStyle: false,  // no eval, no styles beside the page's own
      tooltip: { disableDefaultStyle: true, theme: "page" },
    });
    if (name === "path") views.path.view.addEventListener("click", (_, item) => {
      const at = path.findIndex((p) => p.k === item?.datum?.k);
      if (at >= 0) choose(at);
    });
  }

  const drawAll = () => Promise.all(Object.keys(datasets).map(draw));

  // ------------------------------------------------------------------ the slider

  function choose(at) {
    const slider = $("k"), point = path[at];
    slider.value = at;
    const says = [number(point.k) + " " + (point.k === 1 ? unit.feature : unit.features)];
    if (accuracy(point) !== null) says.push(percent(accuracy(point)) + " right");
    if (point.k === summary.model.k) says.push("this model");
    slider.setAttribute("aria-valuetext", says.join(", "));
    $("k-says").textContent = says.join(" \u00b7 ");
    $("chosen-title").textContent = point.features.length < point.k
      ? `The ${point.features.length} strongest of ${number(point.k)}`
      : point.k === 1 ? "The one that is kept" : `All ${number(point.k)} that are kept`;
    $("chosen").replaceChildren(...point.features.map((name, i) => {
      const item = document.createElement("li");
      const label = point.speaks_for[i];
      item.textContent = name;
      item.title = "speaks for " + label;
      if (two) item.classList.add("side" + labels.indexOf(label));
      else item.append(Object.assign(document.createElement("small"), { textContent: label.length > 36 ? label.slice(0, 35) + "\u2026" : label }));
      return item;
    }));
    const more = at > 0 ? point.k - path[at - 1].k - point.entered.length : 0;
    $("new-title").textContent = at > 0 ? `New since ${number(path[at - 1].k)}` : "";
    $("new").textContent = at > 0 ? point.entered.join(", ") + (more > 0 ? ` and ${number(more)} more` : "") : "";
    for (const button of $("jumps").children) button.setAttribute("aria-pressed", String(Number(button.dataset.k) === point.k));
    views.path?.view.signal("chosen", point.k).runAsync();
  }

  if (path.length) {
    $("k").addEventListener("input", (event) => choose(Number(event.target.value)));
    $("jumps").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) choose(path.findIndex((p) => p.k === Number(button.dataset.k)));
    });
    choose(Math.max(0, path.findIndex((p) => p.k === summary.model.k)));
  }

  // ------------------------------------------------------------------ the rest

  $("label")?.addEventListener("change", () => draw("bars"));

  const filter = $("filter");
  if (filter) {
    filter.hidden = false;
    filter.addEventListener("change", (event) => {
      for (const example of document.querySelectorAll(".example"))
        example.hidden = event.target.value !== "all" && !example.classList.contains(event.target.value);
    });
  }

  const toggle = $("theme");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const showTheme = () => {
    toggle.textContent = isDark() ? "Light" : "Dark";
    toggle.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
    return drawAll();
  };
  toggle.removeAttribute("aria-pressed");
  toggle.hidden = false;
  toggle.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
  dark.addEventListener("change", showTheme);
  showTheme().then(() => { root.dataset.ready = "yes"; });
})();
