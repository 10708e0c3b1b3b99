import { execFileSync } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { scopes } from "../../../src/payload/names.ts";
import { parsePayload } from "../../../src/payload/parse.ts";
import { landingPage } from "../../../src/receiver/landing/landing-page.ts";
import { doneSteps, firstDeliveryCommand, nextSteps } from "../../../src/receiver/landing/steps.ts";
import type { LandingActivity, LandingEndpoint, LandingInfo } from "../../../src/receiver/options.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import {
  fineInfo,
  fullInfo,
  hostileTexts,
  now,
  sampleEndpoint,
  sampleHours,
  sampleInfo,
  sixInfo,
  visibleText,
} from "./sample-info.ts";

const idsOf = (info: LandingInfo) => nextSteps(info).map(({ id }) => id);

const at = now.toISOString();
const registered = sampleEndpoint({ registration: "registered", deliveries: 1, lastDay: 1 });

async function sectionOf(info: LandingInfo): Promise<string> {
  const html = await landingPage(info, now).text();
  return visibleText(/<section class="next".*?<\/section>/s.exec(html)?.[0] ?? "");
}

describe("The next steps", () => {
  const one = (changes: Partial<LandingEndpoint>) => ({ endpoints: [sampleEndpoint(changes)] });
  const missing = sampleEndpoint({ registration: "missing" });
  const failed = { ...registered, last: { outcome: "failed", at } } as const;
  const queued = (queue: LandingActivity["queue"]) => ({ activity: { hours: sampleHours(1), queue } });
  const dead = queued({ queued: 0, running: 0, dead: 2 });

  test.each<[string, Partial<LandingInfo>, string[]]>([
    ["of a new server", { endpoints: [], secretIsSet: false }, ["secret", "endpoint"]],
    ["of a server with a secret and no endpoint", { endpoints: [] }, ["endpoint"]],
    ["before the first delivery", {}, ["register", "first-delivery"]],
    ["on this machine", { baseUrl: "http://127.0.0.1:7860" }, ["public-url", "first-delivery"]],
    ["on localhost", { baseUrl: "http://localhost:7860/hub" }, ["public-url", "first-delivery"]],
    ["of a registered server", one({ registration: "registered" }), ["first-delivery"]],
    ["of a server that only received a test delivery", one({ deliveries: 1, lastDay: 1 }), ["register"]],
    ["of a server with an endpoint without a webhook", { endpoints: [registered, missing] }, ["register"]],
    ["of a registered server that received a delivery", { endpoints: [registered] }, []],
    ["of a server with dead deliveries", { endpoints: [{ ...failed, background: true }], ...dead }, ["dead"]],
    ["of a server whose inbox does not respond", { endpoints: [registered], ...queued("unknown") }, ["inbox"]],
    ["of a server whose inline endpoint failed", { endpoints: [failed] }, ["failed"]],
    ["near the limit", { endpoints: [{ ...registered, lastDay: 800 }] }, ["daily-limit"]],
    ["below the limit", { endpoints: [{ ...registered, lastDay: 799 }] }, []],
  ])("%s", async (_what, changes, steps) => {
    expect(idsOf(sampleInfo(changes))).toEqual(steps);
  });

  test("do not ask for a first delivery while the inbox contains deliveries from before a restart", () => {
    expect(idsOf(sampleInfo(queued({ queued: 3, running: 0, dead: 0 })))).toEqual(["register"]);
  });

  test("are in the order in which to take them", () => {
    expect(idsOf(fullInfo)).toEqual(["secret", "register", "dead", "failed", "daily-limit"]);
  });

  test("that are done are listed in one line", async () => {
    expect(doneSteps(sixInfo)).toEqual(["endpoint added"]);
    expect(doneSteps(fineInfo)).toEqual([
      "secret set",
      "endpoint added",
      "webhook registered",
      "first delivery received",
    ]);
    expect(await sectionOf(sampleInfo())).toContain("Done: secret set, endpoint added.");
  });

  test("of a server without open steps are one line", async () => {
    expect(await sectionOf(fineInfo)).toBe(
      " Next steps None. The server is set up, and no delivery needs your attention. ",
    );
  });
});

