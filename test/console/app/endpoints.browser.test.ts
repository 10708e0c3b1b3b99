// @module-tag slow

import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../../src/client.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { LocalHub } from "../../../src/local-hub.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { openLocalHub } from "../../local-hub/support/hub.ts";
import { expectAccessible, looks, narrow } from "../../support/browser.ts";
import { listen } from "../../support/listen.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import {
  consoleToken,
  expectNoSidewaysScrolling,
  expectUsable,
  openInline,
  openServer,
  paneOf,
  readClipboard,
  rowsOf,
  secret,
  shareBrowser,
} from "./open-console.ts";

const browser = shareBrowser();

test("The URL of an endpoint can be copied, and its filter, kind, and secret are shown", async () => {
  const { url } = await openServer((server) => {
    server.webhook("retrain", { scope: "repo.content", repo: "dataset:acme/data", watch: "org:acme" }, () => "done");
    server.webhook("stored", { background: true }, () => "done");
  });
  const page = await browser.open(url, { hash: "#/endpoints" });
  const card = page.getByRole("article", { name: "retrain" });
  await card.getByRole("button", { name: "Copy URL" }).click();
  await expect.poll(() => readClipboard(page)).toBe(`${url}/webhooks/retrain`);
  const text = await card.innerText();
  expect(text).toContain("inline");
  expect(text).toContain("Secret set");
  expect(text).toContain("repo.content of dataset:acme/data watching org:acme");
  expect(await card.getByRole("button", { name: "Pause" }).count()).toBe(0);
  const stored = page.getByRole("article", { name: "stored" });
  expect(await stored.innerText()).toContain("0 queued · 0 running");
  await stored.getByRole("link", { name: "Deliveries" }).click();
  await page.waitForURL("**#/deliveries?endpoint=stored");
});

test("The state of each webhook on the Hub is shown", async () => {
  const localHub = await openLocalHub({ attempts: 1, suspendAfter: 1 });
  const { url } = await openServer(
    (server) => {
      for (const name of ["enabled", "disabled", "elsewhere", "missing"]) server.webhook(name, () => "done");
      server.webhook("suspended", () => {
        throw new Error("No GPU is left");
      });
    },
    { hub: { hubUrl: localHub.url, token: "hf_local" } },
  );
  const targetOf = (name: string) => ({ url: `${url}/webhooks/${name}`, secret });
  await localHub.create(targetOf("enabled"));
  await localHub.create({ url: "https://old.example.com/webhooks/elsewhere" });
  const { id } = await localHub.create(targetOf("disabled"));
  await localHub.setState(id, "disable");
  await localHub.create({ ...targetOf("suspended"), watched: [{ type: "dataset", name: "me/broken" }] });
  await localHub.trigger({
    repo: { type: "dataset", name: "me/broken" },
    event: { scope: "repo.content", action: "update" },
  });
  const page = await browser.open(url, { hash: "#/endpoints" });
  const card = (name: string) => page.getByRole("article", { name, exact: true });
  for (const [name, label] of [
    ["enabled", "Registered"],
    ["disabled", "Disabled on the Hub"],
    ["suspended", "Suspended by the Hub"],
    ["elsewhere", "Registered for another URL"],
    ["missing", "Not registered"],
  ] as const) {
    await card(name).getByText(label, { exact: true }).waitFor();
  }
  await card("elsewhere").getByText("https://old.example.com/webhooks/elsewhere").waitFor();
  await card("missing").getByText("npx hub-webhooks sync").waitFor();
  expect(await page.content()).not.toContain(secret);
});

test("Without a secret, an endpoint warns. If the request to the Hub fails, its state is unknown", async () => {
  const { url } = await openInline({ secret: false, hub: { hubUrl: "http://127.0.0.1:1", token: "hf_local" } });
  const page = await browser.open(url, { hash: "#/endpoints" });
  for (const text of ["No secret", "Anyone can send deliveries.", "Registration unknown", "No runs yet"]) {
    await page.getByText(text).waitFor();
  }
});

