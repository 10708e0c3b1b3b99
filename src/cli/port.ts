import { InvalidArgumentError } from "commander";

/** Reads the value of an option that is a port. @throws `InvalidArgumentError` when it is none. */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError("Give a number from 0 to 65535.");
}
