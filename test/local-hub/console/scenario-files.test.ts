import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { HubClient } from "../../../src/hub/client.ts";
import { hubResources } from "../../../src/local-hub/console/hub-console.ts";
import { listScenarioFiles, readScenarioFile } from "../../../src/local-hub/console/scenario-files.ts";
import { parseScenario } from "../../../src/local-hub/events/event-request.ts";
import { contextOf } from "../../../src/local-hub/hub-context.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { ConsoleClient } from "../support/console-client.ts";
import { openLocalHub, pushed } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

const scenario = JSON.stringify({ events: [pushed, { ...pushed, files: { "a.txt": "a", "b.txt": null } }] });

/** Writes files to a new folder. */
function write(files: Readonly<Record<string, string>>): string {
  const folder = createFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

describe("The scenario files of a folder", () => {
  test("have a name or a folder of their own, and are not in dependencies or hidden folders", () => {
    const listed = ["a.scenario.json", "one/scenarios/c.json", "one/two/b.scenario.json", "scenarios/d.json"];
    const others = ["e.json", "scenarios/f.txt", "scenarios/deep/g.json", "node_modules/h.scenario.json"];
    const hidden = [".git/i.scenario.json", "1/2/3/4/5/6/j.scenario.json"];
    const folder = write(Object.fromEntries([...listed, ...others, ...hidden].map((path) => [path, scenario])));
    expect(listScenarioFiles(folder)).toEqual({ files: listed, isCut: false });
  });

  test("are never outside of the folder", () => {
    const outside = write({ "secret.scenario.json": scenario });
    const folder = write({ "a.scenario.json": scenario });
    symlinkSync(outside, join(folder, "scenarios"));
    symlinkSync(join(outside, "secret.scenario.json"), join(folder, "b.scenario.json"));
    expect(listScenarioFiles(folder).files).toEqual(["a.scenario.json"]);
    for (const path of [
      "b.scenario.json",
      "scenarios/secret.scenario.json",
      `../${outside}/secret.scenario.json`,
      "x",
    ]) {
      expect(() => readScenarioFile(folder, path), path).toThrow(expect.objectContaining({ status: 404 }));
    }
  });

  test("are at most 100", () => {
    const names = Array.from({ length: 101 }, (_, index) => `${index}.scenario.json`);
    const { files, isCut } = listScenarioFiles(write(Object.fromEntries(names.map((name) => [name, scenario]))));
    expect([files.length, isCut]).toEqual([100, true]);
  });

  test("of a folder that does not exist are an empty list", () => {
    expect(listScenarioFiles("/missing/folder")).toEqual({ files: [], isCut: false });
  });

  test.each([
    ['{\n  "events": [,]\n}', /not valid JSON/],
    [JSON.stringify({ events: [pushed, { ...pushed, event: { scope: "repo" } }] }), /events\[1\]\.event\.action/],
    ["[]", /scenario/],
  ])("name the invalid fields of %j", (text, message) => {
    const error = expect.objectContaining({ status: 400, message: expect.stringMatching(message) });
    expect(() => readScenarioFile(write({ "a.scenario.json": text }), "a.scenario.json")).toThrow(error);
  });
});

test("The steps of a scenario run one by one, and report failed deliveries", async () => {
  const hub = await openLocalHub({ attempts: 1 });
  const target = await openTarget(200, 500);
  await hub.create({ url: target.url });
  const file = "a.scenario.json";
  const app = new Hono();
  const broken = { ...pushed, files: { "../x": "" } };
  const folder = write({
    [file]: scenario,
    "b.scenario.json": JSON.stringify({ events: [broken] }),
    "c.scenario.json": "{",
  });
  for (const add of hubResources(contextOf(hub.hub), { folder })) add(app);
  app.onError((error) => Response.json({ status: Reflect.get(error, "status"), error: error.message }));
  const get = async (path: string) => (await app.request(path)).json();
  const run = async (body: object) =>
    (await app.request("/scenarios/step", { method: "POST", body: JSON.stringify(body) })).json();
  expect(await get("/scenarios")).toEqual({
    folder,
    files: [file, "b.scenario.json", "c.scenario.json"],
    isCut: false,
  });
  const push = "repo.content update of dataset:me/data";
  expect(await get(`/scenarios/one?file=${file}`)).toEqual({ steps: [push, `${push}: a.txt, without b.txt`] });
  expect(await get("/scenarios/one?file=c.scenario.json")).toEqual({ steps: [], invalidJson: "{" });
  expect(await run({ file, step: 0 })).toEqual({ deliveries: 1, problems: [] });
  // The file to delete does not exist.
  expect(await run({ file, step: 1 })).toMatchObject({ status: 400 });
  expect(await run({ file, step: 0 })).toMatchObject({ problems: [expect.stringContaining("500")] });
  expect(await run({ file: "b.scenario.json", step: 0 })).toMatchObject({ status: 400 });
  expect(await run({ file, step: 2 })).toMatchObject({ status: 400, error: expect.stringContaining("step 3") });
});

test("The console records what happens on the local Hub, and names what it left out", async () => {
  const { hub, url } = await openLocalHub();
  const client = await ConsoleClient.signIn(hub.createConsoleLink());
  expect((await client.get("recording")).body).toEqual({});
  await client.post("recording/start", {});
  await hub.trigger(pushed);
  const bot = new HubClient({ hubUrl: url, token: "hf_server" }).repo(pushed.repo);
  await bot.openDiscussion({ title: "Thank you", marker: "thanks" });
  const account = new HubClient({ hubUrl: url, token: "hf_local" }).repo(pushed.repo);
  await account.comment(1, "You are welcome.");
  expect((await client.get("recording")).body).toEqual({ steps: 3 });
  const { body } = await client.post("recording/stop", {});
  const { scenario: text, steps, notes } = Object(body);
  expect(steps).toBe(3);
  expect(notes).toEqual(expect.arrayContaining([expect.stringMatching(/by the server/)]));
  const events = parseScenario(JSON.parse(text));
  expect(events.map(({ event: { scope }, silent = false }) => [scope, silent])).toEqual([
    ["repo.content", false],
    ["discussion", true],
    ["discussion.comment", false],
  ]);
  const { hub: other } = await openLocalHub();
  await other.run(JSON.parse(text));
});
