import type { Readable, Writable } from "node:stream";
import { styleText } from "node:util";
import stringWidth from "string-width";
import type { Logger } from "../core/log.ts";
import { plainJson, plainText } from "../core/terminal.ts";
import type { HubClient } from "../hub/client.ts";

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

  /** Creates the client for the Hub. The client's module is loaded lazily, because help and usage errors do not need it. */
  async connect({ attempts }: { attempts?: number } = {}): Promise<HubClient> {
    const { HubClient } = await import("../hub/client.ts");
    return new HubClient({ ...this.hubOptions, attempts, logger: warningLogger(this.output) });
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

/** An input stream. If it is a terminal, `isTTY` is set, and raw mode reads single keys. */
export type InputStream = Readable & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };

/** An output stream. If it is a terminal, `isTTY` and the width in `columns` are set. */
export type OutputStream = Writable & { isTTY?: boolean; columns?: number };

/** The streams, environment variables, and signals of a run. Tests replace them. */
export interface Shell {
  stdin: InputStream;
  stdout: OutputStream;
  stderr: OutputStream;
  /** Environment variables, such as `NO_COLOR` and `INBOX_URL`. */
  env: Readonly<Record<string, string | undefined>>;
  /** Resolves when the process receives a signal or {@link Shell.stop} is called, for commands that run until stopped. */
  untilStopped(): Promise<void>;
  /** Stops the run like a first SIGINT. The next SIGINT exits the process immediately. */
  stop(): void;
}

/** Returns a signal that is aborted when the run is stopped. */
export function stopSignal(shell: Shell): AbortSignal {
  const stop = new AbortController();
  void shell.untilStopped().then(() => stop.abort());
  return stop.signal;
}

/** Returns the streams, environment variables, and signals of this process. */
export function processShell(): Shell {
  const stopped = Promise.withResolvers<void>();
  let isStopped = false;
  // Stops the run at the first signal. The second signal exits the process immediately.
  const stop = () => {
    // Each write to a closed stream causes another error.
    if (isStopped) return;
    isStopped = true;
    // Add the new listener before the old one is removed. Otherwise, a signal between the two calls has no listener.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1)).off(signal, stop);
    process.on("SIGHUP", () => {}).off("SIGHUP", stop);
    stopped.resolve();
  };
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // The reader, such as `| head -1`, closed the pipe, or the terminal was closed. Neither is a failure.
      if (error.code !== "EPIPE" && error.code !== "EIO" && !process.exitCode) {
        process.exitCode = 1;
        process.stderr.write(
          `error: The output could not be written (${error.message}). Check what the command has changed before you run it again.\n`,
        );
      }
      stop();
    });
  }
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    stop,
    untilStopped() {
      process.on("SIGINT", stop).on("SIGTERM", stop);
      // Closing a terminal sends SIGHUP more than once.
      if (process.stdin.isTTY) process.on("SIGHUP", stop);
      return stopped.promise;
    },
  };
}

/** The values of `--format`. */
export const formats = ["table", "json", "quiet"] as const;

/** The format of a result. If standard output is not a terminal, tab-separated values replace the table. */
export type Format = (typeof formats)[number] | "tab-separated";

/** A color on a terminal. */
export type Color = "green" | "yellow" | "red";

/** One column of a table. */
export interface Column {
  /** The header in tables. */
  title: string;
  /** The placeholder for an empty value in tables. Default `-`. */
  empty?: string;
  /** Returns the color of a value on a terminal. */
  color?: (value: string) => Color | undefined;
}

/** A column with the function that returns its value of an item. */
export interface ItemColumn<Item> extends Column {
  cell: (item: Item) => string;
}

/** Returns the columns and rows of a list of items. */
export function tableOf<Item>(
  columns: Readonly<Record<string, ItemColumn<Item>>>,
  items: readonly Item[],
): Pick<Result, "columns" | "rows"> {
  return { columns, rows: items.map((item) => Object.values(columns).map(({ cell }) => cell(item))) };
}

/** The result of a command, for each format. */
export interface Result {
  json: unknown;
  /** The lines of the `quiet` format. */
  quiet: readonly string[];
  /** The columns by their headers in tab-separated values. A text is the title of a column. */
  columns: Readonly<Record<string, string | Column>>;
  /** The rows, with one value per column. */
  rows: readonly (readonly string[])[];
  /** Shows each row as a block with one line per column, which suits a single item. Default `false`. */
  asBlocks?: boolean;
}