describe("The content of a step", () => {
  test("sets the secret with a command, or in the settings of the Space", async () => {
    expect(await sectionOf(sampleInfo({ secretIsSet: false }))).toContain(
      'export WEBHOOK_SECRET="$(openssl rand -hex 32)"',
    );
    const html = await landingPage(sixInfo, now).text();
    expect(html).toContain(`href="https://huggingface.co/spaces/acme/bot/settings"`);
    expect(html).toContain("openssl rand -hex 32");
  });

  test("registers a webhook, with the secret if it is set", async () => {
    const text = await sectionOf(sampleInfo());
    expect(text).toContain("The server has not received a delivery from the Hub since it started.");
    expect(text).toContain("the value of WEBHOOK_SECRET as the secret");
    expect(await sectionOf(sixInfo)).not.toContain("the value of WEBHOOK_SECRET as the secret");
    expect(await landingPage(sampleInfo(), now).text()).toContain(`href="https://huggingface.co/settings/webhooks"`);
  });

  test("sends a first delivery with a command", async () => {
    const text = await sectionOf(sampleInfo());
    expect(text).toContain("curl 'https://acme-bot.hf.space/webhooks/trigger_training'");
    expect(text).toContain("from a shell in which WEBHOOK_SECRET is set");
  });

  test("opens the console for dead and failed deliveries", async () => {
    const html = await landingPage({ ...fullInfo, basePath: "/hub" }, now).text();
    const section = /<section class="next".*?<\/section>/s.exec(html)?.[0] ?? "";
    expect(section.match(/href="\/hub\/_console\/" target="_blank" rel="noopener"/g)).toHaveLength(2);
    expect(await sectionOf(fullInfo)).toContain("3 deliveries failed and will not be retried.");
    expect(await sectionOf(fullInfo)).toContain("The latest delivery to mirror failed.");
  });

  test("names the five busiest endpoints near the daily limit, and counts the others", async () => {
    const endpoints = Array.from({ length: 300 }, (_, index) =>
      sampleEndpoint({ name: `bot${index}`, deliveries: 900, lastDay: 900 + index, registration: "registered" }),
    );
    const text = await sectionOf(sampleInfo({ endpoints }));
    expect(text).toContain("bot299, bot298, bot297, bot296, bot295 and 295 more are near this limit");
    expect(text).not.toContain("bot294");
  });
});

describe("The registration of an endpoint", () => {
  const payload = webhookPayload("repo.content");

  function serve() {
    const infos: LandingInfo[] = [];
    const server = new WebhooksServer({
      logger: createMemoryLogger(),
      secret: "s3cret",
      landingPage: (info) => {
        infos.push(info);
        return "";
      },
    });
    onTestFinished(() => server.close());
    server.webhook("retrain", () => "done");
    const registration = async () => {
      await server.request("/");
      return infos.at(-1)?.endpoints[0]?.registration;
    };
    return { server, registration };
  }

  test("is unknown after a delivery without a Webhook-Id, which the command on the page sends", async () => {
    const { server, registration } = serve();
    const body = JSON.stringify(payload);
    const headers = { "content-type": "application/json", "x-webhook-secret": "s3cret" };
    const response = await server.request("/webhooks/retrain", { method: "POST", headers, body });
    expect(response.status).toBe(200);
    expect(await registration()).toBe("unknown");
  });

  test("is known after a delivery from a Hub, but not after a refused one", async () => {
    const { server, registration } = serve();
    const send = async (secret: string) =>
      (await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret }))).status;
    expect(await send("wrong")).toBe(403);
    expect(await registration()).toBe("unknown");
    expect(await send("s3cret")).toBe(200);
    expect(await registration()).toBe("registered");
  });
});

const url = "https://acme-bot.hf.space/webhooks/trigger_training";

describe("The command for a first delivery", () => {
  test("posts JSON to the first endpoint, with the secret from the environment of the shell", () => {
    const endpoints = [sampleEndpoint({ url }), sampleEndpoint({ name: "second" })];
    const [address, ...options] = runInShell(firstDeliveryCommand(sampleInfo({ endpoints, secretIsSet: true })));
    expect(address).toBe(url);
    expect(options).toEqual([
      "--header",
      "Content-Type: application/json",
      "--header",
      "X-Webhook-Secret: from the shell",
      "--data",
      expect.stringMatching(/^\{/),
    ]);
  });

  test("sends no secret header if the server has no secret", () => {
    expect(firstDeliveryCommand(sampleInfo({ secretIsSet: false }))).not.toContain("X-Webhook-Secret");
  });

  test.each(scopes)("sends a payload of version 3 that an endpoint for “%s” accepts", (scope) => {
    const endpoints = [sampleEndpoint({ scopes: [scope] })];
    const words = runInShell(firstDeliveryCommand(sampleInfo({ endpoints })));
    const payload = parsePayload(JSON.parse(words.at(-1) ?? ""));
    expect(payload.event.scope).toBe(scope);
    expect(payload.webhook.version).toBe(3);
  });

  test("sends a push to an endpoint with unknown scopes", () => {
    const endpoints = [sampleEndpoint({ scopes: ["repo.future"] })];
    expect(firstDeliveryCommand(sampleInfo({ endpoints }))).toContain(`"scope": "repo.content"`);
  });

  test.each([...hostileTexts, "'; echo pwned; '", "$(echo pwned)", "`echo pwned`", "a\\"])(
    "quotes the URL “%s” as a single shell argument",
    (host) => {
      const hostile = `http://${host}/webhooks/x`;
      expect(runInShell(firstDeliveryCommand(sampleInfo({ endpoints: [sampleEndpoint({ url: hostile })] })))[0]).toBe(
        hostile,
      );
    },
  );

  test("is missing without an endpoint", () => {
    expect(firstDeliveryCommand(sampleInfo({ endpoints: [] }))).toBeUndefined();
  });
});

/** Returns the arguments that a real shell passes to `curl`. */
function runInShell(command = ""): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  const env = { WEBHOOK_SECRET: "from the shell" };
  return execFileSync("/bin/sh", ["-c", script], { encoding: "utf8", env }).split("\0").slice(0, -1);
}
