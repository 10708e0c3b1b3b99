import { Redaction } from "../core/redaction.ts";
import { readEnvironment } from "../environment.ts";
import { secretsInUrl } from "../url-secrets.ts";
import type { WebhooksServerOptions } from "./webhooks-server-options.ts";

/** Variables, and bindings of a worker, that hold a secret. */
const secretNames = [
  "WEBHOOK_SECRET",
  "WEBHOOK_SECRET_PREVIOUS",
  "DASHBOARD_TOKEN",
  "HF_TOKEN",
  "HUGGING_FACE_HUB_TOKEN",
] as const;

/** The redaction of what a server logs and stores: it has the secrets of its options and its environment. */
export class KnownSecrets extends Redaction {
  #bindings: unknown;

  constructor({ secret, dashboardToken, inbox }: Pick<WebhooksServerOptions, "secret" | "dashboardToken" | "inbox">) {
    super();
    const given: readonly unknown[] = [secret, dashboardToken].flat();
    this.add(given.filter((text) => typeof text === "string"));
    if (typeof inbox === "string") this.add(secretsInUrl(inbox));
    this.addEnvironment();
  }

  /** Adds the secrets of the environment as it is now. */
  addEnvironment(): void {
    this.add(secretNames.map(readEnvironment));
    this.add(secretsInUrl(readEnvironment("INBOX_URL") ?? ""));
  }

  /** Adds the secrets among the bindings that a worker runtime hands over with each request. */
  addBindings(bindings: unknown): void {
    if (typeof bindings !== "object" || bindings === null || bindings === this.#bindings) return;
    this.#bindings = bindings;
    for (const name of secretNames) {
      const value: unknown = Reflect.get(bindings, name);
      if (typeof value === "string") this.add([value]);
    }
  }
}
