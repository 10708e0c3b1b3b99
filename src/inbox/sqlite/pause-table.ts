import type { Statements } from "./statements.ts";

/** Reads and writes which endpoints are paused. The statements that claim deliveries check the same table. */
export class PauseTable {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  pause(endpoint: string): void {
    this.#statements.pause.run(endpoint);
  }

  resume(endpoint: string): void {
    this.#statements.resume.run(endpoint);
  }

  /** Returns the names of the paused endpoints, sorted. */
  list(): string[] {
    return this.#statements.paused.all().map(({ endpoint }) => String(endpoint));
  }
}
