// A lock is lost, guarded and taken over, from Node with nothing but its standard library.
//
// Usage: test_control.mjs PATH_OF_PROCONSUL

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import http from "node:http";
import readline from "node:readline";

const program = process.argv[2];

function ask(method, url, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece) => (text += piece));
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, json: JSON.parse(text) }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

async function start() {
  const child = spawn(
    program,
    ["agent", "-dev", "-http-port-ephemeral", "-control-port=0", "-log-level=err"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  for await (const line of readline.createInterface({ input: child.stdout })) {
    if (line.startsWith('{"')) {
      const ports = JSON.parse(line);
      return { child, url: `http://${ports.http}`, plane: `http://${ports.control}/proconsul/v1` };
    }
  }
  throw new Error("the agent did not say where it listens");
}

const { child, url, plane } = await start();
try {
  const put = async (path, body = "") => ask("PUT", url + path, body);
  const control = async (method, path, fields) => {
    const { status, json } = await ask(method, plane + path, fields && JSON.stringify(fields));
    assert.equal(status, 200);
    return json;
  };
  await control("POST", "/clock/freeze");
  const first = (await put("/v1/session/create", '{"TTL": "10s"}')).json.ID;
  const second = (await put("/v1/session/create", '{"TTL": "60s"}')).json.ID;
  assert.equal((await put(`/v1/kv/job?acquire=${first}`)).json, true);
  const refused = await put(`/v1/kv/job?acquire=${second}`);
  assert.equal(refused.json, false);
  assert.equal(refused.headers["x-proconsul-refused"], `held by ${first}`);

  const index = (await ask("GET", `${url}/v1/kv/job`)).headers["x-consul-index"];
  const watch = ask("GET", `${url}/v1/kv/job?index=${index}`);
  await control("POST", "/wait/blocked", { prefix: "job", count: 1, timeout: "20s" });
  const { caused } = await control("POST", "/clock/advance", { by: "20s" });
  assert.deepEqual(caused.slice(0, 3).map((record) => record.kind), ["session-ended", "key-written", "released"]);
  assert.equal((await watch).json[0].Session, undefined);

  assert.equal((await put(`/v1/kv/job?acquire=${second}`)).json, false);
  await control("POST", "/clock/advance", { by: "15s" });
  assert.equal((await put(`/v1/kv/job?acquire=${second}`)).json, true);
  const { records } = await control("GET", "/history?key=job&kind=released&kind=acquire-refused");
  assert.deepEqual(records.map((record) => record.cause), [
    `held by ${first}`,
    "its session ended, its TTL ran out",
    "lock-delay, 15000 ms left",
  ]);
  console.log("node: ok");
} finally {
  child.kill("SIGKILL");
}
