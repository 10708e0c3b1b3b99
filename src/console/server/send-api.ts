import { WebhookError } from "../../core/errors.ts";
import { actionsByScope, scopes } from "../../payload/names.ts";
import type { WebhookPayload } from "../../payload/schema.ts";
import {
  type SendDraft,
  type SendOptions,
  type SendPreview,
  type SendRequest,
  type SendResult,
  type SendSample,
  sendDraft,
  sendRequest,
} from "../protocol/send.ts";
import type { ConsoleResource } from "./console.ts";
import { FieldError } from "./field-error.ts";
import { readBody, readQuery } from "./requests.ts";
import { parseSentPayload } from "./sent-payload.ts";

/** A valid payload to send. */
export interface SentEvent extends Pick<SendRequest, "draft" | "endpoints"> {
  payload: WebhookPayload;
}

/** Sends the events of a console: through the local Hub, or directly to the endpoints of the server. */
export interface SendSource {
  readonly isDirect: boolean;
  /** Returns the repositories to suggest, as `type:name`. The first choice is one that is watched, if possible a dataset. */
  repositories(): { watched: readonly string[]; others: readonly string[] };
  /** Returns the payload of an event as JSON text. @throws `ARGUMENT_INVALID`. */
  draftPayload(draft: SendDraft): string;
  /** Returns the recipients of an event. */
  preview(event: SentEvent): Omit<SendPreview, "problems">;
  send(event: SentEvent): Promise<SendResult>;
}

/** The repository types of samples. Each scope has a sample with a dataset, and pushes differ for buckets. */
const sampleTypes = { "repo.content": ["dataset", "bucket"] } as const satisfies Record<string, readonly string[]>;

/** The maximum number of repositories in the options. */
const maxRepositories = 1_000;

/** The routes that send events. */
export function sendApi(source: SendSource): ConsoleResource {
  return (app) => {
    app.get("/send/options", (context) => context.json(describeOptions(source)));

    app.get("/send/payload", (context) => {
      return context.json({ body: readDraftPayload(source, readQuery(context, sendDraft)) });
    });

    app.post("/send/preview", async (context) => {
      const { body, ...request } = await readBody(context, sendRequest);
      const parsed = parseSentPayload(body);
      if ("problems" in parsed) return context.json<SendPreview>({ problems: parsed.problems, recipients: [] });
      return context.json<SendPreview>({ problems: [], ...source.preview({ ...request, ...parsed }) });
    });

    app.post("/send", async (context) => {
      const { body, ...request } = await readBody(context, sendRequest);
      const parsed = parseSentPayload(body);
      if ("problems" in parsed) throw invalidPayload(parsed.problems);
      if (request.endpoints && !source.isDirect) throw endpointsNotChosen();
      return context.json(await source.send({ ...request, ...parsed }));
    });
  };
}

function describeOptions(source: SendSource): SendOptions {
  const { watched, others } = source.repositories();
  const defaultRepository = watched.find(isDataset) ?? watched[0] ?? others.find(isDataset) ?? others[0];
  return {
    isDirect: source.isDirect,
    scopes: scopes.map((scope) => ({ scope, actions: actionsByScope[scope] })),
    repositories: [...new Set([...watched, ...others])].slice(0, maxRepositories),
    ...(defaultRepository !== undefined && { defaultRepository }),
    samples: describeSamples(),
  };
}

function describeSamples(): readonly SendSample[] {
  return scopes.flatMap((scope) =>
    actionsByScope[scope].flatMap((action) =>
      (scope === "repo.content" ? sampleTypes[scope] : ["dataset"]).map((repoType) => ({
        ...{ name: `${scope} ${action}${repoType === "dataset" ? "" : ` (${repoType})`}`, scope, action, repoType },
      })),
    ),
  );
}

function isDataset(repository: string): boolean {
  return repository.startsWith("dataset:");
}

function readDraftPayload(source: SendSource, draft: SendDraft): string {
  try {
    return JSON.stringify(JSON.parse(source.draftPayload(draft)), null, 2);
  } catch (error) {
    if (!WebhookError.isInstance(error) || error.code !== "ARGUMENT_INVALID") throw error;
    throw new WebhookError(error.message, { code: "ARGUMENT_INVALID", status: 400 });
  }
}

function invalidPayload(problems: SendPreview["problems"]): FieldError {
  const message = "The payload is invalid. Fix the fields, and send it again.";
  return new FieldError(new WebhookError(message, { code: "PAYLOAD_INVALID" }), problems);
}

function endpointsNotChosen(): WebhookError {
  const message = "The local Hub sends events to webhooks. Remove the field endpoints.";
  return new WebhookError(message, { code: "ARGUMENT_INVALID", status: 400 });
}
