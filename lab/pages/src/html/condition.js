"use strict";
// Conditions on rows: `vdm.banks >= 64 and area < 25 mm2`. The grammar is that of lab/sweep/src/condition.rs;
// tests/pages/conditions.json has cases for both.
const condition = (text, columns, rows) => {
  const wrong = (message) => { throw new Error(message); };
  let rest = text.trim();
  const take = (pattern) => {
    const found = rest.match(pattern);
    if (found) rest = rest.slice(found[0].length).trimStart();
    return found;
  };
  const unitWord = String.raw`(?!and(?![\p{L}\p{N}/*×·]))\p{L}[\p{L}\p{N}/*×·]*`;
  const number = new RegExp(String.raw`^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?:\s*(${unitWord}(?:\s+${unitWord})*))?(?![^\s<>=!&'"])`, "u");
  const clauses = [];
  do {
    const name = take(/^[A-Za-z0-9._-]+/)?.[0] ?? wrong("expected a column");
    const sign = take(/^(?:<=|>=|!=|==|=|<|>)/)?.[0] ?? wrong("expected `<`, `<=`, `>`, `>=`, `=` or `!=`");
    const quoted = take(/^"([^"]*)"/) ?? take(/^'([^']*)'/);
    const numeric = quoted ? null : take(number);
    const word = quoted ?? numeric ?? take(/^(?!and(?:[\s<>=!&'"]|$))([^\s<>=!&'"]+)/) ?? wrong("expected a number, a word or a text in quotes");
    const finite = numeric && Number.isFinite(Number(numeric[1]));
    clauses.push({ name, sign, text: quoted ? quoted[1] : word[0].trim(), number: finite ? Number(numeric[1]) : null, unit: numeric?.[2] ?? "" });
  } while (take(/^(?:&&|and(?![\p{L}\p{N}/*×·]))/u));
  if (rest) wrong("expected `and` or `&&`");

  const plain = (unit) => unit.replace(/[µμ]/g, "u").replace(/²/g, "2").replace(/[*×·\s]/g, "");
  const holds = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "=": (a, b) => a === b, "==": (a, b) => a === b, "!=": (a, b) => a !== b };
  const tests = clauses.map(({ name, sign, text, number, unit }) => {
    let index = columns.findIndex((column) => column.name === name);
    if (index < 0) {
      const short = [...new Set(columns.filter((column) => column.short === name).map((column) => column.name))];
      index = short.length === 1 ? columns.findIndex((column) => column.name === short[0]) : wrong(`unknown column \`${name}\``);
    }
    const column = columns[index];
    const values = rows.map((row) => row[index]).filter((value) => value !== null && value !== undefined);
    if (values.some((value) => typeof value === "number")) {
      if (number === null) wrong(`expected a number for \`${column.name}\`, found \`${text}\``);
      if (unit && plain(unit) !== plain(column.unit)) wrong(`\`${unit}\` is not the unit of \`${column.name}\``);
    }
    if (values.some((value) => typeof value !== "number") && !["=", "==", "!="].includes(sign)) wrong(`\`${column.name}\` is text, which has no order`);
    return (row) => {
      const value = row[index];
      if (value === null || value === undefined) return false;
      return typeof value === "number" ? holds[sign](value, number) : holds[sign](String(value), text);
    };
  });
  return (row) => tests.every((test) => test(row));
};
