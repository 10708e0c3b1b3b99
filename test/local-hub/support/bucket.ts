import { GetObjectCommand, PutObjectCommand, S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { onTestFinished } from "vitest";
import * as z from "zod";
import type { LocalHub } from "../../../src/local-hub.ts";
import { openLocalHub, type TestHub, type TestHubOptions } from "./hub.ts";

/** Connects the client of AWS to the buckets of `me`. It throws errors instead of repeating requests. */
export function connectS3(hub: LocalHub, config: S3ClientConfig = {}): S3Client {
  const s3 = new S3Client({ ...hub.bucketConnection("me"), maxAttempts: 1, ...config });
  onTestFinished(() => s3.destroy());
  return s3;
}

/** Opens a local Hub with the private bucket `me/store`. */
export async function openBucket(options: TestHubOptions = {}) {
  const hub = await openLocalHub({ overSocket: true, ...options });
  hub.hub.createBucket("me/store");
  let s3: S3Client | undefined;
  const connect = () => (s3 ??= connectS3(hub.hub));
  const put = (Key: string, Body: string | Uint8Array = "content") =>
    connect().send(new PutObjectCommand({ Bucket: "store", Key, Body }));
  return {
    ...{ hub, put },
    /** The client takes longer to create than many tests. */
    get s3() {
      return connect();
    },
  };
}

/** Returns the content of an object in `me/store`. */
export async function readObject(s3: S3Client, Key: string): Promise<string | undefined> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: "store", Key }));
  return Body?.transformToString();
}

const files = z.tuple([z.object({ xetHash: z.string() })]);

/** Returns the hash of a file in `me/store`. */
export async function xetHashOf(hub: TestHub, path: string): Promise<string> {
  const { body } = await hub.request("POST /api/buckets/me/store/paths-info", { body: { paths: [path, "none"] } });
  return files.parse(body)[0].xetHash;
}
