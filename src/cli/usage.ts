import { Command, Help, InvalidArgumentError, type Option } from "commander";
import { WebhookError } from "../core/errors.ts";
import { acceptedPort, type Duration, isDuration, isPort, isRefusedPort } from "../core/options.ts";

/** Creates an error in the arguments or options of a command. The exit code is 2. */
export function usageError(message: string): WebhookError {
  return new WebhookError(message, { code: "ARGUMENT_INVALID" });
}

/** Returns the line that follows an error of commander: how to show the help of a command, such as `deliveries list`. */
export function helpHint(...command: readonly string[]): string {
  return `For help, run: ${["npx hub-webhooks", ...command, "--help"].join(" ")}`;
}

/** A command whose help can end with examples. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Adds examples to the help, one command per line. */
  examples(...commands: readonly string[]): this {
    const lines = commands.map((command) => `  $ npx hub-webhooks ${command}`);
    return this.addHelpText("after", `\n${lines.length === 1 ? "Example" : "Examples"}:\n${lines.join("\n")}`);
  }

  /**
   * Omits the global options `--token` and `--hub-url` from the help of a command that does not accept them, or uses them differently.
   *
   * @param replacements Options to list in their place.
   */
  withoutHubOptions(...replacements: readonly Option[]): this {
    return this.configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions(this: Help, command: Command) {
        const options = Help.prototype.visibleGlobalOptions.call(this, command);
        return [...replacements, ...options.filter(({ long }) => long !== "--token" && long !== "--hub-url")];
      },
    });
  }
}

/** Parses a port to listen on. Returns what to use instead of any other text. */
export function readPort(text: string): number | string {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!isPort(port)) return "Use a number from 0 to 65535.";
  return isRefusedPort(port) ? `Use ${acceptedPort}.` : port;
}

/** @throws `InvalidArgumentError` if the text is not a port to listen on. */
export function parsePort(text: string): number {
  const port = readPort(text);
  if (typeof port === "number") return port;
  throw new InvalidArgumentError(port);
}

/** Returns a parser for integers from `min` to `max`, which throws an `InvalidArgumentError` for any other text. */
export function numberBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Use a number from ${min} to ${max}.`);
  };
}

/** Returns a parser that rejects an empty value, which is most likely an unset variable, instead of using a default. */
export function notEmpty(what: string): (text: string) => string {
  return (text) => {
    if (text !== "") return text;
    throw new InvalidArgumentError(`The ${what} is empty. Pass a ${what}, or omit the option.`);
  };
}

/** @throws `InvalidArgumentError` if the text is not a duration. */
export function parseDuration(text: string): Duration {
  if (isDuration(text)) return text;
  throw new InvalidArgumentError('Use a duration such as "300ms", "5s" or "2h", up to 24 days.');
}
