// @module-tag slow

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { webhookPayload } from "../../../src/testing.ts";
import { narrow, wide } from "../../support/browser.ts";
import { waitFor } from "../../support/wait-for.ts";
import {
  expectNoSidewaysScrolling,
  type OpenServer,
  openInline,
  openServer,
  paneOf,
  readClipboard,
  rowsOf,
  secret,
  shareBrowser,
  toastOf,
} from "./open-console.ts";

const browser = shareBrowser();
const run = promisify(execFile);

/** Opens the console at a delivery. */
async function openDelivery(url: string, { endpoint, id }: { endpoint: string; id: string }, viewport = wide) {
  const page = await browser.open(url, { hash: `#/deliveries/one?endpoint=${endpoint}&id=${id}`, viewport });
  await paneOf(page).getByRole("heading", { name: "Attempts" }).waitFor();
  return page;
}

/** Returns the text of a list item for each step of the timeline. */
function stepsOf(page: Page): Promise<string[]> {
  return paneOf(page).locator(".timeline > li").allInnerTexts();
}

test("The timeline shows the next attempt counting down, the newest attempt, and the one before it", async () => {
  const { url, deliver, untilStatus } = await openServer((server) => {
    server.webhook("retrain", { background: true, attempts: 3, backoff: ["200ms", "30m"] }, (_, { log, delivery }) => {
      log.warn({ epoch: delivery.attempt }, "The trainer is slow.");
      throw new TypeError(`No GPU is left for attempt ${delivery.attempt}`);
    });
  });
  await deliver({ endpoint: "retrain", id: "first" });
  const page = await openDelivery(url, { endpoint: "retrain", id: "first" });
  await paneOf(page).getByText("Attempt 2 failed").waitFor();
  await untilStatus("retrain", "first", "retrying");
  await expect
    .poll(() => stepsOf(page))
    .toEqual([
      expect.stringMatching(/^Attempt 3 in \d+ min/),
      expect.stringContaining("Attempt 2 failed"),
      expect.stringMatching(/^Waited \d+ ms$/),
      expect.stringContaining("Attempt 1 failed"),
    ]);
  const countdown = paneOf(page).locator(".timeline-next time");
  const before = await countdown.innerText();
  await expect.poll(() => countdown.innerText()).not.toBe(before);

  // The newest attempt is open, the others can be opened.
  const newest = paneOf(page).locator(".timeline-attempt").first();
  await newest.getByText("No GPU is left").first().waitFor();
  expect(await newest.getByRole("region", { name: "Stack" }).innerText()).toMatch(
    /^TypeError: No GPU is left for attempt 2\n\s+at .*test\/console\/app\/delivery\.browser\.test\.ts:\d+/,
  );
  const log = await newest.getByRole("list", { name: "Log of attempt 2" }).innerText();
  expect(log).toContain("The trainer is slow.");
  expect(log).toContain('{"epoch":2}');
  const oldest = paneOf(page).locator(".timeline-attempt").last();
  expect(await oldest.getByRole("region", { name: "Stack" }).isVisible()).toBe(false);
  await oldest.locator("summary").click();
  await oldest.getByRole("list", { name: "Log of attempt 1" }).waitFor();
});

test("A dead delivery shows its error and the place in the user's code without scrolling, and ten equal failures as one", async () => {
  const { url, deliver, untilStatus } = await openServer((server) => {
    server.webhook("retrain", { background: true, backoff: Array.from({ length: 9 }, () => "1ms" as const) }, () => {
      throw new TypeError("No GPU is left");
    });
  });
  await deliver({ endpoint: "retrain", id: "first" });
  await untilStatus("retrain", "first", "dead");
  const page = await openDelivery(url, { endpoint: "retrain", id: "first" });
  const failure = paneOf(page).locator(".failure");
  expect(await failure.innerText()).toMatch(
    /^HANDLER_FAILED No GPU is left\s+at .*delivery\.browser\.test\.ts:\d+:\d+\)?$/,
  );
  const box = await failure.boundingBox();
  expect((box?.y ?? Number.POSITIVE_INFINITY) + (box?.height ?? 0)).toBeLessThan(wide.height / 2);
  const attempts = paneOf(page).locator(".timeline-attempt");
  await attempts.first().getByText("Attempt 10 failed").getByText("10 × the same error").waitFor();
  expect(await attempts.filter({ visible: true }).count()).toBe(1);
  await paneOf(page).getByText("Show 9 earlier attempts with the same error").click();
  expect(await attempts.filter({ visible: true }).count()).toBe(10);
});

