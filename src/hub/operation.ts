import type * as z from "zod/mini";
import type { SearchOf } from "./schemas.ts";

/** The options for all calls. */
export interface CallOptions {
  /**
   * Cancels the call, even while the client waits for the next attempt. The call rejects with the signal's abort reason.
   */
  signal?: AbortSignal | undefined;
}

type Json<Schema> = { readonly content: { readonly "application/json": { readonly schema: Schema } } };

/** An operation in the Hub's API. */
export interface Operation {
  /** The method and the path, such as `GET /api/settings/webhooks/{webhookId}`. */
  readonly requestLine: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;
  readonly operationId: string;
  /** A description in the imperative, such as `List your webhooks`. Error messages contain the description. */
  readonly summary: string;
  readonly request?: {
    readonly params?: z.ZodMiniType<Record<string, string>>;
    readonly query?: z.ZodMiniObject;
    readonly body?: Json<z.ZodMiniType> & { readonly required: boolean };
  };
  readonly response: z.ZodMiniType;
}

type ParamsOf<Called> = Called extends { request: { params: infer Schema extends z.ZodMiniType } }
  ? { params: z.input<Schema> }
  : { params?: undefined };

/** The decoded types of a query. In a URL, all parameters are strings. */
type QueryOf<Called> = Called extends { request: { query: infer Schema extends z.ZodMiniType } }
  ? { query?: SearchOf<Schema> | undefined }
  : { query?: undefined };

type BodyOf<Called> = Called extends {
  request: { body: Json<infer Schema extends z.ZodMiniType> & { required: infer Required } };
}
  ? Required extends true
    ? { body: z.input<Schema> }
    : { body?: z.input<Schema> | undefined }
  : { body?: undefined };

/** The path parameters, the query, and the body of an operation. */
export type InputOf<Called extends Operation> = ParamsOf<Called> & QueryOf<Called> & BodyOf<Called>;

/** The response of an operation. */
export type ResponseOf<Called extends Operation> = z.output<Called["response"]>;

/** The operations of one resource. */
export type Operations = Readonly<Record<string, Operation>>;

/** Returns the value of `request.body` for a required JSON body. */
export function jsonBody<Schema extends z.ZodMiniType>(schema: Schema) {
  return { content: { "application/json": { schema } }, required: true } as const;
}
