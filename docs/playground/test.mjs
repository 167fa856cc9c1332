// Serves the playground as any static server does, and looks in Chromium at what its examples and the web UI show.
// Usage: node test.mjs FOLDER [PICTURE]    PICTURE is a file for a screenshot

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";

const PATIENCE_MS = 60_000;
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
const [folder, picture] = process.argv.slice(2);

const asked = [];
const files = createServer(({ url }, response) => {
  asked.push(url);
  const name = url === "/" ? "index.html" : url.slice(1);
  try {
    const content = readFileSync(join(folder, name));
    response.writeHead(200, { "Content-Type": TYPES[extname(name)] }).end(content);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((listening) => files.listen(0, "127.0.0.1", listening));
const { port } = files.address();

const profile = mkdtempSync(join(tmpdir(), "proconsul-playground-"));
const options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--window-size=1400,900"];
// The first lacks the windows of a desktop.
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const name = names.find((one) => spawnSync(one, ["--version"]).status === 0);
assert(name, "Chromium is missing");
const browser = spawn(name, [...options, `--user-data-dir=${profile}`], {
  stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
  // Debian's program is a script that starts the browser: the whole group is to end.
  detached: true,
});
const endBrowser = () => process.kill(-browser.pid, "SIGKILL");
const gone = new Promise((resolve) => browser.on("close", resolve));

/** Calls of the browser's own protocol: JSON, each message with a zero byte behind it. */
const answers = new Map();
let last = 0;
let rest = "";
browser.stdio[4].setEncoding("utf8").on("data", (text) => {
  const messages = (rest + text).split("\0");
  rest = messages.pop();
  for (const { id, result, error } of messages.map((one) => JSON.parse(one))) answers.get(id)?.(error ?? result);
});
function call(method, params, sessionId) {
  last += 1;
  browser.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
  return new Promise((answer) => answers.set(last, answer));
}

try {
  const { targetId } = await call("Target.createTarget", { url: `http://127.0.0.1:${port}/` });
  const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
  const evaluate = async (expression) => {
    const { result } = await call("Runtime.evaluate", { expression, returnByValue: true }, sessionId);
    return result?.value; // There is none while the page is loaded.
  };
  const until = async (expression) => {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      if (await evaluate(expression)) return;
      const seen = await evaluate("document.body.innerText + frames[0]?.document.body?.innerText");
      assert(Date.now() < end, `never: ${expression}\n${seen}`);
    }
  };
  /** Presses the button of an example, and waits until its response has this in it. */
  const example = async (name, expected) => {
    const button = `[...document.querySelectorAll("#examples button")].find((one) => one.textContent === ${JSON.stringify(name)})`;
    await until(`${button} !== undefined`);
    await evaluate(`${button}.click()`);
    await until(`document.querySelector("#responses pre").textContent.includes(${JSON.stringify(expected)})`);
  };
  const framed = (text) => until(`frames[0].document.body?.innerText.includes(${JSON.stringify(text)})`);

  await example("Write a key", "true");
  await example("Read it", "hello");
  await framed("greeting");
  await example("Wait for a change", "…");
  await evaluate(`document.querySelector("iframe").src = "/ui/dc1/blocked"`);
  await framed("/v1/kv/greeting?index=");
  await example("Change it", "true");
  await until(`[...document.querySelectorAll("pre")].some(({ textContent: text }) => text.includes("wait=60s\\n200"))`);
  await example("Create a session", "ID");
  await example("Take a lock", "true");
  await evaluate(`document.querySelector("iframe").src = "/ui/dc1/history"`);
  await framed("acquired");
  await example("Move time by 20 s", "session-ended");
  await framed("its TTL ran out");
  await example("What happened", "its TTL ran out");
  if (picture) {
    const { data } = await call("Page.captureScreenshot", {}, sessionId);
    writeFileSync(picture, Buffer.from(data, "base64"));
  }
  const own = asked.filter((url) => /^\/(ui|v1|proconsul)\//.test(url));
  assert.deepEqual(own, [], "no request of the web UI leaves the browser");
  console.log("playground: its examples and the web UI show what the module answers");
} finally {
  endBrowser();
  await gone;
  files.close();
  // The browser's other processes end after it, and write to the folder until then.
  rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