test("An attempt appears while the delivery is open, and its time counts up", async () => {
  const gate = Promise.withResolvers<{ rows: number }>();
  const { url, deliver } = await openServer((server) => {
    server.webhook("slow", { background: true }, () => gate.promise);
  });
  await deliver({ endpoint: "slow", id: "first" });
  const page = await openDelivery(url, { endpoint: "slow", id: "first" });
  await paneOf(page)
    .getByText(/Attempt 1 is running/)
    .waitFor();
  const elapsed = paneOf(page).locator(".timeline-time");
  const before = await elapsed.innerText();
  await expect.poll(() => elapsed.innerText()).not.toBe(before);
  gate.resolve({ rows: 3 });
  await paneOf(page).getByText("Attempt 1 succeeded").waitFor();
  await paneOf(page).getByRole("tree", { name: "Result of attempt 1" }).getByText("rows").waitFor();
});

test("The result, the response, the headers without secrets, and what is stored are shown", async () => {
  const { url, deliver } = await openInline();
  const headers = { "user-agent": "Hub/1.0", authorization: "Bearer hf_planted", "x-plain": `has ${secret} inside` };
  await deliver({ endpoint: "inline", id: "first", headers });
  const page = await openDelivery(url, { endpoint: "inline", id: "first" });
  const pane = paneOf(page);
  await pane.getByText("Attempt 1 succeeded with status 200").waitFor();
  const result = pane.getByRole("tree", { name: "Result of attempt 1" });
  await result.getByRole("treeitem", { name: "rows: 3" }).waitFor();
  const shown = await pane.locator(".headers").innerText();
  expect(shown).toMatch(/user-agent\s+Hub\/1\.0/);
  expect(shown).toMatch(/x-webhook-secret\s+\[redacted\]/);
  expect(shown).toMatch(/authorization\s+\[redacted\]/);
  const html = await page.content();
  expect(html).not.toContain(secret);
  expect(html).not.toContain("hf_planted");
  const note = await pane.locator(".storage-note").innerText();
  expect(note).toContain("at most 500 runs or 16 MiB");
  expect(note).toContain("16 KiB");
});

test("Without recorded details, the delivery shows a note", async () => {
  const { url, deliver } = await openInline({ recordDetails: false });
  await deliver({ endpoint: "inline", id: "first" });
  const page = await openDelivery(url, { endpoint: "inline", id: "first" });
  await paneOf(page).getByText("recordDetails is false").waitFor();
  expect(await page.getByRole("tree", { name: "Result of attempt 1" }).count()).toBe(0);
  expect(await page.getByRole("heading", { name: "Request headers" }).count()).toBe(0);
});

test("The payload is a tree that is used with the keyboard", async () => {
  const { url, deliver } = await openInline();
  await deliver({ endpoint: "inline", id: "first" });
  const page = await openDelivery(url, { endpoint: "inline", id: "first" });
  const tree = paneOf(page).getByRole("tree", { name: "Payload" });
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const count = () => tree.getByRole("treeitem").count();
  await tree.getByRole("treeitem").first().focus();
  const all = await count();
  await press("ArrowDown");
  expect(await focused()).toMatch(/^event: /);
  await press("ArrowDown");
  expect(await focused()).toBe('action: "update"');
  await press("ArrowLeft");
  expect(await focused()).toMatch(/^event: /);
  await press("ArrowLeft");
  expect(await focused()).toBe("event: {…} 2 keys");
  expect(await count()).toBe(all - 2);
  expect(await tree.getByRole("treeitem", { name: /^event/ }).getAttribute("aria-expanded")).toBe("false");
  await press("ArrowRight");
  expect(await count()).toBe(all);
  await press("End");
  const last = await focused();
  await press("Home");
  expect(await focused()).not.toBe(last);
  await press("Enter");
  expect(await count()).toBe(1);
  // The tree is one stop of the Tab key.
  expect(await tree.locator('[tabindex="0"]').count()).toBe(1);
});

