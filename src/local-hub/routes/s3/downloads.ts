import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { HubContext } from "../../hub-context.ts";
import { objectResponse } from "./object-response.ts";
import { S3Error } from "./s3-error.ts";

/** The path to which the fault `redirect` redirects. */
export const downloadPath = "/_downloads/";

const validMs = 60_000;

/** Redirects downloads, as the Hub does to its content delivery network. The signed URLs are valid for a minute. */
export class Downloads {
  readonly #key = randomBytes(32);
  readonly #hub: HubContext;

  constructor(hub: HubContext) {
    this.#hub = hub;
  }

  /** Creates a redirect to an object: to another origin of the local Hub, or to another path. */
  redirect({ bucketId, key, to }: { bucketId: string; key: string; to: "path" | "origin" }): Response {
    const expires = String(this.#hub.now() + validMs);
    const url = new URL(`${downloadPath}${bucketId}`, this.#hub.hubUrl);
    // The server listens on 127.0.0.1, for which "localhost" is a name with another origin.
    if (to === "origin") url.hostname = "localhost";
    url.search = String(new URLSearchParams({ key, expires, signature: this.#hash(bucketId, key, expires) }));
    return new Response(null, { status: 302, headers: { location: url.href } });
  }

  /**
   * Answers a request for a signed URL.
   *
   * @throws `S3Error` if the URL is invalid or has expired, or the request is also signed with an access key.
   */
  serve(request: Request): Response {
    const { objects } = this.#hub.store;
    const { pathname, searchParams } = new URL(request.url);
    const bucketId = pathname.slice(downloadPath.length);
    const [key = "", expires = "", signature = ""] = ["key", "expires", "signature"].map(
      (name) => searchParams.get(name) ?? "",
    );
    if (request.headers.has("authorization")) {
      throw new S3Error("InvalidArgument", {
        message:
          'Only one authentication mechanism is allowed. Follow the redirect without the header "authorization".',
      });
    }
    const [expected, sent] = [Buffer.from(this.#hash(bucketId, key, expires)), Buffer.from(signature)];
    const isValid = expected.byteLength === sent.byteLength && timingSafeEqual(expected, sent);
    if (!isValid || Number(expires) < this.#hub.now()) {
      throw new S3Error("AccessDenied", { message: "The URL is invalid or has expired. Request the object again." });
    }
    const object = objects.get({ bucketId, key });
    if (object) return objectResponse(objects, { object, bucketId, request });
    throw new S3Error("NoSuchKey", { message: "The key does not exist." });
  }

  #hash(bucketId: string, key: string, expires: string): string {
    return createHmac("sha256", this.#key)
      .update(JSON.stringify([bucketId, key, expires]))
      .digest("hex");
  }
}
