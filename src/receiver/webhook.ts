import { readField } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/options.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import {
  createEndpoint,
  type Endpoint,
  type EndpointOptions,
  type Handler,
  type HandlerContext,
  type PayloadFor,
} from "./endpoint.ts";
import type { StartupReport } from "./lifecycle.ts";

/**
 * A standard decorator that registers a method as an endpoint. Requires TypeScript without `experimentalDecorators`. Static
 * methods are registered when the class is defined, and other methods when the class is instantiated for the first time.
 */
export type WebhookDecorator<Payload> = <
  This,
  Method extends (this: This, payload: Payload, context: HandlerContext<Payload>) => unknown,
>(
  method: Method,
  context: ClassMethodDecoratorContext<This, Method>,
) => void;

/**
 * Registers handlers as endpoints. TypeScript infers the payload type from the options. Leading and trailing slashes
 * are removed from a name, so `"/retrain/"` becomes `"retrain"`.
 *
 * @throws `ENDPOINT_NAME_MISSING`, `ENDPOINT_NAME_INVALID`, `ENDPOINT_EXISTS`, `OPTION_INVALID`, `DECORATOR_INVALID`;
 * `INBOX_UNUSABLE` for a background endpoint in a runtime without an inbox, such as a worker.
 */
export interface WebhookFunction {
  /**
   * Registers a named function. The endpoint has the name of the function.
   *
   * @example
   * ```ts
   * server.webhook(async function on_change(payload) {
   *   console.log(payload.event.scope, payload.repo.name);
   * });
   * ```
   */
  <Declared extends Handler>(handler: Declared): Declared;
  /**
   * Registers a function under a name.
   *
   * @example
   * ```ts
   * server.webhook("retrain", async (payload) => ({ repo: payload.repo.name }));
   * ```
   */
  <Declared extends Handler>(name: string, handler: Declared): Declared;
  /**
   * Registers a function with options, such as a filter.
   *
   * @example
   * ```ts
   * server.webhook("retrain", { scope: "repo.content", repo: "dataset:me/*" }, async (payload) => payload.updatedRefs);
   * ```
   */
  <const Options extends EndpointOptions, Result>(
    name: string,
    options: Options,
    handler: (payload: PayloadFor<Options>, context: HandlerContext<PayloadFor<Options>>) => Result,
  ): (payload: PayloadFor<Options>, context: HandlerContext<PayloadFor<Options>>) => Result;
  /**
   * Returns a decorator for a method. Without a name, the endpoint has the name of the method.
   *
   * @example
   * ```ts
   * class Bot {
   *   @server.webhook()
   *   async on_change(payload: WebhookPayload) {
   *     console.log(payload.repo.name);
   *   }
   * }
   * new Bot();
   * ```
   */
  (name?: string): WebhookDecorator<WebhookPayload>;
  /**
   * Returns a decorator for a method, with options.
   *
   * @example
   * ```ts
   * class Bot {
   *   @server.webhook({ scope: "discussion.comment" })
   *   async on_comment(payload: DiscussionCommentPayload) {
   *     console.log(payload.comment.content);
   *   }
   * }
   * new Bot();
   * ```
   */
  <const Options extends EndpointOptions>(options: Options): WebhookDecorator<PayloadFor<Options>>;
  /** Returns a decorator for a method, with a name and options. */
  <const Options extends EndpointOptions>(name: string, options: Options): WebhookDecorator<PayloadFor<Options>>;
}

export function createWebhookFunction(
  add: (endpoint: Endpoint) => void,
  report: Pick<StartupReport, "trackDecoratorCall">,
): WebhookFunction {
  function webhook(...given: readonly (string | EndpointOptions | Handler<never> | undefined)[]): unknown {
    // The decorator is used without parentheses, as in `@server.webhook`.
    if (readField(given[1], "addInitializer")) return Reflect.apply(decorator(undefined, {}), undefined, given);
    const name = given.find((argument) => typeof argument === "string");
    const handler = given.find((argument) => typeof argument === "function");
    const options = given.find((argument) => typeof argument === "object") ?? {};
    if (!handler && given.length > 2) {
      throw optionError(
        `The handler of ${callText(name, options)} is ${String(given[2])}. Pass a function as the last argument.`,
      );
    }
    if (!handler) return decorator(name, options);
    add(createEndpoint({ name: name ?? handler.name, options, handler }));
    return handler;
  }

  function decorator(name: string | undefined, options: EndpointOptions): WebhookDecorator<never> {
    const onApplied = report.trackDecoratorCall(callText(name, options));
    return (method, context) => {
      onApplied();
      assertMethod(context);
      context.addInitializer(function () {
        add(createEndpoint({ name: name ?? String(context.name), options, handler: method.bind(this) }));
      });
    };
  }

  return webhook as WebhookFunction;
}

/** Formats a call for messages, with the names of its options, such as `webhook("retrain", { scope, repo })`. */
function callText(name: string | undefined, options: EndpointOptions): string {
  const keys = Object.keys(options);
  const shown = [
    ...(name === undefined ? [] : [JSON.stringify(name)]),
    ...(keys.length === 0 ? [] : [`{ ${keys.join(", ")} }`]),
  ];
  return `webhook(${shown.join(", ")})`;
}

/** A legacy decorator would register nothing. */
function assertMethod(context: unknown): void {
  const kind = readField(context, "kind");
  if (kind === "method") return;
  throw new WebhookError(
    kind === undefined
      ? 'The @webhook decorator requires standard decorators. Remove "experimentalDecorators" from tsconfig.json.'
      : `The @webhook decorator cannot be applied to a ${String(kind)}. Apply it to a method of the class.`,
    { code: "DECORATOR_INVALID" },
  );
}
