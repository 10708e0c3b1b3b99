import * as z from "zod/mini";
import { HubError } from "../../core/errors.ts";
import type { CallOptions, Operation } from "../operation.ts";
import { type FileContent, hashFile, readStart, sizeOf } from "./file-content.ts";
import type { RepositoryContext } from "./repository-context.ts";
import { repositoryPath } from "./repository-path.ts";

/** The SHA-256 and the size of files in LFS, by their paths. */
export type UploadedFiles = ReadonlyMap<string, LargeFile>;

interface LargeFile {
  oid: string;
  size: number;
}

const action = z.object({
  href: z.string(),
  header: z._default(z.record(z.string(), z.union([z.string(), z.number()])), {}),
});

/** The answer for a file. Without actions, the Hub has the file. */
const batchObject = z.object({
  oid: z.string(),
  actions: z.optional(z.object({ upload: z.optional(action), verify: z.optional(action) })),
  error: z.optional(z.object({ message: z.string() })),
});

type UploadActions = NonNullable<z.output<typeof batchObject>["actions"]>;

/** The URLs of models have no `repoType`. */
const batchOperation = {
  requestLine: "POST /{repoType}/{namespace}/{repo}.git/info/lfs/objects/batch",
  operationId: "startUploads",
  summary: "Upload files",
  request: { params: z.object({ ...repositoryPath.shape, repoType: z.string() }) },
  response: z.object({ objects: z.array(batchObject) }),
} as const satisfies Operation;

const mediaType = "application/vnd.git-lfs+json";
/** The maximum number of files per request, of the Hub's clients. */
const filesPerRequest = 256;

interface Upload extends CallOptions {
  /** The content by path. */
  files: ReadonlyMap<string, FileContent>;
  /** The branch, or the ref of a pull request. `undefined` for a commit that opens a pull request, which needs no write access. */
  ref: string | undefined;
  /** See `CommitRequest.onUpload`. */
  onUpload?: ((bytes: number, totalBytes: number) => void) | undefined;
}

/** Uploads files with Git LFS, except those that the Hub has. @throws `HUB_REFUSED` if the Hub refuses a file. */
export async function uploadFiles(
  context: RepositoryContext,
  { files, ref, onUpload, signal }: Upload,
): Promise<UploadedFiles> {
  const uploaded = new Map<string, LargeFile>();
  const contents = new Map<string, { path: string; content: FileContent; file: LargeFile }>();
  for (const [path, content] of files) {
    const file = { oid: (await hashFile(content)).sha256, size: sizeOf(content) };
    uploaded.set(path, file);
    contents.set(file.oid, { path, content, file });
  }
  const unique = [...contents.values()];
  const total = unique.reduce((sum, { file }) => sum + file.size, 0);
  let done = 0;
  const report = (bytes: number) => {
    done += bytes;
    onUpload?.(done, total);
  };
  report(0);
  for (let start = 0; start < unique.length; start += filesPerRequest) {
    const objects = unique.slice(start, start + filesPerRequest).map(({ file }) => file);
    for (const { oid, actions, error } of await requestUploads(context, { objects, ref, signal })) {
      const found = contents.get(oid);
      if (!found) continue;
      if (error) {
        const path = JSON.stringify(found.path);
        throw new HubError(`Could not upload ${path}: the Hub refused the file (${error.message}).`, {
          code: "HUB_REFUSED",
          fields: [`files[${path}]`],
        });
      }
      if (actions) {
        await uploadFile(context, { ...found, actions, onSent: report, signal }).catch(async (error: unknown) => {
          // The upload also fails if the file has changed.
          if (!signal?.aborted) await readStart(found.content, 1);
          throw error;
        });
      }
      if (!actions?.upload) report(found.file.size);
    }
  }
  return uploaded;
}

async function requestUploads(
  { client, path }: RepositoryContext,
  { objects, ref, signal }: CallOptions & { objects: LargeFile[]; ref: string | undefined },
) {
  const body = {
    operation: "upload",
    transfers: ["basic", "multipart"],
    hash_algo: "sha256",
    objects,
    ...(ref !== undefined && { ref: { name: ref } }),
  };
  const encodedBody = { type: mediaType, accept: mediaType, text: JSON.stringify(body) };
  const params = { ...path, repoType: path.repoType === "models" ? "" : path.repoType };
  const options = { signal, idempotent: true, encodedBody };
  return (await client.transport.call(batchOperation, { params }, options)).objects;
}

interface FileUpload extends CallOptions {
  content: FileContent;
  file: LargeFile;
  actions: UploadActions;
  /** Called with the number of bytes of each request. */
  onSent: (bytes: number) => void;
}

async function uploadFile(
  { client }: RepositoryContext,
  { content, file, actions, onSent, signal }: FileUpload,
): Promise<void> {
  const { transport } = client;
  const { upload, verify } = actions;
  const { oid, size } = file;
  // Without the type of the blob, which the signature of the URL does not contain.
  const body = (content instanceof Blob ? content : new Blob([new Uint8Array(content)])).slice();
  if (upload) {
    const { chunk_size: chunkSize, ...header } = upload.header;
    if (chunkSize === undefined) {
      await transport.upload({ method: "PUT", url: upload.href, headers: toHeaders(header), body, signal });
      onSent(size);
    } else {
      const parts = [];
      for (const { partNumber, url } of partsOf(header, Math.ceil(size / Number(chunkSize)))) {
        const start = (partNumber - 1) * Number(chunkSize);
        const part = body.slice(start, start + Number(chunkSize));
        const headers = await transport.upload({ method: "PUT", url, body: part, signal });
        onSent(part.size);
        parts.push({ partNumber, etag: headers.get("etag") ?? "" });
      }
      const text = JSON.stringify({ oid, parts });
      const headers = { accept: mediaType, "content-type": mediaType };
      await transport.upload({ method: "POST", url: upload.href, headers, body: text, signal });
    }
  }
  if (!verify) return;
  await transport.upload({
    ...{ method: "POST", url: verify.href, body: JSON.stringify(file), sendsToken: true, signal },
    headers: { ...toHeaders(verify.header), accept: mediaType, "content-type": mediaType },
  });
}

/** @throws `HUB_RESPONSE_INVALID` if the URL of a part is missing. */
function partsOf(header: Readonly<Record<string, string | number>>, count: number) {
  // The Hub names the parts "1" or "00001".
  const urls = new Map(Object.entries(header).map(([name, url]) => [Number(name), String(url)]));
  // Without a valid size of the parts, the count is infinite, negative, or NaN.
  return Array.from({ length: Math.min(count > 0 ? count : Infinity, urls.size + 1) }, (_, index) => {
    const url = urls.get(index + 1);
    if (url !== undefined) return { partNumber: index + 1, url };
    throw new HubError(`The Hub returned no URL for part ${index + 1} of a file. Try again, or update the package.`, {
      code: "HUB_RESPONSE_INVALID",
    });
  });
}

function toHeaders(header: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(header).map(([name, value]) => [name, String(value)]));
}
