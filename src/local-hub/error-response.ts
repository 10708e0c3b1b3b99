import { HTTPException } from "hono/http-exception";
import * as z from "zod/mini";
import { describeIssue } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { readJson } from "../core/text.ts";
import { fieldProblems } from "../hub/validation/arguments.ts";

const maxListedProblems = 5;

const errorCodes: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  412: "PreconditionFailed",
  413: "PayloadTooLarge",
  415: "UnsupportedMediaType",
  422: "UnprocessableEntity",
};

/** Each problem must start with the name of the invalid field. */
export function invalidRequest(problems: readonly string[]): HTTPException {
  return badRequest(problems.slice(0, maxListedProblems).join("; "));
}

export const incompleteBody = "The body ended too early. Send the request again.";

/** Whether reading a body failed because its client stopped halfway. */
export function isIncompleteBody(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["BODY_INCOMPLETE", "ECONNRESET"].includes(String(error.code));
}

/** `name` is the name of the part. @throws HTTPException 400 with the invalid fields. */
export function parseRequest<Schema extends z.core.$ZodType>(schema: Schema, value: unknown, name: string) {
  const { data, error } = z.safeParse(schema, value, { error: describeIssue });
  if (error) throw invalidRequest(listProblems(error, name));
  return data;
}

export function parseRequestJson<Schema extends z.core.$ZodType>(schema: Schema, text: string, name: string) {
  const value = readJson(text);
  if (value === undefined) throw invalidRequest([`${name}: expected JSON`]);
  return parseRequest(schema, value, name);
}

function listProblems(error: z.core.$ZodError, name: string): string[] {
  return fieldProblems(error, { name }).map(({ field, problem }) => `${field}: ${problem}`);
}

export function badRequest(message: string): HTTPException {
  return new HTTPException(400, { message });
}

export function forbidden(message: string): HTTPException {
  return new HTTPException(403, { message });
}

export function notFound(message: string): HTTPException {
  return new HTTPException(404, { message });
}

/** The codes of errors that the official clients recognize by the header `X-Error-Code`. */
type HubErrorCode = "RepoNotFound" | "RevisionNotFound" | "EntryNotFound" | "GatedRepo" | "DiscussionsDisabled";

/** The default code depends only on the status. */
export class CodedException extends HTTPException {
  readonly code: HubErrorCode;

  constructor(status: 401 | 403 | 404, { code, message }: { code: HubErrorCode; message: string }) {
    super(status, { message });
    this.code = code;
  }
}

/** The `error` field and the `X-Error-Message` header contain the message. */
export function errorResponse({
  status,
  message,
  code = errorCodes[status] ?? "InternalError",
  fields = {},
}: {
  status: number;
  message: string;
  code?: string;
  fields?: object;
}): Response {
  return Response.json(
    { error: message, ...fields },
    {
      status,
      headers: {
        "x-error-code": code,
        // Headers can contain only printable ASCII, and clients reject long headers.
        "x-error-message": message.slice(0, 4_000).replace(/[^ -~]/g, "?"),
        ...(status === 401 && { "www-authenticate": "Bearer" }),
      },
    },
  );
}

/** Parses a value that the user gives, such as an event. @throws `ARGUMENT_INVALID` with the invalid fields. */
export function parseGiven<Schema extends z.ZodMiniType>(schema: Schema, value: unknown, name: string) {
  const parsed = schema.safeParse(value, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const problems = listProblems(parsed.error, name).join("; ");
  throw new WebhookError(`Invalid ${name}. Fix these fields: ${problems}.`, { code: "ARGUMENT_INVALID" });
}
