import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { discussionStatus } from "../../hub/contract/notifications.ts";
import { networkSecurity } from "../../hub/contract/organizations/network-security.ts";
import { autoJoin, resource } from "../../hub/contract/organizations/resource-groups.ts";
import { organizationRole } from "../../hub/contract/organizations/role.ts";
import { repoId } from "../../hub/contract/repositories.ts";
import { notificationSettings, watchItem } from "../../hub/contract/settings.ts";
import { RecordStore } from "./record-store.ts";

/** Milliseconds since the epoch. */
const time = z.number();
const userName = z.string();

/** A notification of a user: its owner is the user, its id that of the discussion. */
export const storedNotification = z.object({
  updatedAt: time,
  read: z.boolean(),
  /** Who takes part in the discussion. */
  participating: z.array(userName),
  /** Whether the user is mentioned in it. */
  mentions: z.boolean(),
  discussionEventId: z.string().optional(),
  about: z.discriminatedUnion("type", [
    z.object({ type: z.literal("paper"), paper: z.object({ _id: z.string(), title: z.string() }) }),
    z.object({
      type: z.literal("repo"),
      repo: repoId,
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

/** The settings of a user: its owner is the user, its id `settings`. */
export const storedSettings = z.object({
  notifications: notificationSettings,
  prepaidAmount: z.string().optional(),
  watched: z.array(watchItem),
});

/** A paper: it belongs to nobody, its owner is empty, and its id is that of the preprint. */
export const storedPaper = z.object({
  /** As notifications name it. */
  objectId: z.string(),
  title: z.string(),
  authors: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      /** The id of the user who has claimed to be this one. */
      claimedBy: z.string().optional(),
    }),
  ),
});

/** A member: its owner is the organization, its id the user's name. */
export const storedMember = z.object({
  role: organizationRole,
  isExternalCollaborator: z.boolean(),
});

/** A resource group: its owner is the organization. */
export const storedResourceGroup = z.object({
  name: z.string(),
  description: z.string().optional(),
  autoJoin: autoJoin.optional(),
  /** Milliseconds since the epoch. */
  createdAt: time,
  users: z.array(z.object({ user: userName, role: organizationRole, addedBy: userName.optional() })),
  repos: z.array(z.object({ ...repoId.shape, addedBy: userName.optional() })),
  /** Resources other than repositories. */
  others: z.array(resource).optional(),
});

/** A token that has lost its access: its owner is the organization, its id that of the token. */
const storedRevocation = z.object({ at: time });

/** A notification of a user. */
export type StoredNotification = z.output<typeof storedNotification>;
/** The settings of a user. */
export type StoredSettings = z.output<typeof storedSettings>;
/** A paper. */
export type StoredPaper = z.output<typeof storedPaper>;
/** A member of an organization. */
export type StoredMember = z.output<typeof storedMember>;
/** A resource group of an organization. */
export type StoredResourceGroup = z.output<typeof storedResourceGroup>;

/** The records of a local Hub, by kind. */
export function openRecords(database: DatabaseSync) {
  return {
    notifications: new RecordStore(database, { kind: "notification", schema: storedNotification }),
    settings: new RecordStore(database, { kind: "settings", schema: storedSettings }),
    papers: new RecordStore(database, { kind: "paper", schema: storedPaper }),
    members: new RecordStore(database, { kind: "member", schema: storedMember }),
    resourceGroups: new RecordStore(database, { kind: "resource-group", schema: storedResourceGroup }),
    /** As it is answered: its owner is the organization, its id `network-security`. */
    networkSecurity: new RecordStore(database, { kind: "network-security", schema: networkSecurity }),
    revocations: new RecordStore(database, { kind: "revocation", schema: storedRevocation }),
  };
}
