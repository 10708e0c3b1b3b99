import { signal } from "@preact/signals";
import type {
  ApiError,
  ConsoleFeature,
  FieldProblem,
  SessionInfo,
  SignInMethods,
  SignInRequest,
  StreamMessage,
} from "../protocol/session.ts";

/** The values of a query. `undefined` and `""` are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** Returns the URL of an API resource. It is relative to the document, so that any proxy prefix works. */
export function apiUrl(path: string, query: Query = {}): string {
  const url = new URL(`api/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** A request that hangs must not block those after it. */
const requestTimeoutMs = 60_000;

/**
 * Reads a resource of the API.
 *
 * @throws `ApiFailure`
 */
export async function getJson<Answer>(
  path: string,
  { query, signal }: { query?: Query | undefined; signal?: AbortSignal } = {},
): Promise<Answer> {
  const timeout = AbortSignal.timeout(requestTimeoutMs);
  return await request(apiUrl(path, query), { signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
}

/**
 * Sends a change to the API.
 *
 * @throws `ApiFailure`
 */
export async function sendJson<Answer>(path: string, body: unknown, method = "POST"): Promise<Answer> {
  const send = () => {
    const csrfToken = session.value?.signedIn ? session.value.csrfToken : undefined;
    return request<Answer>(apiUrl(path), {
      method,
      headers: { "content-type": "application/json", ...(csrfToken !== undefined && { "x-csrf-token": csrfToken }) },
      body: JSON.stringify(body),
    });
  };
  try {
    return await send();
  } catch (error) {
    if (toApiFailure(error).code !== "CSRF_TOKEN_INVALID") throw error;
    // A sign-in in another tab has replaced the session.
    await loadSession();
    return await send();
  }
}

/** How far the clock of the server is ahead of that of the browser, in milliseconds. */
let clockLeadMs = 0;

/** The time of the server. The clock of the browser can be wrong. */
export function serverNow(): number {
  return Date.now() + clockLeadMs;
}

async function request<Answer>(url: string, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, init);
    const leadMs = Date.parse(response.headers.get("date") ?? "") - Date.now();
    // The server writes whole seconds, and its answer takes a while. The time must not move with each answer.
    if (Math.abs(leadMs - clockLeadMs) > 5_000) clockLeadMs = leadMs;
    if (!response.ok) throw await toFailure(response);
    return await response.json();
  } catch (error) {
    // An aborted request is not a failure of the server.
    if (init.signal?.aborted) throw error;
    throw toApiFailure(error);
  }
}

/** Reads the error of a response. A session that has ended shows the sign-in page. */
async function toFailure(response: Response): Promise<ApiFailure> {
  const answer: Partial<ApiError> = await response.json().catch(() => ({}));
  if (answer.code === "SIGN_IN_REQUIRED" && session.value?.signedIn) {
    session.value = { signedIn: false, place: session.value.place, methods: undefined };
  }
  const { status } = response;
  return new ApiFailure(answer.error ?? `The server answered with status ${status}.`, {
    status,
    code: answer.code ?? `STATUS_${status}`,
    fields: answer.fields,
  });
}

type SignedIn = Extract<SessionInfo, { signedIn: true }>;

/** Signed out. `methods` is missing right after a session has ended, until the session is loaded again. */
interface SignedOut {
  signedIn: false;
  place: SessionInfo["place"];
  methods: SignInMethods | undefined;
}

/** The session, or `undefined` while it is loading. */
export const session = signal<SignedIn | SignedOut | undefined>(undefined);

/** Whether the server offers a feature to the signed-in user. */
export function isOffered(feature: ConsoleFeature): boolean {
  return session.value?.signedIn === true && session.value.features.includes(feature);
}

/** Why the session could not be loaded. */
export const sessionFailure = signal<ApiFailure | undefined>(undefined);

export async function loadSession(): Promise<void> {
  try {
    session.value = await getJson<SessionInfo>("session");
    sessionFailure.value = undefined;
  } catch (error) {
    sessionFailure.value = toApiFailure(error);
  }
}

/**
 * Signs in with a console token or with the code of a one-time link.
 *
 * @throws `ApiFailure` with `SIGN_IN_INVALID` or `TOO_MANY_FAILURES`
 */
export async function signIn(request: SignInRequest): Promise<void> {
  session.value = await sendJson<SessionInfo>("session", request);
}

/** Signs out and shows the sign-in page. */
export async function signOut(): Promise<void> {
  await sendJson<unknown>("session", {}, "DELETE");
  await loadSession();
}

export class ApiFailure extends Error {
  /** The HTTP status; `0` if there was no response. */
  readonly status: number;
  /** A stable code, such as `DELIVERY_UNKNOWN`. `UNREACHABLE` if there was no response. */
  readonly code: string;
  readonly fields: readonly FieldProblem[];

  constructor(
    message: string,
    options: { status: number; code: string; fields?: readonly FieldProblem[] | undefined },
  ) {
    super(message);
    this.name = "ApiFailure";
    this.status = options.status;
    this.code = options.code;
    this.fields = options.fields ?? [];
  }

  /** Whether the same request can succeed later: the server was not reachable, or was not able to answer. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status >= 500;
  }
}

/** Converts anything that a request threw. */
export function toApiFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  return new ApiFailure("The server is not reachable.", { status: 0, code: "UNREACHABLE" });
}

/** The state of the connection to `GET api/stream`. */
export const connection = signal<"connecting" | "live" | "reconnecting">("connecting");

interface Subscriber {
  /** Called at most 5 times a second, with all messages since the last call. */
  messages?: (messages: readonly StreamMessage[]) => void;
  /** Called when the connection opens, for the first time too. Messages were missed before, so load again. */
  opened?: () => void;
}

const subscribers = new Set<Subscriber>();

/** Receives the messages of the stream. Returns a function that ends the subscription. */
export function subscribe(subscriber: Subscriber): () => void {
  subscribers.add(subscriber);
  return () => void subscribers.delete(subscriber);
}

/** The server writes a heartbeat every 15 s. A connection that is silent for longer is broken. */
const maxSilenceMs = 45_000;
const maxBackoffMs = 15_000;

/** Connects to the stream until `signal` aborts, and reconnects after each failure. */
export async function runStream(signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await readStream(signal, () => {
        failures = 0;
        connection.value = "live";
        for (const { opened } of [...subscribers]) opened?.();
      });
    } catch {
      // The next attempt follows. If the session has ended, `signal` is aborted.
    }
    if (signal.aborted) return;
    connection.value = "reconnecting";
    failures += 1;
    await sleep(Math.min(500 * 2 ** failures, maxBackoffMs) * (0.5 + Math.random() / 2), signal);
  }
}

async function readStream(signal: AbortSignal, opened: () => void): Promise<void> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), maxSilenceMs);
  try {
    const response = await fetch(apiUrl("stream"), {
      headers: { accept: "text/event-stream" },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (!response.ok || !response.body) throw await toFailure(response);
    opened();
    const parser = new EventStreamParser();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), maxSilenceMs);
      for (const data of parser.push(value)) enqueue(JSON.parse(data));
    }
  } finally {
    clearTimeout(timer);
    // After a damaged message, the server must not write to a connection that nothing reads.
    silence.abort();
  }
}

let queue: StreamMessage[] = [];
let lastFlushAt = Number.NEGATIVE_INFINITY;

/** More updates than this per second are not readable, and cost frames. */
const minFlushIntervalMs = 200;

/** Messages that arrive together are handled together. A hidden page has no frames, so that waiting for one would fill the queue. */
function enqueue(message: StreamMessage): void {
  if (!session.value?.signedIn) return;
  queue.push(message);
  if (queue.length > 1) return;
  setTimeout(flush, Math.max(0, lastFlushAt + minFlushIntervalMs - performance.now()));
}

function flush(): void {
  lastFlushAt = performance.now();
  const messages = queue;
  queue = [];
  for (const subscriber of [...subscribers]) subscriber.messages?.(messages);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/** Splits the text of a Server-Sent Events response into the `data` of its events. */
export class EventStreamParser {
  #rest = "";

  /** Adds a part of the response. Returns the data of the events that it completes. */
  push(text: string): string[] {
    const blocks = (this.#rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.map(readData).filter((data) => data !== "");
  }
}

function readData(block: string): string {
  return block
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.replace(/^data: ?/, ""))
    .join("\n");
}
