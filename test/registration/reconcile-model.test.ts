import * as fc from "fast-check";
import { expect, test } from "vitest";
import { HubError, type Webhook, type WebhookRequest } from "../../src/client.ts";
import { type ReconcileOptions, reconcileWebhooks } from "../../src/registration/reconcile.ts";
import { type HubState, RegistrationFile } from "../../src/registration/state.ts";
import { fieldsOf, type HubConnection } from "../../src/registration/webhook.ts";

/*
 * Random sequences of registrations whose endpoints and URL change, on a Hub that loses answers, applies requests late, and is changed
 * by others meanwhile.
 */

const minuteMs = 60_000;
const hubUrl = "http://hub.test";

/** What happens to one request: it fails with or without its effect, has its effect later, or the process stops after it. */
type Failure = "rejected" | "refused" | "lost" | "late" | "stopped";

class ModelHub {
  readonly all = new Map<string, Webhook>();
  /** Requests that take effect later. */
  late: (() => void)[] = [];
  failures = new Map<number, Failure>();
  #created = 0;
  #calls = 0;

  readonly connection: HubConnection = {
    hubUrl,
    webhooks: {
      list: async () => structuredClone([...this.all.values()]),
      create: async (request) => this.#change(() => this.create(request)),
      update: async (id, changes) =>
        this.#change(() => this.#put({ ...this.#get(id), ...fieldsOf({ ...this.#get(id), ...changes }) })),
      enable: async (id) => this.#change(() => this.#put({ ...this.#get(id), disabled: false })),
      delete: async (id) => this.#change(() => void (this.#get(id) && this.all.delete(id))),
    },
  };

  /** Starts a registration with these failures by request. */
  begin(failures: ReadonlyMap<number, Failure>): void {
    this.failures = new Map(failures);
    this.#calls = 0;
  }

  create(request: WebhookRequest): Webhook {
    this.#created += 1;
    const id = this.#created.toString(16).padStart(24, "0");
    return this.#put({ id, disabled: false, ...fieldsOf(request) });
  }

  applyLate(): void {
    for (const apply of this.late.splice(0)) {
      try {
        apply();
      } catch {
        // The webhook was deleted before.
      }
    }
  }

  #get(id: string): Webhook {
    const found = this.all.get(id);
    if (!found) throw new HubError("Not found.", { code: "HUB_NOT_FOUND", status: 404 });
    return found;
  }

  #put(webhook: Webhook): Webhook {
    this.all.set(webhook.id, webhook);
    return structuredClone(webhook);
  }

  #change<Result>(apply: () => Result): Result {
    const failure = this.failures.get(this.#calls);
    this.#calls += 1;
    if (failure === undefined) return apply();
    if (failure === "rejected") throw new HubError("Not allowed.", { code: "HUB_FORBIDDEN", status: 403 });
    if (failure === "late") this.late.push(apply);
    else if (failure !== "refused") apply();
    if (failure === "stopped") throw new Error("The process stops.");
    throw new HubError("Bad gateway.", { code: "HUB_FAILED", status: 502 });
  }
}

/** A state file in memory, because thousands of writes to disk take seconds. */
class ModelFile extends RegistrationFile {
  #state: HubState = { webhooks: [], pending: [] };

  override read(): HubState {
    return structuredClone(this.#state);
  }

  override async change<Result>(change: (state: HubState) => Result): Promise<Result> {
    const state = this.read();
    const result = change(state);
    this.#state = state;
    return result;
  }
}

const endpoints = ["a", "b"];
const watchedByOthers = [{ type: "user" as const, name: "someone" }];
const urlOf = (publicUrl: string, endpoint: string) => `${publicUrl}/webhooks/${endpoint}`;

const declared = fc.record({
  watch: fc.subarray(["me/data", "me/other"], { minLength: 0 }),
  port: fc.constantFrom(7860, 7861),
});
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("register" as const),
      declared: fc.tuple(declared, declared),
      prune: fc.boolean(),
      adopt: fc.boolean(),
      failures: fc.array(
        fc.tuple(fc.nat(3), fc.constantFrom<Failure>("rejected", "refused", "lost", "late", "stopped")),
        { maxLength: 2 },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("delete" as const, "disable" as const, "edit" as const, "apply late" as const),
      index: fc.nat(3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("create" as const, "wait" as const), index: fc.nat(1) }) },
);

