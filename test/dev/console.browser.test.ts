// @module-tag slow

import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { StartDevOptions } from "../../src/dev/dev-options.ts";
import { type DevSession, startDev } from "../../src/dev/dev-session.ts";
import { expectUsable, rowsOf, shareBrowser, toastOf, visit } from "../console/app/open-console.ts";
import { looks } from "../support/browser.ts";
import { makeProject, type Project } from "../support/project-folder.ts";
import { waitFor } from "../support/wait-for.ts";
import { clearEnvironment, launchRealHub, optionsIn, push, serverFile } from "./dev-project.ts";

const browser = shareBrowser();

const handler = `({ repo }, { log }) => {
  log.debug("A detail");
  log.warn({ epoch: 1 }, "The trainer is slow");
  console.log("Printed by the handler");
  return repo.name;
}`;
const review = `async ({ event, repo }, { hub }) => {
  if (event.scope === "discussion") return;
  await hub.repo(repo).openDiscussion({ title: "Review of the card", marker: "review", text: "It has **no license**." });
}`;
const working = serverFile({
  retrain: { options: '{ watch: "dataset:me/data" }', handler },
  review: { options: '{ watch: "dataset:me/card", scope: ["repo.content", "discussion"] }', handler: review },
});
const several = serverFile({
  retrain: { options: '{ watch: "dataset:me/data" }', handler },
  report: { options: '{ scope: "discussion" }' },
  fail: { handler: "() => { throw new TypeError('No GPU is free.'); }" },
});
const breakFile = (source: string) => source.replace("return repo.name", "return (repo.name");

/** Starts a session for all tests of a suite, because each start and each reload loads the package in a process. */
function shareSession(source: string, prepare: () => Promise<StartDevOptions & { close?: () => Promise<void> }>) {
  let project: Project;
  let session: DevSession;
  beforeAll(async () => {
    clearEnvironment();
    // The server logs what its handlers log at any level.
    vi.stubEnv("LOG_LEVEL", "debug");
    const { close, ...options } = await prepare();
    project = await makeProject({ "server.ts": source });
    session = await startDev(optionsIn(project, options));
    return async () => {
      await session.close();
      await close?.();
      await project[Symbol.asyncDispose]();
    };
  }, 60_000);
  return {
    push: (name?: string) => push(session, name),
    write: (text: string) => project.write("server.ts", text),
    path: (name: string) => join(project.path, name),
    /** Opens the console with a sign-in link. */
    async open(options: Parameters<typeof browser.newPage>[0] = {}): Promise<Page> {
      const page = await browser.newPage(options);
      await page.goto(session.createConsoleLink());
      await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
      return page;
    },
  };
}

function linesOf(page: Page): Promise<string[]> {
  return page.locator(".log-line").allInnerTexts();
}

function overlayOf(page: Page) {
  return page.getByRole("dialog", { name: "server.ts does not load" });
}

function deliveryOf(page: Page) {
  return page.getByRole("region", { name: "Delivery", exact: true });
}

