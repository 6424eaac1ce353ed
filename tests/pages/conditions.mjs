// Holds the reader of conditions in pages to conditions.json.
import assert from "node:assert/strict";
import fs from "node:fs";

const script = fs.readFileSync(new URL("../../lab/run/src/page_parts/html/condition.js", import.meta.url), "utf8");
const condition = new Function(`${script}\nreturn condition;`)();
const { columns, rows, cases } = JSON.parse(fs.readFileSync(new URL("conditions.json", import.meta.url), "utf8"));
const found = (text) => {
  try {
    const keep = condition(text, columns, rows);
    return rows.flatMap((row, i) => (keep(row) ? [i] : []));
  } catch (error) {
    return error.message;
  }
};
// An error has a message and a place; the page has no use for the place.
for (const [text, [...wanted]] of Object.entries(cases)) assert.deepEqual(found(text), typeof wanted[0] === "string" ? wanted[0] : wanted, text);
