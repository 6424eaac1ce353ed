// Opens pages in headless Chromium and checks them: an empty console, hover, click, zoom, filter, sorting, dark colours.
// Usage: node browser.mjs sweep|run|ring|live|playground URL PICTURES, or picture URL FILE, which takes a picture of a sweep's page and
// checks its console only. Exit status 0: all checks pass; 77: there is no browser.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

const [kind, url, pictures] = process.argv.slice(2);

const launch = async () => {
  // The folder with node_modules: this one after `npm install`, or another.
  const folder = process.env.RPU_BROWSER ?? import.meta.dirname;
  const require = createRequire(path.join(folder, "package.json"));
  const load = async (name) => (await import(pathToFileURL(require.resolve(name)))).default;
  // The libraries that a bare container lacks come with the browser.
  process.env.AWS_EXECUTION_ENV ??= "AWS_Lambda_nodejs20.x";
  process.env.AWS_LAMBDA_JS_RUNTIME ??= "nodejs20.x";
  const [chromium, puppeteer] = [await load("@sparticuz/chromium"), await load("puppeteer-core")];
  const options = { args: [...chromium.args, "--disable-gpu"], headless: "shell", defaultViewport: { width: 1200, height: 900 } };
  for (let left = 100; ; left--) {
    try {
      return await puppeteer.launch({ ...options, executablePath: await chromium.executablePath() });
    } catch (error) {
      // Another process still unpacks the browser, which all of a temporary folder share.
      if (error.code !== "ETXTBSY" || left === 0) throw error;
      await new Promise((done) => setTimeout(done, 200));
    }
  }
};

let browser;
try {
  browser = await launch();
} catch (error) {
  // A browser that is installed and does not start is a failure.
  if (!["MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND"].includes(error.code)) throw error;
  console.log(`no browser: ${String(error.message).split("\n")[0]}`);
  process.exit(77);
}

const page = await browser.newPage();
const problems = [];
page.on("console", (message) => problems.push(`${message.type()}: ${message.text()}`));
page.on("pageerror", (error) => problems.push(String(error)));
page.on("request", (request) => { if (!request.url().startsWith(new URL(url).origin === "null" ? "file:" : new URL(url).origin) && !request.url().startsWith("data:")) problems.push(`request: ${request.url()}`); });
const shot = (name) => page.screenshot({ path: path.join(pictures, `${name}.png`) });
const text = (selector) => page.$eval(selector, (node) => node.textContent);
const count = (selector) => page.$$eval(selector, (nodes) => nodes.length);
const visibleRows = () => page.$$eval("#table-0 tbody tr", (rows) => rows.filter((row) => !row.hidden).length);
const centre = async (selector) => {
  const { x, y, width, height } = await (await page.$(selector)).boundingBox();
  return [x + width / 2, y + height / 2];
};

