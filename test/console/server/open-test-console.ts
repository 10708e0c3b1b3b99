import { type Mock, onTestFinished, vi } from "vitest";
import { ConsoleAccess } from "../../../src/console/server/access.ts";
import { Console, type ConsoleOptions } from "../../../src/console/server/console.ts";
import { ConsoleEvents } from "../../../src/console/server/events.ts";
import { PasswordGuesses } from "../../../src/core/guesses.ts";
import { ConsoleClient } from "../../support/console-client.ts";

export const consoleToken = "t0ken-of-the-owner";
export const startedAt = Date.UTC(2026, 10, 23, 12);

/** Options of {@link openTestConsole}. */
export interface TestConsoleOptions extends Partial<Omit<ConsoleOptions, "access">> {
  token?: string | undefined;
  /** The URL of the server. Default `http://localhost`. */
  url?: string;
  clock?: { now: number };
  /** Waits for the turn of a check while clients guess. */
  wait?: () => Promise<void>;
}

/** Opens a console without a server, whose clock the test sets. */
export function openTestConsole({
  url = "http://localhost",
  clock = { now: startedAt },
  wait,
  ...options
}: TestConsoleOptions = {}) {
  const { token, events = new ConsoleEvents(), ...given } = { token: consoleToken, ...options };
  const onLinkUsed: Mock<() => void> = vi.fn<() => void>();
  const refusals: { code: string; status: number }[] = [];
  const errors: unknown[] = [];
  const access = new ConsoleAccess({
    ...{ token, now: () => clock.now, onLinkUsed },
    guesses: new PasswordGuesses(() => clock.now, wait && { wait }),
    onRefused: (refusal) => refusals.push(refusal),
  });
  const opened = new Console({
    ...{ place: "receiver", features: () => ["deliveries"], version: "1.2.3", resources: [], access, events },
    onError: (error) => errors.push(error),
    ...given,
  });
  onTestFinished(() => opened.close());
  /** Sends a request to a path below `/_console/`. */
  const send = async (path: string, init?: RequestInit) => opened.fetch(new Request(`${url}/_console/${path}`, init));
  const connect = () => new ConsoleClient(send);
  /** Returns a client that is signed in. */
  const signIn = async () => {
    const client = connect();
    await client.signIn({ token: token ?? "" });
    return client;
  };
  return { console: opened, access, events, clock, send, connect, signIn, onLinkUsed, refusals, errors };
}

/** Returns the code of an error answer. */
export async function codeOf(response: Response): Promise<[status: number, code: unknown]> {
  return [response.status, (await response.json()).code];
}
