import { describe, expect, test } from "vitest";
import { type LocalReceiver, openReceiver } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("other-site");

const accepted = { status: 200, logged: { msg: "delivery succeeded", status: 200 }, runs: 1 } as const;

describe("A page of another site", () => {
  test.each([
    "text/plain",
    "text/plain;charset=UTF-8",
    "text/plain; application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json-seq",
    "text/json",
    "json",
    "",
    undefined,
  ])("S7: is answered 415 for Content-Type %s", async (type) => {
    const receiver = await openReceiver();
    await receiver.survives(
      () => receiver.post({ headers: { "Content-Type": type, Origin: "https://other.example" } }),
      { status: 415, code: "MEDIA_TYPE_UNSUPPORTED", logged: { code: "MEDIA_TYPE_UNSUPPORTED", status: 415 } },
    );
  });

  test.each(["application/json", "Application/JSON; charset=utf-8", "application/cloudevents+json"])(
    "S7: %s is accepted as JSON",
    async (type) => {
      const receiver = await openReceiver();
      await receiver.survives(() => receiver.post({ headers: { "Content-Type": type } }), accepted);
    },
  );
});

describe("A page of another site, without a secret and with any body allowed", () => {
  const openToAny = () =>
    openReceiver({ secret: false, declare: (server) => void server.webhook("any", { schema: null }, () => "taken") });
  const post = (receiver: LocalReceiver, headers: Record<string, string>) =>
    receiver.post({ path: "/webhooks/any", headers: { "Content-Type": "text/plain", ...headers }, body: "hello" });

  test.each([
    ["by its browser", { "Sec-Fetch-Site": "cross-site" }],
    ["by its browser, as a part of the site", { "Sec-Fetch-Site": "same-site" }],
    ["by its origin", { Origin: "https://other.example" }],
    ["by an origin that it hides", { Origin: "null" }],
  ])("S7: is detected %s and answered 403", async (_how, headers) => {
    const receiver = await openToAny();
    await receiver.survives(() => post(receiver, headers), {
      status: 403,
      code: "CROSS_SITE_REFUSED",
      logged: { code: "CROSS_SITE_REFUSED", status: 403 },
    });
  });

  test("S7: is not confused with clients that are not browsers, or pages of the server itself", async () => {
    const receiver = await openToAny();
    expect((await post(receiver, {})).status).toBe(200);
    expect((await post(receiver, { Origin: receiver.url, "Sec-Fetch-Site": "same-origin" })).status).toBe(200);
  });
});
