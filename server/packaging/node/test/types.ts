// What TypeScript makes of the types. Only `used` is run, too.

import { get } from "node:http";

import { ControlError, startServer, type Caused, type Effect, type Server } from "proconsul";

export async function use(): Promise<string[]> {
  await using server: Server = await startServer({ frozen: true, asVersion: "1.8.7", seed: 7, config: { datacenter: "dc1" } });
  const { caused }: Caused = await server.advance("20s");
  await server.waitBlocked({ count: 1, prefix: "config/" });
  await server.fault({ effect: { kind: "error", error: "no-cluster-leader" }, keyPrefix: "a", times: 1 });
  const effects: Effect[] = [{ kind: "hang" }, { kind: "truncate", bytes: 3 }, { kind: "respond", status: 503, headers: { a: "b" } }];
  for (const effect of effects) await server.fault({ effect, header: { name: "Who", value: "b" } });
  await server.loseLeader({ phases: [{ phase: "unreachable", lasts: "2s" }, { phase: "no-leader" }] });
  const client: string | null = (await server.blocked()).blocked[0].client;
  // @ts-expect-error An error is called `error`.
  await server.fault({ effect: { kind: "error", name: client } });
  // @ts-expect-error There is no such effect.
  await server.fault({ effect: { kind: "hangs" } });
  // @ts-expect-error A hang has no duration.
  await server.fault({ effect: { kind: "hang", by: "1s" } });
  // @ts-expect-error There is no such scenario.
  await server.loseLeader({ scenario: "killed" });
  // @ts-expect-error There is no such control.
  await server.nothing();
  // @ts-expect-error A rate is a number.
  await server.rate("fast");
  // @ts-expect-error There is no such kind of record.
  caused.filter((record) => record.kind === "nothing");
  return caused.filter((record) => record.kind === "acquired").map((record) => record.key ?? "");
}

export async function follow(): Promise<boolean> {
  await using server = await startServer({ inProcess: true });
  server.followTimers();
  get(server.url, { agent: server.agent });
  return server.inProcess;
}

/** Returns the URL of a server that is gone: `await using` has stopped it. */
export async function used(): Promise<string> {
  await using server = await startServer();
  return server.url;
}

export function status(error: unknown): number | undefined {
  return error instanceof ControlError ? error.status : undefined;
}
