// The server, a box for requests, and answers to the web UI beside it.

import { Machine } from "./machine.js";

const EVENTS = "/proconsul/v1/events";
const EXAMPLES = [
  ["Write a key", "PUT", "/v1/kv/greeting", "hello"],
  ["Read it", "GET", "/v1/kv/greeting?raw"],
  ["Wait for a change", "GET", "/v1/kv/greeting?index=$index&wait=60s"],
  ["Change it", "PUT", "/v1/kv/greeting", "good morning"],
  ["Create a session", "PUT", "/v1/session/create", '{"TTL": "10s"}'],
  ["Take a lock", "PUT", "/v1/kv/leader?acquire=$session", "me"],
  ["Move time by 20 s", "POST", "/proconsul/v1/clock/advance", '{"by": "20s"}'],
  ["What happened", "GET", "/proconsul/v1/timeline?key=leader"],
];

const clock = {
  read: () => ({ of: performance, ms: performance.now() }),
  arm(act, ms) {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};

const form = document.querySelector("form");
const { method, path, body } = form.elements;
const saved = { session: "", index: "0" };

function show(text) {
  const shown = document.createElement("pre");
  shown.textContent = text;
  document.querySelector("#responses").prepend(shown);
  return shown;
}

async function send(machine) {
  const [asked, given] = [path.value, body.value].map((text) =>
    text.replace(/\$(session|index)/g, (_, name) => saved[name]),
  );
  const { pathname, search } = new URL(asked, location.origin);
  const line = `${method.value} ${asked}`;
  const shown = show(`${line}\n…`);
  try {
    const response = await machine.request(method.value, pathname + search, {}, given);
    const text = new TextDecoder().decode(response.body);
    saved.index = response.headers.get("X-Consul-Index") ?? saved.index;
    if (asked.startsWith("/v1/session/create") && response.status === 200) saved.session = JSON.parse(text).ID;
    const head = [...response.headers].map(([name, value]) => `${name}: ${value}\n`).join("");
    shown.textContent = `${line}\n${response.status}\n${head}\n${text}`;
  } catch (error) {
    shown.textContent = `${line}\n${error.message}`;
  }
}

function offerExamples(machine) {
  for (const [name, ...request] of EXAMPLES) {
    const button = document.createElement("button");
    button.textContent = name;
    button.addEventListener("click", () => {
      [method.value, path.value, body.value = ""] = request;
      send(machine);
    });
    document.querySelector("#examples").append(button);
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(machine);
  });
}

/** Answers a request of the web UI, which the page frames. */
async function answer(machine, { method, target, headers, body }, port) {
  try {
    const response = await machine.request(method, target, headers, body);
    const policy = response.headers.get("Content-Security-Policy");
    if (policy)
      response.headers.set(
        "Content-Security-Policy",
        policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'"),
      );
    port.postMessage({ status: response.status, headers: [...response.headers] });
    port.postMessage(response.body);
    port.postMessage(null);
  } catch (error) {
    port.postMessage({ failure: error.message });
  }
}

/** Passes the stream of events on, which has no end, by a connection; HTTP/1.0 has no chunks in it. */
function follow(machine, target, port) {
  let head = "";
  const end = () => port.postMessage(null);
  const number = machine.connect({
    data(bytes) {
      if (head.endsWith("\r\n\r\n")) return port.postMessage(bytes);
      const at = bytes.findIndex((_, place) => {
        head += String.fromCharCode(bytes[place]);
        return head.endsWith("\r\n\r\n");
      });
      if (at < 0) return;
      port.postMessage({ status: Number(head.split(" ")[1]), headers: [["Content-Type", "text/event-stream"]] });
      port.postMessage(bytes.slice(at + 1));
    },
    end,
    reset: end,
  });
  port.onmessage = () => machine.reset(number);
  machine.send(number, new TextEncoder().encode(`GET ${target} HTTP/1.0\r\nHost: proconsul\r\n\r\n`));
}

async function showUi(machine) {
  const { serviceWorker } = navigator;
  if (!serviceWorker) return show("The web UI needs a service worker: open this page at https: or at localhost.");
  serviceWorker.addEventListener("message", ({ data, ports: [port] }) => {
    if (data.target.startsWith(EVENTS)) follow(machine, data.target, port);
    else answer(machine, data, port);
  });
  serviceWorker.startMessages();
  await serviceWorker.register("/worker.js");
  await serviceWorker.ready;
  document.querySelector("iframe").src = "/ui/";
}

const bytes = await (await fetch("proconsul.wasm")).arrayBuffer();
const seed = Math.floor(Math.random() * 2 ** 48);
const machine = new Machine(await WebAssembly.compile(bytes), ["-dev", "-control"], seed, clock);
offerExamples(machine);
showUi(machine).catch((error) => show(`The web UI cannot be shown: ${error.message}`));
