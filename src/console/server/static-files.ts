import { readdir, readFile } from "node:fs/promises";
import { WebhookError } from "../../core/errors.ts";
import { packageRoot } from "../../core/files.ts";

const mediaTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** A file of the app. */
export interface StaticFile {
  bytes: Uint8Array<ArrayBuffer>;
  mediaType: string;
}

/** The files of the app, which the build writes to `dist/console`. They are read once. */
export class StaticFiles {
  #files: Promise<ReadonlyMap<string, StaticFile>> | undefined;

  /**
   * Returns a file by its path, such as `assets/index-3f9c.js`, or `undefined`. The files are listed rather than looked up, so
   * a path cannot leave the folder.
   *
   * @throws `CONSOLE_NOT_BUILT` (503).
   */
  async get(path: string): Promise<StaticFile | undefined> {
    this.#files ??= readFiles().catch((cause: unknown) => {
      // The next request tries again: the process may have been out of file descriptors.
      this.#files = undefined;
      throw new WebhookError("The files of the console cannot be read. Build the package with `npm run build`.", {
        code: "CONSOLE_NOT_BUILT",
        status: 503,
        cause,
      });
    });
    return (await this.#files).get(path);
  }
}

async function readFiles(): Promise<ReadonlyMap<string, StaticFile>> {
  const folder = new URL("dist/console/", packageRoot);
  const paths = ["index.html", ...(await readdir(new URL("assets/", folder))).map((name) => `assets/${name}`)];
  return new Map(
    await Promise.all(
      paths.map(async (path): Promise<[string, StaticFile]> => {
        const extension = path.slice(path.lastIndexOf(".") + 1);
        const bytes = new Uint8Array(await readFile(new URL(path, folder)));
        return [path, { bytes, mediaType: mediaTypes[extension] ?? "application/octet-stream" }];
      }),
    ),
  );
}
