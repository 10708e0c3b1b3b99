import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { HubClient } from "../../src/hub/client.ts";
import { LocalHub } from "../../src/local-hub/local-hub.ts";
import { type CommandProcess, canMakeTerminal, startOnTerminal } from "../cli/command-process.ts";
import { type LocaltunnelServer, startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { makeProject, type Project } from "../support/project-folder.ts";

/** A server of which every word that it says can be told from those before. */
function serverFile(word: string): string {
  return `
    import { type RepoContentPayload, WebhooksServer } from "hub-webhooks";
    const server = new WebhooksServer({ secret: "the user's own secret" });
    class Bot {
      @server.webhook("retrain", { watch: "dataset:me/data", scope: "repo.content" })
      retrain(payload: RepoContentPayload) {
        console.log("${word} " + payload.repo.name);
        return { word: "${word}" };
      }
    }
    new Bot();
    // Whoever runs this file is its parent.
    console.log("run by " + process.ppid);
    export default server;
    await server.launch({ tunnel: true });
  `;
}

describe.skipIf(!canMakeTerminal)(
  "A day with hub-webhooks dev, on a terminal, with the Hub and the tunnel on this machine",
  () => {
    let project: Project;
    let hub: LocalHub;
    let tunnel: LocaltunnelServer;
    let client: HubClient;

    beforeAll(async () => {
      project = await makeProject({
        "server.ts": serverFile("first"),
        // What opens pages here writes down which.
        "bin/xdg-open": `#!/bin/sh\necho "$1" > "${"$"}(dirname "$0")/opened"\n`,
      });
      await chmod(join(project.path, "bin/xdg-open"), 0o755);
      hub = await LocalHub.launch({ attempts: 1 });
      tunnel = await startLocaltunnelServer();
      client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
      return async () => {
        await Promise.all([hub.close(), tunnel.close()]);
        await project[Symbol.asyncDispose]();
      };
    });

    function startDevOnTerminal(): CommandProcess {
      return startOnTerminal("dev server.ts --hub real --port 0", hub, {
        cwd: project.path,
        env: { LOCALTUNNEL_HOST: tunnel.url, PATH: `${join(project.path, "bin")}:${process.env.PATH}` },
      });
    }

    /** Lets somebody push, and returns how that was answered. */
    async function push(): Promise<{ status: number | null; answer: string | null }> {
      const [delivered, ...others] = await hub.push({ type: "dataset", name: "me/data" });
      expect(others).toEqual([]);
      return { status: delivered?.status ?? null, answer: delivered?.answer ?? null };
    }

    const answered = (word: string) => ({ status: 200, answer: JSON.stringify({ word }) });

    test("loses no delivery through restarts and reconnects, and leaves nothing behind", {
      timeout: 90_000,
    }, async () => {
      // Somebody's own webhook, which stays as it is.
      const own = await client.webhooks.create({
        url: "http://127.0.0.1:9/mine",
        watched: [{ type: "model", name: "me/net" }],
        domains: ["repo"],
        secret: "mine",
      });

      const first = startDevOnTerminal();
      await first.says("q quits");
      expect(await push()).toEqual(answered("first"));
      await first.says(/✓.* 200 {2}retrain {2}dataset:me\/data/);

      // The file is edited.
      await project.write("server.ts", serverFile("second"));
      await first.says("loaded: retrain");
      expect(await push()).toEqual(answered("second"));

      // It is broken, and mended.
      await project.write("server.ts", "const x = (;");
      await first.says("failed to load");
      expect(await push()).toMatchObject({ status: 503 });
      const mended = first.count("loaded: retrain");
      await project.write("server.ts", serverFile("third"));
      await first.saysMore("loaded: retrain", mended);
      expect(await push()).toEqual(answered("third"));

      // The latest delivery is replayed, and the page opened.
      const runs = first.count("third me/data");
      first.stdin.write("r");
      await first.saysMore("third me/data", runs);
      first.stdin.write("o");
      await expect
        .poll(() => readFile(join(project.path, "bin/opened"), "utf8").catch(() => ""))
        .toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);

      // The tunnel is killed, and comes back at the same address.
      await tunnel.crash();
      await first.says("DOWN: the public URL is not reachable.");
      tunnel.comeBack();
      await first.says("is reachable again");
      expect(await push()).toEqual(answered("third"));

      // It comes back at another one.
      const [before] = await temporary();
      const ups = first.count("is reachable again");
      await tunnel.crash();
      tunnel.giveNamesAway();
      tunnel.comeBack();
      await first.says("NEW URL: ");
      await first.saysMore("is reachable again", ups);
      await expect.poll(async () => (await temporary())[0]?.url).not.toBe(before?.url);
      expect((await temporary())[0]?.id).toBe(before?.id);
      expect(await push()).toEqual(answered("third"));

      // It is killed in the middle: its webhook stays behind, and so does no process.
      const [, pid] = /run by (\d+)/.exec(first.stdout) ?? [];
      process.kill(Number(pid), "SIGKILL");
      await first.ended;
      expect((await temporary()).map(({ id }) => id)).toEqual([before?.id]);

      // The next start deletes what was left, and makes its own.
      const second = startDevOnTerminal();
      await second.says("q quits");
      expect(second.stdout).toContain(`deleted webhook ${before?.id} of retrain, left by an earlier session`);
      expect(await temporary()).toEqual([expect.not.objectContaining({ id: before?.id })]);
      expect(await push()).toEqual(answered("third"));

      // The end.
      second.stdin.write("q");
      expect((await second.ended).exitCode).toBe(0);
      expect(await client.webhooks.list()).toEqual([own]);

      for (const { stdout } of [first, second]) {
        expect(stdout).not.toContain("hf_local");
        expect(stdout).not.toContain("the user's own secret");
      }
      const state = await readFile(join(project.path, ".hub-webhooks/registrations.json"), "utf8");
      expect(state).not.toContain("the user's own secret");

      async function temporary() {
        return (await client.webhooks.list()).filter(({ id }) => id !== own.id);
      }
    });
  },
);