test("A value, its path, and the whole payload can be copied", async () => {
  const { url, deliver } = await openInline();
  const payload = webhookPayload("repo.content", { repo: { name: "acme/data" } });
  await deliver({ endpoint: "inline", id: "first", payload });
  const page = await openDelivery(url, { endpoint: "inline", id: "first" });
  await page.clock.install();
  const pane = paneOf(page);
  const tools = pane.locator("section").filter({ hasText: /^Payload/ });
  const expectCopied = async (button: Locator, text: string) => {
    await button.click();
    await expect.poll(() => readClipboard(page), { interval: 20 }).toBe(text);
  };
  const copy = (name: string) => tools.getByRole("button", { name, exact: true });
  await expectCopied(copy("Copy all"), JSON.stringify(payload));
  await tools.getByRole("treeitem", { name: 'name: "acme/data"' }).click();
  await tools.getByText("repo.name", { exact: true }).waitFor();
  await expectCopied(copy("Copy path"), "repo.name");
  await expectCopied(copy("Copy value"), "acme/data");
  await tools.getByRole("treeitem", { name: /^updatedRefs/ }).click();
  // The button confirms the first copy for some seconds.
  await page.clock.fastForward(10_000);
  await expectCopied(copy("Copy value"), JSON.stringify(Reflect.get(payload, "updatedRefs")));
  await expectCopied(pane.getByRole("button", { name: "Copy ID" }), "first");

  await pane.getByRole("button", { name: "Raw" }).click();
  expect(await pane.locator("pre.json-raw").innerText()).toBe(JSON.stringify(payload));
  expect(await pane.getByRole("button", { name: "Raw" }).getAttribute("aria-pressed")).toBe("true");
});

test("The copied curl command sends the payload to the server", async () => {
  const { url, deliver, read } = await openInline();
  const payload = webhookPayload("repo.content", { repo: { name: "acme/it's-$HOME" } });
  await deliver({ endpoint: "inline", id: "first", payload });
  const page = await openDelivery(url, { endpoint: "inline", id: "first" });
  await paneOf(page).getByRole("button", { name: "Copy as curl" }).click();
  await paneOf(page).getByRole("button", { name: "Copied" }).waitFor();
  const command = await readClipboard(page);
  expect(command).not.toContain(secret);
  const env = { ...process.env, WEBHOOK_SECRET: secret };
  const { stdout } = await run("bash", ["-c", command.replace(/^curl /, "curl --silent --show-error ")], { env });
  expect(JSON.parse(stdout)).toMatchObject({ name: "acme/it's-$HOME" });
  await expect.poll(() => rowsOf(page).count()).toBe(2);
  expect(await read("deliveries")).toMatchObject({ deliveries: [{ repository: { name: "acme/it's-$HOME" } }, {}] });
});

test("On a phone, a delivery is a page of its own", async () => {
  const { url, deliver } = await openInline();
  await deliver({ endpoint: "inline", id: "first" });
  const page = await browser.open(url, { viewport: narrow });
  await rowsOf(page).getByRole("link", { name: "repo.content update" }).click();
  await paneOf(page).getByText("Attempt 1 succeeded").waitFor();
  expect(await page.getByRole("searchbox").isVisible()).toBe(false);
  expect((await paneOf(page).boundingBox())?.width).toBe(narrow.width);
  await expectNoSidewaysScrolling(page);
  await page.getByRole("button", { name: "Close delivery" }).click();
  await rowsOf(page).first().waitFor();
  expect(await page.getByRole("searchbox").isVisible()).toBe(true);
  await page.goBack();
  await paneOf(page).waitFor();
});

