import { describe, expect, test } from "vitest";
import { runCommand } from "../../run-command.ts";
import { idOf, startStandInHub, wireWebhook } from "../../stand-in-hub.ts";

/** Returns the body of the update request. */
function sentBody(hub: { requests: { method: string; body: unknown }[] }): unknown {
  return hub.requests.find(({ method }) => method === "POST")?.body;
}

/** Returns a job without fields that have the Hub's default value. */
function withoutDefaults(job: object): object {
  const defaults: Record<string, string> = { environment: "{}", timeoutSeconds: "null", attempts: "1" };
  return Object.fromEntries(Object.entries(job).filter(([name, value]) => JSON.stringify(value) !== defaults[name]));
}

describe("hub-webhooks update", () => {
  test("changes the given fields, and keeps the others", async () => {
    const hub = await startStandInHub([wireWebhook({ secret: "correct horse" })]);
    const { exitCode, stdout, stderr } = await runCommand(["update", idOf(1), "--url", "https://other.example"], {
      hub,
    });
    expect(exitCode).toBe(0);
    expect(sentBody(hub)).toEqual({
      url: "https://other.example",
      watched: [{ type: "dataset", name: "me/data" }],
      domains: ["repo", "discussion"],
      secret: "correct horse",
    });
    expect(stdout).toContain("https://other.example");
    expect(stdout + stderr).not.toContain("horse");
  });

  test("replaces the lists that are given", async () => {
    const hub = await startStandInHub([wireWebhook()]);
    await runCommand(["update", idOf(1), "--watch", "org:acme", "--domain", "repo"], { hub });
    expect(sentBody(hub)).toMatchObject({ watched: [{ type: "org", name: "acme" }], domains: ["repo"] });
  });

  test("removes the secret with --no-secret", async () => {
    const hub = await startStandInHub([wireWebhook({ secret: "correct horse" })]);
    const { exitCode, stdout } = await runCommand(["update", idOf(1), "--no-secret"], { hub });
    expect(exitCode).toBe(0);
    expect(sentBody(hub)).toHaveProperty("secret", "");
    expect(stdout).toContain("\tnot set\t");
  });

  test("reads a new secret from standard input", async () => {
    const hub = await startStandInHub([wireWebhook()]);
    await runCommand(["update", idOf(1), "--secret-stdin"], { hub, input: "battery staple\n" });
    expect(sentBody(hub)).toMatchObject({ secret: "battery staple" });
  });

  test("requires a secret that the Hub does not return, and names the options", async () => {
    const hub = await startStandInHub([wireWebhook({ hasSecret: true })]);
    const { exitCode, stderr } = await runCommand(["update", idOf(1), "--domain", "repo"], { hub });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: .*\n.*--secret-stdin or --secret.*--no-secret\.\n$/);
    expect(sentBody(hub)).toBeUndefined();
  });

  test("requires a job that the Hub does not return completely, and names the option", async () => {
    const job = { environment: {}, flavor: "cpu-basic", timeoutSeconds: null, spaceId: "me/space", secrets: ["KEY"] };
    const hub = await startStandInHub([wireWebhook({ url: undefined, job, secret: "correct horse" })]);
    const { exitCode, stderr } = await runCommand(["update", idOf(1), "--domain", "repo"], { hub });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: .*\nSet the whole job again with --job FILE\.\n$/);
    expect(sentBody(hub)).toBeUndefined();
  });

  test("replaces the job and its secrets with the content of the file", async () => {
    const before = {
      environment: { MODE: "old" },
      flavor: "cpu-basic",
      timeoutSeconds: 60,
      spaceId: "me/space",
      labels: { team: "a" },
      secrets: ["OLD", "KEPT"],
    };
    const hub = await startStandInHub([wireWebhook({ url: undefined, job: before })]);
    const job = { flavor: "t4-small", dockerImage: "python:3.12", secrets: { KEPT: "battery" } };
    const argv = ["update", idOf(1), "--job", "-"];
    const { exitCode, stderr } = await runCommand(argv, { hub, input: JSON.stringify(job) });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const { job: sent } = Object(sentBody(hub));
    expect(withoutDefaults(sent)).toEqual(job);
  });

  test("replaces a URL with a job", async () => {
    const hub = await startStandInHub([wireWebhook()]);
    const job = { flavor: "cpu-basic", spaceId: "me/space", command: ["run"] };
    const { exitCode } = await runCommand(["update", idOf(1), "--job", "-"], { hub, input: JSON.stringify(job) });
    expect(exitCode).toBe(0);
    const { url, job: sent } = Object(sentBody(hub));
    expect(url).toBeUndefined();
    expect(withoutDefaults(sent)).toEqual(job);
  });

  test("fails for an unknown webhook", async () => {
    const hub = await startStandInHub();
    expect(await runCommand(["update", idOf(1), "--domain", "repo"], { hub })).toMatchObject({ exitCode: 1 });
  });
});
