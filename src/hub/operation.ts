import type * as z from "zod";
import type { SearchOf } from "./schemas.ts";

/** Options of every call. */
export interface CallOptions {
  /** Cancels the call, also while it waits for the next attempt. The call rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

type Json<Schema> = { readonly content: { readonly "application/json": { readonly schema: Schema } } };

/** An operation of the Hub's API. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  /** In the imperative: error messages contain it. */
  readonly summary: string;
  readonly request?: {
    readonly params?: z.ZodType<Record<string, string>>;
    readonly query?: z.ZodObject<z.ZodRawShape, z.core.$ZodObjectConfig>;
    readonly body?: Json<z.ZodType> & { readonly required: boolean };
  };
  readonly response: z.ZodType;
}

type ParamsOf<Route> = Route extends { request: { params: infer Schema extends z.ZodType } }
  ? { params: z.input<Schema> }
  : { params?: undefined };

/** The decoded types: in a URL, every parameter is a string. */
type QueryOf<Route> = Route extends { request: { query: infer Schema extends z.ZodType } }
  ? { query?: SearchOf<Schema> | undefined }
  : { query?: undefined };

type BodyOf<Route> = Route extends {
  request: { body: Json<infer Schema extends z.ZodType> & { required: infer Required } };
}
  ? Required extends true
    ? { body: z.input<Schema> }
    : { body?: z.input<Schema> | undefined }
  : { body?: undefined };

/** The path parameters, the query and the body of an operation. */
export type InputOf<Route extends Operation> = ParamsOf<Route> & QueryOf<Route> & BodyOf<Route>;

/** The response of an operation. */
export type ResponseOf<Route extends Operation> = z.output<Route["response"]>;

/** The operations of one resource. */
export type Operations = Readonly<Record<string, Operation>>;

/** A required JSON body, for `request.body`. */
export function jsonBody<Schema extends z.ZodType>(schema: Schema) {
  return { content: { "application/json": { schema } }, required: true } as const;
}
