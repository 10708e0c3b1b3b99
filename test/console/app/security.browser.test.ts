// @module-tag slow

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { webhookPayload } from "../../../src/testing.ts";
import { waitFor } from "../../support/wait-for.ts";
import {
  consoleToken,
  openInline,
  openServer,
  paneOf,
  rowsOf,
  secret,
  shareBrowser,
  toastOf,
  visit,
} from "./open-console.ts";

const browser = shareBrowser();

test("A wrong token is explained at its field, and the right one opens the console at the requested route", async () => {
  const { url, deliver } = await openInline();
  await deliver({ endpoint: "inline", id: "hidden-id" });
  const page = await browser.open(url, { hash: "#/endpoints", isSignedIn: false });
  await page.getByRole("heading", { name: "hub-webhooks console" }).waitFor();
  expect(await page.content()).not.toContain("hidden-id");
  const token = page.getByLabel("Console token");
  browser.allow(/status of 401/);
  await token.fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("Wrong token.").waitFor();
  expect(await token.evaluate((field) => document.activeElement === field)).toBe(true);
  expect(await token.getAttribute("aria-describedby")).toContain("sign-in-problem");
  await token.fill(consoleToken);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Endpoints", level: 1 }).waitFor();
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax" });
  expect(await page.evaluate(() => document.cookie)).toBe("");
  expect(await page.content()).not.toContain(secret);
  expect(await page.content()).not.toContain(consoleToken);
  await page.reload();
  await page.getByRole("heading", { name: "Endpoints", level: 1 }).waitFor();
});

test("Too many wrong tokens are refused, and the owner can still sign in", async () => {
  const { url } = await openInline();
  browser.allow(/status of 429/);
  const page = await browser.open(url, { isSignedIn: false });
  const guess = () =>
    page.request.post(`${url}/_console/api/session`, { data: { token: "guess" } }).then((answer) => answer.status());
  await waitFor(async () => expect(await guess()).toBe(429), { interval: 0 });
  await page.getByLabel("Console token").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page
    .getByRole("alert")
    .getByText(/^Too many failed attempts to sign in\. Try again in \d+ s\.$/)
    .waitFor();
  await page.getByLabel("Console token").fill(consoleToken);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
});

test("The link that the server logs at its start signs in once, and leaves no code in the history", async () => {
  const { url, logger } = await openInline({ consoleToken: undefined });
  const link = await waitFor(() => {
    const found = logger.lines.find((line) => typeof line.console === "string")?.console;
    if (typeof found !== "string") throw new Error("No link is logged yet.");
    return found;
  });
  const page = await browser.newPage();
  await page.goto(link);
  await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
  expect(page.url()).toBe(`${url}/_console/#/deliveries`);
  expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);

  browser.allow(/status of 401/);
  const other = await browser.newPage();
  await other.goto(link);
  await other.getByRole("alert").getByText("This sign-in link was used already or has expired.").waitFor();
  await other.getByRole("heading", { name: "Use a one-time link" }).waitFor();
  expect(await other.getByLabel("Console token").count()).toBe(0);
});

test("Signing out shows the sign-in page, and ends the session of this browser", async () => {
  const { url } = await openInline();
  // A view can load again while it is signed out.
  browser.tolerate(/status of 401/);
  const page = await browser.open(url);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Console token").waitFor();
  expect((await page.request.get(`${url}/_console/api/deliveries`)).status()).toBe(401);
  await page.reload();
  await page.getByLabel("Console token").waitFor();
});

test("After a session ends while the console is open, signing in again shows the same delivery", async () => {
  const { url, deliver } = await openInline();
  await deliver({ endpoint: "inline", id: "first" });
  browser.allow(/status of 401/);
  const page = await browser.open(url);
  await rowsOf(page).first().waitFor();
  await page.context().clearCookies();
  await visit(page, "#/deliveries/one?endpoint=inline&id=first");
  await page.getByLabel("Console token").fill(consoleToken);
  await page.getByRole("button", { name: "Sign in" }).click();
  await paneOf(page).getByText("Attempt 1 succeeded").waitFor();
});

const script = '<img src=x onerror="window.ran = true"><script>window.ran = true</script>';
/** Looks like `acme/safe` if the browser applies its bidirectional override. */
const disguised = "acme/\u202Eefas\u202C\u0007\u200B";

/** A payload with something hostile in each field that the console shows. */
const hostile = {
  ...webhookPayload("repo.content"),
  event: { scope: "repo.content", action: "update" },
  repo: {
    type: "dataset",
    name: disguised,
    url: { web: "javascript:window.ran=true", api: "javascript:1" },
    note: script,
  },
  [script]: script,
  // A computed name is a field, and not the prototype.
  ["__proto__"]: { polluted: true },
  "\u202Ekey": "\u0000\u001B[31m",
};

