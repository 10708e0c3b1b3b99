// @module-tag slow

import { readFileSync } from "node:fs";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectAccessible, launchBrowser, looks, narrow, wide } from "../../support/browser.ts";
import { data, openLocalHub, pushed, secret, type TestHub, type TestHubOptions } from "../support/hub.ts";
import { openTarget, type Target } from "../support/target.ts";

let browser: Browser;
/** Every problem that the browser reported: a blocked script or style, a missing asset, an uncaught error. */
let complaints: string[] = [];

beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);

afterAll(async () => {
  await browser?.close();
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  const heard = complaints;
  complaints = [];
  expect(heard).toEqual([]);
});

/** Opens a page that reports its problems. */
async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: wide, ...options });
  // The pauses before a reload or a preview collect changes. Longer ones are timeouts.
  await context.addInitScript(() => {
    const { setTimeout } = window;
    const skipPause = (callback: TimerHandler, milliseconds = 0, ...given: unknown[]) =>
      setTimeout(callback, milliseconds < 500 ? 0 : milliseconds, ...given);
    Object.assign(window, { setTimeout: skipPause });
  });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return page;
}

/** Signs a browser in to a local Hub. */
async function signIn(hub: TestHub, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await newPage(options);
  await page.goto(hub.hub.createConsoleLink());
  await page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
  return page;
}

/** Opens a route, and waits for its heading. */
async function visit(page: Page, hash: string, heading: string): Promise<void> {
  await page.evaluate((target) => {
    location.hash = target;
  }, hash);
  await page.getByRole("heading", { name: heading, exact: true }).waitFor();
}

interface Filled {
  hub: TestHub;
  target: Target;
  webhookId: string;
  jobId: string;
}

/** Opens a local Hub with something in each view. */
async function openFilled(options: TestHubOptions = {}): Promise<Filled> {
  const hub = await openLocalHub({ attempts: 1, runJobs: true, ...options });
  const target = await openTarget(200, 500);
  const { id } = await hub.create({ url: target.url, secret });
  const other = await hub.create({ url: target.url, domains: ["discussion"] });
  await hub.setState(other.id, "disable");
  const jobId = await hub.runJob({ command: ["sh", "-c", "echo one"], dockerImage: "python" });
  await hub.trigger();
  await hub.trigger({ repo: data, event: { scope: "discussion", action: "create" } });
  return { hub, target, webhookId: id, jobId };
}

/**
 * Checks a view with axe. The window is high enough for the whole view, because axe cannot measure the contrast of texts that are
 * scrolled out of view. On a narrow screen, the navigation scrolls to the current view, and its other links can stay out of view, and
 * axe takes the clipped lines of the editor for an element above the heading below it.
 */
