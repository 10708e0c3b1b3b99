import type { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type * as z from "zod/mini";
import {
  accountOperations,
  type OrganizationOverview,
  organizationOverview,
  profileOperations,
  type UserOverview,
  userOverview,
  whoami,
} from "../../hub/account.ts";
import { type PaperClaimResult, paperClaim, paperClaimResult, paperOperations } from "../../hub/papers.ts";
import {
  mcpSettings,
  notificationSettingsChange,
  notificationWatchChange,
  notificationWatchItem,
  settingsOperations,
} from "../../hub/settings.ts";
import {
  accountId,
  findUserById,
  formatFullName,
  getAccountKind,
  getOwner,
  getPlan,
  organizationNames,
} from "../accounts.ts";
import type { HubContext } from "../hub-context.ts";
import { getWhoami, type WhoamiSource } from "../resources/account.ts";
import { getAvatarUrl } from "../resources/avatars.ts";
import { mcpTools, updateNotificationSettings, updateWatchSettings } from "../resources/settings.ts";
import type { StoredPaper } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const accountRoutes = {
  whoami: describeRoute(accountOperations.whoami, {
    tag: "auth",
    success: { description: "The user." },
    errors: [],
  }),
} as const;

/** Serves the user of the token. The Python client's commands call this operation first. */
export const accountApi = {
  routes: accountRoutes,
  components: { Whoami: whoami },
  serve(app: Hono<ApiEnvironment>, { store, hubUrl, startedAt }: Pick<HubContext, "store" | "hubUrl" | "startedAt">) {
    serveRoute(app, accountRoutes.whoami, (_request, context) =>
      getWhoami(context.var.caller, { store, hubUrl, startedAt }),
    );
  },
} satisfies ResourceApi;

const settingsRoutes = {
  mcp: describeRoute(settingsOperations.mcp, {
    tag: "mcp",
    success: { description: "The tools." },
    errors: [],
  }),
  updateNotifications: describeRoute(settingsOperations.updateNotifications, {
    tag: "notifications",
    success: { description: "The settings were changed." },
    errors: ["invalid", "forbidden"],
  }),
  updateWatch: describeRoute(settingsOperations.updateWatch, {
    tag: "notifications",
    success: { description: "The settings were changed." },
    errors: ["invalid", "forbidden"],
  }),
} as const;

/** Serves the operations on a user's settings (docs/reference/hub-api.md, Settings). */
export const settingsApi = {
  routes: settingsRoutes,
  components: {
    NotificationSettingsChange: notificationSettingsChange,
    WatchItem: notificationWatchItem,
    WatchChange: notificationWatchChange,
    McpSettings: mcpSettings,
  },
  serve(app: Hono<ApiEnvironment>, { store }: Pick<HubContext, "store">) {
    serveRoute(app, settingsRoutes.mcp, () => mcpTools);

    serveRoute(app, settingsRoutes.updateNotifications, ({ body }, context) => {
      updateNotificationSettings({ store, user: context.var.caller.user }, body);
      return {};
    });

    serveRoute(app, settingsRoutes.updateWatch, ({ body }, context) => {
      updateWatchSettings({ store, user: context.var.caller.user }, body);
      return {};
    });
  },
} satisfies ResourceApi;

const paperRoutes = {
  claim: describeRoute(paperOperations.claim, {
    tag: "papers",
    success: { description: "Whether the claim was accepted." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

/** Serves the operations on papers (docs/reference/hub-api.md, Papers). */
export const paperApi = {
  routes: paperRoutes,
  components: { PaperClaim: paperClaim, PaperClaimResult: paperClaimResult },
  serve(app: Hono<ApiEnvironment>, { store }: Pick<HubContext, "store">) {
    serveRoute(app, paperRoutes.claim, ({ body }, context) => {
      return claimPaper({ store, user: context.var.caller.user }, body);
    });
  },
} satisfies ResourceApi;

/**
 * Claims a paper for `user`, or for the user `targetUserId`. `ok` is `false` if other users have claimed
 * the requested author or all authors.
 *
 * @throws HTTPException 404 if the paper is unknown, 400 if the user or the author is unknown.
 */
function claimPaper(
  { store, user: claimant }: { store: Store; user: string },
  { paperId, claimAuthorId, targetUserId }: z.output<typeof paperClaim>,
): PaperClaimResult {
  const key = { owner: "", id: paperId };
  const paper = store.papers.get(key);
  if (!paper) throw new HTTPException(404, { message: `There is no paper "${paperId}".` });
  const user = targetUserId === undefined ? claimant : findUserById(store, targetUserId.toLowerCase());
  if (user === undefined) {
    throw new HTTPException(400, { message: `targetUserId: there is no user with the ID ${targetUserId}.` });
  }
  const author = claimAuthorId === undefined ? findLikelyAuthor(paper, user) : authorOf(paper, claimAuthorId);
  const userId = accountId(user);
  const isFree = author !== undefined && (author.claimedBy ?? userId) === userId;
  if (isFree) {
    const authors = paper.authors.map((known) => (known === author ? { ...known, claimedBy: userId } : known));
    store.papers.put({ ...key, record: { ...paper, authors } });
  }
  return { ok: isFree, claimedPaperId: paperId };
}

type Author = StoredPaper["authors"][number];

function authorOf({ authors }: StoredPaper, id: string): Author {
  const author = authors.find((known) => known.id === id.toLowerCase());
  if (author) return author;
  const ids = authors.map((known) => `${known.id} (${known.name})`).join(", ");
  throw new HTTPException(400, { message: `claimAuthorId: the authors of this paper are ${ids}.` });
}

/**
 * Returns the author that a user has claimed, otherwise an unclaimed author with the user's name, otherwise the first
 * unclaimed author.
 */
function findLikelyAuthor({ authors }: StoredPaper, user: string): Author | undefined {
  const free = authors.filter(({ claimedBy }) => claimedBy === undefined);
  return (
    authors.find(({ claimedBy }) => claimedBy === accountId(user)) ??
    free.find(({ name }) => name === formatFullName(user)) ??
    free[0]
  );
}

const profileRoutes = {
  user: describeRoute(profileOperations.user, {
    tag: "users",
    token: "optional",
    success: { description: "The profile." },
    errors: ["notFound"],
  }),
  organization: describeRoute(profileOperations.organization, {
    tag: "orgs",
    token: "optional",
    success: { description: "The profile." },
    errors: ["notFound"],
  }),
} as const;

/** Serves the public profiles of users and organizations. */
export const profileApi = {
  routes: profileRoutes,
  components: { UserOverview: userOverview, OrganizationOverview: organizationOverview },
  serve(app: Hono<ApiEnvironment>, { store, hubUrl, startedAt }: Pick<HubContext, "store" | "hubUrl" | "startedAt">) {
    serveRoute(app, profileRoutes.user, ({ params }) => getUserOverview(params.username, { store, hubUrl, startedAt }));

    serveRoute(app, profileRoutes.organization, ({ params }) =>
      getOrganizationOverview(params.name, { store, hubUrl }),
    );
  },
} satisfies ResourceApi;

/**
 * Returns the public profile of a user.
 *
 * @throws HTTPException 404 if the user is unknown.
 */
function getUserOverview(user: string, { store, hubUrl, startedAt }: WhoamiSource): UserOverview {
  const organizations = organizationNames.filter((name) => store.members.get({ owner: name, id: user }));
  if (getAccountKind(user) !== "user" && organizations.length === 0) {
    throw new HTTPException(404, { message: `The user "${user}" does not exist.` });
  }
  return {
    _id: accountId(user),
    user,
    type: "user",
    isPro: false,
    ...profileOf(user, { hubUrl }),
    orgs: organizations.map((name) => ({ id: accountId(name), name, ...profileOf(name, { hubUrl }) })),
    ...countRepositories(store, user),
    createdAt: startedAt.toISOString(),
  };
}

/**
 * Returns the public profile of an organization.
 *
 * @throws HTTPException 404 if the organization is unknown.
 */
function getOrganizationOverview(
  name: string,
  { store, hubUrl }: Pick<WhoamiSource, "store" | "hubUrl">,
): OrganizationOverview {
  const plan = getPlan(name);
  if (plan === undefined) throw new HTTPException(404, { message: `The organization "${name}" does not exist.` });
  return {
    _id: accountId(name),
    name,
    type: "org",
    plan,
    ...profileOf(name, { hubUrl }),
    numUsers: store.members.listByOwner(name).length,
    ...countRepositories(store, name),
  };
}

function profileOf(name: string, { hubUrl }: { hubUrl: string }) {
  return { fullname: formatFullName(name), avatarUrl: getAvatarUrl(name, { hubUrl }) };
}

/** Counts the public repositories of a user or an organization. */
function countRepositories(store: Store, owner: string) {
  const owned = store.repositories.all().filter((repository) => !repository.private && getOwner(repository) === owner);
  const count = (type: string) => owned.filter((repository) => repository.type === type).length;
  return { numModels: count("model"), numDatasets: count("dataset"), numSpaces: count("space") };
}
