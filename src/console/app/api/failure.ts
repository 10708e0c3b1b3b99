import type { FieldProblem } from "../../protocol/session.ts";

/** A request to the console's API that failed. */
export class ApiFailure extends Error {
  /** The HTTP status; `0` if there was no response. */
  readonly status: number;
  /** A stable code, such as `DELIVERY_UNKNOWN`. `UNREACHABLE` if there was no response. */
  readonly code: string;
  readonly fields: readonly FieldProblem[];
  /** The value of `Retry-After`, in seconds. */
  readonly retryAfterS: number | undefined;

  constructor(
    message: string,
    options: { status: number; code: string; fields?: readonly FieldProblem[]; retryAfterS?: number },
  ) {
    super(message);
    this.name = "ApiFailure";
    this.status = options.status;
    this.code = options.code;
    this.fields = options.fields ?? [];
    this.retryAfterS = options.retryAfterS;
  }

  /** Whether the same request can succeed later: the server was not reachable, or was not able to answer. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status >= 500;
  }
}

/** Converts anything that a request threw. */
export function toApiFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  return new ApiFailure("The server is not reachable.", { status: 0, code: "UNREACHABLE" });
}
