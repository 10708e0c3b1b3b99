import type { Bound } from "./bounds.ts";
import {
  boolean,
  noOtherFields,
  objectBody,
  objectIdInEitherCase,
  optional,
  otherFieldsIgnored,
  required,
  text,
} from "./fields.ts";

/** What hub-api.md says of the body of POST /api/settings/papers/claim. */
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

/** What hub-api.md says of the answer of POST /api/settings/papers/claim. */
export const paperClaimResultBounds: Bound[] = [
  ...required({ ok: boolean, claimedPaperId: text }),
  ...noOtherFields([""]),
  objectBody,
];
