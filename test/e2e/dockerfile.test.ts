import { chmod, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  buildImage,
  type Container,
  type Image,
  parseDockerfile,
  parseDockerIgnore,
  startContainer,
} from "../support/dockerfile.ts";
import { freePort } from "../support/free-port.ts";
import { runProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
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

describe.skipIf(skipped).each(receivers)("$name", { tags: "slow" }, ({ endpoint, answer, build }) => {
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

/** Builds a Space with the package from this repository instead of the registry. */
async function buildSpace(): Promise<{ context: string; image: Image }> {
  const folder = await mkdtemp(join(tmpdir(), "dockerfile-test-"));
  removals.push(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const tarball = await pack(folder);
  const context = join(folder, "space");
  await cp(join(root, "templates", "space"), context, { recursive: true });
  await dependOn(tarball, { project: context });
  // Docker builds of a project with secrets must not copy them into the image.
  await writeFile(join(context, ".npmrc"), "omit-lockfile-registry-resolved=true\n");
  await writeFile(join(context, "key.pem"), "private");
  const lock = await runProgram(["npm", "install", "--package-lock-only"], { cwd: context });
  expect(lock.code, lock.output).toBe(0);
  return { context, image: await buildForTests(context) };
}

async function developmentDependencies(folder: string): Promise<string[]> {
  const { devDependencies, peerDependencies = {} }: { devDependencies: object; peerDependencies?: object } = JSON.parse(
    await readFile(join(folder, "package.json"), "utf8"),
  );
  return Object.keys(devDependencies).filter((name) => !Object.hasOwn(peerDependencies, name));
}

test.each([
  ["an unknown instruction", "ARG VERSION"],
  ["another base image", "FROM debian:12"],
  ["a variable", "WORKDIR $HOME/app"],
  ["an unknown flag", "COPY --chmod=755 . ."],
  ["a path of this machine", "RUN mkdir data && ls /data"],
  ["an unknown user", "USER postgres"],
  ["a CMD for a shell", "CMD node server.ts"],
])("The Dockerfile runner refuses %s", (_what, line) => {
  expect(() => parseDockerfile(`FROM node:24-slim\n${line}\n`)).toThrow(line);
});

test("The last matching rule of a .dockerignore applies", () => {
  const ignore = parseDockerIgnore("*\n!src\n!package.json\nsrc/**/*.test.ts\n");
  const paths = [".env", "package.json", "src/index.ts", "src/server/launch.test.ts", "node_modules/hono/package.json"];
  expect(paths.filter((path) => !ignore.ignores(path))).toEqual(["package.json", "src/index.ts"]);
  expect(ignore.ignoresAllBelow("node_modules")).toBe(true);
  expect(ignore.ignoresAllBelow("src")).toBe(false);
});
