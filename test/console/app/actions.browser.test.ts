// @module-tag slow

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { openServer, paneOf, rowsOf, shareBrowser, toastOf } from "./open-console.ts";

const browser = shareBrowser();

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

test("A dead delivery is replayed, and its pane shows the new attempt", async () => {
  const { openFirst, fix } = await openFailing();
  const page = await openFirst("dying", "dead");
  await paneOf(page).getByText("Attempt 1 failed").waitFor();
  fix();
  await paneOf(page).getByRole("button", { name: "Replay", exact: true }).click();
  await toastOf(page, "The delivery runs again.").waitFor();
  await paneOf(page).getByText("Attempt 2 succeeded").waitFor();
  await rowsOf(page).getByText("Succeeded").waitFor();
});

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
  await page.route("**/api/deliveries/replay-edited", async (route) => {
    sent.push(route.request().url());
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.continue();
  });
  const { editor } = await openEditor(page);
  await editor.focus();
  for (let press = 0; press < 3; press += 1) await page.keyboard.press("Control+Enter");
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
