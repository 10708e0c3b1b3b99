import type { Logger } from "../core/log.ts";
import type { HubClient } from "../hub/client.ts";
import { type formats, Output } from "./output.ts";
import type { Shell } from "./shell.ts";

/** The options that every command accepts. */
export interface GlobalOptions {
  token?: string;
  hubUrl?: string;
  format?: (typeof formats)[number];
  yes?: boolean;
}

/** One run of the command line, with the output, client, and exit code that its commands share. */
export class Invocation {
  readonly shell: Shell;
  /** The exit code if no error is thrown. Default `0`. */
  exitCode: 0 | 1 = 0;
  readonly #readOptions: () => GlobalOptions;

  /** @param options.readOptions A function, because the options are parsed after this object is created. */
  constructor({ shell, readOptions }: { shell: Shell; readOptions: () => GlobalOptions }) {
    this.shell = shell;
    this.#readOptions = readOptions;
  }

  get output(): Output {
    return new Output({ shell: this.shell, format: this.#readOptions().format });
  }

  /** Whether `--yes` is given, which skips confirmation prompts. */
  get skipsPrompts(): boolean {
    return this.#readOptions().yes === true;
  }

  /** The global options for the client. If absent, the client uses its defaults. */
  get hubOptions(): Pick<GlobalOptions, "token" | "hubUrl"> {
    const { token, hubUrl } = this.#readOptions();
    return { ...(token !== undefined && { token }), ...(hubUrl !== undefined && { hubUrl }) };
  }

  /**
   * Creates the client for the Hub. The client's module is loaded lazily, because help and usage errors do not need it.
   */
  async connect(): Promise<HubClient> {
    const { HubClient } = await import("../hub/client.ts");
    return new HubClient({ ...this.hubOptions, logger: warningLogger(this.output) });
  }
}

/** Returns a logger that prints the client's warnings to standard error. */
function warningLogger(output: Output): Logger {
  const logger: Logger = {
    debug() {},
    info() {},
    warn: (fields: object | string, message?: string) => output.log(`warning: ${message ?? String(fields)}`),
    error() {},
    child: () => logger,
  };
  return logger;
}
