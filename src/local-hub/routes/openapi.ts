import { z } from "@hono/zod-openapi";
import type { Operation } from "../../hub/operation.ts";

/** An answer of JSON: for the `responses` of a route. */
export function jsonResponse<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { "application/json": { schema } } };
}

/** The body of every refusal. */
const errorBody = z.object({ error: z.string() }).openapi("Error");

/** The refusal in headers as well, for those who do not read the body. */
const refusalHeaders = {
  "X-Request-Id": { description: "Names this request.", schema: { type: "string" } },
  "X-Error-Code": { description: "The kind of refusal, for programs.", schema: { type: "string" } },
  "X-Error-Message": { description: "What the body says.", schema: { type: "string" } },
} as const;

function refusal(description: string) {
  return { headers: refusalHeaders, ...jsonResponse(description, errorBody) };
}

/** What a refused request is answered with: for the `responses` of a route. */
export const errorResponses = {
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
const bearer = [{ bearer: [] }];

/** What a route takes from its operation: all but the response, which is documented beside the error responses. */
export function describeRoute<Described extends Operation>({ response: _response, ...request }: Described) {
  return { ...request, security: bearer };
}
