import type { Bound } from "./bounds.ts";
import { flavors } from "./job-bounds.ts";

/** The rules for a started job: the specification, and the published changes of 2026-08-17. */
export const jobBounds: Bound[] = [
  {
    rule: "id is a string, and required",
    at: "id",
    accepted: ["", "job-1"],
    refused: [{ value: undefined }, { value: 1 }],
  },
  {
    rule: "createdAt is a timestamp, and required",
    at: "createdAt",
    accepted: ["2026-09-01T12:34:56Z", "2026-09-01T12:34:56.000001Z"],
    refused: [undefined, null, 0, "2026-09-01T12:34:56+00:00", "2026-09-01T12:34:56"].map((value) => ({ value })),
  },
  {
    rule: "the owner has the id of an account",
    at: "owner.id",
    accepted: ["0123456789abcdef01234567"],
    refused: [{ value: "x" }],
  },
  ...["createdBy"].map((at) => ({
    rule: "an account has an id and a name, and is required",
    at,
    accepted: [{ id: "x", name: "y" }],
    refused: [
      { value: undefined },
      { value: "acme" },
      { value: { id: "x" }, names: `${at}.name` },
      { value: { name: "y" }, names: `${at}.id` },
    ],
  })),
  ...["spaceId", "dockerImage"].map((at) => ({
    rule: "is a string, if given",
    at,
    accepted: [undefined, "acme/demo"],
    refused: [{ value: null }, { value: 1 }],
  })),
  ...["timeout", "retry"].map((at) => ({
    rule: "timeout and retry are numbers, if given",
    at,
    accepted: [undefined, 0, 1.5, 3600],
    refused: [{ value: "60" }, { value: null }],
  })),
  {
    rule: "environment maps strings to strings, and is required",
    at: "environment",
    accepted: [{}, { A: "one letter is enough here", "a-b c": "" }],
    refused: [{ value: undefined }, { value: null }, { value: [] }, { value: { A: 1 }, names: "environment.A" }],
  },
  {
    rule: "labels map names to strings",
    at: "labels",
    accepted: [undefined, {}, { team: "data", empty: "" }],
    refused: [{ value: ["team=data"] }, { value: null }, { value: { team: 1 }, names: "labels.team" }],
  },
  ...["command", "arguments", "secrets"].map((at) => ({
    rule: "command, arguments and the names of secrets are arrays of strings, if given",
    at,
    accepted: [undefined, [], [""], ["a", "b"]],
    refused: [{ value: null }, { value: "a" }, { value: [1], names: `${at}[0]` }],
  })),
  {
    rule: "arch is amd64 or arm64",
    at: "arch",
    accepted: [undefined, "amd64", "arm64"],
    refused: [{ value: null }, { value: "x86" }],
  },
  {
    rule: "flavor is one of the hardware flavors, and required",
    at: "flavor",
    accepted: flavors,
    refused: [{ value: undefined }, { value: "h100" }],
  },
  {
    rule: "a status has one of six stages",
    at: "status.stage",
    accepted: ["COMPLETED", "CANCELED", "ERROR", "DELETED", "RUNNING", "SCHEDULING"],
    refused: [undefined, null, "PENDING", "running", "CANCELLED"].map((value) => ({ value })),
  },
  {
    rule: "a status has a message or null",
    at: "status.message",
    accepted: ["", "Out of memory.", null],
    refused: [{ value: undefined }, { value: 1 }],
  },
  {
    rule: "a cancel reason is one of two or another string",
    at: "status.cancelReason",
    accepted: [undefined, "NO_CREDITS", "NO_SUBSCRIPTION", "asked for"],
    refused: [{ value: null }, { value: 1 }],
  },
  {
    rule: "failureCount is a number",
    at: "status.failureCount",
    accepted: [undefined, 0, 3],
    refused: [{ value: "3" }, { value: null }],
  },
  { rule: "status is required", at: "status", accepted: [], refused: [{ value: undefined }, { value: "RUNNING" }] },
  {
    rule: "a volume has a type, a source and a mountPath, and up to three optional fields",
    at: "volumes",
    accepted: [
      undefined,
      [],
      [{ type: "kernel", source: "x", mountPath: "y" }],
      [{ type: "bucket", source: "a/b", mountPath: "/", revision: "main", readOnly: false, path: "c" }],
    ],
    refused: [
      { value: null },
      { value: [{ source: "a/b", mountPath: "/" }], names: "volumes[0].type" },
      { value: [{ type: "model", mountPath: "/" }], names: "volumes[0].source" },
      { value: [{ type: "model", source: "a/b" }], names: "volumes[0].mountPath" },
      { value: [{ type: "model", source: "a/b", mountPath: "/", readOnly: 1 }], names: "volumes[0].readOnly" },
    ],
  },
  ...["timeoutSeconds", "attempts", "labels"].map((at) => ({
    rule: "the fields of the other two shapes are rejected",
    at,
    accepted: [undefined],
    refused: [{ value: 1 }],
  })),
];

/** The rules of the specification for a RepoId. */
export const repoIdBounds: Bound[] = [
  {
    rule: "type is one of five, and required",
    at: "type",
    accepted: ["dataset", "model", "space", "bucket", "kernel"],
    refused: [undefined, null, "user", "org", "datasets"].map((value) => ({ value })),
  },
  {
    rule: "name is owner/name, and required",
    at: "name",
    accepted: ["acme/data", "a/b", "acme/a.b_c-1"],
    refused: [undefined, null, "", "acme", "acme/", "/data", "acme/data/x", 1].map((value) => ({ value })),
  },
  { rule: "no other fields", at: "private", accepted: [undefined], refused: [{ value: true }] },
];
