import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Scenario } from "../../../src/local-hub.ts";
import { openLocalHub, secret } from "../../local-hub/support/hub.ts";
import { openReceiver, openTarget } from "../../local-hub/support/target.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { runCommand } from "../run-command.ts";

const repo = { type: "dataset", name: "me/data" } as const;
const scenario: Scenario = {
  description: "A push with a bad file, a comment, and another name",
  events: [
    { repo, event: { scope: "repo.content", action: "update" }, files: { "train.csv": "no header" } },
    { repo, event: { scope: "discussion.comment", action: "create" }, comment: { content: "@bot check again" } },
    { repo, event: { scope: "repo", action: "move" }, movedTo: { name: "me/moved" } },
  ],
};

function scenarioFile(content: unknown): string {
  const file = join(createFolder(), "scenario.json");
  writeFileSync(file, JSON.stringify(content));
  return file;
}

const neverStopped = new Promise<void>(() => {});

/** Opens a local Hub with a receiver that notes each event and whether its file is on the Hub at that time. */
async function openNoted() {
  const hub = await openLocalHub();
  const noted: string[] = [];
  const receiver = await openReceiver((server) => {
    server.webhook("note", async ({ event, repo: { name }, comment }) => {
      const file = await fetch(`${hub.url}/datasets/${name}/resolve/main/train.csv`, {
        headers: { authorization: "Bearer hf_local" },
      });
      noted.push([event.scope, event.action, name, comment?.content ?? "", await file.text()].join(" "));
    });
  });
  await hub.create({ url: receiver.urlOf("note"), secret, domains: ["repo", "discussion"] });
  return { hub, noted };
}

const expected = [
  "repo.content update me/data  no header",
  "discussion.comment create me/data @bot check again no header",
  "repo move me/data  no header",
];

describe("A scenario", () => {
  test("lets its events happen one after the other with hub-webhooks scenario run", async () => {
    const { hub, noted } = await openNoted();
    const { exitCode, stdout, stderr } = await runCommand(["scenario", "run", scenarioFile(scenario)], {
      hub,
      stopped: neverStopped,
    });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: [
        "1 of 3: repo.content update of dataset:me/data",
        "2 of 3: discussion.comment create of dataset:me/data",
        "3 of 3: repo move of dataset:me/data",
        "",
      ].join("\n"),
    });
    expect(noted).toEqual(expected);
    expect(stdout.trimEnd().split("\n")).toHaveLength(4);
  });

  test("lets its events happen in a test, from an object or a file", async () => {
    for (const given of [scenario, scenarioFile(scenario)]) {
      const { hub, noted } = await openNoted();
      const deliveries = await hub.hub.run(given);
      expect(deliveries.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(noted).toEqual(expected);
    }
  });

  test.each<[what: string, content: unknown, message: string]>([
    ["without events", { events: [] }, "events"],
    ["with an unknown field", { ...scenario, steps: [] }, "steps"],
    [
      "with an invalid event",
      { events: [{ repo, event: { scope: "push", action: "update" } }] },
      "events[0].event.scope",
    ],
  ])("is refused before anything happens: %s", async (_what, content, message) => {
    const { hub, noted } = await openNoted();
    const result = await runCommand(["scenario", "run", scenarioFile(content)], { hub });
    expect(result).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining(message) });
    expect(noted).toEqual([]);
  });

  test("fails with 1 if a delivery fails, and says so if no webhook fires", async () => {
    const hub = await openLocalHub();
    await hub.create({ url: (await openTarget(500)).url });
    const file = scenarioFile({
      events: [...scenario.events.slice(0, 1), { ...scenario.events[0], repo: { type: "model", name: "me/net" } }],
    });
    const result = await runCommand(["scenario", "run", file, "--format", "json"], { hub, stopped: neverStopped });
    expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("No webhook fired.") });
    expect(JSON.parse(result.stdout)).toMatchObject({ events: 2, deliveries: [{ status: 500 }] });
  });

  test("can be stopped", async () => {
    const hub = await openLocalHub();
    await hub.create({ url: (await openTarget()).url });
    const stopped = Promise.resolve();
    const result = await runCommand(["scenario", "run", scenarioFile(scenario)], { hub, stopped });
    expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/Stopped after 0 of 3 events\.\n/) });
  });
});
