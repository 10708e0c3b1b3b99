import { AwsClient } from "aws4fetch";
import type { LocalHub } from "../../src/local-hub.ts";

/** Writes or deletes a file in a bucket of `me`, such as `store/data.csv`. */
export async function changeFile(
  hub: LocalHub,
  path: string,
  { method = "PUT", body }: { method?: "PUT" | "DELETE"; body?: string | undefined } = {},
): Promise<void> {
  const { endpoint, region, credentials } = hub.bucketConnection("me");
  const s3 = new AwsClient({ ...credentials, region, service: "s3", retries: 0 });
  const response = await s3.fetch(`${endpoint}/${path}`, { method, ...(body !== undefined && { body }) });
  if (!response.ok) throw new Error(await response.text());
}
