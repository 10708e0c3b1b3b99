import { InvalidArgumentError } from "commander";
import { isPort } from "../core/option-error.ts";

/** Reads a port, 0 to 65535; `undefined` where a text is none. */
export function readPort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && isPort(Number(text)) ? Number(text) : undefined;
}

/** Reads the value of an option that is a port. @throws `InvalidArgumentError` when it is none. */
export function parsePort(text: string): number {
  const port = readPort(text);
  if (port !== undefined) return port;
  throw new InvalidArgumentError("Give a number from 0 to 65535.");
}
