import type { Logger } from "../core/logger.ts";
import type { HubClient } from "../hub/client.ts";
import { type formats, Output } from "./output.ts";
import type { Shell } from "./shell.ts";

/** The options that every command takes. */
export interface GlobalOptions {
  token?: string;
  endpoint?: string;
  format?: (typeof formats)[number];
  yes?: boolean;
}

/** What {@link Invocation} needs. */
export interface InvocationOptions {
  shell: Shell;
  /** The global options; asked for when a command runs, since only then they have been read. */
  readOptions: () => GlobalOptions;
}

/** One run of the command line, as its commands see it. */
export class Invocation {
  readonly shell: Shell;
  /** What the process ends with where nothing is thrown. Default 0. */
  exitCode: 0 | 1 = 0;
  readonly #readOptions: () => GlobalOptions;

  constructor({ shell, readOptions }: InvocationOptions) {
    this.shell = shell;
    this.#readOptions = readOptions;
  }

  /** Where results go, in the format asked for. */
  get output(): Output {
    return new Output({ shell: this.shell, format: this.#readOptions().format });
  }

  /** Whether `--yes` answers every question. */
  get isConfirmed(): boolean {
    return this.#readOptions().yes === true;
  }

  /** What the options say of the Hub; left out, its client finds the rest. */
  get hub(): Pick<GlobalOptions, "token" | "endpoint"> {
    const { token, endpoint } = this.#readOptions();
    return { ...(token !== undefined && { token }), ...(endpoint !== undefined && { endpoint }) };
  }

  /** The client for the Hub asked for. Loaded here, so that help and wrong usage do without it. */
  async connect(): Promise<HubClient> {
    const { HubClient } = await import("../hub/client.ts");
    return new HubClient({ ...this.hub, logger: warningLogger(this.output) });
  }
}

/** Writes the warnings of the client as lines of standard error. */
function warningLogger(output: Output): Logger {
  const logger: Logger = {
    debug() {},
    info() {},
    warn: (fields: object | string, message?: string) => output.say(`warning: ${message ?? String(fields)}`),
    error() {},
    child: () => logger,
  };
  return logger;
}