/** Prints results to standard output and messages to standard error. */
export class Output {
  readonly format: Format;
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  /** Whether standard output supports colors. */
  readonly hasColors: boolean;

  /** @param options.format The value of `--format`. Default: a table on a terminal, otherwise tab-separated values. */
  constructor({ shell, format }: { shell: Shell; format: (typeof formats)[number] | undefined }) {
    this.#stdout = shell.stdout;
    this.#stderr = shell.stderr;
    this.format = format ?? (shell.stdout.isTTY ? "table" : "tab-separated");
    this.hasColors = shell.stdout.isTTY === true && !shell.env.NO_COLOR;
  }

  /** Whether the format is a table or tab-separated values, not JSON or IDs. */
  get isText(): boolean {
    return this.format === "table" || this.format === "tab-separated";
  }

  printResult(result: Result): void {
    const lines = this.#lines(result);
    if (lines.length > 0) this.print(lines.join("\n"));
  }

  /** Prints text unchanged, with a line break. */
  print(text: string): void {
    this.#stdout.write(`${text}\n`);
  }

  /** Adds a color to text if standard output supports colors. */
  colorize(text: string, color: Color): string {
    return this.hasColors ? styleText(color, text, { validateStream: false }) : text;
  }

  /** Prints one line to standard error. */
  log(text: string): void {
    this.#stderr.write(`${plainText(text)}\n`);
  }

  #lines({ json, quiet, columns, rows, asBlocks }: Result): readonly string[] {
    if (this.format === "json") return [plainJson(json, 2)];
    if (this.format === "quiet") return quiet.map(plainText);
    if (rows.length === 0) return [];
    const cells = rows.map((row) => row.map(plainText));
    if (this.format !== "table") return [Object.keys(columns), ...cells].map((row) => row.join("\t"));
    const shown = Object.values(columns).map((column) => (typeof column === "string" ? { title: column } : column));
    const filled = cells.map((row) => shown.map(({ empty = "-" }, index) => row[index] || empty));
    return asBlocks ? this.#blocks(shown, filled) : this.#table(shown, filled);
  }

  #table(columns: readonly Column[], rows: readonly (readonly string[])[]): readonly string[] {
    const headings = columns.map(({ title }) => title.toUpperCase());
    const widths = headings.map((_, index) =>
      Math.max(...[headings, ...rows].map((row) => stringWidth(row[index] ?? ""))),
    );
    const line = (row: readonly string[], isHeading = false) =>
      row
        .map((value, index) => {
          const padded = padColumn(value, widths[index] ?? 0);
          return isHeading ? padded : this.#colorized(columns[index], value, padded);
        })
        .join("  ")
        .trimEnd();
    return [line(headings, true), ...rows.map((row) => line(row))];
  }

  #blocks(columns: readonly Column[], rows: readonly (readonly string[])[]): readonly string[] {
    const width = Math.max(...columns.map(({ title }) => title.length));
    const blocks = rows.map((row) =>
      columns
        .map((column, index) => {
          const value = row[index] ?? "";
          return `${column.title.padEnd(width)}  ${this.#colorized(column, value, value)}`;
        })
        .join("\n"),
    );
    return [blocks.join("\n\n")];
  }

  #colorized(column: Column | undefined, value: string, shown: string): string {
    const color = column?.color?.(value);
    return color ? this.colorize(shown, color) : shown;
  }
}

/**
 * Returns the stack lines that `reason` does not contain: an excerpt of the source, and the calls. Returns an empty
 * list if only one such line remains, which adds no information.
 */
export function extraStackLines({
  reason,
  stack = "",
}: {
  reason: string;
  stack?: string | undefined;
}): readonly string[] {
  const lines = stack.split("\n").filter((line) => line.trim() !== "" && !reason.includes(line.trim()));
  return lines.length < 2 ? [] : lines.map((line) => `    ${plainText(line.trimEnd())}`);
}

/** Pads a text to a number of terminal columns. A CJK character takes two columns. */
export function padColumn(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - stringWidth(text)));
}
