import { WebhookError } from "../../core/errors.ts";
import { localUser } from "../accounts.ts";
import type { HubContext } from "../hub-context.ts";
import { createRepository } from "../resources/repositories/repository-changes.ts";
import { deriveAccessKey } from "./access-keys.ts";
import type { BucketConnection, BucketVariables } from "./bucket-settings.ts";

/** Returns the connection for buckets of a namespace, with the access of a token. */
export function bucketConnection(
  { hubUrl }: Pick<HubContext, "hubUrl">,
  { namespace, token }: { namespace: string; token: string },
): BucketConnection {
  return {
    endpoint: `${hubUrl}/s3/${namespace}`,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: deriveAccessKey(token),
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  };
}

/**
 * Creates a bucket, unless it exists. Returns the environment variables for a receiver whose inbox is in the bucket. A name without
 * an owner belongs to the developer.
 *
 * @throws `ARGUMENT_INVALID` if the name is invalid.
 */
export function ensureBucket(
  context: HubContext,
  { name: givenName, private: isPrivate, token }: { name: string; private: boolean; token: string },
): BucketVariables {
  const name = givenName.includes("/") ? givenName : `${localUser}/${givenName}`;
  const [namespace = "", bucket = "", ...rest] = name.split("/");
  if (rest.length > 0 || ![namespace, bucket].every((part) => /^[A-Za-z0-9][\w.-]{0,95}$/.test(part))) {
    throw new WebhookError(
      `The bucket name ${JSON.stringify(givenName)} is invalid. Use "owner/name", with letters, digits, "-", "_", and ".".`,
      {
        code: "ARGUMENT_INVALID",
      },
    );
  }
  if (!context.store.repositories.get({ type: "bucket", name })) {
    createRepository(context, { type: "bucket", name, private: isPrivate, user: localUser });
  }
  const { endpoint, credentials } = bucketConnection(context, { namespace, token });
  return {
    INBOX_URL: `hf://buckets/${name}`,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
}
