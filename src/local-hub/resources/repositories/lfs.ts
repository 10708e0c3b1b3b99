import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Context, Hono } from "hono";
import * as z from "zod";
import { type RepositoryPathType, repositoryPathTypes } from "../../../hub/repositories/repository-path.ts";
import { badRequest, CodedException, forbidden, notFound, parseRequest } from "../../error-response.ts";
import type { ContentStore } from "../../git/content-store.ts";
import type { LargeFile } from "../../git/large-files.ts";
import type { HubContext } from "../../hub-context.ts";
import { findCommitRepository } from "../../routes/repository-access.ts";
import { type ApiEnvironment, anyNamespace, type ResourceApi, requireToken } from "../../routes/route.ts";

/** The path of uploads. The files are streamed to disk, so that the limit for bodies does not apply to this path. */
export const uploadPath = "/_lfs/";

const maxFileBytes = 50_000_000_000;
const uploadValidMs = 6 * 60 * 60 * 1_000;
const mediaType = "application/vnd.git-lfs+json";

const oid = z.string().regex(/^[0-9a-f]{64}$/, "expected 64 lowercase hexadecimal digits");
const size = z.int().nonnegative();
const object = z.object({ oid, size });

const batch = z.object({
  operation: z.enum(["upload", "download"]),
  transfers: z.array(z.string()).optional(),
  objects: z.array(object).max(1_000),
  hash_algo: z.string().optional(),
  ref: z.object({ name: z.string() }).optional(),
});

const uploadQuery = z.object({ size: z.coerce.number(), expires: z.string(), signature: z.string() });

/** Serves uploads with Git LFS. Clients that offer other transfers, such as `xet`, use `basic` because the response names it. */
export const lfsApi = {
  routes: {},
  components: {},
  serve(app, hub) {
    const signer = createSigner({ now: hub.now, validMs: uploadValidMs });
    for (const [prefix, repoType] of prefixes) {
      app.route(`${prefix}/:namespace${anyNamespace}/:repo{[^/]+\\.git}/info/lfs`, createLfsApp(hub, signer, repoType));
    }
    // The Python client sends files to Xet that are too large for the commit: see createInlineMode.
    app.get(`/api/:repoType/:namespace${anyNamespace}/:repo/:operation{xet-(?:read|write)-token}/:rev`, () => {
      throw notFound(
        "The local Hub has Xet storage only for buckets. Set HF_HUB_DISABLE_XET=1, so that the Python client uploads files of more than 50 MB with LFS.",
      );
    });
    app.put(`${uploadPath}:repositoryId/:oid`, (context) => saveUpload(hub, context, signer));
  },
} satisfies ResourceApi;

const prefixes = repositoryPathTypes.map((type) => [type === "models" ? "" : `/${type}`, type] as const);

function createLfsApp(hub: HubContext, signer: UrlSigner, repoType: RepositoryPathType): Hono<ApiEnvironment> {
  const { content } = hub.store;
  const lfs = new Hono<ApiEnvironment>();
  lfs.post("/objects/batch", async (context) => {
    const { operation, objects, ref } = parseRequest(batch, await readJson(context), "body");
    const repository = findTarget(hub, context, repoType, ref?.name);
    if (operation === "download") {
      throw badRequest(
        "The local Hub does not serve downloads with LFS. Download the file with GET /OWNER/NAME/resolve/REVISION/PATH.",
      );
    }
    const verify = { href: `${new URL(context.req.url).href.replace(/\/objects\/batch.*$/, "")}/verify` };
    return respond({
      transfer: "basic",
      hash_algo: "sha256",
      objects: objects.map((file) => {
        if (file.size > maxFileBytes) {
          return { ...file, error: { code: 422, message: `The file has more than ${maxFileBytes} bytes.` } };
        }
        if (content.hasLarge(repository.id, file)) return file;
        const { origin } = new URL(context.req.url);
        const signed = signer.sign([repository.id, file.oid, file.size]);
        const query = new URLSearchParams({ size: String(file.size), ...signed });
        const upload = { href: `${origin}${uploadPath}${repository.id}/${file.oid}?${query}` };
        return { ...file, authenticated: true, actions: { upload, verify } };
      }),
    });
  });
  lfs.post("/verify", async (context) => {
    const repository = findTarget(hub, context, repoType);
    const file = parseRequest(object, await readJson(context), "body");
    if (content.hasLarge(repository.id, file)) return respond({});
    throw notFound(`The file "${file.oid}" was not uploaded. Upload it again.`);
  });
  return lfs;
}

