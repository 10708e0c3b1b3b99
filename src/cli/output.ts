import { styleText } from "node:util";
import stringWidth from "string-width";
import { plainJson, plainText } from "../core/terminal.ts";
import type { OutputStream, Shell } from "./shell.ts";

/** The values of `--format`. */
export const formats = ["table", "json", "quiet"] as const;

/** The format of a result. If standard output is not a terminal, tab-separated values replace the table. */
export type Format = (typeof formats)[number] | "tab-separated";

/** One column of a table. */
export interface Column {
  /** The header in tab-separated values. */
  key: string;
  /** The header in tables. */
  title: string;
  /** The placeholder for an empty value in tables. Default `-`. */
  empty?: string;
  /** Returns the color of a value on a terminal. */
  color?: (value: string) => "green" | "yellow" | "red" | undefined;
}

/** The result of a command, for each format. */
export interface Result {
  json: unknown;
  /** The lines of the `quiet` format. */
  quiet: readonly string[];
  columns: readonly Column[];
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
  colorize(text: string, color: "green" | "yellow" | "red"): string {
    return this.hasColors ? styleText(color, text, { validateStream: false }) : text;
  }

  /** Prints one line to standard error. */
  log(text: string): void {
    this.#stderr.write(`${plainText(text)}\n`);
  }

  #lines(result: Result): readonly string[] {
    const rows = result.rows.map((row) => row.map(plainText));
    switch (this.format) {
      case "json":
        return [plainJson(result.json, 2)];
      case "quiet":
        return result.quiet.map(plainText);
      case "tab-separated":
        if (rows.length === 0) return [];
        return [result.columns.map(({ key }) => key), ...rows].map((row) => row.join("\t"));
      case "table":
        return result.asBlocks ? this.#blocks(result.columns, rows) : this.#table(result.columns, rows);
    }
  }

  #table(columns: readonly Column[], rows: readonly (readonly string[])[]): readonly string[] {
    if (rows.length === 0) return [];
    const shown = rows.map((row) => columns.map((column, index) => row[index] || (column.empty ?? "-")));
    const widths = columns.map(({ title }, index) =>
      Math.max(title.length, ...shown.map((row) => stringWidth(row[index] ?? ""))),
    );
    const pad = (text: string, index: number) => padColumn(text, widths[index] ?? 0);
    const heading = columns.map(({ title }, index) => pad(title.toUpperCase(), index)).join("  ");
    return [
      heading.trimEnd(),
      ...shown.map((row) =>
        columns
          .map((column, index) => this.#colorized(column, row[index] ?? "", pad(row[index] ?? "", index)))
          .join("  ")
          .trimEnd(),
      ),
    ];
  }

  #blocks(columns: readonly Column[], rows: readonly (readonly string[])[]): readonly string[] {
    const width = Math.max(...columns.map(({ title }) => title.length));
    const blocks = rows.map((row) =>
      columns
        .map((column, index) => {
          const value = row[index] || (column.empty ?? "-");
          return `${column.title.padEnd(width)}  ${this.#colorized(column, value, value)}`;
        })
        .join("\n"),
    );
    return blocks.length === 0 ? [] : [blocks.join("\n\n")];
  }

  #colorized({ color }: Column, value: string, shown: string): string {
    const chosen = color?.(value);
    return chosen ? this.colorize(shown, chosen) : shown;
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
