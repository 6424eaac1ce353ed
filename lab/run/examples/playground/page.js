// The playground: a text goes to the module, an answer comes back. The program is in the address of the page.
(async () => {
  const [program, at, told, errors, report] = ["program", "at", "told", "errors", "report"].map((id) => document.getElementById(id));
  const text = (id) => document.getElementById(id).textContent;
  const module = await WebAssembly.compile(Uint8Array.from(atob(text("module")), (letter) => letter.charCodeAt(0)));
  let instance = await WebAssembly.instantiate(module);
  const ask = (source, instructions) => {
    const { memory, text, run, answer_address: address } = instance.exports;
    const bytes = new TextEncoder().encode(source);
    // The memory may move when it grows.
    const place = text(bytes.length);
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    const length = run(instructions);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, address(), length)));
  };
  const show = async (instructions) => {
    let answer;
    try {
      answer = ask(program.value, instructions);
    } catch (error) {
      answer = { errors: `the simulator stopped: ${error.message}` };
      instance = await WebAssembly.instantiate(module);
    }
    errors.textContent = answer.errors ?? "";
    if (answer.errors) return;
    at.max = answer.instructions;
    at.value = Math.min(instructions, answer.instructions);
    told.textContent = `${at.value} of ${answer.instructions} instructions`;
    report.innerHTML = answer.report;
    document.querySelector("#data")?.remove();
    const data = Object.assign(document.createElement("script"), { id: "data", type: "application/json", textContent: JSON.stringify({ timeline: answer.timeline }) });
    document.body.append(data);
    document.dispatchEvent(new Event("data"));
  };
  const ALL = 2 ** 31;
  let wait;
  program.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(() => {
      history.replaceState(null, "", "#" + encodeURIComponent(program.value));
      show(ALL);
    }, 250);
  });
  at.addEventListener("input", () => show(Number(at.value)));
  program.value = location.hash.length > 1 ? decodeURIComponent(location.hash.slice(1)) : text("start");
  await show(ALL);
})();
