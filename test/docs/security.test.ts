import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/guides/security.md", root), "utf8");

/** The tests of each guarantee on the page: files, and the IDs of fault tests in them. */
const guarantees: Readonly<Record<string, string>> = {
  "Without the secret, the server reads no body, and stores and runs nothing": "S1, S2 in `test/faults/secret.test.ts`",
  "An empty, invalid or undefined `secret` never leaves the server open":
    "S9 in `test/faults/secret.test.ts`; `test/receiver/security/secret-check.test.ts`",
  "The secret is compared in constant time; after 100 wrong secrets within a minute, wrong secrets get 429, and the valid secret still works":
    "S2, S6 in `test/faults/secret.test.ts`",
  "No log line, page, error response, or stored error of the server contains its secret or token of 8 or more characters, even if a handler throws it":
    "S5, S8, S10 in `test/faults/secret.test.ts`; `test/hub/secrecy.test.ts`; `test/local-hub/delivery/attempts.test.ts`",
  "A body is never decompressed, never larger than `bodyLimit`, never deeper than 100 levels":
    "P2, P3, P4 in `test/faults/payload.test.ts`",
  "`__proto__` in a payload changes no prototype": "P6 in `test/faults/payload.test.ts`",
  "The server rejects ambiguous requests and closes slow connections":
    "H2, H6, H19 in `test/faults/http.test.ts`; H13 in `test/faults/protocol.test.ts`",
  "Paths with dot segments, also encoded, never match another route": "H20 in `test/faults/http.test.ts`",
  "No request, and no value that a handler returns or throws, stops the process":
    "H18 in `test/faults/http.test.ts`; H11, H14 in `test/faults/protocol.test.ts`; R7 in `test/faults/handler.test.ts`",
  "One client cannot block the process: connections, pipelined requests, and unread responses are limited, and a delivery on a new connection is accepted beside any number of idle ones":
    "H21 in `test/faults/http.test.ts`; H12 in `test/faults/protocol.test.ts`; `test/http-server/connection.test.ts`",
  "A page on another site cannot post to an endpoint or replay a delivery":
    "S7 in `test/faults/secret.test.ts`; U3 in `test/faults/pages.test.ts`",
  "All pages and the console escape text from payloads and run no inline scripts": "U1 in `test/faults/pages.test.ts`",
  "Terminals, pages, and the log show no control characters or bidirectional overrides":
    "`test/core/text.test.ts`; `test/receiver/node/node-logger.test.ts`",
  "Only the owner can read payloads: after signing in with the token or a one-time link, also on the same machine":
    "U4 in `test/faults/pages.test.ts`; `test/console/server/access.test.ts`",
  "A console token shorter than 16 characters is refused at the start; after 20 wrong ones within a minute, every sign-in with a token waits, right or wrong":
    "C1 in `test/faults/pages.test.ts`; `test/core/guess-limiter.test.ts`",
  "The console stores and shows no values of headers whose names can stand for a secret":
    "`test/receiver/history/run.test.ts`",
  "Clients never receive the message of an error that a handler throws": "R1 in `test/faults/handler.test.ts`",
  "The server refuses a `.hub-webhooks` folder that is a symbolic link or that others can write to":
    "`test/core/private-folder.test.ts`",
  "The inbox and the state file of `sync` have mode 0600, their folder 0700":
    "`test/inbox/sqlite/database.test.ts`; `test/registration/registration-file.test.ts`",
  "The state file of `sync` contains a salted, slow hash instead of the secret":
    "`test/registration/registration-file.test.ts`",
  "Pages of `dev` show no secret of an error of the server file, and open only files of the project":
    "C2, C3 in `test/faults/dev.test.ts`",
  "No page in a browser can run a handler of a `dev` session":
    "`test/dev/dev-proxy.test.ts`; `test/dev/dev-session.test.ts`",
  "A tunnel only exposes `/webhooks/*`, and never without a secret":
    "`test/receiver/node/public-listener.test.ts`; `test/dev/dev-proxy.test.ts`",
  "A tunnel program gets no token or secret from the environment":
    "`test/tunnel/tunnel.test.ts`; `test/tunnel/program.test.ts`",
  "The token is only sent to the configured Hub; redirects to other servers are only followed for files, without the token, and never to this machine or network unless the Hub is there":
    "`test/hub/transport/error-response.test.ts`; `test/hub/transport/download.test.ts`",
  "The local Hub listens on loopback, delivers to loopback, and refuses pages on other sites":
    "L2, L3, L4 in `test/faults/local-hub.test.ts`",
  "A local job runs without a shell and without your tokens": "`test/local-hub/jobs/run-command.test.ts`",
};

test("The page lists the guarantees that tests check", () => {
  const section = (page.split("## Guarantees\n")[1]?.split(/^## /m)[0] ?? "").replaceAll("\n  ", " ");
  expect([...section.matchAll(/^- (.*)$/gm)].map(([, guarantee]) => guarantee)).toEqual(Object.keys(guarantees));
});

test.each(Object.entries(guarantees))("Existing tests check: %s", (_guarantee, tests) => {
  for (const named of tests.split(";")) {
    const file = /`([^`]+)`/.exec(named)?.[1] ?? "no file";
    expect(existsSync(new URL(file, root)), file).toBe(true);
    const text = readFileSync(new URL(file, root), "utf8");
    for (const id of named.replace(/`.*`/, "").match(/\b[A-Z]\d+\b/g) ?? []) expect(text).toContain(`${id}: `);
  }
});