test("A delivery that is no longer stored stays open below a notice", async () => {
  const { url, deliver } = await openInline();
  await deliver({ endpoint: "inline", id: "first" });
  browser.allow(/status of 404/);
  const page = await browser.open(url, { hash: "#/deliveries/one?endpoint=inline&id=first" });
  await paneOf(page).getByText("Attempt 1 succeeded").waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  expect(await paneOf(page).getByText("Not up to date").count()).toBe(0);
  await page.route("**/api/deliveries/one?*", (route) =>
    route.continue({ url: `${url}/_console/api/deliveries/one?endpoint=inline&id=gone` }),
  );
  await deliver({ endpoint: "inline", id: "first" });
  await paneOf(page).getByText("Not up to date").waitFor();
  expect(await paneOf(page).getByText("Attempt 1 succeeded").count()).toBe(1);
});

test("A server that stops and starts again is noticed, and the console continues", async () => {
  const { url, server, deliver } = await openInline({ inbox: "sqlite::memory:" });
  await deliver({ endpoint: "inline", id: "first" });
  browser.allow(/ERR_|status of/);
  const page = await browser.open(url);
  await page.getByText("Live", { exact: true }).waitFor();
  // The live stream can open before the list is loaded.
  const row = rowsOf(page).getByRole("link", { name: "repo.content update" });
  await row.waitFor();
  await server.close();
  await page.getByText("Reconnecting").waitFor();
  await row.click();
  await page.getByRole("heading", { name: "The server is not reachable" }).waitFor();
  // Another server on the same port accepts the same sessions.
  const declare = (other: OpenServer["server"]) => void other.webhook("inline", () => "done");
  const next = await openServer(declare, { inbox: "sqlite::memory:" }, Number(new URL(url).port));
  await next.deliver({ endpoint: "inline", id: "first" });
  await paneOf(page).getByText("Attempt 1 succeeded").waitFor();
  expect(await toastOf(page, /./).count()).toBe(0);
});

/** Opens a server whose handlers fail until `fix` is called. */
async function openFailing() {
  let isFixed = false;
  const handle = ({ repo }: { repo: { name: string } }) => {
    if (!isFixed) throw new Error("Disk full");
    return repo.name;
  };
  const opened = await openServer((server) => {
    server.webhook("inline", handle);
    server.webhook("dying", { background: true, attempts: 1 }, handle);
    server.webhook("retried", { background: true, attempts: 2, backoff: ["1h"] }, handle);
  });
  /** Sends a delivery, and opens it when it has this status. */
  const openFirst = async (endpoint: string, status: string) => {
    await opened.deliver({ endpoint, id: "first" });
    await opened.untilStatus(endpoint, "first", status);
    return browser.open(opened.url, { hash: `#/deliveries/one?endpoint=${endpoint}&id=first` });
  };
  const fix = () => {
    isFixed = true;
  };
  return { ...opened, openFirst, fix };
}

/** Opens the editor of the open delivery. Returns the original payload and the dialog. */
async function openEditor(page: Page) {
  await paneOf(page).getByRole("button", { name: "Edit and replay" }).click();
  const dialog = page.getByRole("dialog", { name: "Edit and replay" });
  const editor = dialog.getByRole("textbox", { name: "Payload" });
  return { dialog, editor, original: await editor.inputValue() };
}

test("A replay of an inline delivery is a copy, and the toast links to it", async () => {
  const { openFirst, fix } = await openFailing();
  const page = await openFirst("inline", "failed");
  fix();
  await paneOf(page).getByRole("button", { name: "Replay", exact: true }).click();
  await toastOf(page, "The delivery runs again.").getByRole("link", { name: "Show the new delivery" }).click();
  await paneOf(page).getByText("Attempt 1 succeeded").waitFor();
  await paneOf(page).getByRole("link", { name: "first", exact: true }).click();
  await paneOf(page).getByText("Attempt 1 failed").waitFor();
});