async function check(page: Page, name: string): Promise<void> {
  const size = page.viewportSize() ?? wide;
  expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBe(size.width);
  await page.setViewportSize({ ...size, height: 5_000 });
  await expectAccessible(page, {
    overlapped: size.width < 700 ? [/#\/(webhooks|events|jobs|repositories)"/, /^#recipients-title$/] : [],
  });
  await page.setViewportSize(size);
}

function pane(page: Page, name: string): Locator {
  return page.getByRole("region", { name, exact: true });
}

describe("Each view is accessible", () => {
  test.each(looks)("in $colorScheme, $width pixels wide", async ({ colorScheme, viewport }) => {
    const { hub, webhookId, jobId } = await openFilled();
    const page = await signIn(hub, { colorScheme, viewport });
    const logId = hub.hub.deliveries(webhookId)[0]?.logId;
    await page.getByRole("table").waitFor();
    await check(page, "webhooks");
    await visit(page, `#/webhooks/one?id=${webhookId}&log=${logId}`, "Payload");
    await check(page, "webhook");
    await visit(page, "#/events", "Events");
    await page.getByRole("table").waitFor();
    await check(page, "events");
    await page.getByRole("link", { name: "discussion create" }).click();
    await page.getByRole("heading", { name: "Deliveries" }).waitFor();
    await check(page, "event");
    await visit(page, "#/repositories", "Repositories");
    await page.getByRole("table").waitFor();
    await check(page, "repositories");
    await visit(page, "#/repositories/one?type=dataset&name=me/data", "Repository");
    await page.getByRole("link", { name: ".gitattributes" }).waitFor();
    await check(page, "files");
    await visit(page, "#/repositories/one?type=dataset&name=me/data&part=commits&commit=main", "Update the data");
    await page.locator(".diff").first().waitFor();
    await check(page, "commit");
    await visit(page, "#/repositories/one?type=dataset&name=me/data&part=discussions", "Repository");
    await page.getByRole("link", { name: /#1/ }).click();
    await page.getByRole("list", { name: "Comments and changes" }).waitFor();
    await check(page, "discussion");
    await visit(page, "#/jobs", "Jobs");
    await page.getByRole("table").waitFor();
    await check(page, "jobs");
    await visit(page, `#/jobs/one?id=${jobId}`, "Log");
    await check(page, "job");
    await visit(page, "#/send", "Send an event");
    await page.getByText("1 of 2 recipients get the event.").waitFor();
    await check(page, "send");
    await page.getByRole("button", { name: "Write a file" }).click();
    await page.getByRole("button", { name: "Record a scenario" }).click();
    await page.getByText("Recording 0 steps").waitFor();
    await check(page, "send files and record");
    await page.getByRole("button", { name: "Stop recording" }).click();
    await visit(page, "#/webhooks", "Webhooks");
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Create webhook" }).click();
    await page.getByRole("alert").waitFor();
    complaints = complaints.filter((complaint) => !complaint.includes("status of 422"));
    await check(page, "form");
  });

  test("when it is empty", async () => {
    const hub = await openLocalHub();
    const page = await signIn(hub, { viewport: narrow });
    for (const [hash, title] of [
      ["#/webhooks", "No webhooks yet"],
      ["#/events", "No events yet"],
      ["#/jobs", "No jobs yet"],
    ] as const) {
      await visit(page, hash, title);
      expect(await page.getByRole("button", { name: "Copy command" }).count()).toBe(1);
      await check(page, title);
    }
  });
});

test("Without a sign-in, the console shows no data, and the old address redirects to it", async () => {
  const { hub, webhookId } = await openFilled();
  const page = await newPage();
  await page.goto(`${hub.url}/`);
  await page.getByRole("heading", { name: "hub-webhooks console" }).waitFor();
  expect(page.url()).toMatch(/\/_console\/(#.*)?$/);
  expect(await page.content()).not.toContain(webhookId);
});

describe("Webhooks", () => {
  test("are created with a form that shows problems at their fields", async () => {
    const hub = await openLocalHub();
    const target = await openTarget();
    const page = await signIn(hub);
    await page.getByRole("button", { name: "Create webhook" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("URL").fill("ftp://example.com");
    await dialog.getByRole("button", { name: "Create webhook" }).click();
    await dialog.getByText("expected a percent-encoded http or https URL").waitFor();
    expect(await dialog.getByLabel("URL").getAttribute("aria-invalid")).toBe("true");
    expect(await dialog.getByLabel("Name 1").getAttribute("aria-invalid")).toBe("true");
    complaints = complaints.filter((complaint) => !complaint.includes("status of 422"));

    await dialog.getByLabel("URL").fill(target.url);
    await dialog.getByLabel("Name 1").fill("me/data");
    await dialog.getByRole("button", { name: "Watch more" }).click();
    await dialog.getByLabel("Type 2").selectOption("org");
    await dialog.getByLabel("Name 2").fill("acme");
    await dialog.getByLabel("discussion:").uncheck();
    await dialog.getByLabel("Secret").fill(secret);
    const pressed = Promise.withResolvers<void>();
    await page.route("**/api/webhooks", async (route) => {
      await pressed.promise;
      await route.continue();
    });
    // A second press while the webhook is created must not create another one.
    for (let press = 0; press < 2; press += 1) await dialog.getByLabel("Secret").press("Enter");
    pressed.resolve();
    await pane(page, "Webhook").getByText("Nothing is delivered yet.").waitFor();
    expect((await hub.request("GET /api/settings/webhooks")).body).toMatchObject([
      {
        url: target.url,
        secret,
        domains: ["repo"],
        watched: [data, { type: "org", name: "acme" }],
        disabled: false,
      },
    ]);
    expect(await page.content()).not.toContain(secret);
  });

  test("are disabled, enabled, suspended, edited, and deleted", async () => {
    const { hub, target, webhookId } = await openFilled();
    const page = await signIn(hub);
    await visit(page, `#/webhooks/one?id=${webhookId}`, "Webhook");
    const details = pane(page, "Webhook");
    await details.getByRole("button", { name: "Disable" }).click();
    await details.getByText("Events do not fire this webhook").waitFor();
    expect(await hub.get(webhookId)).toMatchObject({ disabled: true });
    await details.getByRole("button", { name: "Enable" }).click();
    await details.getByRole("button", { name: "Suspend" }).click();
    await details.getByText("The webhook is suspended, as the Hub does").waitFor();
    expect(await hub.get(webhookId)).toMatchObject({ disabled: "suspended-after-failure" });
    await page.getByRole("row", { name: /Suspended/ }).waitFor();
    await details.getByRole("button", { name: "Enable" }).click();
    await details.getByRole("button", { name: "Disable" }).waitFor();

    await details.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("URL").fill(`${target.url}/next`);
    await dialog.getByLabel("Remove the secret").check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await details.getByText(`${target.url}/next`).first().waitFor();
    expect(await hub.get(webhookId)).not.toHaveProperty("secret");

    await details.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await details.waitFor({ state: "detached" });
    expect((await hub.request("GET /api/settings/webhooks")).body).toHaveLength(1);
  });

  test("show their attempts live, and replay them", async () => {
    const hub = await openLocalHub({ attempts: 1 });
    const target = await openTarget(500, 202);
    const { id } = await hub.create({ url: target.url });
    const page = await signIn(hub);
    await visit(page, `#/webhooks/one?id=${id}`, "Webhook");
    await hub.trigger();
    const details = pane(page, "Webhook");
    await details.getByRole("link", { name: /repo.content update/ }).click();
    await details.getByText("the receiver answered 500").waitFor();
    await details.getByRole("button", { name: "Replay" }).click();
    await page.getByText("Replayed. The receiver returned 202.").waitFor();
    await details.getByRole("link", { name: /attempt 2/ }).waitFor();
    expect(target.requests).toHaveLength(2);
  });

  test("are selected with j and k, opened with Enter, closed with Escape, and filtered with /", async () => {
    const { hub } = await openFilled();
    const page = await signIn(hub);
    await page.getByRole("table").waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.closest("tr")?.rowIndex);
    // Shortcuts apply after the first paint of their part of the page, so the first key is repeated until it applies.
    await expect.poll(() => page.keyboard.press("j").then(focused)).toBeDefined();
    await page.keyboard.press("j");
    expect(await focused()).toBe(2);
    await page.keyboard.press("k");
    expect(await focused()).toBe(1);
    await page.keyboard.press("Enter");
    const details = pane(page, "Webhook");
    await details.waitFor();
    await expect.poll(() => page.keyboard.press("Escape").then(() => details.count())).toBe(0);
    await page.keyboard.press("/");
    await page.keyboard.type("disabled");
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    expect(page.url()).toContain("#/webhooks?search=disabled");
  });
});

describe("Repositories", () => {
  const repo = "/api/datasets/me/data";

  /** Commits text files as a bot, by default to the main branch. */
  async function commit(hub: TestHub, files: Readonly<Record<string, string>>, query = ""): Promise<void> {
    const list = Object.entries(files).map(([path, content]) => ({ path, content, encoding: "utf-8" }));
    const answer = await hub.request(`POST ${repo}/commit/main${query}`, {
      body: { summary: "Update the card", description: "As asked.", files: list },
    });
    expect(answer.status, answer.text).toBe(200);
  }

  const post = (hub: TestHub, path: string, body: object) => hub.request(`POST ${repo}${path}`, { body });

  test("show what a bot writes while it writes: files, the diff of a commit, a thread, and a pull request", async () => {
    const { hub } = await openFilled();
    const page = await signIn(hub);
    await visit(page, "#/repositories", "Repositories");
    await page.getByRole("link", { name: "me/data" }).click();
    const details = pane(page, "Repository");
    await details.getByRole("link", { name: ".gitattributes" }).waitFor();

    await commit(hub, { "cards/README.md": "# Data\n<b>one</b>\n" });
    await details.getByRole("link", { name: "cards" }).click();
    await details.getByRole("link", { name: "README.md" }).click();
    await details.getByText("<b>one</b>").waitFor();
    await commit(hub, { "cards/README.md": "# Data\ntwo\n" });
    await details.getByText("# Data\ntwo").waitFor();
    const download = page.waitForEvent("download");
    await details.getByRole("link", { name: "Download" }).click();
    expect((await download).suggestedFilename()).toBe("README.md");
    await page.goBack();
    await details.getByRole("link", { name: "README.md" }).waitFor();

    await details.getByRole("link", { name: "Commits" }).click();
    const commits = details.getByRole("link", { name: /Update the card/ });
    await expect.poll(() => commits.count()).toBe(2);
    await commits.first().click();
    await details.getByText("+two", { exact: true }).waitFor();
    await details.getByText("-<b>one</b>", { exact: true }).waitFor();
    // The focus stays in the part of the page that the link has replaced.
    expect(await page.evaluate(() => document.activeElement?.className)).toBe("repository-part");
    await page.reload();
    await details.getByText("As asked.").waitFor();

    await details.getByRole("link", { name: /^Discussions/ }).click();
    await details.getByRole("link", { name: /#1/ }).click();
    await post(hub, "/discussions/1/comment", { comment: "<i>Reviewed</i>" });
    await details.getByText("<i>Reviewed</i>", { exact: true }).waitFor();
    await post(hub, "/discussions/1/title", { title: "Is it reviewed?" });
    await details.getByText(/Changed the title from .* to “Is it reviewed\?”/).waitFor();
    await post(hub, "/discussions/1/status", { status: "closed" });
    await details.getByRole("heading", { name: "Is it reviewed? closed" }).waitFor();

    await commit(hub, { "cards/README.md": "# Data\nthree\n" }, "?create_pr=1");
    await details.getByRole("link", { name: /^Discussions 2/ }).click();
    await details.getByRole("link", { name: /#2 Update the card draft|#2 Update the card open/ }).click();
    await details.getByText("+three", { exact: true }).waitFor();
    await details.getByRole("link", { name: "refs/pr/2" }).click();
    await expect.poll(() => details.getByLabel("Branch, tag, or pull request").inputValue()).toBe("refs/pr/2");
    await page.goBack();
    await post(hub, "/discussions/2/merge", {});
    await details.getByRole("heading", { name: "Update the card merged" }).waitFor();
    await details.getByText("Changed the status to merged.").waitFor();
    await details.getByText("+three", { exact: true }).waitFor();
  });

  test("show more commits, and all lines of a long diff, when asked", async () => {
    const hub = await openLocalHub();
    await hub.trigger();
    for (let version = 1; version <= 50; version += 1) await commit(hub, { "version.txt": `${version}` });
    await commit(hub, { "numbers.txt": Array.from({ length: 301 }, (_, index) => `number ${index}\n`).join("") });
    const page = await signIn(hub);
    await visit(page, "#/repositories/one?type=dataset&name=me/data&part=commits", "Repository");
    const details = pane(page, "Repository");
    await details.getByRole("button", { name: "Show more" }).click();
    await details.getByText("initial commit").waitFor();
    expect(await details.getByRole("button", { name: "Show more" }).count()).toBe(0);
    await details
      .getByRole("link", { name: /Update the card/ })
      .first()
      .click();
    await details.getByText("+number 0", { exact: true }).waitFor();
    expect(await details.getByText("+number 300", { exact: true }).count()).toBe(0);
    await details.getByRole("button", { name: "Show all 302" }).click();
    await details.getByText("+number 300", { exact: true }).waitFor();
  });

  test("load their code again after it could not be loaded", async () => {
    const { hub } = await openFilled();
    const page = await signIn(hub);
    await page.route("**/assets/repositories-view-*.js", (route) => route.abort());
    await page.getByRole("navigation").getByRole("link", { name: "Repositories" }).click();
    await page.getByText("NOT_LOADED").waitFor();
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("link", { name: "me/data" }).waitFor();
    complaints = complaints.filter((complaint) => !complaint.includes("ERR_FAILED"));
  });

  test("follow a new name, and show what no longer exists with the next step", async () => {
    const { hub } = await openFilled();
    await post(hub, "/branch/dev", {});
    const page = await signIn(hub);
    await visit(page, "#/repositories/one?type=bucket&name=acme/uploads", "No commits");
    await post(hub, "/discussions", { title: "An empty draft", description: "", pullRequest: true });
    await visit(page, "#/repositories/one?type=dataset&name=me/data&part=discussions&num=2", "Changes");
    const details = pane(page, "Repository");
    await details.getByText("0 files changed. Push a commit to refs/pr/2.").waitFor();
    await details.getByRole("link", { name: "Files" }).click();
    await details.getByLabel("Branch, tag, or pull request").selectOption("dev");
    await page.waitForURL(/ref=refs\/heads\/dev/);
    await details.getByRole("link", { name: ".gitattributes" }).waitFor();
    await hub.request(`DELETE ${repo}/branch/dev`);
    await details.getByRole("heading", { name: "This no longer exists" }).waitFor();
    await details.getByRole("link", { name: "Open the files of the repository" }).click();
    await details.getByRole("link", { name: ".gitattributes" }).waitFor();

    await hub.request("POST /api/repos/move", { body: { fromRepo: "me/data", toRepo: "me/moved", type: "dataset" } });
    await page.waitForURL(/name=me\/moved/);
    await details.getByRole("link", { name: ".gitattributes" }).waitFor();
    await hub.request("DELETE /api/repos/delete", { body: { type: "dataset", name: "moved", organization: "me" } });
    await details.getByText("Open another one from the list.").waitFor();
    complaints = complaints.filter((complaint) => !complaint.includes("status of 404"));
  });
});

test("Jobs show their log while they run", async () => {
  const hub = await openLocalHub({ runJobs: true });
  const page = await signIn(hub);
  await visit(page, "#/jobs", "Jobs");
  // The job ends when its input file exists, so the test does not depend on timing.
  const script = 'echo first; until [ -e "$DONE" ]; do sleep 0.05; done; echo second';
  const done = `/tmp/hub-webhooks-${crypto.randomUUID()}`;
  await hub.runJob({ command: ["sh", "-c", script], dockerImage: "python", environment: { DONE: done } });
  await page.getByRole("link", { name: /echo first/ }).click();
  const details = pane(page, "Job");
  const log = details.getByRole("region", { name: "Lines of the log" });
  await log.getByText("first").waitFor();
  await details.locator(".delivery-title").getByText("Running").waitFor();
  expect(await log.textContent()).not.toContain("second");
  await hub.runJob({ command: ["touch", done], dockerImage: "python" });
  await log.getByText("second").waitFor();
  await details.locator(".delivery-title").getByText("Completed").waitFor();
  await hub.runJob({ command: ["rm", done], dockerImage: "python" });
});

test("Events appear with their deliveries, and have another word for a failed one than the list of deliveries", async () => {
  const { hub, target } = await openFilled();
  const page = await signIn(hub);
  await visit(page, "#/events", "Events");
  const row = page.getByRole("row").filter({ hasText: "discussion create" });
  await row.getByText("Not delivered").waitFor();
  expect(await row.getByText("Dead").count()).toBe(0);
  await page.getByRole("link", { name: "discussion create" }).click();
  const details = pane(page, "Event");
  await details.getByText("Not delivered").first().waitFor();
  await hub.trigger({ repo: data, event: { scope: "repo", action: "update" } });
  await page.getByRole("link", { name: "repo update", exact: true }).click();
  await details.getByText("Its domains exclude this event.").waitFor();
  await details
    .getByRole("link", { name: new RegExp(target.url) })
    .first()
    .click();
  await pane(page, "Webhook").waitFor();
});

describe("Send", () => {
  test("previews the recipients, shows problems at their lines, and sends the change", async () => {
    const { hub, target, webhookId } = await openFilled();
    target.answerWith(200);
    const sent = target.requests.length;
    const page = await signIn(hub);
    await visit(page, "#/send", "Send an event");
    await page.getByLabel("Scope").selectOption("discussion.comment");
    const editor = page.getByRole("textbox", { name: "Payload" });
    await expect.poll(() => editor.inputValue()).toContain('"scope": "discussion.comment"');
    await page.getByText("1 of 2 recipients get the event.").waitFor();
    const text = await editor.inputValue();

    await editor.fill(text.replace('"private": false', '"private": "no"'));
    await page.getByText("repo.private: expected boolean, received string").first().waitFor();
    await editor.fill(text.replace(/"content": ".*"/, '"content": "@bot hello"'));
    await page.getByText("Sending makes this change in the local Hub.").waitFor();
    await page.getByText("Disabled.").waitFor();
    await page.getByRole("button", { name: "Send event" }).click();
    const result = page.getByRole("region", { name: "Sent" });
    await result.getByText("Succeeded").waitFor();
    expect(JSON.parse(target.requests.slice(sent)[0]?.body ?? "")).toMatchObject({
      comment: { content: "@bot hello" },
    });
    await result.getByRole("link", { name: new RegExp(target.url) }).click();
    await page.getByRole("heading", { name: "Payload" }).waitFor();
    expect(page.url()).toContain(`#/webhooks/one?id=${webhookId}&log=`);
  });

  test("pushes written, chosen, and deleted files, also as a pull request", async () => {
    const { hub, target } = await openFilled();
    target.answerWith(200);
    const sent = target.requests.length;
    const page = await signIn(hub);
    await visit(page, "#/send", "Send an event");
    const files = page.getByRole("region", { name: "Files" });
    await files.getByRole("button", { name: "Write a file" }).click();
    await files.getByText("Write the path of each file").waitFor();
    expect(await page.getByRole("button", { name: "Send event" }).getAttribute("aria-disabled")).toBe("true");
    await files.getByLabel("Path").fill("data/train.csv");
    await files.getByLabel("Content of data/train.csv").fill("id;text");
    const chooser = page.waitForEvent("filechooser");
    await files.getByText("Choose files").click();
    await (await chooser).setFiles({ name: "a.bin", mimeType: "", buffer: Buffer.from([0, 255]) });
    await files.getByText("2 bytes").waitFor();
    // The files are created in the page, because their way there takes longer than the test.
    const drop = async (dropped: { name: string; text: string; count: number }) => {
      const dataTransfer = await page.evaluateHandle(({ name, text, count }) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([text.repeat(count)], name));
        return transfer;
      }, dropped);
      await files.dispatchEvent("drop", { dataTransfer });
    };
    await drop({ name: "big.bin", text: "\0", count: 8_000_000 });
    await files.getByText("the console sends up to").waitFor();
    await files.getByRole("button", { name: "Remove big.bin" }).click();
    await drop({ name: "dropped.txt", text: "x", count: 1 });
    await files.getByRole("button", { name: "Remove dropped.txt" }).waitFor();
    await files.getByRole("button", { name: "Delete a file" }).click();
    await files.getByLabel("Path").last().fill("data/latest.txt");
    await page.getByText("Sending makes this change in the local Hub.").waitFor();
    await page.getByRole("button", { name: "Send event" }).click();
    await page.getByRole("region", { name: "Sent" }).getByText("Succeeded").waitFor();
    const { headSha } = JSON.parse(target.requests[sent]?.body ?? "").repo;
    const tree = await hub.request(`GET /api/datasets/me/data/tree/${headSha}?recursive=true`);
    const paths = JSON.stringify(tree.body).match(/(?<="path":")[^"]*/g);
    expect(paths).toEqual(expect.arrayContaining(["a.bin", "data/train.csv", "dropped.txt"]));
    expect(paths).not.toContain("data/latest.txt");

    // As long as it is in the list, the local Hub refuses each preview, because the file is gone.
    const accepted = page.waitForResponse((answer) => answer.url().endsWith("send/preview") && answer.ok());
    await files.getByLabel("Remove data/latest.txt").click();
    await accepted;
    complaints = complaints.filter((text) => !text.includes("400 (Bad Request)"));
    await files.getByLabel("Content of data/train.csv").fill("id;other");
    await files.getByLabel("As a pull request").check();
    const editor = page.getByRole("textbox", { name: "Payload" });
    await expect.poll(() => editor.inputValue()).toContain('"isPullRequest": true');
    await page.getByRole("button", { name: "Send event" }).click();
    await expect.poll(() => target.requests.at(-1)?.body).toContain("refs/pr/2");
    await editor.fill((await editor.inputValue()).replace("{", '{ "future": 1,'));
    await files.getByText("the local Hub cannot push the files").waitFor();
    await page.getByLabel("Scope").selectOption("repo");
    await files.waitFor({ state: "detached" });
  });

  test("runs a scenario file, shows the failed step, and where a broken file is broken", async () => {
    const { hub, target } = await openFilled();
    target.answerWith(200, 500);
    const page = await signIn(hub);
    // The files are below the folder in which the local Hub starts.
    const push = { repo: data, event: { scope: "repo.content", action: "update" } };
    await page.route("**/api/scenarios", (route) =>
      route.fulfill({ json: { folder: "/", files: ["a.scenario.json", "b.scenario.json"], isCut: false } }),
    );
    await page.route("**/api/scenarios/one?file=b*", (route) =>
      route.fulfill({ json: { steps: [], invalidJson: '{\n  "events": [,]\n}' } }),
    );
    await page.route("**/api/scenarios/one?file=a*", (route) =>
      route.fulfill({ json: { steps: ["one", "two", "three"] } }),
    );
    await page.route("**/api/scenarios/step", async (route) => {
      const { step } = route.request().postDataJSON();
      if (step === 2)
        return route.fulfill({ status: 400, json: { error: "There is no file x.", code: "ARGUMENT_INVALID" } });
      const [delivery] = await hub.hub.trigger(push);
      const problems = delivery?.status === 200 ? [] : [`status ${delivery?.status}`];
      return route.fulfill({ json: { deliveries: 1, problems } });
    });
    await visit(page, "#/send", "Send an event");
    const section = page.getByRole("region", { name: "Scenarios" });
    await section.getByLabel("Scenario").selectOption("b.scenario.json");
    await section.getByText("Line 2: ").waitFor();
    await section.getByLabel("Scenario").selectOption("a.scenario.json");
    await section.getByRole("button", { name: "Run 3 steps" }).click();
    await expect
      .poll(() => section.getByRole("listitem").allInnerTexts())
      .toEqual([
        expect.stringMatching(/^Succeeded\s+one$/),
        expect.stringMatching(/^Failed\s+two\s+status 500$/),
        expect.stringMatching(/^Failed\s+three\s+There is no file x.$/),
      ]);
    expect(complaints.splice(0)).toEqual([expect.stringContaining("400")]);
  });

  test("records a scenario, and offers it as a file", async () => {
    const { hub } = await openFilled();
    const page = await signIn(hub);
    await visit(page, "#/send", "Send an event");
    const section = page.getByRole("region", { name: "Scenarios" });
    await section.getByRole("button", { name: "Record a scenario" }).click();
    await section.getByText("Recording 0 steps").waitFor();
    await hub.trigger({ ...pushed, files: { "data/train.csv": "id;text" } });
    await section.getByText("Recording 2 steps").waitFor();
    await section.getByRole("button", { name: "Stop recording" }).click();
    const download = page.waitForEvent("download");
    await section.getByRole("button", { name: "Download" }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe("recorded.scenario.json");
    const scenario = JSON.parse(readFileSync(await file.path(), "utf8"));
    expect(scenario.events).toMatchObject([{ silent: true }, { files: { "data/train.csv": "id;text" } }]);
    await section.getByRole("button", { name: "Copy scenario" }).waitFor();
  });

  test("keeps the preview of the current text when the answer for an earlier one is late", async () => {
    const { hub } = await openFilled();
    const page = await signIn(hub);
    const late = Promise.withResolvers<void>();
    await page.route("**/send/preview", async (route) => {
      if (route.request().postData()?.includes('\\"private\\": \\"no\\"')) await late.promise;
      await route.continue();
    });
    await visit(page, "#/send", "Send an event");
    await page.getByText("1 of 2 recipients get the event.").waitFor();
    const editor = page.getByRole("textbox", { name: "Payload" });
    const text = await editor.inputValue();
    const earlier = page.waitForRequest("**/send/preview");
    await editor.fill(text.replace('"private": false', '"private": "no"'));
    await earlier;
    const current = page.waitForResponse("**/send/preview");
    await editor.fill(text);
    await current;
    const stale = page.waitForResponse("**/send/preview");
    late.resolve();
    await (await stale).finished();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    expect(await page.getByText("expected boolean, received string").count()).toBe(0);
    expect(await page.getByText("1 of 2 recipients get the event.").count()).toBe(1);
  });

  test("starts from a past delivery, and sends it as it is, with the keyboard", async () => {
    const { hub, target, webhookId } = await openFilled();
    target.answerWith(200);
    const page = await signIn(hub);
    const [latest] = hub.hub.deliveries(webhookId);
    await visit(page, `#/webhooks/one?id=${webhookId}&log=${latest?.logId}`, "Payload");
    await page.getByRole("link", { name: "Edit and send" }).click();
    await page.getByText("This is the payload of a past delivery.").waitFor();
    const editor = page.getByRole("textbox", { name: "Payload" });
    await editor.fill((await editor.inputValue()).replace('"title": "Add a data card"', '"title": "Another"'));
    await page.getByText("Sending delivers this payload as it is.").waitFor();
    const sent = target.requests.length;
    await editor.press("Control+Enter");
    await page.getByRole("region", { name: "Sent" }).getByText("Succeeded").waitFor();
    expect(JSON.parse(target.requests[sent]?.body ?? "")).toMatchObject({ discussion: { title: "Another" } });
  });

  test("starts from a sample, explains an invalid repository, keeps replaced edits, and follows changes of webhooks", async () => {
    const hub = await openLocalHub();
    const page = await signIn(hub);
    await visit(page, "#/send", "Send an event");
    await expect.poll(() => page.getByLabel("Scope").evaluate((field) => field === document.activeElement)).toBe(true);
    const editor = page.getByRole("textbox", { name: "Payload" });
    await page.getByLabel("Sample").selectOption("repo.content update (bucket)");
    await expect.poll(() => editor.inputValue()).toMatch(/"updatedFiles": \[\s+\{\s+"path": .*\s+"action": "add"/);
    expect(await page.getByLabel("Repository").inputValue()).toBe("bucket:acme/data");
    await page.getByText("Nothing would receive the event.").waitFor();
    await hub.create({ url: "http://127.0.0.1:1/hook", watched: [{ type: "org", name: "acme" }] });
    await page.getByText("1 of 1 recipient gets the event.").waitFor();
    await editor.fill("{}");
    await page.getByLabel("Action").press("Tab");
    await page.getByLabel("Scope").selectOption("repo.config");
    await page.getByRole("button", { name: "Restore the previous edits" }).click();
    await expect.poll(() => editor.inputValue()).toBe("{}");
    await page.getByLabel("Repository").fill("nonsense");
    await page.getByText("Write type:owner/name, such as dataset:acme/data.").waitFor();
    expect(await page.getByLabel("Repository").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByRole("button", { name: "Send event" }).getAttribute("aria-disabled")).toBe("true");
    await page.getByLabel("Repository").fill("datset:acme/data");
    await page.getByText('Unknown type "datset".').waitFor();
  });
});

describe("Hostile text", () => {
  const hostile = `<img src=x onerror="document.title='run'"> \u202e\u0007 </script><script>document.title='run'</script>`;

  test("of a payload, a response, and a repository is shown as text and never runs", async () => {
    const hub = await openLocalHub({ attempts: 1 });
    const target = await openTarget((_request, response) => response.writeHead(500, { "x-note": "<b>" }).end(hostile));
    const { id } = await hub.create({ url: target.url });
    const event = { scope: "discussion", action: "create" } as const;
    await hub.trigger({ repo: data, event, discussion: { title: hostile }, comment: { content: hostile } });
    const path = "<img src=x>/\u202e?#&%2e.html";
    await hub.request("POST /api/datasets/me/data/commit/main", {
      body: { summary: hostile, description: hostile, files: [{ path, content: hostile, encoding: "utf-8" }] },
    });
    const page = await signIn(hub, { viewport: narrow });
    const [latest] = hub.hub.deliveries(id);
    const repository = "#/repositories/one?type=dataset&name=me/data";
    for (const [hash, heading] of [
      [`#/webhooks/one?id=${id}&log=${latest?.logId}`, "Response"],
      [repository, "Repository"],
      [`${repository}&path=${encodeURIComponent("<img src=x>")}`, "Repository"],
      [`${repository}&file=${encodeURIComponent(path)}`, "Repository"],
      [`${repository}&part=commits`, "Repository"],
      [`${repository}&part=commits&commit=main`, "Repository"],
      [`${repository}&part=discussions`, "Repository"],
      [`${repository}&part=discussions&num=1`, "Repository"],
      ["#/events", "Events"],
      [`#/send?from-webhook=${id}&from-log=${latest?.logId}`, "Recipients"],
    ] as const) {
      await visit(page, hash, heading);
      if (hash.startsWith(repository)) await page.locator("main").getByText("<img src=x").last().waitFor();
      expect(await page.locator("main img, main script").count()).toBe(0);
      expect(await page.locator("main").innerText()).not.toMatch(/[\u0007\u202e]/);
      expect(await page.title()).not.toBe("run");
    }
  });
});
