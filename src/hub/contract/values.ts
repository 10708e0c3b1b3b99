import { z } from "@hono/zod-openapi";
import { jsonAnswer } from "./json.ts";

/** A 24-character lower-case hexadecimal id. */
export const objectId = z.string().regex(/^[0-9a-f]{24}$/, "expected 24 lower-case hexadecimal digits");

/** The same as some requests take it: in either case. */
export const objectIdInEitherCase = z.string().regex(/^[0-9a-fA-F]{24}$/, "expected 24 hexadecimal digits");

/** A date and time in UTC, ISO 8601, that ends in `Z`; the fraction of a second is optional. */
export const timestamp = z.iso
  .datetime("expected a time in UTC that ends in Z, as in 2026-01-31T09:15:27Z")
  .openapi({ pattern: "^\\S+Z$" });

/** The body of an answer that hub-api.md does not show: nobody may rely on what stands there. */
export const notShown = z.unknown();

/** The body of every refusal. */
const errorBody = z.object({ error: z.string() }).openapi("Error");

/** The refusal in headers as well, for those who do not read the body. */
const refusalHeaders = {
  "X-Request-Id": { description: "Names this request.", schema: { type: "string" } },
  "X-Error-Code": { description: "The kind of refusal, for programs.", schema: { type: "string" } },
  "X-Error-Message": { description: "What the body says.", schema: { type: "string" } },
} as const;

function refusal(description: string) {
  return { headers: refusalHeaders, ...jsonAnswer(description, errorBody) };
}

/** What a refused request is answered with: for the `responses` of a route. */
export const refusals = {
  invalid: { 400: refusal("The request is invalid; the message names the field.") },
  unauthorized: { 401: refusal("The token is missing or unknown.") },
  forbidden: { 403: refusal("The token, its user or the plan does not allow this.") },
  notFound: { 404: refusal("There is nothing of this id or name.") },
  /** For what takes a body. */
  body: {
    413: refusal("The body is too long."),
    415: refusal("The body is not sent as application/json."),
  },
};

/** Every operation asks for a bearer token (hub-api.md, Authentication). */
export const bearer = [{ bearer: [] }];
