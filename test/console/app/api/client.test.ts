import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { getJson, loadSession, sendJson, session, sessionFailure, signOut } from "../../../../src/console/app/api.ts";

const signedIn = { signedIn: true, place: "receiver", features: [], csrfToken: "t0ken", version: "1" } as const;
const signedOut = { signedIn: false, place: "receiver", methods: { token: true, linkFrom: "log" } } as const;
const answer = vi.fn<typeof fetch>();

beforeEach(() => {
  session.value = { ...signedIn };
  vi.stubGlobal("document", { baseURI: "http://localhost/_console/" });
  vi.stubGlobal("fetch", answer);
});

afterEach(() => {
  session.value = undefined;
  answer.mockReset();
  vi.unstubAllGlobals();
});

const fail = (status: number, code: string, headers = {}) =>
  answer.mockResolvedValueOnce(Response.json({ error: code, code }, { status, headers }));

test.each([
  [404, "DELIVERY_UNKNOWN", { isTemporary: false, retryAfterS: undefined }],
  [429, "TOO_MANY_FAILURES", { isTemporary: false, retryAfterS: 7 }],
  [500, "INTERNAL", { isTemporary: true, retryAfterS: undefined }],
  [503, "INBOX_UNAVAILABLE", { isTemporary: true, retryAfterS: 7 }],
])("An answer with %i is a failure with its code, and the session goes on", async (status, code, expected) => {
  fail(status, code, expected.retryAfterS === undefined ? {} : { "retry-after": "7" });
  await expect(getJson("deliveries")).rejects.toMatchObject({ status, code, ...expected });
  expect(session.value).toMatchObject({ signedIn: true });
});

test("A request without an answer is a temporary failure, unless it was aborted", async () => {
  answer.mockRejectedValue(new TypeError("fetch failed"));
  await expect(getJson("deliveries")).rejects.toMatchObject({ code: "UNREACHABLE", status: 0, isTemporary: true });
  const aborted = AbortSignal.abort();
  await expect(getJson("deliveries", { signal: aborted })).rejects.toBeInstanceOf(TypeError);
});

test("A session that has ended shows the sign-in page", async () => {
  fail(401, "SIGN_IN_REQUIRED");
  await expect(getJson("deliveries")).rejects.toMatchObject({ status: 401 });
  expect(session.value).toEqual({ signedIn: false, place: "receiver", methods: undefined });
});

test("A change contains the token of the session, and signing out loads the session again", async () => {
  answer.mockResolvedValueOnce(Response.json({})).mockResolvedValueOnce(Response.json(signedOut));
  await signOut();
  const [, init] = answer.mock.calls[0] ?? [];
  expect(init).toMatchObject({ method: "DELETE", headers: { "x-csrf-token": "t0ken" } });
  expect(session.value).toEqual(signedOut);
  answer.mockResolvedValueOnce(Response.json({}));
  await sendJson("session", { token: "x" });
  expect(answer.mock.calls.at(-1)?.[1]?.headers).not.toHaveProperty("x-csrf-token");
});

test("A session that was loaded after a failure has no failure", async () => {
  fail(503, "CLOSING");
  await loadSession();
  expect(sessionFailure.value).toMatchObject({ status: 503 });
  answer.mockResolvedValueOnce(Response.json(signedOut));
  await loadSession();
  expect([sessionFailure.value, session.value]).toEqual([undefined, signedOut]);
});
