import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Follows the imports of an entry point like a bundler, up to packages that only Node can load. */
async function graphOf(entry: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["import"],
    external: ["node:*", "pino", "@hono/node-server", "localtunnel", "launch-editor"],
    outdir: "never-written",
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  return metafile;
}

/** Returns the modules that an entry point loads, without those that `import()` loads later. */
function loadedWith(entry: string, { inputs }: Metafile): readonly string[] {
  const loaded = new Set<string>();
  const pending = [entry];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (loaded.has(path)) continue;
    loaded.add(path);
    for (const { path: imported, kind } of inputs[path]?.imports ?? []) {
      if (kind !== "dynamic-import") pending.push(imported);
    }
  }
  return [...loaded];
}

/** Returns every module that an entry point can load. */
function reachableFrom(entry: string, { inputs }: Metafile): readonly string[] {
  return [entry, ...Object.values(inputs).flatMap(({ imports }) => imports.map(({ path }) => path))];
}

describe("The main entry point", () => {
  let loaded: readonly string[];
  let reachable: readonly string[];

  beforeAll(async () => {
    const graph = await graphOf("src/index.ts");
    loaded = loadedWith("src/index.ts", graph);
    reachable = reachableFrom("src/index.ts", graph);
  });

  test("loads the delivery pipeline, Hono and zod", () => {
    expect(loaded).toEqual(
      expect.arrayContaining(["src/receiver/server.ts", "src/receiver/deliver.ts", "src/payload/parse.ts"]),
    );
    expect(loaded).toContainEqual(expect.stringMatching(/^node_modules\/hono\//));
    expect(loaded).toContainEqual(expect.stringMatching(/^node_modules\/zod\//));
  });

  test.each([
    ["modules of Node", /^node:/],
    ["pino", /^pino$/],
    ["Hono's server for Node", /^@hono\/node-server$/],
    ["the code for launch()", /^src\/receiver\/node\//],
    ["the HTTP server for Node", /^src\/http-server\//],
    ["the tunnel", /^src\/tunnel\//],
    ["the landing page, except its route", /^src\/receiver\/landing\//],
    ["the inbox, except its types and options", /^src\/inbox\/(?!retry\.ts$)/],
    ["the console of a receiver, except its routes", /^src\/receiver\/console\//],
    ["the server of the console", /^src\/console\/server\//],
    ["Hono's helpers for the console", /^node_modules\/hono\/.*\/helper\/(?:cookie|streaming)\//],
    ["the metrics, except their route", /^src\/receiver\/metrics\.ts$/],
    ["the shared parts of the pages", /^src\/console\/pages\//],
    ["the samples for tests", /^src\/payload\/samples\.ts$/],
    [
      "the client and the contract of the Hub's API, except two names",
      /^src\/hub\/(?!(?:hub-url|repositories\/action-observer)\.ts$)/,
    ],
  ])("loads %s only on first use", (_what, pattern) => {
    expect(reachable).toContainEqual(expect.stringMatching(pattern));
    expect(loaded).not.toContainEqual(expect.stringMatching(pattern));
  });

  test.each([
    ["the local Hub", /^src\/local-hub/],
    ["the command line", /^src\/cli\//],
    ["the libraries of the command line", /^node_modules\/(commander|@clack)\//],
    // It takes 6 MB of memory, and the inbox and the console need it as little as the receiver.
    ["zod beside zod/mini", /^node_modules\/zod\/v4\/classic\//],
  ])("never loads %s", (_what, pattern) => {
    expect(reachable.filter((path) => pattern.test(path))).toEqual([]);
  });

  test("does not load packages that may not be installed", () => {
    expect(loaded.filter((path) => path.includes("localtunnel"))).toEqual([]);
    // A bundler that finds their names would also require the packages.
    const optional = /^(node_modules\/)?(aws4fetch|bullmq|ioredis|pg|prom-client)(\/|$)/;
    expect(reachable.filter((path) => optional.test(path))).toEqual([]);
  });
});

describe("The entry point with test helpers", () => {
  test("does not load modules of Node", async () => {
    const loaded = loadedWith("src/testing.ts", await graphOf("src/testing.ts"));
    expect(loaded).toContain("src/payload/samples.ts");
    expect(loaded.filter((path) => /^(node:|pino$|@hono\/node-server$|src\/receiver\/node\/)/.test(path))).toEqual([]);
  });
});

describe("The entry point of the client", () => {
  test("loads the contract and no modules of Node, so that it runs in a worker", async () => {
    const loaded = loadedWith("src/client.ts", await graphOf("src/client.ts"));
    expect(loaded).toContain("src/hub/webhooks/schemas.ts");
    expect(loaded.filter((path) => /^(node:|src\/(receiver|local-hub|cli|console)\/)/.test(path))).toEqual([]);
  });

  test("loads zod/mini without the rest of zod, which would increase the size of a bundle by half", async () => {
    const loaded = loadedWith("src/client.ts", await graphOf("src/client.ts"));
    expect(loaded).toContainEqual(expect.stringMatching(/zod\/mini/));
    expect(loaded.filter((path) => /zod\/v4\/classic|^zod$|zod\/index/.test(path))).toEqual([]);
  });
});

describe("The command line, before it runs a command,", () => {
  test("does not load the client, the local Hub or the prompts", async () => {
    const loaded = loadedWith("src/cli/main.ts", await graphOf("src/cli/main.ts"));
    expect(loaded).toContainEqual(expect.stringMatching(/^node_modules\/commander\//));
    expect(
      loaded.filter((path) =>
        /^(node_modules\/(?!(?:commander|string-width|get-east-asian-width|strip-ansi|ansi-regex)\/)|src\/(hub|local-hub|receiver)\/)/.test(
          path,
        ),
      ),
    ).toEqual([]);
  });
});

const files = globSync("src/**/*.{ts,tsx}", { cwd: root }).filter((file) => !file.endsWith(".d.ts"));

/** Returns the files of `src` that a file imports, including type imports. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8").replace(/^ *\*.*$/gm, "");
  return (
    [...text.matchAll(/(?:\bfrom|\bimport\() *"(\.[^"]+)"/g)]
      .map(([, path = ""]) => join(file, "..", path))
      // Text that the console shows contains imports of files that do not exist.
      .filter((path) => files.includes(path))
  );
}

/** Returns the first import cycle, if there is one. */
function findCircle(files: readonly string[]): readonly string[] | undefined {
  const done = new Set<string>();
  const follow = (file: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return undefined;
    const circle = importsOf(file)
      .map((imported) => follow(imported, [...way, file]))
      .find((found) => found !== undefined);
    done.add(file);
    return circle;
  };
  return files.map((file) => follow(file, [])).find((found) => found !== undefined);
}

test("The files of src have no import cycles, not even of types", () => {
  expect(files.length).toBeGreaterThan(200);
  expect(importsOf("src/receiver/lifecycle.ts")).toContain("src/receiver/node/start-server.ts");
  expect(findCircle(files)).toBeUndefined();
});

/** From top to bottom. A folder can import from its own layer and from those below it. */
const layers: readonly (readonly string[])[] = [
  ["cli"],
  ["dev", "job", "deploy", "doctor"],
  ["server-file", "registration", "local-hub"],
  ["receiver"],
  ["catch-up"],
  ["console", "inbox", "tunnel"],
  ["hub"],
  ["payload"],
  ["http-server"],
  ["http"],
  ["core"],
];

describe("The folders of src", () => {
  const folderOf = (file: string) => file.match(/^src\/([^/]+)\//)?.[1];
  const layerOf = (folder: string) => layers.findIndex((row) => row.includes(folder));

  test("are exactly those of the layers, and only entry points are outside a folder", () => {
    const folders = new Set(files.map(folderOf).filter((folder) => folder !== undefined));
    expect([...folders].sort()).toEqual(layers.flat().sort());
    const beside = files.filter((file) => folderOf(file) === undefined).sort();
    expect(beside).toEqual(["client", "dev", "index", "job", "local-hub", "testing"].map((name) => `src/${name}.ts`));
  });

  test("import only from their own layer and from lower ones", () => {
    const upwards = files.flatMap((file) => {
      const from = folderOf(file);
      if (from === undefined) return [];
      return importsOf(file)
        .filter((imported) => layerOf(folderOf(imported) ?? "") < layerOf(from))
        .map((imported) => `${file} -> ${imported}`);
    });
    expect(upwards).toEqual([]);
  });
});
