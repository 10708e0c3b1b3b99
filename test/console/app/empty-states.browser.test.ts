import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../../support/project-folder.ts";
import { openServer, readClipboard, rowsOf, secret, shareBrowser } from "./open-console.ts";

const browser = shareBrowser();

test("Without deliveries, the list shows a command that sends one, and it works", async () => {
  const { url } = await openServer(
    (server) => void server.webhook("inline", { watch: "dataset:acme/data" }, () => "done"),
  );
  const page = await browser.open(url);
  await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();
  await page.getByRole("button", { name: "Copy command" }).click();
  await expect.poll(() => readClipboard(page)).toContain("npx hub-webhooks trigger dataset:acme/data");
  const command = await readClipboard(page);
  const cli = `node ${join(root, "dist", "cli", "bin.js")}`;
  const env = { ...process.env, WEBHOOK_SECRET: secret };
  await promisify(execFile)("bash", ["-c", command.replace(/^npx hub-webhooks/, cli)], { env });
  await rowsOf(page).getByText("Succeeded").waitFor();
  expect(await rowsOf(page).innerText()).toContain("acme/data");
});

test("Without endpoints, the view shows code that adds one", async () => {
  const { url } = await openServer(() => {});
  const page = await browser.open(url, { hash: "#/endpoints" });
  await page.getByRole("heading", { name: "No endpoints yet" }).waitFor();
  await page.getByRole("button", { name: "Copy command" }).click();
  await expect.poll(() => readClipboard(page)).toContain("server.webhook(");
});

test("A page that does not exist redirects to the first view", async () => {
  const { url } = await openServer((server) => void server.webhook("inline", () => "done"));
  const page = await browser.open(url, { hash: "#/jobs" });
  await page.getByRole("heading", { name: "This page does not exist here" }).waitFor();
  await page.getByRole("link", { name: "go to the first one" }).click();
  await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
});
