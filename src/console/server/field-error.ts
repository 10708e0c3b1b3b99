import type { WebhookError } from "../../core/errors.ts";
import type { ApiError, FieldProblem } from "../protocol/session.ts";

/** An invalid payload that the user has edited. The console shows each problem at its field. */
export class FieldError extends Error {
  readonly status = 422;
  readonly #error: WebhookError;
  readonly #fields: readonly FieldProblem[];

  constructor(error: WebhookError, fields: readonly FieldProblem[]) {
    super(error.message, { cause: error });
    this.name = "FieldError";
    this.#error = error;
    this.#fields = fields;
  }

  static isInstance(value: unknown): value is FieldError {
    return value instanceof FieldError;
  }

  toJSON(): ApiError {
    return { error: this.#error.message, code: this.#error.code, fields: this.#fields };
  }
}