/** Finds the repository of an upload. For a commit that opens a pull request, clients send no ref. */
function findTarget(hub: HubContext, context: Context<ApiEnvironment>, repoType: RepositoryPathType, rev?: string) {
  requireToken(context, "write");
  const { namespace = "", repo = "" } = context.req.param() satisfies Partial<Record<string, string>>;
  const path = { repoType, namespace, repo: repo.replace(/\.git$/, "") };
  const target = { rev: rev ?? "", createPullRequest: rev === undefined };
  return findCommitRepository(hub, path, context.var.optionalCaller, target);
}

async function saveUpload({ store }: HubContext, context: Context<ApiEnvironment>, signer: UrlSigner) {
  const { data } = uploadQuery.safeParse(context.req.query());
  const file = object.safeParse({ oid: context.req.param("oid"), size: data?.size }).data;
  const repositoryId = context.req.param("repositoryId") ?? "";
  if (!data || !file || !signer.verify([repositoryId, file.oid, file.size], data)) {
    throw forbidden("The upload URL is invalid or has expired. Request another upload URL.");
  }
  await saveFile(store, { repositoryId, file, body: context.req.raw.body ?? new Blob().stream() });
  return new Response(null, { status: 200, headers: { etag: `"${file.oid}"` } });
}

/**
 * Saves a file of a repository in LFS.
 *
 * @throws `HTTPException` 404 if the repository does not exist, or is deleted during the upload. `ARGUMENT_INVALID` if the content has
 *   another size or SHA-256.
 */
export async function saveFile(
  store: HubContext["store"],
  { repositoryId, file, body }: { repositoryId: string; file: LargeFile; body: AsyncIterable<Uint8Array> },
): Promise<void> {
  const missing = () => new CodedException(404, { code: "RepoNotFound", message: "Repository not found" });
  const isStored = () => store.repositories.all().some(({ id }) => id === repositoryId);
  if (!isStored()) throw missing();
  await store.content.saveLarge(repositoryId, file, body);
  if (isStored()) return;
  store.content.deleteRepository(repositoryId);
  store.content.deleteUnusedFiles([file.oid]);
  throw missing();
}

/** Returns the ID that git would give to a file in LFS if git stored its content. */
export async function hashAsBlob(content: ContentStore, { oid, size }: LargeFile): Promise<string> {
  const hash = createHash("sha1").update(`blob ${size}\0`);
  for await (const chunk of content.openLarge(oid)) hash.update(chunk);
  return hash.digest("hex");
}

function readJson({ req }: Context<ApiEnvironment>): Promise<unknown> {
  return req.json().catch(() => undefined);
}

function respond(body: object): Response {
  return Response.json(body, { headers: { "content-type": mediaType } });
}

export type UrlSigner = ReturnType<typeof createSigner>;

/** Clients send no token to signed URLs. The URLs are valid for a time, and only until the local Hub stops. */
export function createSigner({ now, validMs }: { now: () => number; validMs: number }) {
  const key = randomBytes(32);
  const hash = (parts: readonly unknown[], expires: string) => {
    const text = JSON.stringify([...parts, expires]);
    return createHmac("sha256", key).update(text).digest("hex");
  };
  return {
    /** Returns the query parameters that sign the parts of a URL. */
    sign(parts: readonly unknown[]) {
      const expires = String(now() + validMs);
      return { expires, signature: hash(parts, expires) };
    },
    verify(parts: readonly unknown[], { expires, signature }: { expires: string; signature: string }): boolean {
      const [expected, sent] = [Buffer.from(hash(parts, expires)), Buffer.from(signature)];
      const isValid = expected.byteLength === sent.byteLength && timingSafeEqual(expected, sent);
      return isValid && Number(expires) >= now();
    },
  };
}
