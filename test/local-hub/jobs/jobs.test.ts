import { describe, expect, test } from "vitest";
import * as z from "zod";
import { hardwareFlavors } from "../../../src/hub/jobs/definition.ts";
import { job, jobHardware } from "../../../src/hub/jobs/schemas.ts";
import { waitFor } from "../../support/wait-for.ts";
import { openLocalHub, shareLocalHub, type TestHub } from "../support/hub.ts";

const path = "/api/jobs/local-user";
const secret = "planted-value-of-a-job";
const sleeping = { command: ["sleep", "60"] };

/** Returns the data of the events in a stream. */
function eventsIn(text: string): unknown[] {
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
}

/** Reads the stream of a job until it ends. */
async function streamed(hub: TestHub, target: string): Promise<unknown[]> {
  const { status, headers, text } = await hub.request(`GET ${target}`);
  expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  return eventsIn(text);
}

async function linesOf(hub: TestHub, id: string, query = ""): Promise<string[]> {
  const line = z.strictObject({ timestamp: z.iso.datetime(), data: z.string() });
  return (await streamed(hub, `${path}/${id}/logs${query}`)).map((event) => line.parse(event).data);
}

async function read(hub: TestHub, id: string, options = {}) {
  return job.parse((await hub.request(`GET ${path}/${id}`, options)).body);
}

describe("A job that the API starts", async () => {
  const hub = await shareLocalHub({ runJobs: true });

  test("runs as a process, and its stream contains its output until it ends", async () => {
    const command = ["sh", "-c", 'echo "$GREETING $JOB_ID"; echo "$KEY" >&2; echo done'];
    const environment = { GREETING: "hi" };
    const id = await hub.runJob({ dockerImage: "alpine", command, environment, secrets: { KEY: secret } });
    const lines = await linesOf(hub, id);
    expect(lines[0]).toMatch(/^===== Job started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d =====$/);
    expect(lines.slice(1).sort()).toEqual(["***", "done", `hi ${id}`]);
    const found = await read(hub, id);
    expect(found).toMatchObject({
      ...{ type: "job", dockerImage: "alpine", command, environment, secrets: ["KEY"], flavor: "cpu-basic" },
      ...{ owner: { name: "local-user", type: "user" }, initiator: { type: "user", name: "local-user" } },
      ...{ startedAt: expect.any(String), finishedAt: expect.any(String) },
      durations: { schedulingSecs: 0, runningSecs: expect.any(Number), totalSecs: expect.any(Number) },
      status: { stage: "COMPLETED", message: null },
    });
    expect(hub.hub.jobs()).toContainEqual(found);
    expect(JSON.stringify([lines, found, hub.log.lines])).not.toContain(secret);
  });

  test("can be read from its last lines", async () => {
    const id = await hub.runJob({ command: ["printf", "1\\n2\\n3\\n"] });
    expect((await linesOf(hub, id)).slice(1)).toEqual(["1", "2", "3"]);
    expect(await linesOf(hub, id, "?tail=2")).toEqual(["2", "3"]);
    expect(await linesOf(hub, id, "?tail=0")).toEqual([]);
  });

  test("streams new lines and changes of its status while it runs", async () => {
    const id = await hub.runJob({ command: ["sh", "-c", "echo first; exec sleep 60"] });
    const headers = { authorization: "Bearer hf_local" };
    const response = await fetch(`${hub.url}${path}/${id}/logs`, { headers });
    const reader = response.body?.getReader();
    let text = "";
    while (!text.includes("first")) text += new TextDecoder().decode((await reader?.read())?.value);
    const events = streamed(hub, `${path}/${id}/events`);
    await hub.request(`POST ${path}/${id}/cancel`);
    for (;;) if ((await reader?.read())?.done !== false) break;
    expect(
      z
        .array(job)
        .parse(await events)
        .at(-1)?.status.stage,
    ).toBe("CANCELED");
  });

  test("is canceled: its processes stop, and its stream ends", { tags: "slow" }, async () => {
    const id = await hub.runJob({ command: ["sh", "-c", "sleep 60 & echo $!; wait"] });
    const child = await waitFor(
      async () => {
        const [line] = hub.log.lines.filter(({ msg, job: of }) => msg === "job output" && of === id);
        return z.coerce.number().positive().parse(line?.line);
      },
      { interval: 10 },
    );
    const answer = await hub.request(`POST ${path}/${id}/cancel`);
    expect(job.parse(answer.body).status).toMatchObject({ stage: "CANCELED" });
    await waitFor(() => expect(() => process.kill(child, 0)).toThrow(), { interval: 10 });
    expect((await linesOf(hub, id)).at(-1)).toBe(String(child));
    expect(await read(hub, id)).toMatchObject({ status: { stage: "CANCELED", message: "canceled" } });
  });

  test("is stopped by a reset, and its stream ends", async () => {
    const other = await openLocalHub({ runJobs: true });
    const id = await other.runJob(sleeping);
    const headers = { authorization: "Bearer hf_local" };
    const response = await fetch(`${other.url}${path}/${id}/logs`, { headers });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; !text.includes("Job started"); ) text += (await reader?.read())?.value ?? "";
    other.hub.reset();
    expect(await reader?.read()).toMatchObject({ done: true });
    expect(other.hub.jobs()).toEqual([]);
  });

  test("is canceled before it runs, and never runs", { tags: "slow" }, async () => {
    const running = await Promise.all([1, 2, 3, 4].map(() => hub.runJob(sleeping)));
    const waiting = await hub.runJob({ command: ["echo", "ran"] });
    expect((await read(hub, waiting)).status).toEqual({ stage: "SCHEDULING", message: null });
    for (const id of [waiting, ...running]) await hub.request(`POST ${path}/${id}/cancel`);
    const next = await hub.runJob({ command: ["echo", "next"] });
    expect((await linesOf(hub, next)).at(-1)).toBe("next");
    expect(await linesOf(hub, waiting)).toEqual([]);
    expect(await read(hub, waiting)).not.toHaveProperty("startedAt");
  });

  test("keeps its result if it is canceled after its end", async () => {
    const id = await hub.runJob({ command: ["false"] });
    await linesOf(hub, id);
    const ended = await read(hub, id);
    expect(ended.status).toEqual({ stage: "ERROR", message: "exit code 1", failureCount: 1 });
    expect((await hub.request(`POST ${path}/${id}/cancel`)).body).toEqual(ended);
  });
});

