import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { BucketCredentials } from "../../../src/inbox/bucket/bucket-url.ts";
import type { ObjectStore } from "../../../src/inbox/bucket/object-store.ts";
import { openS3ObjectStore } from "../../../src/inbox/bucket/s3-object-store.ts";
import { listen } from "../../support/listen.ts";

/** A request that an {@link S3Double} received. */
export interface S3DoubleRequest {
  method: string;
  url: URL;
  headers: Headers;
  body: Buffer;
}

/** `"closed"` closes the connection without a response. `"silent"` keeps it open without a response. */
export type S3DoubleResponse = Response | "closed" | "silent";

/** A server whose responses a test chooses, for failures of an S3 API. */
export interface S3Double {
  url: string;
  requests: S3DoubleRequest[];
}

export const testCredentials: BucketCredentials = {
  accessKeyId: "HFAKTESTACCESSKEY",
  secretAccessKey: "test-secret-access-key",
};

/** Starts a server that is closed after the test. `respond` receives the number of the request, from 1. */
export async function startS3Double(
  respond: (request: S3DoubleRequest, number: number) => S3DoubleResponse,
): Promise<S3Double> {
  const requests: S3DoubleRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const request: S3DoubleRequest = {
      method: incoming.method ?? "",
      url: new URL(incoming.url ?? "", `http://${incoming.headers.host}`),
      headers: new Headers(
        Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, `${value}`]),
      ),
      body: await buffer(incoming),
    };
    const response = respond(request, requests.push(request));
    if (response === "silent") return;
    if (response === "closed") incoming.socket.destroy();
    else {
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      // The servers of other test files can replace `Response` with a class that has no `bytes`.
      outgoing.end(Buffer.from(await response.arrayBuffer()));
    }
  });
  const { url } = await listen(server);
  onTestFinished(() => server.closeAllConnections());
  return { url, requests };
}

/** Returns the response of the S3 API to a failed request. */
export function s3Failure(status: number, code: string, headers: Record<string, string> = {}): Response {
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>`, {
    status,
    headers,
  });
}

/** Opens the bucket `inbox` of a double. The prefix of all keys is `test/`. */
export function openDouble({ url }: S3Double, { timeoutMs }: { timeoutMs?: number } = {}): Promise<ObjectStore> {
  const location = { endpoint: url, region: "us-east-1", bucket: "inbox", prefix: "test/", name: "s3://inbox/test" };
  return openS3ObjectStore({ location, credentials: testCredentials, ...(timeoutMs !== undefined && { timeoutMs }) });
}
