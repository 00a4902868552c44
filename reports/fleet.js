"use strict";
// The table of all jobs: searched, filtered and sorted in memory, drawn a slice at a time. What is shown is text only.
(() => {
  const SLICE = 100;
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = Object.fromEntries(data.columns.map((name, number) => [name, number]));
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const more = document.getElementById("more");
  const search = document.getElementById("search");
  const chips = document.getElementById("chips");
  const lang = document.documentElement.lang;
  const number = new Intl.NumberFormat(lang, { maximumFractionDigits: 1 });
  const filters = new Map();
  let sorting = null;
  let found = data.rows;
  let drawn = 0;

  const value = (row, name) => (data.lists[name] ? data.lists[name][row[at[name]]] : row[at[name]]);
  const named = (name, key) => (data.names[name] && data.names[name][key]) || key;
  const clock = (seconds) => (seconds === null ? "" : new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " "));

  let hay = null; // one lower-case text a row, made when the first search is typed
  const haystacks = () => hay || (hay = new Map(data.rows.map((row) => [row, [
    row[at.id], row[at.name], row[at.replica], ...Object.keys(data.lists).map((name) => value(row, name)),
    named("outcome", value(row, "outcome")), named("category", value(row, "category")),
  ].join("\n").toLowerCase()])));

  const fits = {
    group: (wanted) => (row) => row[at.group] === Number(wanted),
    label: (wanted) => (row) => ` ${value(row, "labels")} `.includes(` ${wanted} `),
  };
  const listed = (key, wanted) => {
    const index = data.lists[key].indexOf(wanted);
    return (row) => row[at[key]] === index;
  };

  const PLACES = ["project", "region", "machine_type"].filter((key) => data.lists[key].some(Boolean));
  for (const key of ["project", "region", "machine_type"]) {
    if (!PLACES.includes(key)) table.querySelector(`button[data-sort=${key}]`).parentElement.remove();
  }

  const cell = (tag, content, kind) => {
    const made = document.createElement(tag);
    if (content instanceof Node) made.append(content); else made.textContent = content;
    if (kind) made.className = kind;
    return made;
  };
  const draw = (row) => {
    const made = document.createElement("tr");
    const state = cell("span", named("outcome", value(row, "outcome")), `state ${value(row, "outcome")}`);
    made.append(cell("td", state));
    const name = row[at.name] || row[at.id];
    let title = document.createTextNode(name);
    if (row[at.report]) {
      title = cell("a", name);
      title.href = row[at.report];
    }
    const job = cell("th", title);
    job.scope = "row";
    job.translate = false;
    if (row[at.name]) job.append(cell("span", row[at.id], "id"));
    made.append(job);
    const failed = value(row, "outcome") === "failed" || value(row, "outcome") === "unknown";
    const cause = cell("code", failed ? value(row, "cause") : "");
    cause.translate = false;
    made.append(cell("td", cause), cell("td", value(row, "summary"), "why"));
    made.append(cell("td", clock(row[at.ended]), "when"));
    for (const key of PLACES) made.append(cell("td", value(row, key)));
    for (const key of ["restarts", "lost"]) made.append(cell("td", row[at[key]] ? number.format(row[at[key]]) : "", "right"));
    return made;
  };
  const append = () => {
    const slice = document.createDocumentFragment();
    for (const row of found.slice(drawn, drawn + SLICE)) slice.append(draw(row));
    drawn = Math.min(drawn + SLICE, found.length);
    body.append(slice);
    more.hidden = drawn >= found.length;
    more.textContent = `${table.dataset.more} (${number.format(found.length - drawn)})`;
  };

  const sortKey = (key) => (row) => {
    const key_ = value(row, key);
    return key === "name" ? (key_ || row[at.id]) : key === "outcome" ? named(key, key_) : key_;
  };
  const refresh = () => {
    const tests = [...filters].map(([key, wanted]) => (fits[key] ? fits[key](wanted) : listed(key, wanted)));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) {
      const texts = haystacks();
      tests.push((row) => words.every((word) => texts.get(row).includes(word)));
    }
    found = tests.length ? data.rows.filter((row) => tests.every((test) => test(row))) : data.rows;
    if (sorting) {
      const [key, way] = sorting;
      const of = sortKey(key);
      const keyed = found.map((row) => [of(row), row]);
      const empty = (item) => item === null || item === "";
      keyed.sort(([a], [b]) => {
        if (empty(a) || empty(b)) return Number(empty(a)) - Number(empty(b));
        return way * (a < b ? -1 : a > b ? 1 : 0);
      });
      found = keyed.map((pair) => pair[1]);
    }
    body.textContent = "";
    drawn = 0;
    append();
    if (!found.length) {
      const none = cell("td", table.dataset.none, "dim");
      none.colSpan = table.tHead.rows[0].cells.length;
      body.append(cell("tr", none));
    }
    document.getElementById("box").scrollTop = 0;
    document.getElementById("shown").textContent = table.dataset.shown
      .replace("{shown}", number.format(found.length)).replace("{all}", number.format(data.rows.length));
    tellFilters();
  };

  const selects = document.querySelectorAll("select[data-key]");
  const told = (key, wanted) => (key === "group" ? table.dataset.group.replace("{number}", wanted) : named(key, wanted));
  const tellFilters = () => {
    for (const select of selects) select.value = filters.get(select.dataset.key) || "";
    const inSelects = new Set([...selects].map((select) => select.dataset.key));
    chips.textContent = "";
    for (const [key, wanted] of filters) {
      if (inSelects.has(key)) continue;
      const chip = cell("button", `${told(key, wanted)} ×`);
      chip.type = "button";
      chip.setAttribute("aria-label", table.dataset.remove.replace("{name}", told(key, wanted)));
      chip.addEventListener("click", () => { filters.delete(key); refresh(); search.focus(); });
      chips.append(chip);
    }
  };

  for (const select of selects) {
    const key = select.dataset.key;
    select.parentElement.hidden = data.lists[key].filter(Boolean).length < 2;
    const values = [...data.lists[key]].filter(Boolean).sort((a, b) => named(key, a).localeCompare(named(key, b), lang));
    for (const one of values) {
      const option = cell("option", named(key, one));
      option.value = one;
      select.append(option);
    }
    select.addEventListener("change", () => {
      if (select.value) filters.set(key, select.value); else filters.delete(key);
      refresh();
    });
  }
  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refresh, 120); });
  document.getElementById("reset").addEventListener("click", () => { filters.clear(); search.value = ""; refresh(); });
  for (const button of table.querySelectorAll("button[data-sort]")) {
    button.addEventListener("click", () => {
      const key = button.dataset.sort;
      const numbers = ["ended", "restarts", "lost"].includes(key);
      const way = sorting && sorting[0] === key ? -sorting[1] : numbers ? -1 : 1;
      sorting = [key, way];
      for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
      button.parentElement.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      refresh();
    });
  }
  for (const link of document.querySelectorAll("a[data-key]")) {
    link.addEventListener("click", () => {
      filters.clear();
      search.value = "";
      filters.set(link.dataset.key, link.dataset.value);
      refresh();
    });
  }
  more.addEventListener("click", append);
  const box = document.getElementById("box");
  box.addEventListener("scroll", () => {
    if (!more.hidden && box.scrollTop + box.clientHeight > box.scrollHeight - 300) append();
  }, { passive: true });
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll(".causes details")) fold.open = true;
  });
  document.getElementById("controls").hidden = false;
  box.hidden = false;
  refresh();
})();