describe("With a local Hub,", () => {
  const session = shareSession(working, async () => ({}));

  test("logs appear live, and are filtered by level, text, and delivery", async () => {
    const page = await session.open();
    await page.getByRole("navigation").getByRole("link", { name: "Logs" }).click();
    await session.push();
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

    await session.push();
    const slow = lines.filter({ hasText: "The trainer is slow" });
    await expect.poll(() => slow.count()).toBe(2);
    await slow.last().getByRole("link", { name: "retrain" }).click();
    const id = new URLSearchParams(page.url().split("?").at(-1)).get("id") ?? "";
    await deliveryOf(page).getByText("Attempt 1 succeeded").waitFor();
    await visit(page, `#/logs?deliveryId=${id}`);
    await expect.poll(() => slow.count()).toBe(1);
    await page.getByRole("button", { name: `Delivery ${id.slice(0, 8)}` }).click();
    await expect.poll(() => slow.count()).toBe(2);
  });

  test("a copied test creates the files of the push on a local Hub", async () => {
    await session.push();
    const page = await session.open({ permissions: ["clipboard-read", "clipboard-write"] });
    const state = page.waitForResponse(/recording\/state/);
    await rowsOf(page).first().click();
    await deliveryOf(page).waitFor();
    await (await state).finished();
    await page.getByRole("button", { name: "Copy as test" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const source = await page.evaluate(() => navigator.clipboard.readText());
    expect(source).toContain("await LocalHub.launch()");
    expect(source).toContain('"data/latest.txt"');
  });

  test("what a handler writes is two links away from its delivery: the commit that caused it, and the discussion", async () => {
    await session.push("me/card");
    const page = await session.open();
    await page.getByRole("link", { name: "repo.content update" }).first().click();
    await deliveryOf(page)
      .getByRole("link", { name: /^commit [0-9a-f]{7}$/ })
      .click();
    const repository = page.getByRole("region", { name: "Repository", exact: true });
    await repository.getByRole("heading", { name: "Update the data" }).waitFor();
    await repository.getByText("2 files changed").waitFor();

    await visit(page, "#/deliveries");
    await page.getByRole("link", { name: "discussion create" }).click();
    await deliveryOf(page).getByRole("link", { name: "discussion #1" }).click();
    await repository.getByText("It has **no license**.").waitFor();
  });

  test("sending an event names the endpoint that receives it, and the delivery appears", async () => {
    const page = await session.open();
    await page.getByRole("navigation").getByRole("link", { name: "Send" }).click();
    await page.getByText("1 of 2 recipients get the event.").waitFor();
    await page.getByRole("button", { name: /^Send/ }).last().click();
    await page
      .getByRole("region", { name: "Sent" })
      .getByRole("link", { name: /retrain/ })
      .click();
    await deliveryOf(page).getByText("Attempt 1 succeeded").waitFor();
  });

  test("a file that does not load is explained and opened in the editor until it is fixed, and the deliveries in memory survive", async () => {
    await session.push();
    const page = await session.open();
    await rowsOf(page).first().getByText("Succeeded").waitFor();
    const delivered = await rowsOf(page).count();
    const record = session.path("arguments.txt");
    const editor = session.path("editor.sh");
    await writeFile(editor, `#!/bin/sh\nprintf '%s\\n' "$@" > "${record}"\n`);
    await chmod(editor, 0o755);
    // Overrides EDITOR and the editor that is running on the machine of a developer.
    vi.stubEnv("LAUNCH_EDITOR", editor);
    browser.allow(/status of 503/);
    await session.write(breakFile(working));
    const overlay = overlayOf(page);
    await overlay.waitFor();
    expect(await overlay.locator(".code-line-error").innerText()).toContain("> ");
    expect(await overlay.locator(".code-frame").innerText()).toContain("repo.name");
    await overlay.getByText("Fix the file and save it").waitFor();
    await overlay.getByRole("button", { name: "Open in editor" }).click();
    const [file, line] = await waitFor(async () => (await readFile(record, "utf8")).split("\n"));
    expect(file).toBe(session.path("server.ts"));
    expect(await overlay.locator(".code-line-error .code-number").innerText()).toBe(`> ${line}`);
    expect(await page.locator(".toast").count()).toBe(0);

    await overlay.getByRole("button", { name: "Close", exact: true }).click();
    await page.getByRole("alert").getByText("server.ts:8 does not load.").waitFor();
    await page.getByRole("button", { name: "Show the error" }).click();
    await overlay.waitFor();
    await overlay.getByRole("button", { name: "Close", exact: true }).click();
    await overlay.waitFor({ state: "detached" });
    // Another error opens the overlay again.
    await session.write(`throw new Error("no luck");\n${working}`);
    await overlay.getByText("no luck").first().waitFor();
    await page.reload();
    await overlay.waitFor();

    await session.write(working.replace("The trainer is slow", "The trainer is fast"));
    await overlay.waitFor({ state: "detached" });
    await toastOf(page, "Reloaded.").waitFor();
    await expect.poll(() => rowsOf(page).getByText("Succeeded").count()).toBe(delivered);
    await session.push();
    await expect.poll(() => rowsOf(page).count()).toBe(delivered + 1);
  });

  test("the log and the overlay are accessible in both color schemes and widths", async () => {
    const overlapped = [/navigation/, /#\/\w+"/];
    await session.push();
    const pages: Page[] = [];
    for (const { colorScheme, viewport } of looks) {
      const page = await session.open({ colorScheme, viewport });
      await visit(page, "#/logs");
      await page.locator(".log-line").filter({ hasText: "The trainer is" }).first().waitFor();
      await expectUsable(page, { overlapped });
      pages.push(page);
    }
    await session.write(breakFile(working));
    for (const page of pages) {
      await overlayOf(page).locator(".code-frame").waitFor();
      // On a phone, long lines scroll inside the frame.
      await expectUsable(page, { overlapped: [...overlapped, /code-line/] });
      await overlayOf(page).getByRole("button", { name: "Close", exact: true }).click();
      await page.getByRole("button", { name: "Show the error" }).waitFor();
      await expectUsable(page, { overlapped });
    }
    // The other tests share the session.
    await session.write(working);
    for (const page of pages) await page.getByRole("button", { name: "Show the error" }).waitFor({ state: "detached" });
  });
});

function sendButton(page: Page) {
  return page.getByRole("button", { name: "Send event" });
}

describe("Without a local Hub,", () => {
  const session = shareSession(several, async () => {
    const { hub, options } = await launchRealHub();
    return { ...options, close: () => hub.close() };
  });

  /** Opens the view that sends events. */
  async function openSend(options: Parameters<typeof session.open>[0] = {}): Promise<Page> {
    const page = await session.open(options);
    await visit(page, "#/send");
    await page.getByText("3 of 3 recipients get the event.").waitFor();
    return page;
  }

  test("an event goes directly to the chosen endpoints, and its deliveries can be opened and sent again", async () => {
    const page = await session.open();
    await page.getByRole("link", { name: "Choose an event to send" }).click();
    await page.getByText("3 of 3 recipients get the event.").waitFor();
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
    const pane = deliveryOf(page);
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
    const page = await openSend();
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
    await deliveryOf(page).getByText("me/edited").first().waitFor();
  });

  test("nothing is sent while the server does not run, and the page says what to do", async () => {
    const page = await openSend();
    browser.allow(/status of 503/);
    await session.write(breakFile(several));
    await overlayOf(page).getByRole("button", { name: "Close", exact: true }).click();
    await sendButton(page).click();
    const alert = page.getByRole("alert").filter({ hasText: "nothing was sent" });
    await alert.getByText(/Fix .*server\.ts, save it/).waitFor();
    await session.write(several);
    await toastOf(page, "Reloaded.").waitFor();
    await sendButton(page).click();
    await page.getByRole("region", { name: "Sent" }).getByText("200 Succeeded").waitFor();
    expect(await alert.count()).toBe(0);
  });

  test("sending is accessible in both color schemes and widths", async () => {
    for (const { colorScheme, viewport } of looks) {
      const page = await openSend({ colorScheme, viewport });
      await sendButton(page).click();
      await page.getByRole("region", { name: "Sent" }).getByText("500 Failed").waitFor();
      await expectUsable(page, { overlapped: [/navigation/, /#\/\w+"/] });
    }
  });
});