describe("Without runJobs", () => {
  test("a job is only recorded: its stream contains the reason, and ends", async () => {
    const hub = await openLocalHub();
    const id = await hub.runJob({ command: ["true"] });
    expect(await linesOf(hub, id)).toEqual([expect.stringContaining("--run-jobs")]);
    expect((await streamed(hub, `${path}/${id}/events`)).length).toBe(1);
    const answer = await hub.request(`POST ${path}/${id}/cancel`);
    expect(job.parse(answer.body).status.stage).toBe("CANCELED");
  });

  test("jobs are listed, counted, and found by stage and labels, page by page", async () => {
    const hub = await openLocalHub();
    const ids: string[] = [];
    for (let count = 0; count < 52; count += 1)
      ids.unshift(await hub.runJob({ labels: { n: `${count % 2}`, all: "" } }));
    const listed = async (query: string) => {
      const { headers, body } = await hub.request(`GET ${path}${query}`);
      const found = z
        .array(job)
        .parse(body)
        .map(({ id }) => id);
      return { found, next: /^<(.+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1]?.replace(hub.url, "") };
    };
    const { found, next } = await listed("?label=all=");
    expect(found).toEqual(ids.slice(0, 50));
    await hub.runJob();
    expect(await listed(next?.replace(path, "") ?? "")).toEqual({ found: ids.slice(50), next: undefined });
    expect((await listed("?label=all=&label=n=1")).found).toHaveLength(26);
    expect((await listed("?stage=RUNNING&stage=ERROR")).found).toEqual([]);
    expect((await hub.request(`GET ${path}/count?stage=SCHEDULING`)).body).toEqual({ count: 53 });
    expect((await hub.request(`GET ${path}?cursor=x`)).status).toBe(400);
  });

  test("a network is returned, and its aliases must differ", async () => {
    const hub = await openLocalHub();
    const id = await hub.runJob({ network: { group: "train", aliases: ["master", "db-1"] } });
    expect((await read(hub, id)).network).toEqual({ group: "train", aliases: ["master", "db-1"] });
    expect((await read(hub, await hub.runJob({ network: { group: "train" } }))).network).toEqual({
      group: "train",
      aliases: [],
    });
    const repeated = { flavor: "cpu-basic", network: { group: "train", aliases: ["a", "a"] } };
    const { status, text } = await hub.request(`POST ${path}`, { body: repeated });
    expect([status, text]).toEqual([400, expect.stringContaining("network.aliases")]);
  });

  test("jobs belong to a user, or to an organization of the user with write access", async () => {
    const hub = await openLocalHub();
    const own = await hub.runJob();
    const inAcme = await hub.runJob({}, { namespace: "acme" });
    const statusOf = async (line: string, token: string, body?: object) =>
      (await hub.request(line, { token, ...(body && { body }) })).status;
    const flavor = { flavor: "cpu-basic" };
    expect(await statusOf(`GET ${path}/${own}`, "hf_read")).toBe(200);
    expect(await statusOf(`POST ${path}`, "hf_read", flavor)).toBe(403);
    expect(await statusOf(`POST ${path}/${own}/cancel`, "hf_read")).toBe(403);
    for (const line of [`GET ${path}/${own}`, `GET ${path}/${own}/logs`, `GET ${path}`, `POST ${path}/${own}/cancel`]) {
      expect(await statusOf(line, "hf_other"), line).toBe(404);
    }
    expect(await statusOf(`POST ${path}`, "hf_other", flavor)).toBe(404);
    expect(await statusOf(`GET /api/jobs/acme/${inAcme}`, "hf_other")).toBe(200);
    expect(await statusOf(`GET /api/jobs/acme/${own}`, "hf_local")).toBe(404);
    expect(await statusOf("POST /api/jobs/acme", "hf_fine", flavor)).toBe(403);
    expect(await statusOf("POST /api/jobs/me", "hf_local", flavor)).toBe(200);
  });
});

test("Each hardware flavor for jobs is listed with a price", async () => {
  const hub = await openLocalHub();
  const { body } = await hub.request("GET /api/jobs/hardware", { token: "hf_read" });
  const hardware = z.array(jobHardware).parse(body);
  const names = hardware.map(({ name }) => name);
  // The Hub does not offer these three for jobs.
  const others = ["sprx8", "zero-a10g", "inf2x6"];
  expect([...names].sort()).toEqual(hardwareFlavors.filter((flavor) => !others.includes(flavor)).sort());
  for (const { name, unitCostMicroUSD, unitCostUSD, unitLabel, accelerator } of hardware) {
    expect(unitCostMicroUSD, name).toBeGreaterThan(0);
    expect(unitCostUSD, name).toBeCloseTo(unitCostMicroUSD / 1_000_000, 9);
    expect([unitLabel, accelerator === null], name).toEqual(["minute", name.startsWith("cpu-")]);
  }
  expect(hardware.find(({ name }) => name === "l40sx4")?.accelerator).toEqual({
    type: "gpu",
    model: "L40S",
    quantity: "4",
    vram: "192 GB",
    manufacturer: "Nvidia",
  });
});
