import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { discussionStatus } from "../../hub/notifications.ts";
import { networkSecurity } from "../../hub/organizations/network-security.ts";
import { autoJoin, resource } from "../../hub/organizations/resource-groups.ts";
import { organizationRole, repoRef } from "../../hub/schemas.ts";
import { notificationSettings, notificationWatchItem } from "../../hub/settings.ts";

/** Milliseconds since the epoch. */
const time = z.number();
const userName = z.string();

/** A notification. The owner of the record is the user, and the ID is the ID of the discussion. */
const storedNotification = z.object({
  updatedAt: time,
  read: z.boolean(),
  participating: z.array(userName),
  mentions: z.boolean(),
  discussionEventId: z.string().optional(),
  about: z.discriminatedUnion("type", [
    z.object({ type: z.literal("paper"), paper: z.object({ _id: z.string(), title: z.string() }) }),
    z.object({
      type: z.literal("repo"),
      repo: repoRef,
      discussion: z.object({
        num: z.number(),
        title: z.string(),
        status: discussionStatus,
        isPullRequest: z.boolean(),
      }),
    }),
    z.object({ type: z.literal("post"), slug: z.string(), title: z.string(), authorName: userName }),
    z.object({
      type: z.literal("community_blog"),
      slug: z.string(),
      title: z.string(),
      canonical: z.boolean(),
      authorName: userName.optional(),
    }),
  ]),
});

/** A user's settings. The owner of the record is the user, and the ID is `settings`. */
const storedSettings = z.object({
  notifications: notificationSettings,
  prepaidAmount: z.string().optional(),
  watched: z.array(notificationWatchItem),
});

/** A paper. The owner of the record is empty, and the ID is the ID of the preprint. */
const storedPaper = z.object({
  objectId: z.string(),
  title: z.string(),
  authors: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      claimedBy: z.string().optional(),
    }),
  ),
});

/** A member. The owner of the record is the organization, and the ID is the username. */
const storedMember = z.object({
  role: organizationRole,
  isExternalCollaborator: z.boolean(),
});

/** A resource group. The owner of the record is the organization. */
const storedResourceGroup = z.object({
  name: z.string(),
  description: z.string().optional(),
  autoJoin: z.optional(autoJoin),
  createdAt: time,
  users: z.array(z.object({ user: userName, role: organizationRole, addedBy: userName.optional() })),
  repos: z.array(z.object({ ...repoRef.shape, addedBy: userName.optional() })),
  others: z.array(resource).optional(),
});

const namedValues = z.record(
  z.string(),
  z.object({ value: z.string(), description: z.string().optional(), updatedAt: z.number() }),
);

/** The settings of a Space. The owner of the record is empty, and the ID is the ID of the repository. */
const storedSpace = z.object({
  secrets: namedValues,
  variables: namedValues,
  hardware: z.string(),
  /** The seconds without a request after which the Space sleeps on paid hardware. `null`: never. */
  sleepSeconds: z.number().nullable(),
  port: z.number().optional(),
});

/** The revoked access of a token. The owner of the record is the organization, and the ID is the ID of the token. */
const storedRevocation = z.object({ at: time });

export type StoredNotification = z.output<typeof storedNotification>;
export type StoredSettings = z.output<typeof storedSettings>;
export type StoredPaper = z.output<typeof storedPaper>;
export type StoredMember = z.output<typeof storedMember>;
export type StoredSpace = z.output<typeof storedSpace>;
export type StoredResourceGroup = z.output<typeof storedResourceGroup>;

export function openRecords(database: DatabaseSync) {
  return {
    notifications: new RecordStore(database, { kind: "notification", schema: storedNotification }),
    settings: new RecordStore(database, { kind: "settings", schema: storedSettings }),
    papers: new RecordStore(database, { kind: "paper", schema: storedPaper }),
    members: new RecordStore(database, { kind: "member", schema: storedMember }),
    resourceGroups: new RecordStore(database, { kind: "resource-group", schema: storedResourceGroup }),
    /** The owner of the record is the organization, and the ID is `network-security`. */
    networkSecurity: new RecordStore(database, { kind: "network-security", schema: networkSecurity }),
    spaces: new RecordStore(database, { kind: "space", schema: storedSpace }),
    revocations: new RecordStore(database, { kind: "revocation", schema: storedRevocation }),
  };
}

interface RecordKey {
  /** The name of a user or an organization. */
  owner: string;
  id: string;
}

export interface KeyedRecord<Record> extends RecordKey {
  record: Record;
}

/** Stores records of one kind. Each record has an owner and an ID. */
class RecordStore<Schema extends z.core.$ZodType> {
  readonly #database: DatabaseSync;
  readonly #kind: string;
  readonly #schema: Schema;

  constructor(database: DatabaseSync, { kind, schema }: { kind: string; schema: Schema }) {
    this.#database = database;
    this.#kind = kind;
    this.#schema = schema;
  }

  get({ owner, id }: RecordKey): z.output<Schema> | undefined {
    const row = this.#database
      .prepare("SELECT record FROM records WHERE kind = ? AND owner = ? AND id = ?")
      .get(this.#kind, owner, id);
    return row && z.parse(this.#schema, JSON.parse(String(row.record)));
  }

  /** Returns the records of an owner, sorted by ID. */
  listByOwner(owner: string): KeyedRecord<z.output<Schema>>[] {
    const rows = this.#database
      .prepare("SELECT id, record FROM records WHERE kind = ? AND owner = ? ORDER BY id")
      .all(this.#kind, owner);
    return rows.map(({ id, record: json }) => {
      return { owner, id: String(id), record: z.parse(this.#schema, JSON.parse(String(json))) };
    });
  }

  /** Adds records. Replaces records with the same owner and ID. */
  put(...records: KeyedRecord<z.input<Schema>>[]): void {
    // All records are written with one statement, because one statement per record would slow down the start by milliseconds.
    this.#database
      .prepare(
        `INSERT INTO records (kind, owner, id, record)
          SELECT ?, value ->> 'owner', value ->> 'id', value -> 'record' FROM json_each(?) WHERE true
          ON CONFLICT (kind, owner, id) DO UPDATE SET record = excluded.record`,
      )
      .run(this.#kind, JSON.stringify(records));
  }

  delete({ owner, id }: RecordKey): void {
    this.#database.prepare("DELETE FROM records WHERE kind = ? AND owner = ? AND id = ?").run(this.#kind, owner, id);
  }
}
