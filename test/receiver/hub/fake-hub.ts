import { HubClient, type HubClientOptions } from "../../../src/client.ts";

/** The answers of a Hub by path. A function is called for each request. */
export type Answers = Readonly<Record<string, unknown>>;

/** The account of the token. */
export const account = {
  type: "user",
  id: "a".repeat(24),
  name: "ada",
  fullname: "Ada",
  avatarUrl: "/ada.svg",
  isPro: false,
  orgs: [],
  auth: { type: "access_token" },
};

/**
 * Returns the options of a client for a Hub that answers each path with a value as JSON. Other paths answer 404. For answers that no local Hub gives, and to count the requests.
 */
export function answerWith(answers: Answers): { requests: string[]; options: HubClientOptions } {
  const requests: string[] = [];
  const options: HubClientOptions = {
    hubUrl: "http://hub.test",
    token: "hf_local",
    attempts: 1,
    fetch: async (input) => {
      const path = decodeURIComponent(new URL(String(input)).pathname);
      requests.push(path);
      const answer = answers[path] ?? (path === "/api/whoami-v2" ? account : undefined);
      const body: unknown = typeof answer === "function" ? await answer() : answer;
      if (body === undefined) return Response.json({ error: "Not found" }, { status: 404 });
      return Response.json(body);
    },
  };
  return { requests, options };
}

/** Returns a client for {@link answerWith}. */
export function clientFor(answers: Answers): HubClient {
  return new HubClient(answerWith(answers).options);
}
