// Starting a server.

import { findBinary, hasBinary } from "./binary.js";
import { Controls, onlyKnown } from "./controls.js";
import { ServerModule } from "./module.js";
import { ServerProcess } from "./process.js";
import { ControlError, Server } from "./server.js";

export { findBinary, Controls, ControlError, Server };

const OPTIONS = ["asVersion", "seed", "frozen", "epoch", "port", "config", "files", "data", "acl", "https", "agents", "datacenters", "args", "binary", "inProcess"];

/** Starts a server: a process, or the module in this one, if that is asked for or if there is no binary. */
export async function startServer({ inProcess, ...options } = {}) {
  onlyKnown(options, ...OPTIONS);
  const isModule = inProcess ?? !hasBinary(options.binary);
  return isModule ? ServerModule.start(options) : ServerProcess.start(options);
}
