// @module-tag slow

import { expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { consoleToken, openInline, paneOf, rowsOf, secret, shareBrowser, visit } from "./open-console.ts";

const browser = shareBrowser();

test("The console token opens the console at the requested route", async () => {
  const { url, deliver } = await openInline();
  await deliver({ endpoint: "inline", id: "hidden-id" });
  const page = await browser.open(url, { hash: "#/endpoints", isSignedIn: false });
  await page.getByRole("heading", { name: "hub-webhooks console" }).waitFor();
  expect(await page.content()).not.toContain("hidden-id");
  await page.getByLabel("Console token").fill(consoleToken);
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

test("A wrong token is explained at its field", async () => {
  const { url } = await openInline();
  browser.allow(/status of 401/);
  const page = await browser.open(url, { isSignedIn: false });
  const token = page.getByLabel("Console token");
  await token.fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("Wrong token.").waitFor();
  expect(await token.evaluate((field) => document.activeElement === field)).toBe(true);
  expect(await token.getAttribute("aria-describedby")).toContain("sign-in-problem");
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