// What is saved as a picture needs no style of the page.
const savedPicture = async (holder) => {
  await page.evaluate(() => {
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return make.call(URL, blob); };
  });
  await page.$$eval(`${holder} button`, (nodes) => nodes.find((node) => node.textContent === "save SVG").click());
  await page.waitForFunction(() => window.saved);
  const saved = await page.evaluate(() => window.saved);
  fs.writeFileSync(path.join(pictures, `${kind}-saved.svg`), saved);
  assert.match(saved, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  assert.ok(!/var\(|class=/.test(saved), "the saved picture needs a style");
  return saved;
};

const sweep = async () => {
  const points = await count("#chart-0 circle");
  assert.ok(points > 1, "the chart has points");
  assert.equal(await page.$eval("figure.static", (node) => getComputedStyle(node).display), "none");
  // Chart and table agree on the front, and no name of a point lies on its line.
  const large = await page.$$eval("#chart-0 circle", (nodes) => nodes.filter((node) => node.getAttribute("r") === "6").length);
  assert.equal(large, await count("#table-0 tr.front"), "points on the front");
  const crossed = await page.$$eval("#chart-0 text.label", (labels) => {
    const line = document.querySelector("#chart-0 .frontline"), all = line.getTotalLength(), place = line.getScreenCTM();
    const points = Array.from({ length: Math.ceil(all) }, (_, i) => line.getPointAtLength(i).matrixTransform(place));
    const inside = ({ left, right, top, bottom }, { x, y }) => x > left && x < right && y > top + 3 && y < bottom - 3;
    return labels.filter((label) => points.some((point) => inside(label.getBoundingClientRect(), point))).map((label) => label.textContent);
  });
  assert.deepEqual(crossed, [], "names on the line of the front");
  await shot("sweep-light");
  // Hover names the point: one that stands by itself.
  const alone = '#chart-0 circle[aria-label="(128, 32, xor)"]';
  await page.mouse.move(...await centre(alone));
  const name = await page.$eval(alone, (node) => node.getAttribute("aria-label"));
  assert.ok((await text("#chart-0 .tip")).startsWith(name), "hover names the point");
  await shot("sweep-hover");
  // A click shows its machine, causes, area and energy.
  await page.mouse.click(...await centre(alone));
  const details = await text("#chart-0 .details");
  for (const part of ["Machine " + name, "Where the cycles go", "Area", "Energy", "rpu sweep replay"]) assert.ok(details.includes(part), `details have ${part}`);
  assert.equal(await count("#chart-0 circle.chosen"), 1);
  assert.equal(await count("#table-0 tr.chosen"), 1);
  await page.screenshot({ path: path.join(pictures, "sweep-details.png"), fullPage: true });
  // A filter applies to chart and table; an invalid one says so.
  await page.type("#chart-0 input[type=text]", "vdm.banks >= 128");
  const kept = await count("#chart-0 circle");
  assert.ok(kept > 0 && kept < points, `${kept} of ${points} points`);
  assert.equal(await visibleRows(), kept);
  await page.type("#chart-0 input[type=text]", " and banks < 3");
  assert.equal(await page.$eval("#chart-0 input[type=text]", (node) => node.getAttribute("aria-invalid")), "true");
  assert.ok((await text("#chart-0 output")).includes("unknown column"));
  await page.$eval("#chart-0 input[type=text]", (node) => { node.value = ""; node.dispatchEvent(new Event("input")); });
  // The reader chooses axes.
  await page.select("#chart-0 select[aria-label=y]", "energy_uj");
  assert.ok((await page.$$eval("#chart-0 text", (nodes) => nodes.map((node) => node.textContent))).some((text) => /^Energy \([µn]J\)$/.test(text)));
  assert.equal(await count("#chart-0 circle"), points);
  // Zoom: fewer points, and all again after a reset.
  const [x, y] = await centre("#chart-0 svg");
  await page.mouse.move(x, y);
  for (let i = 0; i < 8; i++) await page.mouse.wheel({ deltaY: -100 });
  assert.ok(await count("#chart-0 circle") < points, "zoom");
  await page.$$eval("#chart-0 button", (nodes) => nodes.find((node) => node.textContent === "reset").click());
  assert.equal(await count("#chart-0 circle"), points);
  // No label lies over another.
  const overlaps = await page.$$eval("#chart-0 text.label", (nodes) => {
    const boxes = nodes.map((node) => node.getBoundingClientRect());
    return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom - 2 && b.top + 2 < a.bottom - 2)).length;
  });
  assert.equal(overlaps, 0, "labels overlap");
  const saved = await savedPicture("#chart-0");
  assert.equal(saved.match(/<circle [^>]*fill="rgb\(\d+,\d+,\d+\)"/g).length, await count("#chart-0 circle"), "points of the saved chart");
  // A heading sorts the table.
  const cycles = () => page.$$eval("#table-0 tbody tr", (rows) => rows.map((row) => Number(row.cells[row.cells.length - 11].textContent)));
  const sort = () => page.$$eval("#table-0 th button", (nodes) => nodes.find((node) => node.textContent === "cycles").click());
  await sort();
  const sorted = await cycles();
  assert.deepEqual(sorted, [...sorted].sort((a, b) => a - b));
  await sort();
  assert.deepEqual(await cycles(), [...sorted].reverse());
};

