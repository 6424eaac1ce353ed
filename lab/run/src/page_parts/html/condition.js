"use strict";
// Conditions on rows: `vdm.banks >= 64 and area < 25 mm2`. The grammar is that of lab/sweep/src/condition.rs;
// tests/pages/conditions.json has cases for both.
const condition = (text, columns, rows) => {
  const wrong = (message) => { throw new Error(message); };
  // Blanks and letters of any script, as Rust has them: `trim` and `\s` have others.
  const afterBlanks = (text) => text.replace(/^\p{White_Space}+/u, "");
  let rest = afterBlanks(text);
  const take = (pattern) => {
    const found = rest.match(pattern);
    if (found) rest = afterBlanks(rest.slice(found[0].length));
    return found;
  };
  const hexadecimal = "0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*";
  const wholeNumber = `${hexadecimal}|0|[1-9][0-9]*(?:_[0-9]+)*`;
  // A whole number of at most 128 bits that a text is; else null.
  const whole = (text) => {
    if (!new RegExp(`^(?:${wholeNumber})$`).test(text)) return null;
    const value = BigInt(text.replaceAll("_", ""));
    return value < 1n << 128n ? value : null;
  };
  const unitWord = String.raw`(?!and(?![\p{Alphabetic}\p{N}/*×·]))\p{Alphabetic}[\p{Alphabetic}\p{N}/*×·]*`;
  const blanks = String.raw`\p{White_Space}`;
  const number = new RegExp(String.raw`^(${hexadecimal}|[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?:${blanks}*(${unitWord}(?:${blanks}+${unitWord})*))?(?![^${blanks}<>=!&'"])`, "u");
  const clauses = [];
  do {
    const name = take(/^[A-Za-z0-9._-]+/)?.[0] ?? wrong("expected a column");
    const sign = take(/^(?:<=|>=|!=|==|=|<|>)/)?.[0] ?? wrong("expected `<`, `<=`, `>`, `>=`, `=` or `!=`");
    const quoted = take(/^"([^"]*)"/) ?? take(/^'([^']*)'/);
    const numeric = quoted ? null : take(number);
    const word = quoted ?? numeric ?? take(/^(?!and(?:[\p{White_Space}<>=!&'"]|$))([^\p{White_Space}<>=!&'"]+)/u) ?? wrong("expected a number, a word or a text in quotes");
    const real = numeric ? Number(numeric[1]) : NaN;
    // Without a plus, zeros before it and a fraction of zeros.
    const bare = numeric?.[1].replace(/^\+/, "").replace(/\.0*$/, "").replace(/^0+(?=[0-9])/, "");
    const value = numeric ? whole(bare) ?? (Number.isFinite(real) ? real : null) : null;
    clauses.push({ name, sign, text: quoted ? quoted[1] : word[0], number: value, unit: numeric?.[2] ?? "" });
  } while (take(/^(?:&&|and(?![\p{Alphabetic}\p{N}/*×·]))/u));
  if (rest) wrong("expected `and` or `&&`");

  const plain = (unit) => unit.replace(/[µμ]/g, "u").replace(/²/g, "2").replace(/[*×·\p{White_Space}]/gu, "");
  // `==` between numbers of both types compares without rounding.
  const holds = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "=": (a, b) => a == b, "==": (a, b) => a == b, "!=": (a, b) => a != b };
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
    // Results hold long numbers as text.
    const operand = number !== null && !unit ? number : whole(text);
    const isText = (value) => typeof value !== "number" && (operand === null || whole(String(value)) === null);
    if (values.some(isText) && !["=", "==", "!="].includes(sign)) wrong(`\`${column.name}\` is text, which has no order`);
    return (row) => {
      const value = row[index];
      if (value === null || value === undefined) return false;
      if (typeof value === "number") return holds[sign](value, number);
      return isText(value) ? holds[sign](String(value), text) : holds[sign](whole(value), operand);
    };
  });
  return (row) => tests.every((test) => test(row));
};
