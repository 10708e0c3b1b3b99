import { optionError } from "./option-error.ts";
import { suggest } from "./suggest.ts";

const maxPort = 65_535;

/** Whether a number is a TCP port. Pass `min: 1` to exclude port 0, which lets the system choose a port to listen on. */
export function isPort(port: number, { min = 0 }: { min?: 0 | 1 } = {}): boolean {
  return Number.isInteger(port) && port >= min && port <= maxPort;
}

/**
 * Checks and returns the port to listen on.
 *
 * @param source the option or variable that sets the port. Default: the `port` option.
 * @throws `OPTION_INVALID` when the port is not an integer from 0 to 65535.
 */
export function checkPort(
  port: number,
  source: { option: string; value: number } | { variable: string; value: string } = { option: "port", value: port },
): number {
  if (isPort(port)) return port;
  throw optionError({ ...source, expected: `an integer from 0 to ${maxPort}` });
}

/**
 * Checks and returns an option that is a count.
 *
 * @throws `OPTION_INVALID` unless the value is an integer of at least 1, or `Infinity` if `allowsInfinity` is set.
 */
export function checkCount(
  value: number,
  option: string,
  { allowsInfinity = false }: { allowsInfinity?: boolean } = {},
): number {
  if ((Number.isSafeInteger(value) && value >= 1) || (allowsInfinity && value === Number.POSITIVE_INFINITY))
    return value;
  const expected = `an integer of at least 1${allowsInfinity ? ", or Infinity" : ""}`;
  throw optionError({ option, value, expected });
}

/**
 * Finds an option with an unknown name, which would otherwise have no effect, and describes the problem.
 *
 * @param kind The name of the API that has the options, such as `HubClient`. The message contains this name.
 */
export function findUnknownOption(
  options: object,
  { valid, kind }: { valid: readonly string[]; kind: string },
): { option: string; message: string } | undefined {
  const option = Object.keys(options).find((name) => !valid.includes(name));
  if (option === undefined) return undefined;
  const message = `Unknown ${kind} option ${JSON.stringify(option)}.${suggest(option, valid)} Valid options: ${valid.join(", ")}.`;
  return { option, message };
}

/**
 * Checks the names of options.
 *
 * @throws `OPTION_INVALID` for an unknown name.
 */
export function checkOptionNames(options: object, known: { valid: readonly string[]; kind: string }): void {
  const unknown = findUnknownOption(options, known);
  if (unknown) throw optionError(unknown.message);
}
