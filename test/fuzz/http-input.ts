import { webhookPayload } from "hub-webhooks/testing";
import { knownEvents } from "../support/payloads.ts";
import { chunk } from "../support/raw-socket.ts";
import type { SeededRandom } from "../support/seeded-random.ts";

/** The bytes to send on one connection. */
export interface HttpInput {
  /** Written one after another. */
  pieces: readonly Buffer[];
  /** How the sender ends its side. */
  end: "finish" | "reset" | "wait";
}

const payloads = knownEvents.map(([scope, action]) => JSON.stringify(webhookPayload(scope, { event: { action } })));
const endpoints = ["inline", "echo", "fails", "filtered", "comments", "anything", "background", "nowhere"];
const paths = [
  ...["/", "/health", "/metrics", "/webhooks/", "/_console", "/_console/", "/_console/assets/"],
  ...[
    "session",
    "deliveries",
    "deliveries/one",
    "deliveries/replay",
    "deliveries/replay-dead",
    "endpoints",
    "inbox",
  ].map((name) => `/_console/api/${name}`),
];
const oddMethods = ["GET", "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
const oddVersions = ["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "http/1.1", ""];
const odd = [
  "\0",
  "\x01",
  "\x1b[2J",
  "\x7f",
  "\x80",
  "\xff\xfe",
  "\xe2\x80\xae",
  "\r",
  "\n",
  "\t",
  " ",
  "%00",
  "%0d%0a",
  "%e2%80%ae",
  "%",
  "%zz",
];
const oddPaths = [
  "*",
  "//",
  "/..",
  "/%2e%2e/",
  "/webhooks/..%2f",
  "/webhooks/%00",
  "/webhooks/__proto__",
  "/\\",
  "?",
  "#",
  "http://other.example/",
  "http://user@other.example/",
  "/webhooks/%2e%2e/_console/",
  "http://",
  "[::1]",
  "/?secret=",
  "/webhooks/inline?secret=",
  "/_console/api/deliveries?cursor=",
  "/_console/api/deliveries?search=",
  "/_console/api/deliveries/one?endpoint=background&id=",
  "/_console/assets/",
];
const oddHeaders: readonly (readonly [string, readonly string[]])[] = [
  ["Host", ["", "a b", "[::1", "[::1]:99999", "x@y", "a/../b", "other.example", "127.0.0.1:0", "*", "\xff"]],
  ["Expect", ["100-continue", "200-ok", ""]],
  ["Upgrade", ["websocket", "h2c", "TLS/1.0"]],
  ["Connection", ["close", "keep-alive", "upgrade", "Upgrade, HTTP2-Settings", "X-Webhook-Secret", ""]],
  [
    "Transfer-Encoding",
    ["chunked", "gzip, chunked", "chunked, chunked", "identity", " chunked", "CHUNKED", "xchunked", ""],
  ],
  [
    "Content-Length",
    ["0", "1", "-1", "+5", "1e3", "0x10", "99999999999999999999", "5, 5", "5, 6", " 7 ", "", "abc", "70000"],
  ],
  ["Content-Encoding", ["gzip", "br", "identity", ""]],
  [
    "Content-Type",
    ["text/plain", "application/json", "application/json;charset=utf-16", "", "a/b", "application/cloudevents+json"],
  ],
  ["X-Webhook-Secret", ["", "wrong", "\xff\xfe", "x".repeat(4_000), "{secret}", "{secret}x", "{secret}, {secret}"]],
  ["Webhook-Id", ["", "the-same", "\x01", "x".repeat(300), "../../etc", "__proto__", "<script>"]],
  [
    "Authorization",
    [
      "Basic",
      "Basic !!!!",
      "Basic bWU6Z3Vlc3M=",
      "Bearer {secret}",
      "Basic {owner}",
      "Bearer {token}",
      "Bearer {token}",
    ],
  ],
  ["Origin", ["null", "https://evil.example", "http://127.0.0.1", "{secret}"]],
  ["Sec-Fetch-Site", ["cross-site", "same-origin", "none"]],
  ["Forwarded", ["for=1.2.3.4", "host={secret}"]],
  ["X-Forwarded-Host", ["evil.example", "a b"]],
  ["If-None-Match", ["*", '"x"']],
  ["Range", ["bytes=0-", "bytes=-1", "lines=1"]],
  ["Cookie", ["a={secret}", "\x80=\x81"]],
  ["Accept-Encoding", ["gzip", "*;q=0", ""]],
];

/** Values of the placeholders in braces. */
export interface Placeholders {
  secret: string;
  /** The credentials of the metrics in base64. */
  owner: string;
  /** The console token. */
  token: string;
}

/** Makes the bytes of one or more requests, most of which are invalid. */
export function makeHttpInput(random: SeededRandom, placeholders: Placeholders): HttpInput {
  const count = random.chance(0.2) ? 1 + random.below(4) : 1;
  let bytes: Buffer = Buffer.concat(Array.from({ length: count }, () => makeRequest(random, placeholders)));
  if (random.chance(0.25)) bytes = damaged(bytes, random);
  if (random.chance(0.03)) bytes = Buffer.from(Array.from({ length: random.below(2_000) }, () => random.below(256)));
  return {
    pieces: cut(bytes, random),
    end: random.pick(["finish", "finish", "finish", "finish", "finish", "finish", "wait", "reset"]),
  };
}

function makeRequest(random: SeededRandom, placeholders: Placeholders): Buffer {
  // The id appears in answers and logs, so it comes last: a lost line end must not append the secret to it.
  const headers: [string, string][] = [
    ["Host", "127.0.0.1"],
    ["X-Webhook-Secret", placeholders.secret],
    ["Content-Type", "application/json"],
    ["Webhook-Id", random.text(12)],
  ];
  for (; random.chance(0.3); ) changeHeaders(headers, random, placeholders);
  const body = makeBody(random);
  const isChunked = random.chance(0.3);
  const isFramed = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  if (!isFramed || random.chance(0.3)) {
    headers.push(isChunked ? ["Transfer-Encoding", "chunked"] : ["Content-Length", String(body.length)]);
  }
  const lineEnd = random.chance(0.03) ? random.pick(["\n", "\r", "\r\r\n", ""]) : "\r\n";
  const target = makePath(random, placeholders);
  const head = [
    `${random.chance(0.03) ? random.text(random.below(40)) : random.chance(0.25) ? random.pick(oddMethods) : "POST"} ${target} ${random.chance(0.1) ? random.pick(oddVersions) : "HTTP/1.1"}`,
  ];
  for (const [name, value] of headers)
    head.push(`${name}${random.chance(0.02) ? random.pick([" :", "", ":\t", "::"]) : ": "}${value}`);
  const text = `${head.join(lineEnd)}${lineEnd}${lineEnd}`;
  return Buffer.concat([Buffer.from(text, "latin1"), isChunked ? chunked(body, random) : body]);
}

function makePath(random: SeededRandom, placeholders: Placeholders): string {
  if (random.chance(0.7))
    return `/webhooks/${random.pick(endpoints)}${random.chance(0.1) ? `?secret=${placeholders.secret}` : ""}`;
  const path = random.chance(0.5) ? random.pick(paths) : `${random.pick(oddPaths)}${random.text(random.below(6))}`;
  const grown = random.chance(0.05) ? path + "x".repeat(random.below(20_000)) : path;
  return random.chance(0.3) ? insertAt(grown, random, random.pick(odd)) : grown;
}

function changeHeaders(headers: [string, string][], random: SeededRandom, placeholders: Placeholders): void {
  const [name, values] = random.pick(oddHeaders);
  const value = random
    .pick(values)
    .replaceAll("{secret}", placeholders.secret)
    .replaceAll("{owner}", placeholders.owner)
    .replaceAll("{token}", placeholders.token);
  const choice = random.below(6);
  const at = headers.findIndex(([present]) => present === name);
  if (choice === 0 && headers.length > 0) headers.splice(random.below(headers.length), 1);
  else if (choice === 1) headers.push([insertAt(random.text(8), random, random.pick(odd)), random.text(5)]);
  else if (choice === 2) headers.push([`X-${random.text(5)}`, insertAt(random.text(8), random, random.pick(odd))]);
  else if (choice === 3) headers.push([name, `${value}${random.chance(0.1) ? "x".repeat(random.below(20_000)) : ""}`]);
  else if (at === -1) headers.push([name, value]);
  else headers[at] = [name, value];
}

function makeBody(random: SeededRandom): Buffer {
  const payload = random.pick(payloads);
  const choice = random.below(10);
  if (choice < 4) return Buffer.from(payload);
  if (choice === 4) return Buffer.alloc(0);
  if (choice === 5) return Buffer.from("[".repeat(random.below(20_000)));
  if (choice === 6)
    return Buffer.from(payload.replace(/}$/, `,"${random.text(5)}":"${"x".repeat(random.below(90_000))}"}`));
  if (choice === 7)
    return Buffer.from(payload.replaceAll(/"[^"]*"(?!:)/g, (text) => (random.chance(0.1) ? jsonValue(random) : text)));
  return damaged(Buffer.from(payload), random);
}

function jsonValue(random: SeededRandom): string {
  return random.pick([
    '"\\u001b[2J"',
    '"\\u0000"',
    '"\\ud800"',
    '"\u202e"',
    "null",
    "-0",
    "1e999",
    "9007199254740993",
    "[]",
    "{}",
    '{"__proto__":1}',
    "true",
    '""',
  ]);
}

function chunked(body: Buffer, random: SeededRandom): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + 1 + random.below(2_000);
    parts.push(chunk(body.subarray(at, end)));
    at = end;
  }
  if (random.chance(0.1))
    parts.push(Buffer.from(`${random.pick(["-1", "g", "ffffffffffffffff1", "5;a=b", "5 ", "\n"])}\r\nhello\r\n`));
  if (!random.chance(0.05))
    parts.push(Buffer.from(random.chance(0.1) ? `0\r\nX-${random.text(4)}: ${random.text(4)}\r\n\r\n` : "0\r\n\r\n"));
  return Buffer.concat(parts);
}

