import type * as z from "zod";
import type { SearchOf } from "./schemas.ts";

/** What every call can be given. */
export interface CallOptions {
  /** Ends the call, a wait between two attempts too: it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

type Json<Schema> = { readonly content: { readonly "application/json": { readonly schema: Schema } } };

/** An operation of the contract, as `createRoute` makes it. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  /** What it does, in the imperative: error messages repeat it. */
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

/** As a program has it: a query of the contract is read from texts. */
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

/** What an operation is given: the parts of its path, its query and its body, where it has them. */
export type InputOf<Route extends Operation> = ParamsOf<Route> & QueryOf<Route> & BodyOf<Route>;

/** What an operation answers with. */
export type ResponseOf<Route extends Operation> = z.output<Route["response"]>;

/** The operations of one resource. */
export type Operations = Readonly<Record<string, Operation>>;

/** A body of JSON that must be sent: for the `request` of a route. */
export function jsonBody<Schema extends z.ZodType>(schema: Schema) {
  return { content: { "application/json": { schema } }, required: true } as const;
}
