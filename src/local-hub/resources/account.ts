import type * as z from "zod/mini";
import {
  accountOperations,
  type OrganizationOverview,
  organizationOverview,
  profileOperations,
  type UserOverview,
  userOverview,
  type Whoami,
  whoami,
} from "../../hub/account.ts";
import {
  type McpSettings,
  mcpSettings,
  notificationSettingsChange,
  notificationWatchChange,
  notificationWatchItem,
  type PaperClaimResult,
  paperClaim,
  paperClaimResult,
  paperOperations,
  settingsOperations,
} from "../../hub/settings.ts";
import { findUserById } from "../access.ts";
import {
  accountId,
  type Caller,
  deriveId,
  formatFullName,
  getAccountKind,
  getAvatarUrl,
  getOwner,
  getPlan,
  organizationNames,
  type Plan,
} from "../accounts.ts";
import { badRequest, notFound } from "../error-response.ts";
import type { HubContext } from "../hub-context.ts";
import { describeRoutes, type ResourceApi, serveRoute } from "../routes/route.ts";
import type { StoredPaper, StoredSettings } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { listAccessibleGroups } from "./organizations/resource-groups.ts";

const accountRoutes = describeRoutes(accountOperations, "auth", {
  whoami: { success: "The user." },
});

/** Serves the user of the token. The Python client's commands call this operation first. */
export const accountApi = {
  routes: accountRoutes,
  components: { Whoami: whoami },
  serve(app, hub) {
    serveRoute(app, accountRoutes.whoami, (_request, context) => getWhoami(context.var.caller, hub));
  },
} satisfies ResourceApi;

const settingsRoutes = describeRoutes(settingsOperations, "notifications", {
  mcp: { tag: "mcp", success: "The tools." },
  updateNotifications: { success: "The settings were changed." },
  updateWatch: { success: "The settings were changed." },
});

/** Serves the operations on a user's settings (docs/reference/hub-api.md, Settings). */
export const settingsApi = {
  routes: settingsRoutes,
  components: {
    NotificationSettingsChange: notificationSettingsChange,
    WatchItem: notificationWatchItem,
    WatchChange: notificationWatchChange,
    McpSettings: mcpSettings,
  },
  serve(app, { store }) {
    serveRoute(app, settingsRoutes.mcp, () => mcpTools);

    serveRoute(app, settingsRoutes.updateNotifications, ({ body: { notifications, prepaidAmount } }, context) =>
      changeSettings(store, context.var.caller.user, (before) => ({
        ...before,
        notifications: { ...before.notifications, ...notifications },
        ...(prepaidAmount !== undefined && { prepaidAmount }),
      })),
    );

    // An item that is in both lists is deleted.
    serveRoute(app, settingsRoutes.updateWatch, ({ body }, context) =>
      changeSettings(store, context.var.caller.user, (before) => {
        const watched = new Map([...before.watched, ...body.add].map((item) => [keyOf(item), item]));
        for (const item of body.delete) watched.delete(keyOf(item));
        return { ...before, watched: [...watched.values()] };
      }),
    );
  },
} satisfies ResourceApi;

const paperRoutes = describeRoutes(paperOperations, "papers", {
  claim: { success: "Whether the claim was accepted.", errors: ["notFound"] },
});

/** Serves the operations on papers (docs/reference/hub-api.md, Papers). */
export const paperApi = {
  routes: paperRoutes,
  components: { PaperClaim: paperClaim, PaperClaimResult: paperClaimResult },
  serve(app, { store }) {
    serveRoute(app, paperRoutes.claim, ({ body }, context) => claimPaper(store, context.var.caller.user, body));
  },
} satisfies ResourceApi;

const profileRoutes = describeRoutes(profileOperations, "users", {
  user: { token: "optional", success: "The profile." },
  organization: { tag: "orgs", token: "optional", success: "The profile." },
});

export const profileApi = {
  routes: profileRoutes,
  components: { UserOverview: userOverview, OrganizationOverview: organizationOverview },
  serve(app, hub) {
    serveRoute(app, profileRoutes.user, ({ params }) => getUserOverview(params.username, hub));
    serveRoute(app, profileRoutes.organization, ({ params }) => getOrganizationOverview(params.name, hub));
  },
} satisfies ResourceApi;

const plans: Readonly<Record<Plan, "team" | "enterprise" | "plus" | undefined>> = {
  free: undefined,
  team: "team",
  enterprise: "enterprise",
  "enterprise-plus": "plus",
};

function getWhoami(caller: Caller, hub: HubContext): Whoami {
  const { user, tokenRole } = caller;
  return {
    type: "user",
    id: accountId(user),
    name: user,
    fullname: formatFullName(user),
    email: `${user}@example.com`,
    emailVerified: true,
    canPay: false,
    isPro: false,
    periodEnd: null,
    avatarUrl: getAvatarUrl(user, hub),
    orgs: organizationNames.flatMap((name) => organizationOf(name, caller, hub)),
    auth: {
      type: "access_token",
      accessToken: {
        displayName: `${tokenRole} token of the local Hub`,
        role: tokenRole,
        // The local Hub does not store its tokens.
        createdAt: hub.startedAt.toISOString(),
        ...(tokenRole === "fineGrained" && { fineGrained: fineGrainedOf(user) }),
      },
    },
  };
}