test("Registrations converge to one webhook per endpoint, lose no webhook, and do not change those of others", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
      const hub = new ModelHub();
      const file = new ModelFile({ hubUrl });
      let now = Date.parse("2026-11-21T10:00:00Z");
      const madeByOthers = new Set<string>();
      /** The webhooks that no registration may change. */
      const ofOthers = new Map<string, Webhook>();
      const publicUrl = "http://127.0.0.1:7860";
      const register = async (options: Partial<ReconcileOptions>) => {
        const report = await reconcileWebhooks({
          ...{ client: hub.connection, file, publicUrl, secret: undefined, now: () => now, endpoints: [], ...options },
        });
        for (const { id } of file.read().webhooks) ofOthers.delete(id);
        return report;
      };
      const desired = (watches: readonly (readonly string[])[]) =>
        watches.map((names, index) => ({
          name: endpoints[index] ?? "",
          watch: names.map((name) => ({ type: "dataset" as const, name })),
          domains: ["repo" as const],
        }));

      for (const next of steps) {
        if (next.kind === "register") {
          hub.begin(new Map(next.failures));
          const port = next.declared[0].port;
          await register({
            endpoints: desired(next.declared.map(({ watch }) => watch)),
            ...{ publicUrl: `http://127.0.0.1:${port}`, prune: next.prune, adopt: next.adopt },
          }).catch((error: unknown) => expect(error).toMatchObject({ message: "The process stops." }));
          // An adoption that failed may have changed the webhook, and may not be recorded.
          if (next.adopt && next.failures.length > 0) ofOthers.clear();
        } else if (next.kind === "apply late") hub.applyLate();
        else if (next.kind === "wait") {
          hub.applyLate();
          now += 11 * minuteMs;
        } else if (next.kind === "create") {
          const url = urlOf(publicUrl, endpoints[next.index] ?? "");
          const made = hub.create({ url, watched: watchedByOthers, domains: ["repo"] });
          madeByOthers.add(made.id);
          ofOthers.set(made.id, made);
        } else {
          const webhook = [...hub.all.values()][next.index];
          // A webhook that is changed before it is recorded can no longer be recognized.
          if (!webhook || !file.read().webhooks.some(({ id }) => id === webhook.id)) continue;
          if (next.kind === "delete") hub.all.delete(webhook.id);
          else if (next.kind === "disable") hub.all.set(webhook.id, { ...webhook, disabled: true });
          else hub.all.set(webhook.id, { ...webhook, watched: watchedByOthers });
        }
      }

      hub.applyLate();
      hub.begin(new Map());
      const watches = [["me/data"], ["me/other"]];
      const final = { endpoints: desired(watches), prune: true, adopt: true };
      await register(final);
      now += 11 * minuteMs;
      expect((await register(final)).steps).toEqual([]);
      const { webhooks: managed, pending } = file.read();
      expect(pending).toEqual([]);
      const existing = managed.filter(({ id }) => hub.all.has(id));
      expect(existing.map(({ endpoint }) => endpoint).sort()).toEqual(endpoints);
      for (const { id, endpoint } of existing) {
        const names = watches[endpoints.indexOf(endpoint)] ?? [];
        const watched = names.map((name) => ({ type: "dataset", name }));
        expect(hub.all.get(id)).toMatchObject({ url: urlOf(publicUrl, endpoint), watched, disabled: false });
      }
      const others = [...hub.all.keys()].filter((id) => !existing.some((entry) => entry.id === id));
      expect(others.filter((id) => !madeByOthers.has(id))).toEqual([]);
      for (const [id, webhook] of ofOthers) expect(hub.all.get(id)).toEqual(webhook);
    }),
    { numRuns: 250 },
  );
});
