import type { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import {
  type OrganizationOverview,
  organizationOverview,
  profileOperations,
  type UserOverview,
  userOverview,
} from "../../hub/account.ts";
import { accountId, formatFullName, getAccountKind, getOwner, getPlan, organizationNames } from "../accounts.ts";
import type { HubContext } from "../hub-context.ts";
import type { WhoamiSource } from "../resources/account.ts";
import { getAvatarUrl } from "../resources/avatars.ts";
import type { Store } from "../store/store.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

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