// The timeline of a page: zoom, hover, reset. Its bars are in the rows from `first` on; `named` is what hover says.
const timeline = async (first, named) => {
  await shot(`${kind}-light`);
  await page.$eval("#timeline", (node) => node.scrollIntoView());
  const painted = () => page.$eval("#timeline svg", (picture) => picture.outerHTML);
  const before = await painted();
  await page.$$eval("#timeline button", (nodes) => { for (let i = 0; i < 2; i++) nodes.find((node) => node.textContent === "+").click(); });
  assert.notEqual(await painted(), before, "zoom");
  // Somewhere in the rows of the pipes is an instruction.
  const { x: left, y: top, width, height } = await (await page.$("#timeline svg")).boundingBox();
  let told = "";
  for (let row = first; row < first + 3 && !told; row++) {
    for (let i = 1; i < 40 && !told; i++) {
      await page.mouse.move(left + 92 + ((width - 100) * i) / 40, top + 26 + 34 * row + 12);
      told = (await page.$("#timeline .tip")) ? await text("#timeline .tip") : "";
    }
  }
  assert.match(told, named, "hover names the interval");
  await shot(`${kind}-timeline`);
  await page.$$eval("#timeline button", (nodes) => nodes.find((node) => node.textContent === "reset").click());
  assert.equal(await painted(), before, "reset");
  assert.match(await savedPicture("#timeline"), /<path [^>]*fill="rgb\(\d+,\d+,\d+\)"/);
};

const run = () => timeline(1, /^\d+: \w+.*\n[^]*dispatch \d+, issue \d+/);
const ring = () => timeline(4, /^[\w-]+, (line|bytes) [\d,]+\n[\d.,]+ to [\d.,]+ (ns|µs)/);

const playground = async () => {
  const cycles = () => page.$eval("#report h2", (node) => node.textContent);
  const edit = async (from, to) => {
    await page.$eval("#program", (node, from, to) => { node.value = node.value.replace(from, to); node.dispatchEvent(new Event("input")); }, from, to);
    await new Promise((resolve) => setTimeout(resolve, 600));
  };
  await page.waitForSelector("#timeline svg");
  const values = () => page.$$eval("#report tr", (rows) => Object.fromEntries(rows.map((row) => [row.cells[0].textContent, row.cells[3]?.textContent])));
  // Word 2 of the output is 3 * 2 * 2, and nothing is computed before the first instruction.
  assert.equal((await values()).y, "12");
  const first = await cycles();
  assert.match(first, /^\d+ cycles, 0\.\d+ µs at 1\.68 GHz$/);
  await page.$eval("#at", (node) => { node.value = 0; node.dispatchEvent(new Event("input")); });
  assert.equal((await values()).y, "0");
  // Another machine, another program; both are in the address.
  await edit("hple.count=128", "hple.count=32");
  assert.notEqual(await cycles(), first);
  await edit("vmuls ", "vmulz ");
  assert.match(await text("#errors"), /error\[B001\]: unknown instruction `vmulz`[^]*did you mean `vmul`/);
  await edit("vmulz ", "vmuls ");
  await edit("{ 3 }", "{ 5 }");
  assert.equal(await text("#errors"), "");
  await page.reload();
  await page.waitForSelector("#timeline svg");
  assert.equal((await values()).y, "20");
  await shot("playground-light");
};

// A sweep's page; the pointer is on a design in the middle and shows its name.
const picture = async () => {
  const [x, y] = await page.$$eval("#chart-0 circle[data-key]", (points) => {
    const boxes = points.map((point) => point.getBoundingClientRect()).sort((a, b) => a.left - b.left);
    const { left, top, width, height } = boxes[Math.floor(boxes.length / 2)];
    return [left + width / 2, top + height / 2];
  });
  await page.mouse.move(x, y);
  await page.waitForSelector("#chart-0 .tip");
  await page.screenshot({ path: pictures });
};

try {
  if (kind !== "picture") fs.mkdirSync(pictures, { recursive: true });
  await page.goto(url);
  await { sweep, run, ring, playground, picture }[kind]();
  const isChecked = kind !== "picture";
  if (isChecked) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await page.evaluate(() => window.scrollTo(0, 0));
    await shot(`${kind}-dark`);
    // On a phone, nothing is off the screen but what scrolls by itself.
    await page.setViewport({ width: 390, height: 844 });
    await page.screenshot({ path: path.join(pictures, `${kind}-phone.png`), fullPage: true });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390, "the page is wider than a phone");
  }
  // What a page computes needs its script.
  if (isChecked && kind !== "playground") {
    await page.setViewport({ width: 1200, height: 900 });
    await page.setJavaScriptEnabled(false);
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
    await page.goto(url);
    assert.notEqual(await page.$("figure.static svg"), null, "a chart without the script");
    await page.screenshot({ path: path.join(pictures, `${kind}-without-script.png`) });
  }
  assert.deepEqual(problems, [], "the console is empty and nothing is fetched");
} catch (error) {
  console.log(error.message);
  console.log(problems.join("\n"));
  await browser.close();
  process.exit(1);
}
await browser.close();
