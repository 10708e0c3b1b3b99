import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { HubClient, type RegisterOptions, register } from "../../src/client.ts";
import type { EndpointOptions } from "../../src/index.ts";
import { registerServer } from "../../src/receiver/platform.worker.ts";
import { RegistrationFile } from "../../src/registration/state.ts";
import { TemporaryWebhooks } from "../../src/registration/temporary.ts";
import { errorsOf, maskAddresses } from "../support/error-messages.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { openTestHub, publicUrl, secret, serverOf, type TestHub, urlOf } from "./test-hub.ts";

/**
 * The snapshot contains the wording of registration messages. After a change, run vitest with `-u` and review the diff.
 * Other tests assert codes.
 */

const retrain = { watch: "dataset:me/data" } as const;
const session = { id: "this-session", alive: { url: "http://127.0.0.1:9/alive", answer: "it lives" } };

/** Replaces the IDs that the Hub assigned. */
const withoutIds = (text: string) => maskAddresses(text).replace(/\b[0-9a-f]{24}\b/g, "ID");

test("Invalid options of a registration", async () => {
  const hub = new HubClient({ hubUrl: "https://huggingface.co", token: "hf_local" });
  const start = (options: Partial<RegisterOptions>, client = hub) =>
    register(serverOf({ retrain }, { secret }), client, { publicUrl: "https://me-bot.hf.space", ...options });
  expect(
    await errorsOf({
      "no server": () => register(Object({}), hub, { publicUrl }),
      "invalid address": () => start({ publicUrl: "me-bot.hf.space" }),
      "address that the Hub cannot reach": () => start({ publicUrl }),
      "invalid secret": () => start({ secret: "line\nbreak" }),
      "secret that is also removed": () => start({ removeSecret: true }),
      "session without an alive URL": () =>
        TemporaryWebhooks.open({ client: hub, session: { ...session, alive: { url: "nowhere", answer: "" } } }),
      "runtime without files": () => registerServer(),
    }),
  ).toMatchSnapshot();
});

test("State files that cannot be used", async () => {
  const read = (text: string) => () => {
    const path = join(createFolder(), "registrations.json");
    writeFileSync(path, text);
    return new RegistrationFile({ path, hubUrl: "https://hub.example" }).read();
  };
  const write = (makeUnusable: (path: string) => void) => () => {
    const path = join(createFolder(), "folder", "registrations.json");
    makeUnusable(path);
    return new RegistrationFile({ path, hubUrl: "https://hub.example" }).change(() => {});
  };
  expect(
    await errorsOf({
      damaged: read("{"),
      "of a newer release": read('{"version": 2, "hubs": {}}'),
      "in a folder that is a file": write((path) => writeFileSync(dirname(path), "")),
      "that is a folder": write((path) => mkdirSync(path, { recursive: true })),
    }),
  ).toMatchSnapshot();
});

test("Sessions that are closed or cannot be closed", async () => {
  const testHub = await openTestHub();
  const open = () => TemporaryWebhooks.open({ client: testHub.client, state: testHub.state, session });
  const closed = await open();
  await closed.close();
  const endpoints = [{ name: "retrain", watch: [{ type: "dataset", name: "me/data" }], domains: ["repo"] }] as const;
  const target = { endpoints, publicUrl, secret };
  const failing = await open();
  await failing.reconcile(target);
  testHub.intercept = async () => Response.json({ error: "Busy." }, { status: 503 });
  const errors = await errorsOf({ closed: () => closed.reconcile(target), failing: () => failing.close() });
  testHub.intercept = (request, send) => send(request);
  expect(withoutIds(JSON.stringify(errors, null, 2))).toMatchSnapshot();
});

test("Webhooks that are skipped", async () => {
  const skippedBy = async (testHub: TestHub, endpoints: Record<string, EndpointOptions>) => {
    const { skipped } = await testHub.register(serverOf(endpoints, { secret: false }));
    return skipped.map(({ reason, message }) => withoutIds(`${reason}: ${message}`));
  };
  const managed = await openTestHub();
  await managed.register(serverOf({ retrain, former: retrain }, { secret: false }));
  const byHand = await openTestHub();
  await byHand.create({ url: urlOf("retrain") });
  const both = await openTestHub();
  await both.register(serverOf({ retrain }, { secret }));
  await both.create({ url: urlOf("retrain") });
  expect({
    "endpoint removed": await skippedBy(managed, { retrain }),
    "endpoint without watch": await skippedBy(managed, { retrain: {}, former: retrain }),
    "created by hand": await skippedBy(byHand, { retrain }),
    "created by hand, and registered with a secret": await skippedBy(both, { retrain }),
  }).toMatchSnapshot();
});
