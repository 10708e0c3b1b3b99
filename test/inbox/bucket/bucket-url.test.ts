import { describe, expect, test } from "vitest";
import { parseBucketUrl, readBucketCredentials } from "../../../src/inbox/bucket/bucket-url.ts";

const withVariables = (variables: Readonly<Record<string, string>>) => (name: string) => variables[name];
const none = withVariables({});

describe("The URL of a bucket", () => {
  test.each([
    [
      "hf://buckets/me/inbox",
      {
        endpoint: "https://s3.hf.co/me",
        region: "us-east-1",
        bucket: "inbox",
        prefix: "",
        name: "hf://buckets/me/inbox",
      },
    ],
    [
      "hf://buckets/me/inbox/bots/production/",
      { endpoint: "https://s3.hf.co/me", prefix: "bots/production/", name: "hf://buckets/me/inbox/bots/production" },
    ],
    [
      "s3://inbox",
      { endpoint: "https://s3.us-east-1.amazonaws.com", region: "us-east-1", bucket: "inbox", prefix: "" },
    ],
    ["s3://inbox/a?region=eu-west-1", { endpoint: "https://s3.eu-west-1.amazonaws.com", region: "eu-west-1" }],
    [
      "s3://inbox/a/b?endpoint=https://s3.example.com/&region=auto",
      { endpoint: "https://s3.example.com", region: "auto", prefix: "a/b/", name: "s3://inbox/a/b" },
    ],
    ["s3://inbox?endpoint=http%3A%2F%2F127.0.0.1%3A9000", { endpoint: "http://127.0.0.1:9000", name: "s3://inbox" }],
  ])("%s selects the store", (url, location) => {
    expect(parseBucketUrl(url, none)).toMatchObject(location);
  });

  test("takes the endpoint and the region from the variables of AWS tools", () => {
    const variables = { AWS_ENDPOINT_URL: "https://one.example.com", AWS_DEFAULT_REGION: "eu-north-1" };
    expect(parseBucketUrl("s3://inbox", withVariables(variables))).toMatchObject({
      endpoint: "https://one.example.com",
      region: "eu-north-1",
    });
    const specific = { ...variables, AWS_ENDPOINT_URL_S3: "http://127.0.0.1:5050/s3/me", AWS_REGION: "eu-west-3" };
    expect(parseBucketUrl("s3://inbox", withVariables(specific))).toMatchObject({
      endpoint: "http://127.0.0.1:5050/s3/me",
      region: "eu-west-3",
    });
    // The region of the Hub's gateway does not depend on the variables.
    expect(parseBucketUrl("hf://buckets/me/inbox", withVariables(specific))).toMatchObject({
      endpoint: "http://127.0.0.1:5050/s3/me",
      region: "us-east-1",
    });
  });

  test.each([
    "hf://datasets/me/inbox",
    "hf://buckets/me",
    "hf://buckets/me/inbox?region=eu-west-1",
    "s3://",
    "s3:///inbox",
    "s3://inbox//a",
    "s3://inbox/../a",
    "s3://inbox/a\\b",
    "s3://inbox/a%2Fb",
    "s3://inbox/a#b",
    "s3://inbox?profile=x",
    "s3://key:pa55word@inbox/a",
    "s3://inbox?endpoint=https://key:pa55word@example.com",
    "s3://inbox?endpoint=example.com",
    "s3://inbox?region=a.example.com/b",
  ])("%s is invalid, and not in the message", (url) => {
    expect(() => parseBucketUrl(url, none)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.not.stringContaining("pa55word") }),
    );
  });
});

describe("The access key of a bucket", () => {
  const variables = { AWS_ACCESS_KEY_ID: "HFAK1", AWS_SECRET_ACCESS_KEY: "secret" };

  test("comes from the variables of AWS tools", () => {
    expect(readBucketCredentials("s3://inbox", withVariables(variables))).toEqual({
      accessKeyId: "HFAK1",
      secretAccessKey: "secret",
    });
    expect(readBucketCredentials("s3://inbox", withVariables({ ...variables, AWS_SESSION_TOKEN: "t" }))).toMatchObject({
      sessionToken: "t",
    });
  });

  test.each(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])("is missing without %s", (name) => {
    const read = withVariables({ ...variables, [name]: "" });
    expect(() => readBucketCredentials("hf://buckets/me/inbox", (wanted) => read(wanted) || undefined)).toThrow(
      expect.objectContaining({ code: "INBOX_UNUSABLE", message: expect.stringContaining("settings/tokens") }),
    );
  });

  test("is invalid with a line break, and not in the message", () => {
    const read = withVariables({ ...variables, AWS_SECRET_ACCESS_KEY: "pa55word\n" });
    expect(() => readBucketCredentials("s3://inbox", read)).toThrow(
      expect.objectContaining({
        code: "INBOX_UNUSABLE",
        message: expect.stringMatching(/^AWS_SECRET_ACCESS_KEY (?!.*pa55word)/),
      }),
    );
  });
});
