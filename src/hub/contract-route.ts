import type { z } from "@hono/zod-openapi";

/** An operation of the contract, as `createRoute` makes it. */
export interface ContractRoute {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly request?: {
    readonly params?: z.ZodType<Record<string, string>>;
    readonly body?: { readonly content: { readonly "application/json": { readonly schema: z.ZodType } } };
  };
  readonly responses: {
    readonly 200: { readonly content: { readonly "application/json": { readonly schema: z.ZodType } } };
  };
}

type Json<Schema> = { readonly content: { readonly "application/json": { readonly schema: Schema } } };

/** What an operation is given: the parts of its path and its body, where it has them. */
export type InputOf<Route extends ContractRoute> = (Route extends {
  request: { params: infer Schema extends z.ZodType };
}
  ? { params: z.input<Schema> }
  : { params?: undefined }) &
  (Route extends { request: { body: Json<infer Schema extends z.ZodType> } }
    ? { body: z.input<Schema> }
    : { body?: undefined });

/** What an operation answers with. */
export type AnswerOf<Route extends ContractRoute> = z.output<AnswerSchema<Route>>;

/** The schema of what an operation answers with. */
export type AnswerSchema<Route extends ContractRoute> =
  Route["responses"][200]["content"]["application/json"]["schema"];
