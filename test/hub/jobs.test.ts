import type { ServerResponse } from "node:http";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HubClient } from "../../src/client.ts";
import { LocalHub } from "../../src/local-hub.ts";
import { allOf, connect, openHub, rejectionOf, type ScriptedAnswer } from "./scripted-hub.ts";

const id = "0123456789abcdef01234567";
const started = {
  type: "job",
  id,
  createdAt: "2026-09-01T12:34:56Z",
  owner: { id, name: "ada", type: "user", avatarUrl: "/a.svg" },
  createdBy: { id, name: "ada" },
  environment: {},
  flavor: "cpu-basic",
  status: { stage: "SCHEDULING", message: null },
};
const completed = { json: { ...started, status: { stage: "COMPLETED", message: null } } };
const whoami = {
  ...{ type: "user", id, name: "ada", fullname: "Ada", avatarUrl: "/a.svg", isPro: false, orgs: [] },
  auth: { type: "access_token" },
};
const image = "python:3.13";
const event = (second: number, data: string) =>
  `data: ${JSON.stringify({ timestamp: `2026-09-01T12:00:${`${second}`.padStart(2, "0")}Z`, data })}\n\n`;

/** Sends a stream, and then closes the connection, or cuts it. */
function stream(text: string, { isCut = false } = {}) {
  return (_request: unknown, response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (isCut) response.write(text, () => setImmediate(() => response.destroy()));
    else response.end(text);
  };
}

async function open(...answers: ScriptedAnswer[]) {
  const hub = await openHub(...answers);
  return { hub, jobs: connect(hub.url).jobs };
}

describe("Starting a job", () => {
  test("sends the job to the namespace of the token's user, which is read once", async () => {
    const { hub, jobs } = await open({ json: whoami }, { json: started });
    expect(await jobs.run({ image, command: ["true"], timeout: "1500ms" })).toEqual(started);
    expect(hub.lastBody).toMatchObject({ dockerImage: image, flavor: "cpu-basic", timeoutSeconds: 2 });
    await jobs.run({ space: "acme/demo", namespace: "acme" });
    expect(hub.lastBody).toMatchObject({ spaceId: "acme/demo", timeoutSeconds: null });
    await jobs.get(id);
    expect(hub.calls).toEqual([
      "GET /api/whoami-v2",
      "POST /api/jobs/ada",
      "POST /api/jobs/acme",
      `GET /api/jobs/ada/${id}`,
    ]);
  });

  test("is not repeated if the Hub may have processed the request", async () => {
    const { hub, jobs } = await open({ status: 502, json: { error: "upstream" } });
    expect(await rejectionOf(jobs.run({ image, namespace: "ada" }))).toMatchObject({ code: "HUB_FAILED" });
    expect(hub.calls).toHaveLength(1);
  });

  test.each([
    [{}, ["image"]],
    [{ image, space: "acme/demo" }, ["image"]],
    [{ image, timeout: 0 }, ["timeout"]],
    [{ image, secrets: { "1A": "x" } }, ['secrets["1A"]']],
  ])("sends no request if the job is invalid: %j", async (request, fields) => {
    const { hub, jobs } = await open({ json: started });
    const error = await rejectionOf(jobs.run({ ...request, namespace: "ada" }));
    expect(error).toMatchObject({ code: "ARGUMENT_INVALID", fields });
    expect(hub.calls).toEqual([]);
  });
});

describe("The namespace of a call", () => {
  test("is read again after a failure", async () => {
    const { hub, jobs } = await open({ status: 401 }, { json: whoami }, { json: started });
    expect(await rejectionOf(jobs.get(id))).toMatchObject({ code: "HUB_UNAUTHORIZED" });
    expect(await jobs.get(id)).toEqual(started);
    expect(hub.calls).toEqual(["GET /api/whoami-v2", "GET /api/whoami-v2", `GET /api/jobs/ada/${id}`]);
  });

  test("is also read if the first of two calls is aborted", async () => {
    const arrived = Promise.withResolvers<void>();
    const { jobs } = await open(() => arrived.resolve(), { json: whoami }, { json: started });
    const controller = new AbortController();
    const aborted = rejectionOf(jobs.get(id, { signal: controller.signal }));
    await arrived.promise;
    const other = jobs.get(id);
    controller.abort("enough");
    expect(await aborted).toBe("enough");
    expect(await other).toEqual(started);
  });
});

test("The list of jobs sends each stage and each label", async () => {
  const { hub, jobs } = await open({ json: [started] });
  const search = { stage: ["RUNNING" as const, "ERROR" as const], labels: { team: "data", n: "1" } };
  expect(await allOf(jobs.list(search, { namespace: "ada" }))).toEqual([started]);
  expect(hub.calls).toEqual(["GET /api/jobs/ada?stage=RUNNING&stage=ERROR&label=team%3Ddata&label=n%3D1"]);
});