function damaged(bytes: Buffer, random: SeededRandom): Buffer {
  let changed: Buffer = Buffer.from(bytes);
  for (let times = 1 + random.below(4); times > 0 && changed.length > 0; times -= 1) {
    const at = random.below(changed.length);
    const end = Math.min(changed.length, at + 1 + random.below(40));
    const choice = random.below(5);
    if (choice === 0) changed[at] = random.below(256);
    else if (choice === 1) changed = Buffer.concat([changed.subarray(0, at), changed.subarray(end)]);
    else if (choice === 2) changed = Buffer.concat([changed.subarray(0, end), changed.subarray(at)]);
    else if (choice === 3)
      changed = Buffer.concat([changed.subarray(0, at), Buffer.from(random.pick(odd), "latin1"), changed.subarray(at)]);
    else changed = changed.subarray(0, at);
  }
  return changed;
}

function insertAt(text: string, random: SeededRandom, inserted: string): string {
  const at = random.below(text.length + 1);
  return text.slice(0, at) + inserted + text.slice(at);
}

function cut(bytes: Buffer, random: SeededRandom): Buffer[] {
  if (random.chance(0.6)) return [bytes];
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + random.below(random.chance(0.2) ? 20 : 2_000);
    pieces.push(bytes.subarray(at, end));
    at = end;
    if (pieces.length > 30) return [...pieces, bytes.subarray(at)];
  }
  return pieces;
}
