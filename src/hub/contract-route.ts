import type { z } from "@hono/zod-openapi";
import type { SearchOf } from "./contract/query.ts";

type Json<Schema> = { readonly content: { readonly "application/json": { readonly schema: Schema } } };

/** An operation of the contract, as `createRoute` makes it. */
export interface ContractRoute {
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
  readonly responses: { readonly 200: Json<z.ZodType> };
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
export type InputOf<Route extends ContractRoute> = ParamsOf<Route> & QueryOf<Route> & BodyOf<Route>;

/** What an operation answers with. */
export type AnswerOf<Route extends ContractRoute> = z.output<AnswerSchema<Route>>;

/** The schema of what an operation answers with. */
export type AnswerSchema<Route extends ContractRoute> =
  Route["responses"][200]["content"]["application/json"]["schema"];
