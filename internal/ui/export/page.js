const root = document.documentElement, items = [...document.querySelectorAll(".item")];
document.getElementById("look").onclick = () => {
  const dark = root.classList.contains("dark") || !root.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches;
  root.classList.toggle("dark", !dark);
  root.classList.toggle("light", dark);
};
document.getElementById("unfold").onclick = e => {
  const all = [...document.querySelectorAll("details")], open = all.some(d => !d.open);
  all.forEach(d => d.open = open);
};
const find = document.getElementById("find"), told = document.getElementById("told");
find.oninput = () => {
  const word = find.value.toLowerCase();
  let n = 0;
  for (const item of items) {
    const hit = !word || item.textContent.toLowerCase().includes(word);
    item.hidden = !hit;
    n += hit;
    for (const d of item.querySelectorAll("details"))
      if (word && hit) d.open = true;
  }
  told.textContent = word ? n + " found" : "";
};