test("A payload is edited: the server's problem is shown at its field, and the fixed copy runs", async () => {
  const { openFirst, fix, read } = await openFailing();
  browser.allow(/status of 422/);
  const page = await openFirst("dying", "dead");
  fix();
  const { dialog, editor, original } = await openEditor(page);
  const line = original.split("\n").findIndex((text) => text.includes('"type": "dataset"')) + 1;
  await editor.fill(original.replace('"type": "dataset"', '"type": 7'));
  await dialog.getByRole("button", { name: "Replay edited copy" }).click();
  await dialog.getByRole("button", { name: `Line ${line}`, exact: true }).waitFor();
  await dialog
    .getByRole("listitem")
    .getByText(/^repo\.type: /)
    .waitFor();
  expect(await editor.getAttribute("aria-invalid")).toBe("true");
  // The cursor is at the field.
  const position = await editor.evaluate((field) => (field instanceof HTMLTextAreaElement ? field.selectionStart : -1));
  expect((await editor.inputValue()).slice(position)).toMatch(/^7/);

  await editor.fill(original.replace("acme/data", "acme/other-revision"));
  await page.keyboard.press("Control+Enter");
  await toastOf(page, "The edited copy was sent.").waitFor();
  await paneOf(page).getByText("Attempt 1 succeeded").waitFor();
  await paneOf(page).getByRole("link", { name: "Open acme/other-revision on the Hub" }).waitFor();
  expect(await read("deliveries/one?endpoint=dying&id=first")).toMatchObject({ status: "dead" });
});

test("An edited copy is sent once, also if the keys are held down or pressed again while it is sent", async () => {
  const { openFirst } = await openFailing();
  const page = await openFirst("dying", "dead");
  const sent: string[] = [];
  const pressed = Promise.withResolvers<void>();
  await page.route("**/api/deliveries/replay-edited", async (route) => {
    sent.push(route.request().url());
    await pressed.promise;
    await route.continue();
  });
  const { editor } = await openEditor(page);
  await editor.focus();
  for (let press = 0; press < 3; press += 1) await page.keyboard.press("Control+Enter");
  pressed.resolve();
  await toastOf(page, "The edited copy was sent.").waitFor();
  expect(sent).toHaveLength(1);
});

test("A syntax error is shown at its line, nothing is sent, and closing the editor by mistake loses nothing", async () => {
  const { openFirst } = await openFailing();
  const page = await openFirst("inline", "failed");
  const { dialog, editor, original } = await openEditor(page);
  await editor.fill(original.replace('"event":', '"event" '));
  await dialog.getByRole("button", { name: "Line 2", exact: true }).waitFor();
  const send = dialog.getByRole("button", { name: "Replay edited copy" });
  expect(await send.getAttribute("aria-disabled")).toBe("true");
  const posted: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") posted.push(request.url());
  });
  await send.click({ force: true });
  await page.keyboard.press("Control+Enter");
  await dialog.getByRole("button", { name: "Undo all changes" }).click();
  expect(await editor.inputValue()).toBe(original);
  expect(await editor.getAttribute("aria-invalid")).toBe("false");
  expect(posted).toEqual([]);
  await editor.fill(`${original}\n`);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  const again = await openEditor(page);
  expect(again.original).toBe(`${original}\n`);
});

