import type { Agent } from "node:http";

import { Controls } from "./controls.js";

export * from "./controls.js";

/** How a server is started. */
export interface Options {
  /** The release of Consul that is emulated, such as "1.8.7". */
  asVersion?: string;
  /** Repeats the session ids and the jitter of the run with this seed. */
  seed?: number;
  /** Whether the clock stands still, from the start on, until the test moves it. */
  frozen?: boolean;
  /** The time of day when the server's clock starts, such as "2026-01-01T00:00:00Z", in place of the machine's. */
  epoch?: string;
  /** The port of Consul's API; a free one when it is left out. */
  port?: number;
  /** How many agents there are, where there is more than one: servers, or servers and client agents, such as "3:1". */
  agents?: number | string;
  /** The names of datacenters that are joined, the server's own first. Each has its own agents. */
  datacenters?: string[];
  /** Settings as in a configuration file of Consul. */
  config?: Record<string, unknown>;
  /** Configuration files of Consul, or folders of them. */
  files?: string[];
  /** Files to start with: states, archives of snapshots, or keys as `consul kv export` prints them. */
  data?: string[];
  /** Enables ACLs. The token with this secret may do everything; without a token nothing is allowed. */
  acl?: string;
  /** Whether HTTPS is served, too: at `httpsUrl`, with a certificate that the authority in `caFile` has signed. */
  https?: boolean;
  /** More arguments of `proconsul agent`. */
  args?: string[];
  /** The server's binary, in place of the one that the package brings. */
  binary?: string;
  /** Whether the server is the WebAssembly module in this process. When it is left out: where there is no binary. */
  inProcess?: boolean;
}

/** The control plane rejected a call, with a sentence. `status` is 409 where a wait timed out. */
export class ControlError extends Error {
  readonly status: number;
}

/** A server, from `startServer`. */
export class Server extends Controls {
  private constructor();
  /** Whether it is the WebAssembly module in this process, and not a process of its own. */
  readonly inProcess: boolean;
  /** The URL of Consul's API, such as http://127.0.0.1:40123. */
  readonly url: string;
  /** The URLs of Consul's API of each agent, the one above first. Those of joined datacenters follow. */
  readonly agentUrls: string[];
  /** Host and port of DNS, over UDP and TCP; empty where the server answers none: in this process, or at a `port` other than 8500. */
  readonly dnsAddress: string;
  /** The URL of Consul's API over HTTPS; empty without `https`. */
  readonly httpsUrl: string;
  /** The file with the certificate of the authority that has signed the server's; empty without `https`. */
  readonly caFile: string;
  /** The URL of the control plane. */
  readonly controlUrl: string;
  /** The seed of the run, which `startServer({ seed })` repeats. */
  readonly seed: number;
  /** The IP address of Consul's API. */
  readonly host: string;
  /** The port of Consul's API. */
  readonly port: number;
  /** Host and port, as CONSUL_HTTP_ADDR takes them. */
  readonly address: string;
  /** The variables by which clients of Consul find this server. */
  readonly environment: { CONSUL_HTTP_ADDR: string };
  /** For clients that take an agent of `node:http`: to a server in this process it makes connections without sockets. */
  readonly agent: Agent;
  /** The last lines of the server's log; empty in this process. */
  readonly log: string;
  /**
   * Takes the time of fake timers from now on, where they are installed: `performance.now()` if that is fake, or else
   * `Date.now()`, and `setTimeout`. Throws for a server in a process of its own.
   */
  followTimers(): void;
  /** What happened on the server, a line for each record. */
  historyText(): Promise<string>;
  /** What to print when a test has failed: seed, history, and the timeline of each key that was locked. */
  failureText(): Promise<string>;
  /** Runs a test on the server, and shows what happened on it if the test fails. */
  run<T>(test: (server: Server) => T | Promise<T>): Promise<T>;
  /**
   * Ends the server. Nothing is lost by it: all of its state is in memory. Rejects if the server has panicked.
   * @param context What node:test and Vitest hand to `afterEach`: if its test has failed, what happened on the server is shown.
   */
  stop(context?: object): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a server: a process, or the module in this one, if that is asked for or if there is no binary. */
export function startServer(options?: Options): Promise<Server>;

/** Returns the path of the server's binary. */
export function findBinary(binary?: string): string;
