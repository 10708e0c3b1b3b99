import {
  anyOf,
  boolean,
  constant,
  given,
  list,
  number,
  objectId,
  objectIdInEitherCase,
  oneOf,
  type Schema,
  string,
  taken,
  timestamp,
  whole,
} from "./json-schema.ts";

/* Schemas of a user, written by hand from the document that the Hub published on 2026-08-17. */

export const repoType = oneOf("dataset", "model", "space", "bucket", "kernel");
/** The only object of a request that rejects unknown fields. */
export const repoId = given({ name: string, type: repoType });
export const role = oneOf("admin", "write", "contributor", "read", "no_access");

const participating = list(given({ _id: objectId, avatar: string, user: string }));
const notification = {
  updatedAt: timestamp,
  read: boolean,
  "discussionEventId?": string,
};

/** A page of notifications. */
export const notificationPage = given({
  notifications: list(
    anyOf(
      given({
        type: constant("paper"),
        ...notification,
        paper: given({ _id: objectId, title: string }),
        paperDiscussion: given({ id: string, participating, paperId: objectId }),
      }),
      given({
        type: constant("repo"),
        ...notification,
        repo: repoId,
        discussion: given({
          num: number,
          title: string,
          status: oneOf("draft", "open", "closed", "merged"),
          id: objectId,
          isPullRequest: boolean,
          participating,
        }),
      }),
      given({
        type: constant("post"),
        ...notification,
        post: given({ id: string, slug: string, authorName: string, title: string, participating }),
      }),
      given({
        type: constant("community_blog"),
        ...notification,
        blog: given({
          id: string,
          slug: string,
          title: string,
          canonical: boolean,
          "authorName?": string,
          participating,
        }),
      }),
    ),
  ),
  count: given({ view: number, unread: number, all: number }),
  start: number,
});

/** The query parameters of the list of notifications. */
export const notificationSearch: Record<string, Schema> = {
  p: { ...whole, default: 0 },
  readStatus: { default: "all", enum: ["all", "unread"] },
  repoType,
  repoName: string,
  postAuthor: string,
  paperId: string,
  articleId: string,
  mention: { default: "all", enum: ["all", "participating", "mentions"] },
  lastUpdate: timestamp,
};
export const applyToAll: Schema = { default: false };

export const notificationDeletion = taken({ "discussionIds?": list(objectId, { minItems: 1 }) });
export const notificationMark = taken({
  "discussionIds?": list(string, { default: [] }),
  "read?": { default: true, type: "boolean" },
});

export const mcpSettings = given({
  builtInTools: list(string),
  spaceTools: list(given({ _id: string, name: string, emoji: string, subdomain: string })),
});

const switches = [
  "announcements arxiv_paper_activity daily_papers_digest discussions_participating discussions_watched",
  "gated_user_access_request inference_endpoint_status job_status launch_autonlp launch_spaces launch_prepaid_credits",
  "launch_training_cluster org_request org_suggestions org_verified_suggestions org_suggestions_to_create",
  "posts_participating user_follows secret_detected web_discussions_participating web_discussions_watched",
  "web_posts_participating api_inference_sunset locked_out repo_release",
].flatMap((line) => line.split(" "));

export const notificationSettings = taken({
  notifications: taken({
    ...Object.fromEntries(switches.map((name) => [`${name}?`, boolean])),
    "product_updates_after?": timestamp,
  }),
  "prepaidAmount?": { type: "string", maxLength: 24 },
});

const watchItems = list(taken({ id: string, type: oneOf("org", "user", "repo") }), { default: [] });
export const watchSettings = taken({ "delete?": watchItems, "add?": watchItems });

export const paperClaim = taken({
  paperId: { type: "string", pattern: "^\\d{4}\\.\\d{4,5}$" },
  claimAuthorId: objectIdInEitherCase,
  "targetUserId?": objectIdInEitherCase,
});
export const paperClaimResult = given({ ok: boolean, claimedPaperId: string });

const nullable = (schema: Schema) => anyOf(schema, { type: "null" });
const billing = {
  "email?": nullable(string),
  "canPay?": boolean,
  "billingMode?": oneOf("prepaid", "postpaid"),
  "periodEnd?": nullable(number),
};
const entityType = oneOf(
  ..."dataset model space bucket kernel collection org user resource-group oauth-app".split(" "),
);

export const whoami = anyOf(
  given({
    auth: given({
      type: string,
      "accessToken?": given({
        displayName: string,
        role: oneOf("read", "write", "god", "fineGrained"),
        "fineGrained?": given({
          scoped: list(
            given({ entity: given({ _id: objectId, "name?": string, type: entityType }), permissions: list(string) }),
          ),
          "global?": list(oneOf("discussion.write", "post.write")),
          "canReadGatedRepos?": boolean,
        }),
        createdAt: timestamp,
      }),
      "expiresAt?": timestamp,
      "resource?": given({ sub: string }),
    }),
    type: constant("user"),
    id: string,
    name: string,
    fullname: string,
    ...billing,
    avatarUrl: string,
    "emailVerified?": boolean,
    isPro: boolean,
    orgs: list(
      given({
        type: constant("org"),
        id: string,
        name: string,
        fullname: string,
        ...billing,
        avatarUrl: string,
        "plan?": oneOf("team", "enterprise", "plus", "academia"),
        "roleInOrg?": role,
        "securityRestrictions?": list(oneOf("mfa", "token-policy", "token-revoked", "sso", "ip")),
        "resourceGroups?": list(given({ id: objectId, name: string, role })),
      }),
    ),
  }),
);

export const jobHardware = list(
  given({
    name: string,
    prettyName: string,
    cpu: string,
    ram: string,
    ephemeralStorage: string,
    accelerator: nullable(
      given({
        type: oneOf("gpu", "neuron"),
        model: string,
        quantity: string,
        vram: string,
        manufacturer: oneOf("Nvidia", "AWS"),
      }),
    ),
    unitCostMicroUSD: number,
    unitCostUSD: number,
    unitLabel: string,
  }),
);
