import { afterAll } from "vitest";
import { LocalHub } from "../../../src/local-hub.ts";

/** A file, and `null` for a deleted file. */
export type Files = Readonly<Record<string, string | Uint8Array | null>>;

export interface CallOptions {
  /** `null`: no token. Default `hf_local`. */
  token?: string | null;
  headers?: Record<string, string>;
  body?: string | object;
}

/** A local Hub with one repository, `me/data`, for tests of files and commits. Requests go over a socket. */
export class RepositoryApi {
  readonly url: string;

  private constructor(url: string) {
    this.url = url;
  }

  /** Launches the local Hub for all tests of a file. */
  static async share(): Promise<RepositoryApi> {
    const hub = await LocalHub.launch();
    afterAll(() => hub.close());
    const api = new RepositoryApi(hub.url);
    await api.create("data");
    return api;
  }

  async create(name: string, settings: object = {}): Promise<void> {
    await this.call("POST /api/repos/create", { body: { name, type: "dataset", ...settings } });
  }

  /** Sends a request. Strings are sent as lines of JSON. */
  async call(line: string, { token = "hf_local", headers, body }: CallOptions = {}): Promise<Response> {
    const [method = "", path = ""] = line.split(" ");
    const isText = typeof body === "string";
    return fetch(path.startsWith("http") ? path : `${this.url}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": isText ? "application/x-ndjson" : "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    });
  }

  /** Commits files to a branch, by default main. Returns the ID of the commit. */
  async commit(files: Files, { name = "data", branch = "main" } = {}): Promise<string> {
    const lines = Object.entries(files).map(([path, content]) =>
      content === null
        ? { key: "deletedFile", value: { path } }
        : { key: "file", value: { path, content: Buffer.from(content).toString("base64"), encoding: "base64" } },
    );
    const response = await this.call(`POST /api/datasets/local-user/${name}/commit/${encodeURIComponent(branch)}`, {
      body: jsonLines({ key: "header", value: { summary: "Change files" } }, ...lines),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer.commitOid;
  }
}

export function jsonLines(...lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
