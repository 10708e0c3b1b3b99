// @module-tag slow

import { getEventListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createMask, runCommand } from "../../../src/local-hub/jobs/run-command.ts";
import { startFullProcess } from "../../cli/command-process.ts";
import { isRunning } from "../../support/program.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { watchTimers } from "../../support/timers.ts";
import { waitFor } from "../../support/wait-for.ts";
import { jobs, openLocalHub, output, pushed, secret, waitForJobs } from "../support/hub.ts";

/** Runs a job with these fields once, and returns its result and its output. */
async function run(fields: Record<string, unknown>, changes: Record<string, unknown> = {}) {
  const hub = await openLocalHub({ runJobs: true });
  await hub.create({ job: { flavor: "cpu-basic", ...fields }, ...changes });
  const [delivery] = await hub.trigger();
  const [made] = await waitForJobs(hub);
  return { hub, delivery, made, lines: output(hub) };
}

describe("A running job", () => {
  test("gets exactly the five variables, its own, its secrets, and the parts of our environment that programs need", async () => {
    vi.stubEnv("HF_TOKEN", "hf_of_the_developer");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "of the developer");
    onTestFinished(() => void vi.unstubAllEnvs());
    const exitListeners = process.listenerCount("exit");
    const file = join(createFolder(), "environment.json");
    const script = "fs.writeFileSync(process.argv[1], JSON.stringify(process.env))";
    const { hub, delivery, made } = await run(
      {
        command: [process.execPath, "-e", script, file],
        environment: { LOG_LEVEL: "a  b\"c'" },
        secrets: { TOKEN: "s3cret of the job" },
      },
      { secret },
    );
    expect(made?.status).toEqual({ stage: "COMPLETED", message: null, failureCount: 0 });
    expect(hub.log.lines).toContainEqual(expect.objectContaining({ level: "info", job: made?.id, stage: "COMPLETED" }));
    expect(process.listenerCount("exit")).toBe(exitListeners);
    const environment: Record<string, string> = JSON.parse(await readFile(file, "utf8"));
    const ours = ["PATH", "HOME", "USER", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR", "__CF_USER_TEXT_ENCODING"];
    const given = Object.fromEntries(Object.entries(environment).filter(([name]) => !ours.includes(name)));
    const { request } = (await hub.entries(delivery?.webhookId ?? ""))[0] ?? {};
    expect(given).toEqual({
      WEBHOOK_PAYLOAD: request?.body,
      WEBHOOK_REPO_ID: "me/data",
      WEBHOOK_REPO_TYPE: "dataset",
      WEBHOOK_ID: delivery?.deliveryId,
      WEBHOOK_SECRET: secret,
      JOB_ID: made?.id,
      LOG_LEVEL: "a  b\"c'",
      TOKEN: "s3cret of the job",
    });
    expect(environment.PATH).toBe(process.env.PATH);
    expect(made?.secrets).toEqual(["TOKEN", "WEBHOOK_SECRET"]);
  });

  test("gets its variables even if one of its secrets has the same name, and no secret of a webhook without one", async () => {
    const { delivery, lines } = await run({
      command: ["sh", "-c", `echo "$WEBHOOK_ID \${WEBHOOK_SECRET-not set}"`],
      secrets: { WEBHOOK_ID: "another id" },
    });
    expect(lines).toEqual([`${delivery?.deliveryId} not set`]);
  });

  test("can print an endless line, of which only the logged part is kept in memory", async () => {
    const script =
      'const text = "x".repeat(1 << 20); for (let count = 0; count < 32; count += 1) fs.writeSync(1, text);';
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const before = process.memoryUsage().heapUsed;
    const { made, lines } = await run({ command: [process.execPath, "-e", script] });
    expect(made?.status.stage).toBe("COMPLETED");
    expect(lines).toEqual(["x".repeat(2_000)]);
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 << 20);
  });

  test("ends with its program, even if a detached process keeps its output open", async () => {
    const { made, lines } = await run({ command: ["sh", "-c", "setsid sh -c 'echo $$; exec sleep 600' & sleep 0.2"] });
    onTestFinished(() => void process.kill(Number(lines[0])));
    expect(made?.status).toMatchObject({ stage: "COMPLETED" });
  });

  test("ends the processes that it started, unless they are detached", async () => {
    const { lines } = await run({ command: ["sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!"] });
    await waitFor(() => expect(isRunning(Number(lines[0]))).toBe(false), { interval: 5 });
  });

  test("that cannot be started does not reveal its secrets", async () => {
    const { hub, made } = await run({ command: ["true"], secrets: { TOKEN: "s3cret of the job\0" } });
    expect(made?.status).toMatchObject({ stage: "ERROR", message: expect.stringContaining("NUL") });
    expect(JSON.stringify(made) + hub.log.text()).not.toContain("s3cret");
  });

  test("fails, and does not end the local Hub, if no more files can be opened", async () => {
    expect(await startFullProcess("job").ended).toMatchObject({
      exitCode: 0,
      stdout: "cannot start the program (EMFILE)\n",
    });
  });

  test("gets its arguments unchanged, without a shell", async () => {
    const odd = ["$HOME", "a b", "", "*", "; echo no", "größer"];
    const { lines } = await run({ command: ["printf", "[%s]\\n"], arguments: odd });
    expect(lines).toEqual(odd.map((argument) => `[${argument}]`));
  });

  test("logs each line of both outputs, and truncates long lines", async () => {
    const script = `echo one; echo two >&2; printf three; printf %010000d 0`;
    const { hub, made, lines } = await run({ command: ["sh", "-c", script] });
    expect([...lines].sort()).toEqual(["one", `three${"0".repeat(1_995)}`, "two"]);
    expect(hub.log.lines).toContainEqual({ level: "info", msg: "job output", line: "one", job: made?.id });
    const stages = hub.log.lines.filter(({ msg }) => msg === "job").map(({ stage }) => stage);
    expect(stages).toEqual(["RUNNING", "COMPLETED"]);
  });

  test("ends with ERROR and a reason", async () => {
    const rows: [fields: { command?: string[]; dockerImage?: string }, message: RegExp][] = [
      [{ command: ["sh", "-c", "exit 7"] }, /exit code 7/],
      [{ command: ["sh", "-c", "kill -9 $$"] }, /SIGKILL/],
      [{ command: ["no-such-program-here"] }, /not installed/],
      // A path that is not a program.
      [{ command: ["/"] }, /EACCES|EPERM/],
      [{ dockerImage: "python:3.13" }, /no command/],
      [{ command: ["a\0b"] }, /NUL character/],
    ];
    const hub = await openLocalHub({ runJobs: true });
    for (const [fields] of rows) await hub.create({ job: { flavor: "cpu-basic", ...fields } });
    const deliveries = await hub.trigger();
    expect(deliveries.map(({ status }) => status)).toEqual(rows.map(() => 200));
    const made = await waitForJobs(hub, rows.length);
    for (const [fields, message] of rows) {
      const { status } = made.find((one) => JSON.stringify(one.command) === JSON.stringify(fields.command)) ?? {};
      expect(status).toMatchObject({ stage: "ERROR", message: expect.stringMatching(message) });
    }
    expect(hub.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("is started up to its number of attempts, until it succeeds", async () => {
    const failing = await run({ command: ["sh", "-c", "echo run; exit 3"], attempts: 3 });
    expect(failing.lines).toEqual(["run", "run", "run"]);
    expect(failing.made?.status).toEqual({ stage: "ERROR", message: "exit code 3", failureCount: 3 });
    // The first run creates the folder, so the second one cannot create it and removes it.
    const folder = `/tmp/hub-webhooks-job-${process.pid}-${Date.now()}`;
    const second = await run({ command: ["sh", "-c", `mkdir ${folder} && exit 1; rmdir ${folder}`], attempts: 5 });
    expect(second.made?.status).toEqual({ stage: "COMPLETED", message: null, failureCount: 1 });
  });

  test("fails with a payload above 128 kB, which fits into no variable", async () => {
    const hub = await openLocalHub({ runJobs: true });
    await hub.create({ job: { flavor: "cpu-basic", command: ["true"] } });
    await hub.trigger({ ...pushed, note: "x".repeat(140_000) });
    const [made] = await waitForJobs(hub);
    expect(made?.status).toMatchObject({ stage: "ERROR", message: expect.stringContaining("too large") });
  }, 20_000);

  test("is not recorded again if the local Hub is reset in the meantime", async () => {
    const hub = await openLocalHub({ runJobs: true });
    await hub.create({ job: { flavor: "cpu-basic", command: ["sh", "-c", "echo begun; sleep 0.2"] } });
    await hub.trigger();
    await waitFor(() => expect(output(hub)).toEqual(["begun"]), { interval: 5 });
    hub.hub.reset();
    await waitFor(
      () =>
        expect(hub.log.lines).toContainEqual(
          expect.objectContaining({ msg: "job", stage: expect.not.stringMatching("RUNNING") }),
        ),
      { interval: 5 },
    );
    expect(await jobs(hub)).toEqual([]);
  });

  test("is canceled with all its processes when the local Hub closes", async () => {
    const hub = await openLocalHub({ runJobs: true });
    const script = "sleep 600 & echo begun; sleep 600";
    await hub.create({ job: { flavor: "cpu-basic", command: ["sh", "-c", script], attempts: 3 } });
    for (let count = 0; count < 6; count += 1) await hub.trigger();
    await waitFor(() => expect(output(hub)).toHaveLength(4), { interval: 10 });
    // It resolves when the outputs are closed: no process holds them any more, including child processes.
    await hub.hub.close();
    const stages = hub.log.lines.filter(({ msg, stage }) => msg === "job" && stage === "CANCELED");
    expect(stages).toHaveLength(6);
    expect(output(hub)).toHaveLength(4);
  });
});

describe("The process of a job", () => {
  test.each([
    ["exits normally", { command: ["true"] }, undefined],
    ["cannot be started", { command: ["no-such-program-here"] }, expect.stringContaining("not installed")],
    ["is canceled", { command: ["sh", "-c", "echo begun; sleep 600"] }, "canceled"],
  ])("leaves no timer and no listener when it %s", async (_how, { command }, outcome) => {
    const timers = watchTimers();
    const controller = new AbortController();
    const { signal } = controller;
    const options = { command, environment: {}, timeoutSeconds: 777, signal, onOutput: () => controller.abort() };
    expect(await runCommand(options)).toEqual(outcome);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    expect(timers.of(777_000)).toMatchObject([{ cleared: 1 }]);
    // The process would be killed 5 s after SIGTERM.
    expect(timers.of(5_000)).toMatchObject(signal.aborted ? [{ cleared: 1 }] : []);
  });

  test("is not started if it was canceled before", async () => {
    const options = { command: ["sh", "-c", "echo begun"], environment: {}, timeoutSeconds: null };
    const onOutput = () => expect.unreachable("It was started.");
    expect(await runCommand({ ...options, signal: AbortSignal.abort(), onOutput })).toBe("canceled");
  });
});

test("A secret is masked as a whole, also if it contains another secret or has several lines", () => {
  const mask = createMask(["", "pass", "password-1234", "-----BEGIN-----\r\nkey\nof the job\n"]);
  const lines = ["pass password-1234", "-----BEGIN-----", "of the job", "key"];
  expect(lines.map(mask)).toEqual(["*** ***", "***", "***", "key"]);
});

test("The part of a secret before the end of a truncated line is masked", () => {
  const mask = createMask(["password-1234", "word"]);
  const filled = (end: string) => end.padStart(2_000, "x");
  const masked = ["password-12", "pass", "pas", "password-1234 word"].map((end) =>
    mask(filled(end)).replace(/^x+/, ""),
  );
  expect(masked).toEqual(["***", "***", "pas", "*** ***"]);
  expect(mask("pass")).toBe("pass");
});

test("A job that prints without end lets the local Hub respond", async () => {
  const controller = new AbortController();
  let lines = 0;
  let linesPerTurn = 0;
  const running = runCommand({
    ...{ command: ["yes"], environment: {}, timeoutSeconds: null, signal: controller.signal },
    onOutput: () => {
      if (lines === 0) {
        setImmediate(() => {
          linesPerTurn = lines;
        });
      }
      lines += 1;
      if (lines > 6_000) controller.abort();
    },
  });
  await running;
  expect(linesPerTurn).toBeLessThan(5_000);
});

test("A job that exits loses none of its output, even if storing the output takes longer", async () => {
  const lines: string[] = [];
  await runCommand({
    ...{ command: ["sh", "-c", "yes | head -14000; echo last"], environment: {}, timeoutSeconds: null },
    signal: new AbortController().signal,
    onOutput: (line) => {
      const end = performance.now() + 0.05;
      while (performance.now() < end);
      lines.push(line);
    },
  });
  expect([lines.length, lines.at(-1)]).toEqual([14_001, "last"]);
});

test("A process that is canceled after its timeout keeps its reason, and is killed once", async () => {
  const timers = watchTimers();
  const controller = new AbortController();
  const pid = Promise.withResolvers<number>();
  const running = runCommand({
    command: ["sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.01; done"],
    environment: {},
    timeoutSeconds: 0.1,
    signal: controller.signal,
    onOutput: (line) => pid.resolve(Number(line)),
  });
  const group = -(await pid.promise);
  await waitFor(() => expect(timers.of(5_000)).toHaveLength(1), { interval: 5 });
  controller.abort();
  process.kill(group, "SIGKILL");
  expect(await running).toBe("timed out after 0.1 s");
  expect(timers.of(5_000)).toMatchObject([{ cleared: 1 }]);
});

test("A job that exceeds its timeout is stopped with all its processes, even those that ignore SIGTERM", async () => {
  const { setTimeout } = globalThis;
  // A process that ignores SIGTERM is killed 5 s later.
  using timers = vi
    .spyOn(globalThis, "setTimeout")
    .mockImplementation((callback, milliseconds, ...given) =>
      setTimeout(callback, milliseconds === 5_000 ? 100 : milliseconds, ...given),
    );
  const hub = await openLocalHub({ runJobs: true });
  const commands = {
    willing: "sleep 600 & echo begun; sleep 600",
    stubborn: `trap '' TERM; (while :; do sleep 0.1; done) & echo begun; while :; do sleep 0.1; done`,
  };
  for (const [name, script] of Object.entries(commands)) {
    await hub.create({
      watched: [{ type: "model", name: `me/${name}` }],
      job: { flavor: "cpu-basic", command: ["sh", "-c", script], timeoutSeconds: 1 },
    });
    await hub.trigger({ ...pushed, repo: { type: "model", name: `me/${name}` } });
  }
  // The job ends only after the whole process group is gone, because then the outputs close.
  for (const { status } of await waitForJobs(hub, 2)) {
    expect(status).toEqual({ stage: "ERROR", message: expect.stringContaining("1 s"), failureCount: 1 });
  }
  expect(output(hub)).toEqual(["begun", "begun"]);
  expect(timers.mock.calls.filter(([, milliseconds]) => milliseconds === 5_000)).not.toEqual([]);
});
