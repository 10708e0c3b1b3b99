// @module-tag slow

import { expect, onTestFinished, test } from "vitest";
import { LocalHub } from "../../../src/local-hub.ts";
import { openLocalHub } from "../../local-hub/support/hub.ts";
import { expectAccessible } from "../../support/browser.ts";
import { openInline, openServer, paneOf, readClipboard, rowsOf, secret, shareBrowser } from "./open-console.ts";

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