test("Bars count deliveries and attempts apart, and the window can be changed", async () => {
  let failures = 1;
  const { url, deliver, untilStatus } = await openServer((server) => {
    server.webhook("inline", ({ event }) => {
      if (event.scope === "repo.config") throw new Error("No GPU is left");
    });
    server.webhook("retried", { background: true, attempts: 3, backoff: ["1ms"] }, () => {
      failures -= 1;
      if (failures >= 0) throw new Error("No GPU is left");
    });
  });
  for (let count = 0; count < 4; count += 1) await deliver({ endpoint: "inline" });
  await deliver({ endpoint: "retried", id: "first" });
  await untilStatus("retried", "first", "succeeded");
  const page = await browser.open(url, { hash: "#/endpoints" });
  const inline = page.getByRole("article", { name: "inline" });
  const retried = page.getByRole("article", { name: "retried" });
  await inline.getByRole("img", { name: "4 deliveries, 0 failed in 1 h" }).waitFor();
  await retried.getByRole("img", { name: "1 delivery, 0 failed in 1 h" }).waitFor();
  await retried.getByRole("img", { name: "2 attempts, 1 failed in 1 h" }).waitFor();
  expect(await inline.getByText(/^p50 .+ · p95 .+$/).count()).toBe(1);
  await inline.getByText("4 of 1,000").waitFor();
  expect(await inline.locator("meter").getAttribute("max")).toBe("1000");

  const bars = inline.getByRole("img").first().locator("g");
  const counts: number[] = [];
  for (const name of ["15 min", "1 h", "24 h"]) {
    await page.getByRole("button", { name, exact: true }).click();
    await inline.getByRole("img", { name: `4 deliveries, 0 failed in ${name}` }).waitFor();
    counts.push(await bars.count());
  }
  expect(counts).toEqual([15, 12, 24]);
});

test("Counts change while the view is open, and dead deliveries link to the list", async () => {
  const { url, deliver } = await openServer((server) => {
    server.webhook("dying", { background: true, attempts: 1 }, () => {
      throw new Error("Disk full");
    });
  });
  const page = await browser.open(url, { hash: "#/endpoints" });
  const card = page.getByRole("article", { name: "dying" });
  await card.getByText("0 queued · 0 running").waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  await deliver({ endpoint: "dying", id: "first" });
  await card.getByRole("link", { name: "1 dead" }).click();
  await page.waitForURL("**#/deliveries?endpoint=dying&status=dead");
  await rowsOf(page).getByText("Dead").waitFor();
});

test("A refused delivery is announced above the list, and Endpoints shows the reason", async () => {
  const { url, deliver } = await openInline();
  const page = await browser.open(url);
  await page.getByText("Live", { exact: true }).waitFor();
  expect(await deliver({ endpoint: "inline", headers: { "x-webhook-secret": "Wrong-5ecret-71" } })).toBe(403);
  expect(await deliver({ endpoint: "inline", headers: { "x-webhook-secret": "Wrong-5ecret-72" } })).toBe(403);
  await page.getByRole("link", { name: "2 refused" }).click();
  const refused = page.getByRole("region", { name: "Refused deliveries" });
  await expect
    .poll(() => refused.getByRole("listitem").allTextContents())
    .toEqual([expect.stringMatching(/^inline 403 SECRET_INVALID Invalid webhook secret\.2 times, last \d/)]);
  await expectAccessible(page);
});

test("Comparisons with the Hub, and deliveries that were derived from it, are shown", async () => {
  const localHub = await LocalHub.launch();
  onTestFinished(() => localHub.close());
  const repo = { type: "dataset", name: "local-user/data" } as const;
  await localHub.push(repo);
  const { url, server } = await openServer(
    (server) => {
      const catchUp = { since: "all" } as const;
      server.webhook("retrain", { watch: "dataset:local-user/data", background: true, catchUp }, () => "done");
    },
    { hub: { hubUrl: localHub.url, token: "hf_local" } },
  );
  const page = await browser.open(url, { hash: "#/endpoints" });
  const card = page.getByRole("article", { name: "retrain" });
  await card.getByText("1 derived · 0 remaining").waitFor();
  await card.getByText("Compared").waitFor();
  await expectAccessible(page);
  const [derived] = (await server.inbox.list()).deliveries;
  const opened = await browser.open(url, { hash: `#/deliveries/one?endpoint=retrain&id=${derived?.id}` });
  await paneOf(opened).getByText("Origin").waitFor();
  await paneOf(opened).getByText("catch-up", { exact: true }).waitFor();
});

