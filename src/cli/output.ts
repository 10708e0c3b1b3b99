import { styleText } from "node:util";
import { plainJson, plainText } from "../core/terminal-text.ts";
import type { OutputStream, Shell } from "./shell.ts";

/** The values of `--format`. */
export const formats = ["table", "json", "quiet"] as const;

/** How a result is written; tab-separated values take the place of a table that no terminal shows. */
export type Format = (typeof formats)[number] | "tab-separated";

/** One column of a table. */
export interface Column {
  /** Its name for programs: the header of tab-separated values. */
  key: string;
  /** Its name for people. */
  title: string;
  /** What a table shows where there is nothing. Default `-`. */
  empty?: string;
  /** The colour of a value on a terminal. */
  color?: (value: string) => "green" | "yellow" | "red" | undefined;
}

/** What a command found or did, for each format. */
export interface Result {
  json: unknown;
  /** The lines of `quiet`. */
  quiet: readonly string[];
  columns: readonly Column[];
  /** One text per column. */
  rows: readonly (readonly string[])[];
  /** Show a table's rows as blocks, one line per column: for a thing shown alone. Default `false`. */
  asBlocks?: boolean;
}

/** What {@link Output} needs. */
export interface OutputOptions {
  shell: Shell;
  /** The value of `--format`. Default: a table on a terminal, tab-separated values elsewhere. */
  format: (typeof formats)[number] | undefined;
}

/** Writes results to standard output and what is said about them to standard error. */
export class Output {
  readonly format: Format;
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  /** Whether standard output shows colours. */
  readonly hasColors: boolean;

  constructor({ shell, format }: OutputOptions) {
    this.#stdout = shell.stdout;
    this.#stderr = shell.stderr;
    this.format = format ?? (shell.stdout.isTTY ? "table" : "tab-separated");
    this.hasColors = shell.stdout.isTTY === true && !shell.env.NO_COLOR;
  }

  /** Whether a person or a line-wise tool reads the output, and not a program that wants JSON or ids. */
  get isText(): boolean {
    return this.format === "table" || this.format === "tab-separated";
  }

  /** Writes a result. */
  result(result: Result): void {
    const lines = this.#lines(result);
    if (lines.length > 0) this.write(lines.join("\n"));
  }

  /** Writes text as it stands, and a line end. */
  write(text: string): void {
    this.#stdout.write(`${text}\n`);
  }

  /** Text in a colour, where the results go to a terminal that shows any. */
  paint(text: string, color: "green" | "yellow" | "red"): string {
    return this.hasColors ? styleText(color, text, { validateStream: false }) : text;
  }

  /** Says one line on standard error. */
  say(text: string): void {
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
      Math.max(title.length, ...shown.map((row) => row[index]?.length ?? 0)),
    );
    const pad = (text: string, index: number) => text.padEnd(widths[index] ?? 0);
    const heading = columns.map(({ title }, index) => pad(title.toUpperCase(), index)).join("  ");
    return [
      heading.trimEnd(),
      ...shown.map((row) =>
        columns
          .map((column, index) => this.#painted(column, row[index] ?? "", pad(row[index] ?? "", index)))
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
          return `${column.title.padEnd(width)}  ${this.#painted(column, value, value)}`;
        })
        .join("\n"),
    );
    return blocks.length === 0 ? [] : [blocks.join("\n\n")];
  }

  #painted({ color }: Column, value: string, shown: string): string {
    const chosen = color?.(value);
    return chosen ? this.paint(shown, chosen) : shown;
  }
}
