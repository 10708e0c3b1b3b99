import { describe, test } from "vitest";
import { openReceiver } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("other-site");

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
});
