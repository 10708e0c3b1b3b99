import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Follows the imports of an entry as a bundler does, and stops at what only Node can load. */
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
    external: ["node:*", "pino", "@hono/node-server", "localtunnel"],
    outdir: "never-written",
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  return metafile;
}

/** Everything that is loaded with the entry: what `import()` may load later is left out. */
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

/** Everything that may ever be loaded. */
function reachableFrom(entry: string, { inputs }: Metafile): readonly string[] {
  return [entry, ...Object.values(inputs).flatMap(({ imports }) => imports.map(({ path }) => path))];
}

describe("What is loaded with the package", () => {
  let loaded: readonly string[];
  let reachable: readonly string[];

  beforeAll(async () => {
    const graph = await graphOf("src/index.ts");
    loaded = loadedWith("src/index.ts", graph);
    reachable = reachableFrom("src/index.ts", graph);
  });

  test("is the way of a delivery, with Hono and zod", () => {
    expect(loaded).toEqual(
      expect.arrayContaining(["src/receiver/webhooks-server.ts", "src/receiver/pipeline.ts", "src/payload/parse.ts"]),
    );
    expect(loaded).toContainEqual(expect.stringMatching(/^node_modules\/hono\//));
    expect(loaded).toContainEqual(expect.stringMatching(/^node_modules\/zod\//));
  });

  test.each([
    ["a module of Node", /^node:/],
    ["pino", /^pino$/],
    ["Hono's server for Node", /^@hono\/node-server$/],
    ["what only a launch needs", /^src\/receiver\/node\//],
    ["the tunnel", /^src\/tunnel\//],
    ["the landing page, but for its route", /^src\/receiver\/landing\/(?!serve\.ts$)/],
    ["the inbox, but for its types and its options", /^src\/inbox\/(?!(?:retention|retry-policy)\.ts$)/],
    ["the dashboard, but for its routes", /^src\/receiver\/dashboard\/(?!serve\.ts$)/],
    ["the metrics, but for their route", /^src\/receiver\/metrics\.ts$/],
    ["what the pages share", /^src\/console\//],
    ["the samples for tests", /^src\/payload\/samples\.ts$/],
  ])("is nothing of what a run may never use: not %s", (_what, pattern) => {
    expect(reachable).toContainEqual(expect.stringMatching(pattern));
    expect(loaded).not.toContainEqual(expect.stringMatching(pattern));
  });

  test.each([
    ["the client and the contract of the Hub's API", /^src\/(hub|client\.ts)/],
    ["the local Hub", /^src\/local-hub/],
    ["the command line", /^src\/cli\//],
    ["the libraries of these", /^node_modules\/(commander|@clack)\//],
  ])("can never be %s", (_what, pattern) => {
    expect(reachable.filter((path) => pattern.test(path))).toEqual([]);
  });

  test("is nothing of the packages that may not even be installed", () => {
    expect(loaded.filter((path) => path.includes("localtunnel"))).toEqual([]);
    // A bundler that found their names would want to find the packages.
    const optional = /^(node_modules\/)?(bullmq|ioredis|pg|prom-client)(\/|$)/;
    expect(reachable.filter((path) => optional.test(path))).toEqual([]);
  });
});

describe("What is loaded with the helpers for tests", () => {
  test("is nothing of Node either", async () => {
    const loaded = loadedWith("src/testing.ts", await graphOf("src/testing.ts"));
    expect(loaded).toContain("src/payload/samples.ts");
    expect(loaded.filter((path) => /^(node:|pino$|@hono\/node-server$|src\/receiver\/node\/)/.test(path))).toEqual([]);
  });
});

describe("What is loaded with the client", () => {
  test("is the contract, and nothing of Node, so that it runs in a worker too", async () => {
    const loaded = loadedWith("src/client.ts", await graphOf("src/client.ts"));
    expect(loaded).toContain("src/hub/webhooks/schemas.ts");
    expect(loaded.filter((path) => /^(node:|src\/(receiver|local-hub|cli|console)\/)/.test(path))).toEqual([]);
  });

  test("uses zod/mini, without the rest of zod, which would add half to the size of a bundle", async () => {
    const loaded = loadedWith("src/client.ts", await graphOf("src/client.ts"));
    expect(loaded).toContainEqual(expect.stringMatching(/zod\/mini/));
    expect(loaded.filter((path) => /zod\/v4\/classic|^zod$|zod\/index/.test(path))).toEqual([]);
  });
});

describe("What is loaded with the command line before it knows what to do", () => {
  test("is nothing of the client, the local Hub or the prompts", async () => {
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

/** The files of `src` that one of them names in an import of any kind, of types alone as well. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8").replace(/^ *\*.*$/gm, "");
  return [...text.matchAll(/(?:\bfrom|\bimport\() *"(\.[^"]+)"/g)].map(([, path = ""]) => join(file, "..", path));
}

/** The first way from a file back to itself that is found, if there is any. */
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

const files = globSync("src/**/*.ts", { cwd: root }).filter((file) => !file.endsWith(".d.ts"));

test("No file of src imports itself by way of others, not even for a type", () => {
  expect(files.length).toBeGreaterThan(200);
  expect(importsOf("src/receiver/server-lifecycle.ts")).toContain("src/receiver/node/launch.ts");
  expect(findCircle(files)).toBeUndefined();
});

/** From the top to the ground: a folder imports from its own row and from those below it. */
const layers: readonly (readonly string[])[] = [
  ["cli"],
  ["dev", "job"],
  ["server-file", "registration", "local-hub"],
  ["receiver"],
  ["console", "inbox", "tunnel"],
  ["hub"],
  ["payload"],
  ["http-server"],
  ["core"],
];

describe("The folders of src", () => {
  const folderOf = (file: string) => file.match(/^src\/([^/]+)\//)?.[1];
  const layerOf = (folder: string) => layers.findIndex((row) => row.includes(folder));

  test("are those of the layers, and only entry points lie beside them", () => {
    const folders = new Set(files.map(folderOf).filter((folder) => folder !== undefined));
    expect([...folders].sort()).toEqual(layers.flat().sort());
    const beside = files.filter((file) => folderOf(file) === undefined).sort();
    expect(beside).toEqual(["client", "dev", "index", "job", "local-hub", "testing"].map((name) => `src/${name}.ts`));
  });

  test("import downwards only", () => {
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
