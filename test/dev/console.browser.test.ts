import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test, vi } from "vitest";
import { expectUsable, rowsOf, shareBrowser, visit } from "../console/app/open-console.ts";
import { looks } from "../support/browser.ts";
import type { Project } from "../support/project-folder.ts";
import { waitFor } from "../support/wait-for.ts";
import { openProject, push, type RecordedSession, serverFile, startIn } from "./dev-project.ts";

const browser = shareBrowser();

const handler = `({ repo }, { log }) => {
  log.debug("A detail");
  log.warn({ epoch: 1 }, "The trainer is slow");
  console.log("Printed by the handler");
  return repo.name;
}`;
const working = serverFile({ retrain: { options: '{ watch: "dataset:me/data" }', handler } });
const broken = working.replace("return repo.name", "return (repo.name");

interface Opened {
  page: Page;
  project: Project;
  recorded: RecordedSession;
}

/** Starts a session on a local Hub, and opens its console with the sign-in link. */
async function openSession(options: Parameters<typeof browser.newPage>[0] = {}): Promise<Opened> {
  const project = await openProject({ "server.ts": working });
  // The server logs what its handlers log at any level.
  vi.stubEnv("LOG_LEVEL", "debug");
  const recorded = await startIn(project);
  const page = await browser.newPage(options);
  await page.goto(recorded.session.createConsoleLink());
  await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  return { page, project, recorded };
}

function linesOf(page: Page): Promise<string[]> {
  return page.locator(".log-line").allInnerTexts();
}

function overlayOf(page: Page) {
  return page.getByRole("dialog", { name: "server.ts does not load" });
}

test("Logs appear live, and are filtered by level, text, and delivery", async () => {
  const { page, recorded } = await openSession();
  await page.getByRole("navigation").getByRole("link", { name: "Logs" }).click();
  await push(recorded.session);
  const lines = page.locator(".log-line");
  await lines.filter({ hasText: "Printed by the handler" }).waitFor();
  await lines.filter({ hasText: "The trainer is slow" }).getByText("epoch=1").waitFor();
  await lines.filter({ hasText: "A detail" }).waitFor();
  await page.getByLabel("Lowest level").selectOption("warn");
  await page.waitForURL(/level=warn/);
  await expect.poll(() => linesOf(page)).toEqual([expect.stringContaining("The trainer is slow")]);
  await page.reload();
  await expect.poll(() => linesOf(page)).toEqual([expect.stringContaining("The trainer is slow")]);
  await page.getByLabel("Lowest level").selectOption("debug");
  await page.getByLabel("Search").fill("a detail");
  await expect.poll(() => linesOf(page)).toEqual([expect.stringContaining("A detail")]);
  await page.getByLabel("Search").fill("nothing-like-this");
  await page.getByRole("heading", { name: "No line matches the filters" }).waitFor();
  await page.getByLabel("Search").fill("");

  await push(recorded.session);
  const slow = lines.filter({ hasText: "The trainer is slow" });
  await expect.poll(() => slow.count()).toBe(2);
  await slow.last().getByRole("link", { name: "retrain" }).click();
  const id = new URLSearchParams(page.url().split("?").at(-1)).get("id") ?? "";
  await page.getByRole("region", { name: "Delivery", exact: true }).getByText("Attempt 1 succeeded").waitFor();
  await visit(page, `#/logs?deliveryId=${id}`);
  await expect.poll(() => slow.count()).toBe(1);
  await page.getByRole("button", { name: `Delivery ${id.slice(0, 8)}` }).click();
  await expect.poll(() => slow.count()).toBe(2);
});

test("A file that does not load is explained until it is fixed, and the deliveries in memory survive", async () => {
  const { page, project, recorded } = await openSession();
  await push(recorded.session);
  await rowsOf(page).getByText("Succeeded").waitFor();
  browser.allow(/status of 503/);
  await project.write("server.ts", broken);
  const overlay = overlayOf(page);
  await overlay.waitFor();
  expect(await overlay.locator(".code-line-error").innerText()).toContain("> ");
  expect(await overlay.locator(".code-frame").innerText()).toContain("repo.name");
  await overlay.getByText("Fix the file and save it").waitFor();

  await overlay.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("alert").getByText("server.ts:8 does not load.").waitFor();
  await page.getByRole("button", { name: "Show the error" }).click();
  await overlay.waitFor();
  await page.reload();
  await overlay.waitFor();

  await project.write("server.ts", working.replace("The trainer is slow", "The trainer is fast"));
  await overlay.waitFor({ state: "detached" });
  await rowsOf(page).getByText("Succeeded").waitFor();
  await push(recorded.session);
  await expect.poll(() => rowsOf(page).count()).toBe(2);
});

test("The overlay opens the file in the editor, at the line of the error", async () => {
  const { page, project } = await openSession();
  const record = join(project.path, "arguments.txt");
  const editor = await project.write("editor.sh", `#!/bin/sh\nprintf '%s\\n' "$@" > "${record}"\n`);
  await chmod(editor, 0o755);
  // Overrides EDITOR and the editor that is running on the machine of a developer.
  vi.stubEnv("LAUNCH_EDITOR", editor);
  await project.write("server.ts", broken);
  const overlay = overlayOf(page);
  await overlay.getByRole("button", { name: "Open in editor" }).click();
  const [file, line] = await waitFor(async () => (await readFile(record, "utf8")).split("\n"));
  expect(file).toBe(join(project.path, "server.ts"));
  expect(await overlay.locator(".code-line-error .code-number").innerText()).toBe(`> ${line}`);
  expect(await page.locator(".toast").count()).toBe(0);
});

test("Sending an event names the endpoint that receives it, and the delivery appears", async () => {
  const { page } = await openSession();
  await page.getByRole("navigation").getByRole("link", { name: "Send" }).click();
  await page.getByText("1 of 1 recipient gets the event.").waitFor();
  await page.getByRole("button", { name: /^Send/ }).last().click();
  await page
    .getByRole("link", { name: /retrain/ })
    .first()
    .waitFor();
  await visit(page, "#/deliveries");
  await rowsOf(page).getByText("Succeeded").waitFor();
});

describe.each(looks)("In $colorScheme, $width pixels wide,", ({ colorScheme, viewport }) => {
  test("the log and the overlay are accessible", async () => {
    const { page, project, recorded } = await openSession({ colorScheme, viewport });
    await push(recorded.session);
    await visit(page, "#/logs");
    await page.locator(".log-line").filter({ hasText: "The trainer is slow" }).waitFor();
    const overlapped = [/navigation/, /#\/\w+"/];
    await expectUsable(page, { overlapped });
    await project.write("server.ts", broken);
    await overlayOf(page).locator(".code-frame").waitFor();
    // On a phone, long lines scroll inside the frame.
    await expectUsable(page, { overlapped: [...overlapped, /code-line/] });
    await overlayOf(page).getByRole("button", { name: "Close", exact: true }).click();
    await page.getByRole("button", { name: "Show the error" }).waitFor();
    await expectUsable(page, { overlapped });
  });
});