test("The checks of a server run on request, and are accessible in both color schemes and widths", async () => {
  const localHub = await openLocalHub();
  const { url } = await openServer(
    (server) => {
      server.webhook("retrain", { watch: "dataset:local-user/data" }, () => "done");
      server.webhook("new", () => "done");
    },
    { hub: { hubUrl: localHub.url, token: "hf_local" } },
  );
  const { id } = await localHub.create({ url: `${url}/webhooks/retrain`, secret: "old-5ecret" });
  const [page, ...others] = await Promise.all(
    looks.map(({ colorScheme, viewport }) => browser.open(url, { colorScheme, viewport, hash: "#/endpoints" })),
  );
  if (!page) throw new Error("There is no page.");
  const requests: string[] = [];
  page.on("request", (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.getByRole("article", { name: "retrain" }).waitFor();
  const isCheck = (request: string) => request.includes("checks");
  expect(requests.filter(isCheck)).toEqual([]);

  await page.getByRole("button", { name: "Check the server" }).click();
  const panel = page.getByRole("region", { name: "Checks" });
  await panel.getByText("1 problem, 6 of 8 passed").waitFor();
  const [problem, step] = ["WEBHOOK_SECRET_DIFFERS", "ENDPOINT_UNWATCHED"].map((code) =>
    panel.getByRole("listitem").filter({ hasText: code }),
  );
  await problem?.getByText("A webhook has another secret than the server. Endpoint: retrain.").waitFor();
  await problem?.getByText(`npx hub-webhooks sync --public-url ${url} --adopt`).waitFor();
  await step?.getByText("Next step").waitFor();
  expect(await page.content()).not.toMatch(/5ecret|t0ken/);
  await expectUsable(page, { overlapped: [/navigation/] });
  for (const other of others) {
    await other.getByRole("button", { name: "Check the server" }).click();
    await other.getByRole("region", { name: "Checks" }).getByText("WEBHOOK_SECRET_DIFFERS").waitFor();
    await expectUsable(other, { overlapped: [/navigation/] });
  }

  await new HubClient({ hubUrl: localHub.url, token: "hf_local" }).webhooks.update(id, { secret });
  await panel.getByRole("button", { name: "Check again" }).click();
  await panel.getByText("0 problems, 6 of 7 passed").waitFor();
  expect(requests.filter((request) => isCheck(request) && request.startsWith("POST"))).toHaveLength(2);
  await page.getByRole("button", { name: "Check the server" }).click();
  expect(await panel.count()).toBe(0);
});

test("A failure of the checks is shown, and they can be tried again", async () => {
  const { url } = await openServer((server) => void server.webhook("retrain", () => "done"));
  browser.allow(/ERR_FAILED/);
  const page = await browser.open(url, { hash: "#/endpoints" });
  await page.route(`${url}/_console/api/checks`, (route) => route.abort());
  await page.getByRole("button", { name: "Check the server" }).click();
  const panel = page.getByRole("region", { name: "Checks" });
  await panel.getByText("The server is not reachable").waitFor();
  await page.unroute(`${url}/_console/api/checks`);
  await panel.getByRole("button", { name: "Try again" }).click();
  await panel.getByRole("button", { name: "Check again" }).waitFor();
});

const inbox = { hash: "#/inbox" };

function declareAll(server: WebhooksServer): void {
  server.webhook("inline", () => "done");
  server.webhook("works", { background: true, retention: "36h" }, () => "done");
  server.webhook("dying", { background: true, attempts: 1 }, () => {
    throw new Error("Disk full");
  });
  server.webhook("update_the_dataset_cards_of_all_translations", { background: true }, () => "done");
}

/** Opens a server with deliveries in several states. */
async function openFilled() {
  const file = inboxFile();
  const opened = await openServer(declareAll, { inbox: `sqlite:${file}` });
  const { deliver, untilStatus, server } = opened;
  await server.inbox.pause("update_the_dataset_cards_of_all_translations");
  for (const id of ["first", "second"]) {
    await deliver({ endpoint: "dying", id });
    await untilStatus("dying", id, "dead");
  }
  await deliver({ endpoint: "works", id: "first" });
  await untilStatus("works", "first", "succeeded");
  await deliver({ endpoint: "update_the_dataset_cards_of_all_translations", id: "first" });
  return { ...opened, file };
}

/** Opens a server whose inbox cannot be opened. */
async function openUnavailable(): Promise<string> {
  const server = new WebhooksServer({
    ...{ secret, consoleToken, logger: createMemoryLogger() },
    inbox: "redis://user:pl4nted-9a27c1d0@127.0.0.1:1/3",
  });
  server.webhook("works", { background: true }, () => "done");
  onTestFinished(() => server.close());
  const fetch = (request: Request) => server.fetch(request);
  const { url } = await listen(createServer(getRequestListener(fetch, { overrideGlobalObjects: false })));
  return url;
}

test("The inbox shows where it is and what it contains, also while that changes, and each number links to its deliveries", async () => {
  const { url, file, deliver } = await openFilled();
  const page = await browser.open(url, inbox);
  const storage = page.getByRole("region", { name: "Storage" });
  await storage.getByRole("heading", { name: "SQLite file" }).waitFor();
  for (const text of ["Open", "Survives process restarts", file])
    await storage.getByText(text, { exact: true }).waitFor();
  await storage.getByRole("button", { name: "Copy location" }).click();
  await expect.poll(() => readClipboard(page)).toBe(file);

  const table = page.getByRole("table");
  const works = table.getByRole("row", { name: /works/ });
  expect(await works.getByRole("cell").allInnerTexts()).toEqual(["0", "0", "0", "1", "0", "0", "1 d 12 h"]);
  await table
    .getByRole("row", { name: /translations/ })
    .getByText("Paused")
    .waitFor();
  const total = table.getByRole("row", { name: /All endpoints/ });
  expect(await total.getByRole("cell").allInnerTexts()).toEqual(["1", "0", "2", "1", "0", "0", ""]);
  expect(await table.getByText("inline").count()).toBe(0);
  await page.getByText("Live", { exact: true }).waitFor();
  await deliver({ endpoint: "works", id: "second" });
  await works.getByRole("link", { name: "2" }).waitFor();

  await table.getByRole("row", { name: /dying/ }).getByRole("link", { name: "2" }).click();
  await page.waitForURL("**#/deliveries?endpoint=dying&status=dead");
  await expect.poll(() => rowsOf(page).count()).toBe(2);
  await page.goBack();
  await page.getByRole("link", { name: "Replay dead" }).click();
  await page.waitForURL("**#/deliveries?status=dead");
  await page.getByRole("button", { name: "Replay dead…" }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Pause or resume" }).click();
  await page.getByRole("heading", { name: "Endpoints", level: 1 }).waitFor();
});

test("Problems, warnings, and large numbers of the inbox fit on a phone", async () => {
  const { url } = await openFilled();
  const page = await browser.open(url, { hash: "#/deliveries", viewport: narrow });
  const info = await (await page.request.get(`${url}/_console/api/inbox`)).json();
  const [endpoint] = info.contents.endpoints;
  const counts = {
    ...{ queued: 98_765, running: 4_096, dead: 12_345_678 },
    ...{ succeeded: 987_654_321, ignored: 54_321, cancelled: 54_321 },
  };
  const address = `/data/${"very-long-name".repeat(9)}/inbox.db`;
  const shown = {
    ...info,
    state: "degraded",
    location: { ...info.location, address },
    problems: [
      { code: "INBOX_DAMAGED", severity: "degraded", message: `Records of ${address} are missing.` },
      { code: "INBOX_STALLED", severity: "unavailable", message: "Deliveries could not be claimed." },
    ],
    contents: {
      endpoints: [
        { ...endpoint, name: "a".repeat(128), counts, isServed: false, isPaused: true },
        { ...endpoint, name: "other", counts },
      ],
    },
  };
  await page.route(`${url}/_console/api/inbox`, (route) => route.fulfill({ json: shown }));
  await page.goto(`${url}/_console/#/inbox`);
  await page.getByText("Not on this server").waitFor();
  await page.getByText("INBOX_STALLED").waitFor();
  await expectNoSidewaysScrolling(page);
  const frame = page.locator(".table-frame");
  expect(await frame.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  await expectUsable(page);
});

test("The inbox is accessible in both color schemes and widths, also if it is erased by a restart, unavailable, or unused", async () => {
  const { url } = await openFilled();
  const unavailableUrl = await openUnavailable();
  const file = inboxFile();
  const { url: unusedUrl } = await openInline({ inbox: `sqlite:${file}` });
  vi.stubEnv("SPACE_ID", "acme/bot");
  vi.stubEnv("SPACE_HOST", "acme-bot.hf.space");
  const { url: spaceUrl } = await openServer(declareAll);
  for (const { colorScheme, viewport } of looks) {
    const open = (of: string) => browser.open(of, { ...inbox, colorScheme, viewport });
    const filled = await open(url);
    await filled.getByRole("row", { name: /All endpoints/ }).waitFor();
    await expectUsable(filled);

    const space = await open(spaceUrl);
    await space.getByText("Erased when the Space restarts").waitFor();
    await expectUsable(space);

    const unavailable = await open(unavailableUrl);
    const storage = unavailable.getByRole("region", { name: "Storage" });
    await storage.getByText("INBOX_UNUSABLE").waitFor();
    await storage.getByText("Check INBOX_URL").waitFor();
    for (const text of ["Unavailable", "127.0.0.1:1"]) await storage.getByText(text, { exact: true }).waitFor();
    expect(await unavailable.content()).not.toMatch(/pl4nted|user:/);
    await expectUsable(unavailable);

    const unused = await open(unusedUrl);
    await unused.getByRole("heading", { name: "No endpoint runs in the background" }).waitFor();
    await unused.getByText(file).waitFor();
    await unused.getByRole("button", { name: "Copy command" }).click();
    await expect.poll(() => readClipboard(unused)).toContain("background: true");
    await expectUsable(unused);
  }
});
