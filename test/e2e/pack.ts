import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { listenOnPort } from "../support/free-port.ts";
import { runProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";

/**
 * Packs this package as for the registry, unless `PACKED_PACKAGE` is the path of a tarball. Returns the path of the tarball
 * in `folder`.
 */
export async function pack(folder: string): Promise<string> {
  const packed = process.env.PACKED_PACKAGE;
  if (packed !== undefined) {
    await copyFile(packed, join(folder, "package.tgz"));
    return join(folder, "package.tgz");
  }
  if (!existsSync(join(root, "dist/index.d.ts"))) throw new Error('dist has no declarations. Run "npm run build".');
  const { code, output } = await runProgram(["npm", "pack", "--pack-destination", folder], { cwd: root });
  const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz"));
  if (code !== 0 || tarball === undefined) throw new Error(`npm pack exited with ${code}:\n${output}`);
  return join(folder, tarball);
}

/** Makes a project install this package from a tarball instead of the registry. */
export async function dependOn(tarball: string, { project }: { project: string }): Promise<void> {
  const path = join(project, "package.json");
  const manifest: { dependencies: Record<string, string> } = JSON.parse(await readFile(path, "utf8"));
  if (manifest.dependencies["hub-webhooks"] === undefined) throw new Error(`${path} does not depend on hub-webhooks.`);
  manifest.dependencies["hub-webhooks"] = `file:${tarball}`;
  // As in this repository. `npm ci` fails if a newer version has an optional dependency that the registry does not have.
  const { version } = JSON.parse(await readFile(join(root, "node_modules/vite/package.json"), "utf8"));
  await writeFile(path, JSON.stringify({ ...manifest, overrides: { vite: version } }));
}

/** An npm registry that also contains this package. */
export interface PackageRegistry extends AsyncDisposable {
  /** Environment variables that make npm use this registry and print less. */
  env: Readonly<Record<string, string>>;
}

export interface PackageRegistryOptions {
  /** The path of the packed package. */
  tarball: string;
  /** Its package.json. */
  manifest: { name: string; version: string };
  /** An empty folder for npm's cache, which must exist as long as the registry runs. */
  folder: string;
}

/**
 * Starts an npm registry that contains this version of the package and redirects other requests to the default
 * registry.
 */
export async function startPackageRegistry(options: PackageRegistryOptions): Promise<PackageRegistry> {
  const { manifest, folder } = options;
  const content = await readFile(options.tarball);
  const integrity = `sha512-${createHash("sha512").update(content).digest("base64")}`;
  const upstream = await npmConfig("registry");
  const path = `/${manifest.name}`;
  const server = createServer(({ url = "", headers }, response) => {
    if (url === `${path}.tgz`) return response.end(content);
    if (url !== path) return response.writeHead(302, { location: new URL(url.slice(1), upstream).href }).end();
    const dist = { tarball: `http://${headers.host}${path}.tgz`, integrity };
    const versions = { [manifest.version]: { ...manifest, dist } };
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify({ name: manifest.name, "dist-tags": { latest: manifest.version }, versions }));
  });
  const port = await listenOnPort(server);
  // Reuse the downloaded packages of npm's cache, but not npx's installations, which may contain another build of the
  // same version.
  const cache = join(folder, "npm");
  await mkdir(cache);
  await symlink(join(await npmConfig("cache"), "_cacache"), join(cache, "_cacache"));
  return {
    env: {
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_cache: cache,
      npm_config_prefer_offline: "true",
      npm_config_audit: "false",
      npm_config_fund: "false",
      npm_config_update_notifier: "false",
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function npmConfig(name: string): Promise<string> {
  const { code, output } = await runProgram(["npm", "config", "get", name, "--loglevel", "error"], {});
  if (code !== 0) throw new Error(`npm config get ${name} exited with ${code}:\n${output}`);
  return output.trim();
}