/** Checks that nothing of a payload ran or became an element. */
async function expectInert(page: Page): Promise<void> {
  expect(await page.evaluate(() => Reflect.get(window, "ran"))).toBeUndefined();
  expect(await page.locator("#app img, #app script, #app iframe").count()).toBe(0);
  expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
  const shown = await page.evaluate(() => {
    // What a text field, a link, and an option send is not shown.
    const isShown = ({ name }: Attr) => !["value", "href"].includes(name);
    const elements = [...document.querySelectorAll("#app *, dialog *")];
    const attributes = elements.flatMap((element) => [...element.attributes].filter(isShown).map(({ value }) => value));
    const options = [...document.querySelectorAll("option")].map(({ text }) => text);
    return [document.body.innerText, ...attributes, ...options].join("\n");
  });
  expect(shown).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200B\u0007\u001B]/);
}

test("Payloads, IDs, errors, logs, and results are shown as text and never run", async () => {
  const { url, deliver, untilStatus } = await openServer((server) => {
    server.webhook("any", { schema: null }, (_, { log }) => {
      log.error({ [script]: script }, `\u202E${script}`);
      throw new Error(`${script}\u202E`, { cause: script });
    });
    server.webhook("echo", { schema: null }, () => ({ [script]: script, hidden: "\u202E" }));
    server.webhook("dying", { schema: null, background: true, attempts: 1 }, () => {
      throw new Error(`\u202E${script}`);
    });
  });
  const id = "<b>id";
  const headers = { "user-agent": script };
  for (const endpoint of ["any", "echo", "dying"]) await deliver({ endpoint, id, payload: hostile, headers });
  await untilStatus("dying", id, "dead");
  const page = await browser.open(url, { viewport: { width: 1_920, height: 1_000 } });
  await expect.poll(() => rowsOf(page).count()).toBe(3);
  // The repository has no link, because its URL is a script.
  expect(await rowsOf(page).locator("a.external").count()).toBe(0);
  expect(await rowsOf(page).first().innerText()).toContain(String.raw`acme/\u202eefas\u202c\u0007\u200b`);
  await expectInert(page);

  for (const endpoint of ["any", "echo", "dying"]) {
    await rowsOf(page).filter({ hasText: endpoint }).getByRole("link").click();
    await paneOf(page)
      .getByText(/Attempt 1 (failed|succeeded)/)
      .waitFor();
    await paneOf(page).getByRole("tree", { name: "Payload" }).waitFor();
    await expectInert(page);
    await paneOf(page).getByRole("button", { name: "Raw" }).click();
    await expectInert(page);
  }
  await paneOf(page).getByRole("button", { name: "Edit and replay" }).click();
  await page.getByRole("textbox", { name: "Payload" }).waitFor();
  await expectInert(page);
});

test("A repository whose URL the server accepts and the browser refuses has no link", async () => {
  const { url, deliver } = await openInline();
  const repo = { type: "dataset", name: "acme/data", url: { web: "https://a\u061db/", api: "https://a.co" } };
  await deliver({ endpoint: "inline", payload: webhookPayload("repo.content", { repo }) });
  const page = await browser.open(url);
  await rowsOf(page).getByText("acme/data").waitFor();
  expect(await rowsOf(page).locator("a.repository-link").count()).toBe(0);
});

test("Filters from the URL, searches, and toasts are shown as text", async () => {
  const { url, deliver } = await openServer((server) => void server.webhook("inline", { schema: null }, () => script));
  await deliver({ endpoint: "inline", id: "first", payload: hostile });
  const text = `\u202E${script}`;
  const query = new URLSearchParams({ repository: text, search: text, endpoint: text, scope: text, action: text });
  const page = await browser.open(url, { hash: `#/deliveries?${query}` });
  await page.getByRole("heading", { name: "No delivery matches the filters" }).waitFor();
  await expectInert(page);
  await page.getByRole("button", { name: "Reset filters" }).click();
  await rowsOf(page).getByRole("link").click();
  await paneOf(page).getByRole("button", { name: "Replay", exact: true }).click();
  await toastOf(page, "The delivery runs again.").waitFor();
  await expectInert(page);
});

test("A payload that is not JSON is shown as it is", async () => {
  const { url } = await openServer((server) => void server.webhook("inline", { schema: null }, () => "done"));
  const headers = { "content-type": "application/json", "x-webhook-secret": "Planted-5ecret-9d1e07" };
  await fetch(`${url}/webhooks/inline`, { method: "POST", headers, body: `not JSON ${script}` });
  const page = await browser.open(url);
  await rowsOf(page).getByRole("link", { name: "No Hub payload" }).click();
  await paneOf(page).getByText(`not JSON ${script}`).waitFor();
  expect(await paneOf(page).getByRole("button", { name: "Copy as test" }).count()).toBe(0);
  await expectInert(page);
});

test("No script or style runs that is not a file of the console, and no other origin is contacted", async () => {
  const { url } = await openInline();
  const page = await browser.open(url);
  await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  browser.allow(/Content Security Policy/);
  await page.evaluate(() => {
    const added = document.createElement("script");
    added.textContent = "window.ran = true";
    document.body.append(added);
  });
  expect(await page.evaluate(() => Reflect.get(window, "ran"))).toBeUndefined();
  await page.reload();
  await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();
  expect(requests.length).toBeGreaterThan(3);
  expect(requests.filter((request) => !request.startsWith(`${url}/`) && !request.startsWith("data:"))).toEqual([]);
});
