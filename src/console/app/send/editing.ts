import { useEffect, useRef, useState } from "preact/hooks";
import { indentJson } from "../../../core/text.ts";
import { repoTypes } from "../../../payload/names.ts";
import type { DeliveryDetails } from "../../protocol/deliveries.ts";
import type { AttemptDetails } from "../../protocol/hub.ts";
import type { SendPreview, SendRequest, SentFiles } from "../../protocol/send.ts";
import type { FieldProblem } from "../../protocol/session.ts";
import { type ApiFailure, getJson, sendJson, subscribe, toApiFailure } from "../api.ts";
import { findSyntaxProblem, keepUnchanged } from "../json/parse.ts";

/** A pause of this length ends the typing. In milliseconds. */
const debounceMs = 300;

/** Loads the payload to start from, and checks each edit on the server. */
export function useEditing(from: Draft | Past | undefined, files: SentFiles | undefined) {
  const address = JSON.stringify(from);
  const [start, setStart] = useState<Start>();
  /** Why the start could not be loaded, such as an invalid repository. */
  const [failure, setFailure] = useState<ApiFailure>();
  const [text, setText] = useState("");
  /** Edits that a new start has replaced. */
  const [replaced, setReplaced] = useState<string>();
  const [fields, setFields] = useState<readonly FieldProblem[]>([]);
  const latest = useRef({ text, start });
  latest.current = { text, start };

  useEffect(() => {
    if (!from) return;
    const controller = new AbortController();
    const { signal } = controller;
    loadStart(from, signal).then(
      (loaded) => {
        if (signal.aborted) return;
        const { text: edited, start: last } = latest.current;
        setReplaced(last && edited !== last.text ? edited : undefined);
        setStart(loaded);
        setText(loaded.text);
        setFields([]);
        setFailure(undefined);
      },
      (error: unknown) => {
        if (!signal.aborted) setFailure(toApiFailure(error));
      },
    );
    return () => controller.abort();
  }, [address]);

  const request: SendRequest = { body: text, ...(start?.isDraft && { draft: start.text, ...(files && { files }) }) };
  const preview = usePreview(start && withoutContents(request), (problems) => setFields(problems));
  return {
    ...{ start, text, failure, preview, fields, replaced, request },
    change: (next: string) => {
      setFields((known) => (known.length === 0 ? known : keepUnchanged(known, { sent: text, current: next })));
      setText(next);
    },
    showProblems: setFields,
  };
}

/** A preview needs only the paths of the files. */
function withoutContents({ files, ...request }: SendRequest): SendRequest {
  if (!files) return request;
  const paths = Object.entries(files).map(([path, content]) => [path, content === null ? null : ""] as const);
  return { ...request, files: Object.fromEntries(paths) };
}

/** Loads the recipients of a payload, while the user types and after the recipients have changed. */
function usePreview(
  request: SendRequest | undefined,
  onProblems: (fields: readonly FieldProblem[]) => void,
): SendPreview | undefined {
  const [preview, setPreview] = useState<SendPreview>();
  const [changes, setChanges] = useState(0);
  const text = request && JSON.stringify(request);
  useEffect(
    () =>
      subscribe({
        opened: () => setChanges((count) => count + 1),
        messages: (messages) => {
          const isConcerned = messages.some(
            (message) => message.type === "changed" && message.features.includes("send"),
          );
          if (isConcerned) setChanges((count) => count + 1);
        },
      }),
    [],
  );
  useEffect(() => {
    if (!request || findSyntaxProblem(request.body)) return;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      try {
        const answer = await sendJson<SendPreview>("send/preview", request);
        if (!isCurrent) return;
        setPreview(answer);
        onProblems(answer.problems);
      } catch {
        // Sending shows the failure. The next edit loads the preview again.
      }
    }, debounceMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text, changes]);
  return preview;
}

/** The first content of the editor: the payload of an event, or of a past delivery. */
interface Start {
  text: string;
  /** Whether the payload is that of an event that has not happened. Sending it then makes the change of the event. */
  isDraft: boolean;
  /** Why the payload is not complete. */
  note?: string;
}

export interface Draft {
  scope: string;
  action: string;
  /** As `type:name`. */
  repository: string;
  /** Set if a new discussion is a pull request. */
  pr?: "true" | undefined;
}

/** The past delivery of a route, of an endpoint or of a webhook. */
export type Past = { endpoint: string; id: string } | { webhook: string; log: string };

export function readPast(query: Readonly<Record<string, string>>): Past | undefined {
  const { "from-endpoint": endpoint, "from-id": id, "from-webhook": webhook, "from-log": log } = query;
  if (endpoint !== undefined && id !== undefined) return { endpoint, id };
  return webhook !== undefined && log !== undefined ? { webhook, log } : undefined;
}

/**
 * Loads the first content of the editor.
 *
 * @throws `ApiFailure`
 */
async function loadStart(from: Draft | Past, signal: AbortSignal): Promise<Start> {
  if ("repository" in from) {
    const { body } = await getJson<{ body: string }>("send/payload", { query: { ...from }, signal });
    return { text: body, isDraft: true };
  }
  const { body, bodyLength } = await loadBody(from, signal);
  return {
    text: [...indentJson(body)].join(""),
    isDraft: false,
    ...(bodyLength !== undefined && { note: "The payload is cut, because it is larger than 1 MiB." }),
  };
}

async function loadBody(from: Past, signal: AbortSignal): Promise<{ body: string; bodyLength?: number }> {
  if ("endpoint" in from) return getJson<DeliveryDetails>("deliveries/one", { query: { ...from }, signal });
  const query = { id: from.webhook, logId: from.log };
  return (await getJson<AttemptDetails>("webhooks/attempt", { query, signal })).request;
}

/** Returns what is wrong with a repository as the user wrote it, or `undefined` if it is valid. */
export function findRepositoryProblem(text: string): string | undefined {
  const [, type, name] = /^([^:]*):(.*)$/.exec(text) ?? [];
  if (type === undefined || name === undefined || !/^(?:[^/\s]+\/)?[^/\s]+$/.test(name)) {
    return "Write type:owner/name, such as dataset:acme/data.";
  }
  if (repoTypes.some((known) => known === type)) return undefined;
  return `Unknown type "${type}". Valid types: ${repoTypes.join(", ")}.`;
}