function organizationOf(name: string, caller: Caller, { store, hubUrl }: HubContext): Whoami["orgs"] {
  const role = store.members.get({ owner: name, id: caller.user })?.role;
  if (role === undefined) return [];
  const plan = plans[getPlan(name) ?? "free"];
  const access = { organization: name, user: caller.user, isAdmin: role === "admin" };
  const groups = listAccessibleGroups(store, access).flatMap(({ id, record }) => {
    const held = record.users.find(({ user }) => user === caller.user);
    return held ? [{ id, name: record.name, role: held.role }] : [];
  });
  const isRevoked = store.revocations.get({ owner: name, id: caller.tokenId }) !== undefined;
  return [
    {
      type: "org",
      id: accountId(name),
      name,
      fullname: formatFullName(name),
      avatarUrl: getAvatarUrl(name, { hubUrl }),
      ...(plan && { plan }),
      roleInOrg: role,
      ...(isRevoked && { securityRestrictions: ["token-revoked"] }),
      ...(groups.length > 0 && { resourceGroups: groups }),
    },
  ];
}

/** Returns the permissions of a fine-grained token, which can write to the user's resources but not to those of organizations. */
function fineGrainedOf(user: string) {
  const entity = { _id: accountId(user), name: user, type: "user" } as const;
  return {
    scoped: [{ entity, permissions: ["repo.content.read", "repo.write", "discussion.write", "user.webhooks.write"] }],
    canReadGatedRepos: false,
  };
}

const settingsId = "settings";

/** Returns empty settings if the user has not changed any. */
export function getSettings(store: Store, user: string): StoredSettings {
  return store.settings.get({ owner: user, id: settingsId }) ?? { notifications: {}, watched: [] };
}

function changeSettings(store: Store, user: string, change: (before: StoredSettings) => StoredSettings): void {
  store.settings.put({ owner: user, id: settingsId, record: change(getSettings(store, user)) });
}

function keyOf({ type, id }: StoredSettings["watched"][number]): string {
  return `${type} ${id}`;
}

/** Example tools of the Hub's MCP server. The tools cannot be called, because the local Hub has no MCP server. */
const mcpTools: McpSettings = {
  builtInTools: ["hub_repo_details", "hub_repo_search", "paper_search", "space_search"],
  spaceTools: [spaceTool("acme/playground", "🛝"), spaceTool("local-user/translator", "🌍")],
};

function spaceTool(name: string, emoji: string) {
  return { _id: deriveId(`space tool ${name}`), name, emoji, subdomain: name.replace("/", "-") };
}

/** @throws HTTPException 404 if the paper is unknown, 400 if the user or the author is unknown. */
function claimPaper(store: Store, claimant: string, claim: z.output<typeof paperClaim>): PaperClaimResult {
  const { paperId, claimAuthorId, targetUserId } = claim;
  const key = { owner: "", id: paperId };
  const paper = store.papers.get(key);
  if (!paper) throw notFound(`There is no paper "${paperId}".`);
  const user = targetUserId === undefined ? claimant : findUserById(store, targetUserId.toLowerCase());
  if (user === undefined) throw badRequest(`targetUserId: there is no user with the ID ${targetUserId}.`);
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
  throw badRequest(`claimAuthorId: the authors of this paper are ${ids}.`);
}

/** Prefers the author that the user has claimed, then an unclaimed author with the user's name. */
function findLikelyAuthor({ authors }: StoredPaper, user: string): Author | undefined {
  const free = authors.filter(({ claimedBy }) => claimedBy === undefined);
  return (
    authors.find(({ claimedBy }) => claimedBy === accountId(user)) ??
    free.find(({ name }) => name === formatFullName(user)) ??
    free[0]
  );
}

/** @throws HTTPException 404 if the user is unknown. */
function getUserOverview(user: string, { store, hubUrl, startedAt }: HubContext): UserOverview {
  const organizations = organizationNames.filter((name) => store.members.get({ owner: name, id: user }));
  if (getAccountKind(user) !== "user" && organizations.length === 0) {
    throw notFound(`The user "${user}" does not exist.`);
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

/** @throws HTTPException 404 if the organization is unknown. */
function getOrganizationOverview(name: string, { store, hubUrl }: HubContext): OrganizationOverview {
  const plan = getPlan(name);
  if (plan === undefined) throw notFound(`The organization "${name}" does not exist.`);
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

function countRepositories(store: Store, owner: string) {
  const owned = store.repositories.all().filter((repository) => !repository.private && getOwner(repository) === owner);
  const count = (type: string) => owned.filter((repository) => repository.type === type).length;
  return { numModels: count("model"), numDatasets: count("dataset"), numSpaces: count("space") };
}
