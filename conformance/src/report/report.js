"use strict";
const form = document.querySelector(".filters");
const rows = [...document.querySelectorAll("tr.case")];
const topics = [...document.querySelectorAll("tbody.topic")];
function filter() {
  const words = form.querySelector("[type=search]").value.toLowerCase().split(/\s+/).filter(Boolean);
  const states = [...form.querySelectorAll("[type=checkbox]:checked")].map((box) => box.value);
  let shown = 0;
  for (const row of rows) {
    const text = row.querySelector("th").textContent.toLowerCase();
    const wanted = row.dataset.states.split(" ").some((state) => states.includes(state));
    row.hidden = !(wanted && words.every((word) => text.includes(word)));
    shown += row.hidden ? 0 : 1;
  }
  for (const topic of topics) {
    const next = topic.nextElementSibling;
    topic.hidden = !next || [...next.querySelectorAll("tr.case")].every((row) => row.hidden);
  }
  form.querySelector("output").value = `${shown} of ${rows.length} cases`;
}
form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && location.hash) location.hash = "closed"; // no such place: nothing scrolls
});
filter();
