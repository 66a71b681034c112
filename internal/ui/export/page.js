const root = document.documentElement, items = [...document.querySelectorAll(".item")];
const by = id => document.getElementById(id), find = by("find"), told = by("told");
by("look").onclick = () => {
  const dark = root.classList.contains("dark") || !root.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches;
  root.classList.toggle("dark", !dark);
  root.classList.toggle("light", dark);
};
by("unfold").onclick = () => {
  const all = [...document.querySelectorAll("details")], open = all.some(d => !d.open);
  all.forEach(d => d.open = open);
};

// The text of an item as it is seen at this width, with where each piece begins.
const pieces = item => {
  const out = [];
  let text = "";
  for (const form of item.children) {
    if (form.tagName !== "DIV" || getComputedStyle(form).display === "none") continue;
    const walk = document.createTreeWalker(form, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      if (walk.currentNode.parentElement.closest(".short")) continue;
      out.push([text.length, walk.currentNode]);
      text += walk.currentNode.data;
    }
  }
  return [text.toLowerCase(), out];
};
const range = (at, end, nodes) => {
  const r = document.createRange();
  for (const [from, node] of nodes) {
    if (from <= at && at <= from + node.length) r.setStart(node, at - from);
    if (from < end && end <= from + node.length) r.setEnd(node, end - from);
  }
  return r;
};

const most = 5000;
let hits = [], here = -1;
const mark = () => {
  if (!window.Highlight) return;
  CSS.highlights.set("hit", new Highlight(...hits));
  CSS.highlights.set("here", new Highlight(...hits.slice(Math.max(here, 0), here + 1)));
};
const search = () => {
  const word = find.value.toLowerCase();
  let n = 0;
  hits = [], here = -1;
  for (const item of items) {
    const [text, nodes] = word ? pieces(item) : ["", []];
    const hit = !word || text.includes(word);
    item.hidden = !hit;
    n += hit;
    for (const d of item.querySelectorAll("details")) {
      if (word && hit && !d.open) d.open = d.searched = true;
      else if (d.searched && !(word && hit)) d.open = d.searched = false;
    }
    for (let i = text.indexOf(word); word && i >= 0 && hits.length < most; i = text.indexOf(word, i + word.length))
      hits.push(range(i, i + word.length, nodes));
  }
  for (const d of document.querySelectorAll(".agent")) {
    const hit = word && d.querySelector(".item:not([hidden])");
    if (hit && !d.open) d.open = d.searched = true;
    else if (d.searched && !hit) d.open = d.searched = false;
  }
  told.textContent = word ? hits.length + (hits.length < most ? "" : " or more") + " in " + n + " items" : "";
  mark();
};
find.oninput = search;
find.onkeydown = e => {
  if (e.key === "Escape") find.value = "", search();
  if (e.key !== "Enter" || !hits.length) return;
  here = (here + (e.shiftKey ? hits.length - (here < 0 ? 0 : 1) : 1)) % hits.length;
  told.textContent = here + 1 + " of " + hits.length;
  hits[here].startContainer.parentElement.scrollIntoView({block: "center"});
  mark();
};
document.onkeydown = e => {
  if (e.key === "/" && document.activeElement !== find) e.preventDefault(), find.focus();
};
