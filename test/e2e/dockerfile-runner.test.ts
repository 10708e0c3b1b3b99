import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { buildImage } from "../support/dockerfile/build.ts";
import { startContainer } from "../support/dockerfile/container.ts";
import { parseDockerIgnore } from "../support/dockerfile/ignore.ts";
import { parseDockerfile } from "../support/dockerfile/parse.ts";
import { freePort } from "../support/free-port.ts";
import { createFolder } from "../support/temporary-folder.ts";

describe("The Dockerfile runner refuses", () => {
  test.each([
    [
      "an unknown instruction",
      "FROM node:24-slim\nARG VERSION",
      /^Line 2, ARG VERSION: this instruction is not supported/,
    ],
    ["another base image", "FROM debian:12", /only node images/],
    ["a variable", "FROM node:24\nWORKDIR $HOME/app", /variables are not supported/],
    ["an unknown flag", "FROM node:24\nCOPY --chmod=755 . .", /the flag --chmod is not supported/],
    ["a path of this machine", "FROM node:24\nRUN mkdir /data", /absolute path/],
    ["an unknown user", "FROM node:24\nUSER postgres", /not a user of the node images/],
    ["a CMD for a shell", "FROM node:24\nCMD node server.ts", /write the command as a list/],
  ])("%s", (_what, text, message) => {
    expect(() => parseDockerfile(text)).toThrow(message);
  });
});

test("The last matching rule of a .dockerignore applies", () => {
  const ignore = parseDockerIgnore("*\n!src\n!package.json\nsrc/**/*.test.ts\n");
  const paths = [".env", "package.json", "src/index.ts", "src/server/launch.test.ts", "node_modules/hono/package.json"];
  expect(paths.filter((path) => !ignore.ignores(path))).toEqual(["package.json", "src/index.ts"]);
  expect(ignore.ignoresAllBelow("node_modules")).toBe(true);
  expect(ignore.ignoresAllBelow("src")).toBe(false);
});

const skipReason =
  process.env.SLOW_TESTS !== "1"
    ? "set SLOW_TESTS=1 to run its steps."
    : process.getuid?.() !== 0
      ? "run as root, because only root can change users."
      : undefined;
if (skipReason) console.warn(`Skipped the Dockerfile runner: ${skipReason}`);

/** Copying the base image takes ten seconds on a busy disk. */
const slowBuild = { timeout: 60_000 };

describe.skipIf(skipReason)("The Dockerfile runner", () => {
  let context: string;
  beforeAll(async () => {
    context = await mkdtemp(join(tmpdir(), "context-"));
    const files = {
      Dockerfile: `
        FROM node:24-slim AS build
        WORKDIR /app
        COPY . .
        RUN echo built > built.txt && id -u >> built.txt

        FROM node:24-slim
        ENV GREETING=hello PORT=7860
        WORKDIR /srv
        COPY --from=build --chown=1000:1000 /app/built.txt data/
        COPY server.js missing.js* ./
        USER 1000
        HEALTHCHECK --interval=1s \\
          CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT).then(() => process.exit(0), () => process.exit(1))"]
        CMD ["node", "server.js"]`,
      ".dockerignore": "secret.txt",
      "secret.txt": "s3cret",
      "server.js": `
        console.log(process.env.GREETING, process.getuid(), process.env.HOME);
        require("node:http").createServer((request, response) => response.end()).listen(process.env.PORT);
        process.on("SIGTERM", () => process.exit(7));`,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(context, name), text);
  });
  afterAll(() => rm(context, { recursive: true, force: true }));

  test("runs every step, starts the server as its user and stops it", slowBuild, async () => {
    const image = await buildImage({ dockerfile: join(context, "Dockerfile"), context });
    try {
      expect(await readdir(join(image.root, "srv"), { recursive: true })).toEqual([
        "data",
        "server.js",
        "data/built.txt",
      ]);
      expect(await readFile(join(image.root, "srv/data/built.txt"), "utf8")).toBe("built\n0\n");
      for (const path of ["data", "data/built.txt"]) expect((await stat(join(image.root, "srv", path))).uid).toBe(1000);
      expect((await stat(join(image.root, "srv/server.js"))).uid).toBe(0);
      const buildStage = await readdir(join(dirname(image.root), "stage-build", "app"));
      expect(buildStage).not.toContain("secret.txt");
      const container = startContainer(image, { environment: { PORT: String(await freePort()) } });
      await container.healthy();
      expect(container.output()).toBe(`hello 1000 ${join(image.root, "home/node")}\n`);
      expect(await container.stop()).toBe(7);
    } finally {
      await image.remove();
    }
  });

  test("reports why a step failed, and deletes its files", slowBuild, async () => {
    const temporary = createFolder();
    vi.stubEnv("TMPDIR", temporary);
    const dockerfile = join(context, "Broken");
    await writeFile(dockerfile, "FROM node:24-slim\nRUN echo too bad && exit 3");
    await expect(buildImage({ dockerfile, context })).rejects.toThrow("exited with 3:\ntoo bad");
    expect((await readdir(temporary)).filter((name) => name.startsWith("image-"))).toEqual([]);
    vi.unstubAllEnvs();
  });
});
