// @module-tag slow

import { appendFile, chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalHub } from "hub-webhooks/local-hub";
import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildImage, type Container, type Image, startContainer } from "../support/dockerfile.ts";
import { freePort } from "../support/free-port.ts";
import { runProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
import { waitFor } from "../support/wait-for.ts";
import { dependOn, pack } from "./pack.ts";

const buildTimeout = 300_000;
const secret = "s3cret";

const skipped = process.getuid?.() !== 0;
if (skipped) console.warn("Skipped the Dockerfiles: only root can change users.");

const receivers = [
  {
    name: "The Dockerfile of this repository",
    endpoint: "trigger_training",
    answer: { started: true, dataset: "acme/data", revision: "575db8b7a51b6f85eb06eee540738584589f131c" },
    build: async () => ({ context: root, image: await buildForTests(root) }),
  },
  {
    name: "The Dockerfile of templates/space",
    endpoint: "on_new_data",
    answer: { seen: "acme/data", revision: "575db8b7a51b6f85eb06eee540738584589f131c" },
    build: buildSpace,
  },
];

/** Removes what the tests have built. */
const removals: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const remove of removals) await remove();
});

async function buildForTests(context: string): Promise<Image> {
  const image = await buildImage(context);
  removals.push(() => image.remove());
  return image;
}

describe.skipIf(skipped).each(receivers)("$name", ({ endpoint, answer, build }) => {
  let context: string;
  let image: Image;
  let container: Container;
  let url: string;
  beforeAll(async () => {
    ({ context, image } = await build());
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    container = startContainer(image, { PORT: String(port), WEBHOOK_SECRET: secret });
    await container.healthy();
  }, buildTimeout);
  afterAll(async () => {
    await container?.stop("SIGKILL");
  });

  test("runs as user 1000, which can only write to the folder of the inbox", async () => {
    const status = await readFile(`/proc/${container.pid}/status`, "utf8");
    expect(status).toMatch(/^Uid:\t1000\t1000\t/m);
    const cwd = join(image.root, image.workdir);
    const find = ["find", ".", "-writable", "-not", "-type", "l", "-not", "-path", "./.hub-webhooks/*"];
    expect(await runProgram(find, { cwd, uid: 1000, gid: 1000 })).toEqual({ code: 0, output: "./.hub-webhooks\n" });
    // A new volume for the inbox inherits these permissions.
    expect(await stat(join(image.root, image.workdir, ".hub-webhooks"))).toMatchObject({ uid: 1000, gid: 1000 });
  });

  test("installs no development dependencies", async () => {
    const installed = await readdir(join(image.root, image.workdir, "node_modules"), { recursive: true });
    expect(installed).toContain("hono/package.json");
    for (const name of await developmentDependencies(context)) {
      expect(installed).not.toContain(`${name}/package.json`);
    }
  });

  test("contains no private files of the project", async () => {
    const files = await readdir(join(image.root, image.workdir));
    expect(files.filter((name) => /^\.(env|npmrc)|\.pem$/.test(name))).toEqual([]);
  });

  test("passes its health check", async () => {
    const health = await fetch(`${url}/health`);
    expect(health.status).toBe(200);
    expect(await health.json()).toEqual({ status: "ok" });
  });

  test("accepts a delivery with the secret, and refuses one without it", async () => {
    const payload = webhookPayload("repo.content");
    const answered = await fetch(deliveryRequest({ endpoint, payload, secret, baseUrl: url }));
    expect(answered.status).toBe(200);
    expect(await answered.json()).toEqual(answer);
    const refused = await fetch(deliveryRequest({ endpoint, payload, baseUrl: url }));
    expect(refused.status).toBe(401);
  });

  test("exits with 0 on SIGTERM", async () => {
    expect(await container.stop("SIGTERM"), container.output()).toBe(0);
  });
});

describe.skipIf(skipped)("The Dockerfile of templates/space with an inbox in a bucket", () => {
  test("loses no delivery when the disk is lost between two runs", { timeout: buildTimeout }, async () => {
    await using hub = await LocalHub.launch();
    const { folder, image } = await buildSpace();
    const temporary = join(folder, "temporary");
    await wipe(temporary);
    const start = async (environment: Record<string, string>) => {
      const port = await freePort();
      const container = startContainer(image, {
        PORT: String(port),
        WEBHOOK_SECRET: secret,
        SPACE_ID: "local-user/space",
        TMPDIR: temporary,
        ...hub.createBucket("local-user/inbox"),
        ...environment,
      });
      onTestFinished(() => void container.stop("SIGKILL"));
      await container.healthy();
      return { container, baseUrl: `http://127.0.0.1:${port}` };
    };
    const first = await start({ HOLD: "1" });
    const ids = Array.from({ length: 20 }, (_, index) => `delivery-${index}`);
    for (const id of ids) {
      const payload = webhookPayload("repo.content");
      const request = deliveryRequest({ endpoint: "stored", payload, secret, baseUrl: first.baseUrl });
      request.headers.set("Webhook-Id", id);
      expect((await fetch(request)).status).toBe(202);
    }
    await first.container.stop("SIGKILL");
    await wipe(temporary);
    await wipe(join(image.root, image.workdir, ".hub-webhooks"));
    const second = await start({});
    await waitFor(() => {
      const output = second.container.output();
      expect(ids.filter((id) => !output.includes(`ran ${id}.`))).toEqual([]);
    });
  });
});

/** Replaces a folder with an empty one that every user can write to. */
async function wipe(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  await chmod(folder, 0o777);
}

const backgroundEndpoint = `
server.webhook("stored", { background: true }, async (_payload, { delivery, log }) => {
  if (process.env.HOLD === "1") await new Promise(() => {});
  log.info("ran " + delivery.id + ".");
});
`;

interface BuiltSpace {
  folder: string;
  context: string;
  image: Image;
}

let space: Promise<BuiltSpace> | undefined;

/** Builds a Space with a background endpoint, and with the package from this repository instead of the registry. Builds it once. */
function buildSpace(): Promise<BuiltSpace> {
  space ??= (async () => {
    const folder = await mkdtemp(join(tmpdir(), "dockerfile-test-"));
    removals.push(() => rm(folder, { recursive: true, force: true }));
    await chmod(folder, 0o755);
    const tarball = await pack(folder);
    const context = join(folder, "space");
    await cp(join(root, "templates", "space"), context, { recursive: true });
    await appendFile(join(context, "server.ts"), backgroundEndpoint);
    await dependOn(tarball, { project: context });
    // Docker builds of a project with secrets must not copy them into the image.
    await writeFile(join(context, ".npmrc"), "omit-lockfile-registry-resolved=true\n");
    await writeFile(join(context, "key.pem"), "private");
    const lock = await runProgram(["npm", "install", "--package-lock-only"], { cwd: context });
    expect(lock.code, lock.output).toBe(0);
    return { folder, context, image: await buildForTests(context) };
  })();
  return space;
}

async function developmentDependencies(folder: string): Promise<string[]> {
  const { devDependencies, peerDependencies = {} }: { devDependencies: object; peerDependencies?: object } = JSON.parse(
    await readFile(join(folder, "package.json"), "utf8"),
  );
  return Object.keys(devDependencies).filter((name) => !Object.hasOwn(peerDependencies, name));
}
