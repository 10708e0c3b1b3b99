import type { Bound } from "./bounds.ts";
import {
  array,
  boolean,
  ignoredField,
  noOtherFields,
  object,
  objectBody,
  objectIdInEitherCase,
  oneOf,
  optional,
  otherFieldsIgnored,
  required,
  text,
  timestamp,
} from "./fields.ts";

/** The switches of the notification settings, copied from the specification one by one. */
export const notificationSwitches =
  "announcements arxiv_paper_activity daily_papers_digest discussions_participating discussions_watched gated_user_access_request inference_endpoint_status launch_autonlp launch_spaces launch_prepaid_credits launch_training_cluster org_request org_suggestions org_verified_suggestions org_suggestions_to_create posts_participating user_follows secret_detected web_discussions_participating web_discussions_watched web_posts_participating api_inference_sunset locked_out".split(
    " ",
  );

/** The additional switches that the Hub has published since 2026-08-17. */
const addedSwitches = ["job_status", "repo_release"];

/** The rules of the specification for the body of PATCH /api/settings/notifications. */
export const notificationSettingsBounds: Bound[] = [
  ...required({ notifications: object }),
  {
    rule: "every field of the notifications is optional",
    at: "notifications",
    accepted: [
      {},
      { product_updates_after: "2026-09-01T00:00:00Z" },
      Object.fromEntries(notificationSwitches.map((name) => [name, true])),
      Object.fromEntries(notificationSwitches.map((name) => [name, false])),
    ],
    refused: [],
  },
  ...optional({
    ...Object.fromEntries(
      [...notificationSwitches, ...addedSwitches].map((name) => [`notifications.${name}`, boolean]),
    ),
    "notifications.product_updates_after": timestamp,
  }),
  {
    rule: "is a string of up to 24 characters, if given",
    at: "prepaidAmount",
    accepted: [undefined, "", "25", "x".repeat(23), "x".repeat(24), "😀".repeat(24)],
    refused: [null, 25, true, [], "x".repeat(25), "😀".repeat(25), "x".repeat(1_000)].map((value) => ({ value })),
  },
  ...otherFieldsIgnored(["", "notifications"]),
  ...notificationSwitches.map((at) => ignoredField(at, [true])),
  objectBody,
];

/** The rules of the specification for a body of PATCH /api/settings/notifications with an amount. */
export const prepaidCreditsBounds: Bound[] = [
  {
    rule: "is required if launch_prepaid_credits is enabled",
    at: "prepaidAmount",
    accepted: ["", "25", "x".repeat(24)],
    refused: [undefined, null, 25, "x".repeat(25)].map((value) => ({ value })),
  },
  {
    rule: "is any boolean if an amount is given",
    at: "notifications.launch_prepaid_credits",
    accepted: [true, false, undefined],
    refused: [],
  },
];

/** The rules of the specification for a body of PATCH /api/settings/notifications without an amount. */
export const noAmountBounds: Bound[] = [
  {
    rule: "requires an amount only if it is true",
    at: "notifications.launch_prepaid_credits",
    accepted: [undefined, false],
    refused: [{ value: true, names: "prepaidAmount" }],
  },
];

const watchItemBounds = ["add", "delete"].flatMap((at): Bound[] => [
  ...optional({ [at]: array }),
  {
    rule: "can contain many items",
    at,
    accepted: [Array.from({ length: 300 }, (_, index) => ({ id: String(index), type: "repo" }))],
    refused: [],
  },
  ...required({ [`${at}[0]`]: object, [`${at}[0].id`]: text, [`${at}[0].type`]: oneOf(["org", "user", "repo"]) }),
  ...otherFieldsIgnored([`${at}[0]`]),
]);

/** The rules of the specification for the body of PATCH /api/settings/watch. */
export const watchBounds: Bound[] = [...watchItemBounds, ...otherFieldsIgnored([""]), objectBody];

/** Tools of the MCP server. */
export const mcpSettingsBody = {
  builtInTools: ["search"],
  spaceTools: [{ _id: "tool-1", name: "acme/draw", emoji: "🎨", subdomain: "acme-draw" }],
};

/** The rules of the specification for the response of GET /api/settings/mcp. */
export const mcpSettingsBounds: Bound[] = [
  ...required({
    builtInTools: array,
    "builtInTools[0]": text,
    spaceTools: array,
    "spaceTools[0]": object,
    "spaceTools[0]._id": text,
    "spaceTools[0].name": text,
    "spaceTools[0].emoji": text,
    "spaceTools[0].subdomain": text,
  }),
  ...noOtherFields(["", "spaceTools[0]"]),
  objectBody,
];

/** The rules of the specification for the body of POST /api/settings/papers/claim. */
export const paperClaimBounds: Bound[] = [
  {
    rule: "is the identifier of a preprint, and required",
    at: "paperId",
    accepted: ["2401.12345", "x"],
    refused: [undefined, null, "", 2401.12345, true, ["2401.12345"]].map((value) => ({ value })),
  },
  ...optional({ claimAuthorId: objectIdInEitherCase, targetUserId: objectIdInEitherCase }),
  ...otherFieldsIgnored([""]),
  objectBody,
];

/** The rules of the specification for the response of POST /api/settings/papers/claim. */
export const paperClaimResultBounds: Bound[] = [
  ...required({ ok: boolean, claimedPaperId: text }),
  ...noOtherFields([""]),
  objectBody,
];
