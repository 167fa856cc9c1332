// What TypeScript makes of the types. Only `used` is run, too.

import { ControlError, startServer, type Caused, type Server } from "proconsul";

export async function use(): Promise<string[]> {
  await using server: Server = await startServer({ frozen: true, asVersion: "1.8.7", seed: 7, config: { datacenter: "dc1" } });
  const { caused }: Caused = await server.advance("20s");
  await server.waitBlocked({ count: 1, prefix: "config/" });
  await server.fault({ effect: { kind: "error", error: "no-cluster-leader" }, keyPrefix: "a", times: 1 });
  // @ts-expect-error There is no such control.
  await server.nothing();
  // @ts-expect-error A rate is a number.
  await server.rate("fast");
  // @ts-expect-error There is no such kind of record.
  caused.filter((record) => record.kind === "nothing");
  return caused.filter((record) => record.kind === "acquired").map((record) => record.key ?? "");
}

/** Returns the URL of a server that is gone: `await using` has stopped it. */
export async function used(): Promise<string> {
  await using server = await startServer();
  return server.url;
}

export function status(error: unknown): number | undefined {
  return error instanceof ControlError ? error.status : undefined;
}
