import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/option-error.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import {
  createEndpoint,
  type Endpoint,
  type EndpointOptions,
  type Handler,
  type HandlerContext,
  type PayloadFor,
} from "./endpoint.ts";

/**
 * Registers a method of a class: a standard decorator, as TypeScript lowers it without `experimentalDecorators`. A
 * static method is registered with its class, an instance method when the first instance is made.
 */
export type WebhookDecorator<Payload> = <
  This,
  Method extends (this: This, payload: Payload, context: HandlerContext<Payload>) => unknown,
>(
  method: Method,
  context: ClassMethodDecoratorContext<This, Method>,
) => void;

/**
 * Registers handlers as endpoints, in any of its forms. With a handler it returns that handler, without one a
 * decorator. Without a name the endpoint is called like the function or the method. Slashes at the ends of a name are
 * removed: `"/retrain/"` is `"retrain"`. The payload's type follows from the options.
 *
 * @throws `ENDPOINT_NAME_MISSING`, `ENDPOINT_NAME_INVALID`, `ENDPOINT_EXISTS`, `OPTION_INVALID`, `DECORATOR_INVALID`;
 * `INBOX_UNUSABLE` for a background endpoint in a runtime without an inbox, such as a worker.
 * @example
 * ```ts
 * server.webhook(async function on_change(payload) {
 *   console.log(payload.event.scope, payload.repo.name);
 * });
 * server.webhook("retrain", { scope: "repo.content", repo: "dataset:me/*" }, async (payload) => payload.updatedRefs);
 * class Bot {
 *   @server.webhook({ scope: "discussion.comment" })
 *   async on_comment(payload: DiscussionCommentPayload) {
 *     console.log(payload.comment.content);
 *   }
 * }
 * ```
 */
export interface WebhookFunction {
  <Declared extends Handler>(handler: Declared): Declared;
  <Declared extends Handler>(name: string, handler: Declared): Declared;
  <const Options extends EndpointOptions, Result>(
    name: string,
    options: Options,
    handler: (payload: PayloadFor<Options>, context: HandlerContext<PayloadFor<Options>>) => Result,
  ): (payload: PayloadFor<Options>, context: HandlerContext<PayloadFor<Options>>) => Result;
  (name?: string): WebhookDecorator<WebhookPayload>;
  <const Options extends EndpointOptions>(options: Options): WebhookDecorator<PayloadFor<Options>>;
  <const Options extends EndpointOptions>(name: string, options: Options): WebhookDecorator<PayloadFor<Options>>;
}

/** What {@link createWebhookFunction} needs. */
export interface WebhookFunctionOptions {
  /** Receives each endpoint that is registered. */
  add: (endpoint: Endpoint) => void;
  /**
   * Receives each call without a handler, such as `webhook("retrain", { scope })`. Returns the function to call once the
   * result is applied as a decorator.
   */
  expectMethod: (call: string) => () => void;
}

/** Makes the function that registers endpoints. */
export function createWebhookFunction({ add, expectMethod }: WebhookFunctionOptions): WebhookFunction {
  function webhook<Declared extends Handler>(handler: Declared): Declared;
  function webhook<Declared extends Handler>(name: string, handler: Declared): Declared;
  function webhook<const Options extends EndpointOptions, Result>(
    name: string,
    options: Options,
    handler: (payload: PayloadFor<Options>, context: HandlerContext<PayloadFor<Options>>) => Result,
  ): (payload: PayloadFor<Options>, context: HandlerContext<PayloadFor<Options>>) => Result;
  function webhook(name?: string): WebhookDecorator<WebhookPayload>;
  function webhook<const Options extends EndpointOptions>(options: Options): WebhookDecorator<PayloadFor<Options>>;
  function webhook<const Options extends EndpointOptions>(
    name: string,
    options: Options,
  ): WebhookDecorator<PayloadFor<Options>>;
  function webhook(...given: readonly (string | EndpointOptions | Handler<never> | undefined)[]): unknown {
    // Written without brackets, as in `@server.webhook`.
    if (isDecoratorContext(given[1])) return Reflect.apply(decorator(undefined, {}), undefined, given);
    const name = given.find((argument) => typeof argument === "string");
    const handler = given.find((argument) => typeof argument === "function");
    const options = given.find((argument) => typeof argument === "object") ?? {};
    if (!handler && given.length > 2) {
      throw optionError(
        `${callText(name, options)} got ${String(given[2])} as its handler: pass a function as the last argument.`,
      );
    }
    if (!handler) return decorator(name, options);
    add(createEndpoint({ name: name ?? handler.name, options, handler }));
    return handler;
  }

  function decorator(name: string | undefined, options: EndpointOptions): WebhookDecorator<never> {
    const onApplied = expectMethod(callText(name, options));
    return (method, context) => {
      onApplied();
      checkDecorated(context);
      context.addInitializer(function () {
        add(createEndpoint({ name: name ?? String(context.name), options, handler: method.bind(this) }));
      });
    };
  }

  return webhook;
}

/** The call as it stands in the user's file, with the names of its options: `webhook("retrain", { scope, repo })`. */
function callText(name: string | undefined, options: EndpointOptions): string {
  const keys = Object.keys(options);
  const shown = [
    ...(name === undefined ? [] : [JSON.stringify(name)]),
    ...(keys.length === 0 ? [] : [`{ ${keys.join(", ")} }`]),
  ];
  return `webhook(${shown.join(", ")})`;
}

/** The old TypeScript decorators are called with a prototype and a key, and would register nothing. */
function checkDecorated(context: unknown): void {
  const kind = typeof context === "object" && context !== null && "kind" in context ? context.kind : undefined;
  if (kind === "method") return;
  throw new WebhookError(
    kind === undefined
      ? 'The decorator needs standard decorators: take "experimentalDecorators" out of tsconfig.json.'
      : `The decorator is for methods, not for a ${String(kind)}: write it above a method of the class.`,
    { code: "DECORATOR_INVALID" },
  );
}

function isDecoratorContext(value: unknown): boolean {
  return typeof value === "object" && value !== null && "addInitializer" in value;
}
