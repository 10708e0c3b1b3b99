import { HTTPException } from "hono/http-exception";

/** The maximum number of invalid fields in a message. */
const maxListedProblems = 5;

const errorCodes: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  413: "PayloadTooLarge",
  415: "UnsupportedMediaType",
};

/** Creates the error for an invalid request. Each problem must start with the name of the invalid field. */
export function invalidRequest(problems: readonly string[]): HTTPException {
  return new HTTPException(400, { message: problems.slice(0, maxListedProblems).join("; ") });
}

/**
 * Creates an error response in the Hub's format. The `error` field and the `X-Error-Message` header contain the
 * message.
 */
export function errorResponse({ status, message }: { status: number; message: string }): Response {
  return Response.json(
    { error: message },
    {
      status,
      headers: {
        "x-error-code": errorCodes[status] ?? "InternalError",
        // Headers can contain only printable ASCII, and clients reject long headers.
        "x-error-message": message.slice(0, 4_000).replace(/[^ -~]/g, "?"),
        ...(status === 401 && { "www-authenticate": "Bearer" }),
      },
    },
  );
}
