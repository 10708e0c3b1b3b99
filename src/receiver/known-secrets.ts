import { readEnvironment } from "../core/environment.ts";
import { minRedactedLength, Redaction } from "../core/redaction.ts";
import { secretsInUrl } from "../core/urls.ts";
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
  readonly #short = new Set<string>();

  constructor({ secret, dashboardToken, inbox }: Pick<WebhooksServerOptions, "secret" | "dashboardToken" | "inbox">) {
    super();
    for (const text of [secret].flat()) this.#addNamed("`secret`", text);
    this.#addNamed("`dashboardToken`", dashboardToken);
    this.#addPassword("the password in `inbox`", inbox);
    this.addEnvironment();
  }

  /** What is set and too short to be redacted: the names, never the secrets. */
  get shortNames(): readonly string[] {
    return [...this.#short];
  }

  /** Adds the secrets of the environment as it is now. */
  addEnvironment(): void {
    for (const name of secretNames) this.#addNamed(name, readEnvironment(name));
    this.#addPassword("the password in INBOX_URL", readEnvironment("INBOX_URL"));
  }

  /** Adds the secrets among the bindings that a worker runtime hands over with each request. */
  addBindings(bindings: unknown): void {
    if (typeof bindings !== "object" || bindings === null || bindings === this.#bindings) return;
    this.#bindings = bindings;
    for (const name of secretNames) this.#addNamed(name, Reflect.get(bindings, name));
  }

  #addPassword(name: string, url: unknown): void {
    if (typeof url === "string") for (const secret of secretsInUrl(url)) this.#addNamed(name, secret);
  }

  #addNamed(name: string, secret: unknown): void {
    if (typeof secret !== "string" || secret === "") return;
    if (secret.length < minRedactedLength) this.#short.add(name);
    this.add([secret]);
  }
}
