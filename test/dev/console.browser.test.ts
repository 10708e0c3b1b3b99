// @module-tag slow

import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test, vi } from "vitest";
import { expectUsable, rowsOf, shareBrowser, toastOf, visit } from "../console/app/open-console.ts";
import { looks } from "../support/browser.ts";
import type { Project } from "../support/project-folder.ts";
import { waitFor } from "../support/wait-for.ts";
import { openProject, openRealHub, push, type RecordedSession, serverFile, startIn } from "./dev-project.ts";

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
async function openSession(
  options: Parameters<typeof browser.newPage>[0] = {},
  { source = working }: { source?: string } = {},
): Promise<Opened> {
  const project = await openProject({ "server.ts": source });
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

test("A copied test creates the files of the push on a local Hub", async () => {
  const { page, recorded } = await openSession({ permissions: ["clipboard-read", "clipboard-write"] });
  await push(recorded.session);
  const state = page.waitForResponse(/recording\/state/);
  await rowsOf(page).first().click();
  await page.getByRole("region", { name: "Delivery", exact: true }).waitFor();
  await (await state).finished();
  await page.getByRole("button", { name: "Copy as test" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const source = await page.evaluate(() => navigator.clipboard.readText());
  expect(source).toContain("await LocalHub.launch()");
  expect(source).toContain('"data/latest.txt"');
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
  await overlay.getByRole("button", { name: "Close", exact: true }).click();
  await overlay.waitFor({ state: "detached" });
  // Another error opens the overlay again.
  await project.write("server.ts", `throw new Error("no luck");\n${working}`);
  await overlay.getByText("no luck").first().waitFor();
  await page.reload();
  await overlay.waitFor();

  await project.write("server.ts", working.replace("The trainer is slow", "The trainer is fast"));
  await overlay.waitFor({ state: "detached" });
  await toastOf(page, "Reloaded.").waitFor();
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
  browser.tolerate(/status of 503/);
  await project.write("server.ts", broken);
  const overlay = overlayOf(page);
  await overlay.getByRole("button", { name: "Open in editor" }).click();
  const [file, line] = await waitFor(async () => (await readFile(record, "utf8")).split("\n"));
  expect(file).toBe(join(project.path, "server.ts"));
  expect(await overlay.locator(".code-line-error .code-number").innerText()).toBe(`> ${line}`);
  expect(await page.locator(".toast").count()).toBe(0);
});

test("What a handler writes is two links away from its delivery: the commit that caused it, and the discussion", async () => {
  const source = serverFile({
    review: {
      options: '{ watch: "dataset:me/data", scope: ["repo.content", "discussion"] }',
      handler: `async ({ event, repo }, { hub }) => {
        if (event.scope === "discussion") return;
        await hub.repo(repo).openDiscussion({ title: "Review of the card", marker: "review", text: "It has **no license**." });
      }`,
    },
  });
  const { page, recorded } = await openSession({}, { source });
  await push(recorded.session);
  await page.getByRole("link", { name: "repo.content update" }).first().click();
  const delivery = page.getByRole("region", { name: "Delivery", exact: true });
  await delivery.getByRole("link", { name: /^commit [0-9a-f]{7}$/ }).click();
  const repository = page.getByRole("region", { name: "Repository", exact: true });
  await repository.getByRole("heading", { name: "Update the data" }).waitFor();
  await repository.getByText("2 files changed").waitFor();

  await visit(page, "#/deliveries");
  await page.getByRole("link", { name: "discussion create" }).click();
  await delivery.getByRole("link", { name: "discussion #1" }).click();
  await repository.getByText("It has **no license**.").waitFor();
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

const several = serverFile({
  retrain: { options: '{ watch: "dataset:me/data" }', handler },
  report: { options: '{ scope: "discussion" }' },
  fail: { handler: "() => { throw new TypeError('No GPU is free.'); }" },
});

/** Starts a session without a local Hub, and opens the view that sends events. */
async function openDirectSend(options: Parameters<typeof browser.newPage>[0] = {}): Promise<Opened> {
  const project = await openProject({ "server.ts": several });
  const recorded = await startIn(project, (await openRealHub()).options);
  const page = await browser.newPage(options);
  await page.goto(recorded.session.createConsoleLink());
  await page.getByText("Live", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Choose an event to send" }).click();
  await page.getByText("3 of 3 recipients get the event.").waitFor();
  return { page, project, recorded };
}

function sendButton(page: Page) {
  return page.getByRole("button", { name: "Send event" });
}

describe("Without a local Hub,", () => {
  test("an event goes directly to the chosen endpoints, and its deliveries can be opened and sent again", async () => {
    const { page } = await openDirectSend();
    await page.getByText("Events go directly from this session to your server").waitFor();
    const recipients = page.getByRole("region", { name: "Recipients" });
    await recipients.getByText("The endpoint ignores it: scope repo.content is not discussion").waitFor();
    await recipients.getByRole("checkbox", { name: "endpoint report" }).uncheck();
    await recipients.getByText("2 of 3 recipients get the event.").waitFor();
    await sendButton(page).click();
    const sent = page.getByRole("region", { name: "Sent" });
    await sent.getByText("200 Succeeded").waitFor();
    await sent.getByText("500 Failed").waitFor();
    expect(await sent.getByRole("listitem").count()).toBe(2);
    expect(await sent.getByRole("listitem").first().innerText()).toMatch(/\d m?s$/);
    await sent.getByRole("link", { name: "retrain" }).click();
    const pane = page.getByRole("region", { name: "Delivery", exact: true });
    await pane.getByText("Attempt 1 succeeded").waitFor();

    await pane.getByRole("link", { name: "Send a copy" }).click();
    await recipients.getByText("1 of 3 recipients get the event.").waitFor();
    await page.getByText("This is the payload of a past delivery.").waitFor();
    await sendButton(page).click();
    await sent.getByText("200 Succeeded").waitFor();
    expect(await sent.getByRole("listitem").count()).toBe(1);
    await visit(page, "#/deliveries?endpoint=retrain");
    await expect.poll(() => rowsOf(page).count()).toBe(2);
  });

  test("a sample, a repository, and the payload can be edited, and are checked", async () => {
    const { page } = await openDirectSend();
    await page.getByLabel("Sample").selectOption("discussion.comment create");
    await page.getByText("The endpoint ignores it").waitFor({ state: "detached" });
    const editor = page.getByRole("textbox", { name: "Payload" });
    await expect.poll(() => editor.inputValue()).toContain('"name": "acme/data"');
    const repository = page.getByLabel("Repository");
    await repository.fill("sweater:me/data");
    await page.getByText('Unknown type "sweater".').waitFor();
    expect(await sendButton(page).getAttribute("aria-disabled")).toBe("true");
    await repository.fill("model:me/net");
    await expect.poll(() => editor.inputValue()).toContain('"name": "me/net"');
    const valid = await editor.inputValue();
    await editor.fill(valid.replace('"name": "me/net"', '"name": null'));
    await page.getByText("Fix 1 field to see who receives the event.").waitFor();
    expect(await sendButton(page).getAttribute("aria-disabled")).toBe("true");
    await editor.fill(valid.replace('"name": "me/net"', '"name": "me/edited"'));
    for (const name of ["retrain", "fail"]) await page.getByRole("checkbox", { name: `endpoint ${name}` }).uncheck();
    await page.getByText("1 of 3 recipients get the event.").waitFor();
    await sendButton(page).click();
    await page.getByRole("region", { name: "Sent" }).getByRole("link", { name: "report" }).click();
    await page.getByRole("region", { name: "Delivery", exact: true }).getByText("me/edited").first().waitFor();
  });

  test("nothing is sent while the server does not run, and the page says what to do", async () => {
    const { page, project } = await openDirectSend();
    browser.allow(/status of 503/);
    await project.write("server.ts", broken);
    await overlayOf(page).getByRole("button", { name: "Close", exact: true }).click();
    await sendButton(page).click();
    const alert = page.getByRole("alert").filter({ hasText: "nothing was sent" });
    await alert.getByText(/Fix .*server\.ts, save it/).waitFor();
    await project.write("server.ts", working);
    await page.getByText("1 of 1 recipient gets the event.").waitFor();
    await sendButton(page).click();
    await page.getByRole("region", { name: "Sent" }).getByText("200 Succeeded").waitFor();
    expect(await alert.count()).toBe(0);
  });
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

  test("sending directly is accessible", async () => {
    const { page } = await openDirectSend({ colorScheme, viewport });
    await sendButton(page).click();
    await page.getByRole("region", { name: "Sent" }).getByText("500 Failed").waitFor();
    await expectUsable(page, { overlapped: [/navigation/, /#\/\w+"/] });
  });
});