describe("The log of a job", () => {
  const options = { namespace: "ada" };

  test("contains the lines of the job, without the start of the attempt", async () => {
    const { hub, jobs } = await open(stream(`: stream\n\n${event(1, "===== Job started at x =====")}${event(1, "a")}`));
    expect(await allOf(jobs.logs(id, { ...options, tail: 5 }))).toEqual([
      { timestamp: "2026-09-01T12:00:01Z", line: "a" },
    ]);
    expect(hub.calls).toEqual([`GET /api/jobs/ada/${id}/logs?tail=5`]);
    expect(hub.requests[0]?.headers.accept).toBe("text/event-stream");
  });

  const attemptStarts = event(1, "===== Job started at x =====");
  const first = event(1, "a") + event(2, "b") + event(2, "b");
  test.each<[when: string, answers: ScriptedAnswer[], lines: string[]]>([
    [
      "after a lost connection, with each line once",
      [stream(first, { isCut: true }), stream(first + event(2, "b") + event(3, "c"))],
      ["a", "b", "b", "b", "c"],
    ],
    [
      "after a connection that is lost before the lines are repeated",
      [stream(first, { isCut: true }), stream(": stream\n\n", { isCut: true }), stream(first + event(2, "c"))],
      ["a", "b", "b", "c"],
    ],
    [
      "if it ends before the job",
      [stream(attemptStarts), { json: started }, stream(attemptStarts + event(2, "a"))],
      ["a"],
    ],
    [
      "with new lines that are out of order",
      [stream(event(1, "a"), { isCut: true }), stream(event(1, "a") + event(3, "c") + event(2, "b"))],
      ["a", "c", "b"],
    ],
  ])("continues %s", async (_when, answers, expected) => {
    const { jobs } = await open(...answers, completed);
    const lines = await allOf(jobs.logs(id, { ...options, follow: true }));
    expect(lines.map(({ line }) => line)).toEqual(expected);
  });

  test("starts with the last lines, and continues with all lines", async () => {
    const { hub, jobs } = await open(
      stream(": stream\n\n", { isCut: true }),
      stream(event(4, "d"), { isCut: true }),
      stream(event(4, "d") + event(5, "e") + event(6, "f")),
      completed,
    );
    const lines = await allOf(jobs.logs(id, { ...options, follow: true, tail: 1 }));
    expect(lines.map(({ line }) => line)).toEqual(["d", "e", "f"]);
    const target = `GET /api/jobs/ada/${id}/logs`;
    expect(hub.calls).toEqual([`${target}?tail=1`, `${target}?tail=1`, target, `GET /api/jobs/ada/${id}`]);
  });

  test("is continued until four connections in a row are lost without a new line", { tags: "slow" }, async () => {
    const isLost = fc.constantFrom("with a new line", "without a new line");
    await fc.assert(
      fc.asyncProperty(fc.array(isLost, { maxLength: 14, size: "max" }), async (losses) => {
        let text = "";
        const printed: string[] = [];
        const texts = losses.map((loss) => {
          if (loss === "with a new line") {
            printed.push(`${printed.length}`);
            text += event(printed.length, printed.at(-1) ?? "");
          }
          return text;
        });
        let connections = 0;
        const fetch = async (url: unknown) => {
          if (!String(url).endsWith("/logs")) return Response.json(completed.json);
          connections += 1;
          const isCut = connections <= losses.length;
          const parts = [texts[connections - 1] ?? text];
          const body = new ReadableStream<Uint8Array>({
            pull(controller) {
              const part = parts.shift();
              if (part !== undefined) controller.enqueue(new TextEncoder().encode(`: stream\n\n${part}`));
              else if (isCut) controller.error(new TypeError("terminated"));
              else controller.close();
            },
          });
          return new Response(body, { headers: { "content-type": "text/event-stream" } });
        };
        const { jobs } = connect("http://hub.example", { fetch });
        const lines: string[] = [];
        const follow = async () => {
          for await (const { line } of jobs.logs(id, { ...options, follow: true })) lines.push(line);
        };
        const failure = await follow().catch((error: unknown) => error);
        const tooMany = losses.findIndex((_, index) => {
          const last = losses.slice(Math.max(0, index - 3), index + 1);
          return last.length === 4 && last.every((loss) => loss === "without a new line");
        });
        if (tooMany >= 0) expect(failure).toMatchObject({ code: "HUB_UNREACHABLE" });
        else expect([failure, lines]).toEqual([undefined, printed]);
        expect(connections).toBe(tooMany >= 0 ? tooMany + 1 : losses.length + 1);
      }),
    );
  });

  test("is not continued without follow", async () => {
    const { hub, jobs } = await open(stream(event(1, "a"), { isCut: true }));
    expect(await rejectionOf(allOf(jobs.logs(id, options)))).toMatchObject({ code: "HUB_UNREACHABLE" });
    expect(hub.calls).toHaveLength(1);
  });
});

test("A job on the local Hub is started, followed, labeled, counted, and canceled", async () => {
  await using hub = await LocalHub.launch({ runJobs: true });
  const { jobs } = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const quick = await jobs.run({ image, command: ["echo", "hi"] });
  expect((await allOf(jobs.logs(quick.id, { follow: true }))).map(({ line }) => line)).toEqual(["hi"]);
  expect((await jobs.get(quick.id)).status.stage).toBe("COMPLETED");
  const slow = await jobs.run({ image, command: ["sleep", "60"], labels: { a: "b" } });
  expect((await jobs.setLabels(slow.id, { c: "d" })).labels).toEqual({ c: "d" });
  expect((await jobs.cancel(slow.id)).status.stage).toBe("CANCELED");
  expect(await jobs.count({ stage: ["CANCELED", "COMPLETED"] })).toBe(2);
  expect(await rejectionOf(jobs.get("missing"))).toMatchObject({ code: "HUB_NOT_FOUND" });
});
