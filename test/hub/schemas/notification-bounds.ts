import type { Bound } from "./bounds.ts";
import {
  array,
  boolean,
  filledArray,
  ignoredField,
  noOtherFields,
  number,
  object,
  objectBody,
  objectId,
  oneOf,
  optional,
  otherFieldsIgnored,
  repoTypes,
  required,
  text,
  timestamp,
} from "./fields.ts";

const ids = { _id: "0123456789abcdef01234567" };
const participating = [{ ...ids, avatar: "/avatars/ada.svg", user: "ada" }];
const common = { updatedAt: "2026-09-01T12:34:56Z", read: false, discussionEventId: "event-1" };

/** One notification of each type, with every field. */
export const notificationBodies = {
  paper: {
    type: "paper",
    ...common,
    paper: { ...ids, title: "Attention" },
    paperDiscussion: { id: "2401.12345", participating, paperId: ids._id },
  },
  repo: {
    type: "repo",
    ...common,
    repo: { name: "acme/data", type: "dataset" },
    discussion: { num: 1, title: "Fix", status: "open", id: ids._id, isPullRequest: true, participating },
  },
  post: {
    type: "post",
    ...common,
    post: { id: "post-1", slug: "1234", authorName: "ada", title: "News", participating },
  },
  community_blog: {
    type: "community_blog",
    ...common,
    blog: { id: "blog-1", slug: "ada/blog", title: "How", canonical: true, participating, authorName: "ada" },
  },
};

/** The rules of the specification for every notification. */
const commonBounds: Bound[] = [
  ...required({ updatedAt: timestamp, read: boolean }),
  ...optional({ discussionEventId: text }),
  ...noOtherFields([""]),
  objectBody,
];

/** Returns the rules of the specification for the participants, which are listed at `at`. */
function participantBounds(at: string): Bound[] {
  const first = `${at}[0]`;
  return [
    ...required({
      [at]: array,
      [first]: object,
      [`${first}._id`]: objectId,
      [`${first}.avatar`]: text,
      [`${first}.user`]: text,
    }),
    ...noOtherFields([first]),
  ];
}

/** Returns rules for the fields that only other types have. */
function foreignFields(own: string[]): Bound[] {
  return ["paper", "paperDiscussion", "repo", "discussion", "post", "blog"]
    .filter((field) => !own.includes(field))
    .map((at) => ({
      rule: "the fields of other types are rejected",
      at,
      accepted: [undefined],
      refused: [{ value: {} }, { value: null }],
    }));
}

/** The rules of the specification for the notifications of each type. */
export const notificationBounds: Record<keyof typeof notificationBodies, Bound[]> = {
  paper: [
    ...commonBounds,
    ...required({
      paper: object,
      "paper._id": objectId,
      "paper.title": text,
      paperDiscussion: object,
      "paperDiscussion.id": text,
      "paperDiscussion.paperId": objectId,
    }),
    ...participantBounds("paperDiscussion.participating"),
    ...noOtherFields(["paper", "paperDiscussion"]),
    ...foreignFields(["paper", "paperDiscussion"]),
  ],
  repo: [
    ...commonBounds,
    ...required({
      repo: object,
      "repo.type": oneOf(repoTypes),
      discussion: object,
      "discussion.num": number,
      "discussion.title": text,
      "discussion.status": oneOf(["draft", "open", "closed", "merged"]),
      "discussion.id": objectId,
      "discussion.isPullRequest": boolean,
    }),
    {
      rule: "is owner/name, and required",
      at: "repo.name",
      accepted: ["acme/data", "a/b"],
      refused: [undefined, null, "", "acme", "acme/", "/data", "acme/data/x", 1].map((value) => ({ value })),
    },
    ...participantBounds("discussion.participating"),
    ...noOtherFields(["repo", "discussion"]),
    ...foreignFields(["repo", "discussion"]),
  ],
  post: [
    ...commonBounds,
    ...required({ post: object, "post.id": text, "post.slug": text, "post.authorName": text, "post.title": text }),
    ...participantBounds("post.participating"),
    ...noOtherFields(["post"]),
    ...foreignFields(["post"]),
  ],
  community_blog: [
    ...commonBounds,
    ...required({
      blog: object,
      "blog.id": text,
      "blog.slug": text,
      "blog.title": text,
      "blog.canonical": boolean,
    }),
    ...optional({ "blog.authorName": text }),
    ...participantBounds("blog.participating"),
    ...noOtherFields(["blog"]),
    ...foreignFields(["blog"]),
    {
      rule: "the type is one of four, and required",
      at: "type",
      accepted: [],
      refused: [undefined, null, "", "Paper", "model", "blog", "community-blog", 1].map((value) => ({ value })),
    },
  ],
};

/** A page with one notification of each type. */
export const notificationPageBody = {
  notifications: Object.values(notificationBodies),
  count: { view: 4, unread: 4, all: 4 },
  start: 0,
};

/** The rules of the specification for the response of GET /api/notifications. */
export const notificationPageBounds: Bound[] = [
  ...required({
    notifications: array,
    count: object,
    "count.view": number,
    "count.unread": number,
    "count.all": number,
    start: number,
  }),
  {
    rule: "each item is a notification",
    at: "notifications[3]",
    accepted: Object.values(notificationBodies),
    refused: [
      { value: null },
      { value: "paper" },
      { value: { ...notificationBodies.post, read: 1 }, names: "notifications[3].read" },
      { value: { ...notificationBodies.post, type: "blog" }, names: "notifications[3].type" },
    ],
  },
  ...noOtherFields(["", "count"]),
  objectBody,
];

/** The rules of the specification for the body of DELETE /api/notifications. */
export const notificationDeletionBounds: Bound[] = [
  ...optional({ discussionIds: filledArray }),
  { rule: "an item is an id", at: "discussionIds", accepted: [[ids._id], Array(1_000).fill(ids._id)], refused: [] },
  ...required({ "discussionIds[0]": objectId }),
  ...otherFieldsIgnored([""]),
  ignoredField("read", [true, false]),
  objectBody,
];

/** The rules of the specification for the body of POST /api/notifications/mark-as-read. */
export const notificationMarkBounds: Bound[] = [
  ...optional({ discussionIds: array, read: boolean }),
  { rule: "an item is any string", at: "discussionIds", accepted: [["A", ""], Array(1_000).fill("x")], refused: [] },
  ...required({ "discussionIds[0]": text }),
  ...otherFieldsIgnored([""]),
  objectBody,
];
