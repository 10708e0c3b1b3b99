import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { HubClient } from "../../src/hub/client.ts";
import { LocalHub } from "../../src/local-hub/local-hub.ts";
import { type CommandProcess, canMakeTerminal, startOnTerminal } from "../cli/command-process.ts";
import { type LocaltunnelServer, startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { makeProject, type Project } from "../support/project-folder.ts";

/** Returns a server file whose output and responses contain `word`, to distinguish its versions. */
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
    // Print the process ID of the dev session.
    console.log("run by " + process.ppid);
    export default server;
    await server.launch({ tunnel: true });
  `;
}

describe.skipIf(!canMakeTerminal)(
  "A long hub-webhooks dev session on a terminal, with a local Hub and tunnel server",
  () => {
    let project: Project;
    let hub: LocalHub;
    let tunnel: LocaltunnelServer;
    let client: HubClient;
    beforeAll(async () => {
      project = await makeProject({
        "server.ts": serverFile("first"),
        // Records the URL instead of opening a browser.
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

    /** Pushes to the repository and returns the response to its delivery. */
    async function push(): Promise<{ status: number | null; answer: string | null }> {
      const [delivered, ...others] = await hub.push({ type: "dataset", name: "me/data" });
      expect(others).toEqual([]);
      return { status: delivered?.status ?? null, answer: delivered?.answer ?? null };
    }
    const answered = (word: string) => ({ status: 200, answer: JSON.stringify({ word }) });

    test("loses no delivery through restarts and reconnects, and leaves nothing behind", {
      timeout: 90_000,
    }, async () => {
      // A webhook of the user, which must not change.
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
      // Edit the file.
      await project.write("server.ts", serverFile("second"));
      await first.says("loaded: retrain");
      expect(await push()).toEqual(answered("second"));
      // Break the file, then fix it.
      await project.write("server.ts", "const x = (;");
      await first.says("failed to load");
      expect(await push()).toMatchObject({ status: 503 });
      const mended = first.count("loaded: retrain");
      await project.write("server.ts", serverFile("third"));
      await first.saysMore("loaded: retrain", mended);
      expect(await push()).toEqual(answered("third"));
      // Replay the latest delivery and open the console.
      const runs = first.count("third me/data");
      first.stdin.write("r");
      await first.saysMore("third me/data", runs);
      first.stdin.write("o");
      await expect
        .poll(() => readFile(join(project.path, "bin/opened"), "utf8").catch(() => ""))
        .toMatch(/^http:\/\/127\.0\.0\.1:\d+\/_console\/#\/sign-in\/[\da-f]+\n$/);
      // Crash the tunnel server. The tunnel reconnects at the same URL.
      await tunnel.crash();
      await first.says("DOWN: the public URL is not reachable.");
      tunnel.comeBack();
      await first.says("is reachable again");
      expect(await push()).toEqual(answered("third"));
      // Crash it again. The tunnel reconnects at another URL.
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
      // Kill the session: its webhook remains, but none of its processes.
      const [, pid] = /run by (\d+)/.exec(first.stdout) ?? [];
      process.kill(Number(pid), "SIGKILL");
      await first.ended;
      expect((await temporary()).map(({ id }) => id)).toEqual([before?.id]);
      // The next session deletes the remaining webhook and creates its own.
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
