import * as z from "zod";

/** What can be told of a secret that was written: that there is none, or a hash to recognise it by. */
const notedSecret = z.union([z.null(), z.strictObject({ salt: z.string(), hash: z.string() })]);

const watched = z.array(z.strictObject({ type: z.string(), name: z.string() }));

/** Where a webhook delivers and what it hears, in the words of the Hub. */
const target = z.strictObject({ url: z.string(), watched, domains: z.array(z.string()) });

/** Whoever made a webhook for as long as it runs, and how to find out whether it still does. */
const session = z.strictObject({
  id: z.string().min(1),
  /** A GET of `url`, on this machine, is answered with `answer` as long as it runs. */
  alive: z.strictObject({ url: z.string(), answer: z.string().min(1) }),
});

const known = z.strictObject({
  id: z.string().min(1),
  endpoint: z.string(),
  /** Absent where nobody knows, as after taking over a webhook that somebody else has made. */
  secret: notedSecret.optional(),
  /** What was written last, and what the Hub made of it: it may write a URL in another way. */
  written: target.optional(),
  answered: target.optional(),
  session: session.optional(),
});

const pending = z.strictObject({
  /** Names this entry. */
  key: z.string().min(1),
  endpoint: z.string(),
  secret: notedSecret,
  written: target,
  /** The webhooks that the Hub had then: the one that was being made is none of these. */
  before: z.array(z.string()),
  notedAt: z.iso.datetime(),
  session: session.optional(),
});

const hubState = z.strictObject({ webhooks: z.array(known), pending: z.array(pending) });

/** All that a state file holds. */
export const registrationState = z.strictObject({ version: z.literal(1), hubs: z.record(z.string(), hubState) });

export type NotedSecret = z.output<typeof notedSecret>;
/** A webhook that is ours. */
export type KnownWebhook = z.output<typeof known>;
/** A webhook that was about to be made. */
export type PendingWebhook = z.output<typeof pending>;
export type RegistrationSession = z.output<typeof session>;
export type WebhookTarget = z.output<typeof target>;
/** What is known of the webhooks on one Hub. */
export type HubState = z.output<typeof hubState>;
export type RegistrationState = z.output<typeof registrationState>;
