// The watch of the npm package consul, on one key.
//
// Usage: watch.mjs PACKAGE

import { WATCHED_KEY, host, port, say, report } from "./contender.mjs";

const { default: Consul } = await import(process.argv[2]);

const consul = new Consul({ host, port });

// The timeout is longer than the wait. Without one, old versions of the package end a read after the 5 s that newer versions
// of Node keep an idle connection.
const watch = consul.watch({ method: consul.kv.get, options: { key: WATCHED_KEY, wait: "4s", timeout: 9_000 } });
watch.on("change", (data) => {
  if (data) say(`saw ${data.Value}`);
});
watch.on("error", report);
watch.on("end", () => {
  report("the watch has ended");
  process.exit(1);
});
