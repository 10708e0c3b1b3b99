import { Option } from "commander";
import type { Invocation } from "./invocation.ts";
import { wrongUsage } from "./wrong-usage.ts";

/** `--of`: `--endpoint` is the address of the Hub, for every command but `job`, which speaks to none. */
export function ofOption(description: string): Option {
  return new Option("--of <endpoint>", description);
}

/** For a command that asks no Hub: who means an endpoint of the server would be given another, without a word. */
export function refuseHubAddress({ hub }: Invocation, { command }: { command: string }): void {
  if (hub.endpoint === undefined) return;
  throw wrongUsage(`--endpoint is the address of the Hub, which ${command} does not ask: name an endpoint with --of.`);
}
