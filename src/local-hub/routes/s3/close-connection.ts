import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import * as z from "zod/mini";
import type { ApiEnvironment } from "../authentication.ts";
import { S3Error } from "./s3-error.ts";

/** The response of Node, which only requests over a socket have. */
const bindings = z.object({
  outgoing: z.custom<{ destroy: () => void }>(
    (value) => typeof value === "object" && value !== null && "destroy" in value && typeof value.destroy === "function",
  ),
});

/**
 * Closes the connection of a request without a response.
 *
 * @throws `S3Error` 500 if the request did not come over a socket.
 */
export function closeConnection({ env }: Context<ApiEnvironment>): Response {
  const { data } = bindings.safeParse(env);
  if (!data) throw new S3Error("InternalError", { message: "The request was executed, but its answer was lost." });
  data.outgoing.destroy();
  return RESPONSE_ALREADY_SENT;
}