test("All dead deliveries of a filter are replayed after a confirmation that counts them", async () => {
  const { url, deliver, untilStatus, fix, read } = await openFailing();
  for (const id of ["a", "b", "c"]) await deliver({ endpoint: "dying", id, name: "acme/broken" });
  await deliver({ endpoint: "dying", id: "other", name: "acme/other" });
  for (const id of ["a", "b", "c", "other"]) await untilStatus("dying", id, "dead");
  fix();
  const page = await browser.open(url, { hash: "#/deliveries?repository=acme/broken" });
  await page.getByRole("button", { name: "Replay dead…" }).click();
  const dialog = page.getByRole("dialog", { name: "Replay dead deliveries" });
  await dialog.getByText("3 dead deliveries will run again, each with all its attempts.").waitFor();
  await dialog.getByText("Repository: acme/broken").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect(await read("deliveries")).toMatchObject({ totals: { dead: 4 } });

  await page.getByRole("button", { name: "Replay dead…" }).click();
  await dialog.getByRole("button", { name: "Replay 3", exact: true }).click();
  const toast = toastOf(page, "3 deliveries are queued again.");
  await expect.poll(() => rowsOf(page).getByText("Succeeded").count()).toBe(3);
  await toast.getByRole("link", { name: "Show queued" }).click();
  await page.waitForURL(/#\/deliveries\?.*status=queued,running/);
  await waitFor(async () => expect(await read("deliveries")).toMatchObject({ totals: { dead: 1, succeeded: 3 } }));
});

test("Replayed deliveries leave the list of dead ones, also under the pointer, and the one that is open stays open", async () => {
  const { url, deliver, untilStatus, fix } = await openFailing();
  for (const id of ["a", "b", "c", "d"]) await deliver({ endpoint: "dying", id });
  for (const id of ["a", "b", "c", "d"]) await untilStatus("dying", id, "dead");
  fix();
  const page = await browser.open(url, { hash: "#/deliveries/one?endpoint=dying&id=c&list=status%3Ddead" });
  await rowsOf(page).first().hover();
  expect(await rowsOf(page).count()).toBe(4);
  await page.keyboard.press("r");
  await paneOf(page).getByText("Attempt 2 succeeded").waitFor();
  await expect.poll(() => rowsOf(page).count()).toBe(3);
  const dead = page.getByRole("button", { name: /^Dead/ });
  await expect.poll(() => dead.innerText()).toMatch(/^Dead\s+3$/);
  // The next row is the one that took the place of the open one.
  await page.keyboard.press("j");
  await page.waitForURL(/id=b/);
});

test("A delivery that waits for a retry is discarded, and can be replayed", async () => {
  const { openFirst, fix } = await openFailing();
  const page = await openFirst("retried", "retrying");
  await paneOf(page).getByRole("button", { name: "Discard" }).click();
  await toastOf(page, "The delivery is discarded.").waitFor();
  await rowsOf(page).getByText("Cancelled").waitFor();
  await expect.poll(() => paneOf(page).getByRole("button", { name: "Discard" }).count()).toBe(0);
  fix();
  await paneOf(page).getByRole("button", { name: "Replay", exact: true }).click();
  await paneOf(page).getByText("Attempt 2 succeeded").waitFor();
});

test("A paused endpoint stores its deliveries, and runs them when it is resumed", async () => {
  const { url, deliver, untilStatus } = await openServer((server) => {
    server.webhook("retrain", { background: true }, () => "done");
  });
  const page = await browser.open(url, { hash: "#/endpoints" });
  const card = page.getByRole("article", { name: "retrain" });
  await card.getByRole("button", { name: "Pause" }).click();
  await toastOf(page, "retrain is paused.").waitFor();
  await card.getByText("Paused", { exact: true }).waitFor();
  await deliver({ endpoint: "retrain", id: "first" });
  await untilStatus("retrain", "first", "queued");
  await card.getByText("1 queued · 0 running").waitFor();
  await card.getByRole("button", { name: "Resume" }).click();
  await untilStatus("retrain", "first", "succeeded");
  await card.getByText("0 queued · 0 running").waitFor();
  expect(await card.getByText("Paused", { exact: true }).count()).toBe(0);
});

test("A refused change is shown as a message that stays until it is closed", async () => {
  const { openFirst, server } = await openFailing();
  browser.allow(/status of 404/);
  const page = await openFirst("retried", "retrying");
  await paneOf(page).getByText("Attempt 1 failed").waitFor();
  // Another process removed the delivery in the meantime.
  await page.route("**/api/deliveries/discard", (route) =>
    route.continue({ postData: JSON.stringify({ endpoint: "retried", id: "gone" }) }),
  );
  await paneOf(page).getByRole("button", { name: "Discard" }).click();
  const toast = page.locator(".toast-failed");
  await toast.waitFor();
  await toast.getByRole("button", { name: "Close message" }).click();
  await toast.waitFor({ state: "detached" });
  expect((await server.inbox.get("first"))?.status).toBe("queued");
});
