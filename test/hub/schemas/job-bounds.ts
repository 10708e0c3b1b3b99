import type { Bound } from "./bounds.ts";

/** The hardware flavors, copied from the specification one by one. */
export const flavors =
  "cpu-basic cpu-upgrade cpu-performance cpu-xl sprx8 zero-a10g t4-small t4-medium l4x1 l4x4 l40sx1 l40sx4 l40sx8 a10g-small a10g-large a10g-largex2 a10g-largex4 a100-large a100x4 a100x8 h200 h200x2 h200x4 h200x8 inf2x6".split(
    " ",
  );

/** The hardware flavors that the Hub has published since 2026-05-20. */
export const addedFlavors = ["rtx-pro-6000", "rtx-pro-6000x2", "rtx-pro-6000x4", "rtx-pro-6000x8"];

const prototypeKey: unknown = JSON.parse('{"__proto__":"x"}');
const hundred = "x".repeat(100);

/** The rules of the specification that the job in a request and the job in a response share. */
export const webhookJobBounds: Bound[] = [
  {
    rule: "flavor is one of the hardware flavors, and required",
    at: "job.flavor",
    accepted: [...flavors, ...addedFlavors],
    refused: [undefined, null, "", "cpu", "CPU-BASIC", "h100", "a10g-largex3", 1, ["cpu-basic"]].map((value) => ({
      value,
    })),
  },
  {
    rule: "spaceId is a string",
    at: "job.spaceId",
    accepted: [undefined, "acme/demo"],
    refused: [{ value: null }, { value: 1 }, { value: {} }],
  },
  {
    rule: "dockerImage is a string",
    at: "job.dockerImage",
    accepted: [undefined, "python:3.13"],
    refused: [{ value: null }, { value: true }],
  },
  {
    rule: "arguments is an array of strings",
    at: "job.arguments",
    accepted: [undefined, [], [""], ["--fast", "x"]],
    refused: [
      { value: null },
      { value: "--fast" },
      { value: [1], names: "job.arguments[0]" },
      { value: ["x", null], names: "job.arguments[1]" },
    ],
  },
  {
    rule: "command is an array of at least one non-empty string",
    at: "job.command",
    accepted: [undefined, ["x"], [" "], ["python", "train.py"]],
    refused: [
      { value: [] },
      { value: null },
      { value: "python" },
      { value: [""], names: "job.command[0]" },
      { value: ["python", ""], names: "job.command[1]" },
      { value: [1], names: "job.command[0]" },
    ],
  },
  {
    rule: "environment maps names to strings; a name is a letter, then one or more letters, digits or _",
    at: "job.environment",
    accepted: [{}, { AB: "" }, { aZ: "x" }, { A_: "x" }, { A1: "x" }, { LOG_LEVEL: "x".repeat(5_000), z9_: "é\n" }],
    refused: [
      { value: { A: "x" }, names: "job.environment.A" },
      { value: { "": "x" }, names: "job.environment." },
      { value: { _A: "x" }, names: "job.environment._A" },
      { value: { "1A": "x" }, names: "job.environment.1A" },
      { value: { "A-B": "x" }, names: "job.environment.A-B" },
      { value: { "A B": "x" }, names: "job.environment.A B" },
      { value: { ÄB: "x" }, names: "job.environment.ÄB" },
      { value: { "AB\n": "x" }, names: "job.environment.AB\n" },
      { value: prototypeKey, names: "job.environment.__proto__" },
      { value: { AB: 1 }, names: "job.environment.AB" },
      { value: { AB: null }, names: "job.environment.AB" },
      { value: null },
      { value: ["AB"] },
      { value: "AB=x" },
    ],
  },
  {
    rule: "timeoutSeconds is an integer above 0, up to 9007199254740991, or null",
    at: "job.timeoutSeconds",
    accepted: [1, 2, 9007199254740991, null],
    refused: [0, -1, 1.5, 0.5, 9007199254740992, 1e300, "60", true].map((value) => ({ value })),
  },
  {
    rule: "labels have keys of 1 to 100 and values of up to 100 letters, digits, dots, _ and -",
    at: "job.labels",
    accepted: [
      undefined,
      {},
      { a: "" },
      { [hundred]: hundred },
      { "a.b_c-D9": "E.f_g-0" },
      { "-": "-", ".": ".", _: "_", "0": "0" },
      { constructor: "x", toString: "x" },
    ],
    refused: [
      { value: { "": "x" }, names: "job.labels." },
      { value: { [`${hundred}x`]: "x" }, names: `job.labels.${hundred}x` },
      { value: { a: `${hundred}x` }, names: "job.labels.a" },
      { value: { "a b": "x" }, names: "job.labels.a b" },
      { value: { "a/b": "x" }, names: "job.labels.a/b" },
      { value: { é: "x" }, names: "job.labels.é" },
      { value: { a: "x y" }, names: "job.labels.a" },
      { value: { a: "x\n" }, names: "job.labels.a" },
      { value: { a: 1 }, names: "job.labels.a" },
      { value: { a: null }, names: "job.labels.a" },
      { value: prototypeKey, names: "job.labels.__proto__" },
      { value: null },
      { value: ["a"] },
    ],
  },
];

/** The rules of the specification for the job in a request only. */
export const webhookJobRequestBounds: Bound[] = [
  {
    rule: "environment is optional",
    at: "job.environment",
    accepted: [undefined],
    refused: [],
  },
  {
    rule: "timeoutSeconds is optional",
    at: "job.timeoutSeconds",
    accepted: [undefined],
    refused: [],
  },
  {
    rule: "secrets map names to values; a name is a letter, then any letters, digits or _",
    at: "job.secrets",
    accepted: [undefined, {}, { A: "x" }, { z: "" }, { A_1: "x\ny" }],
    refused: [
      { value: { "": "x" }, names: "job.secrets." },
      { value: { _A: "x" }, names: "job.secrets._A" },
      { value: { "1": "x" }, names: "job.secrets.1" },
      { value: { "A-B": "x" }, names: "job.secrets.A-B" },
      { value: prototypeKey, names: "job.secrets.__proto__" },
      { value: { A: null }, names: "job.secrets.A" },
      { value: { A: 1 }, names: "job.secrets.A" },
      { value: ["A"] },
      { value: null },
    ],
  },
  {
    rule: "arch is amd64 or arm64",
    at: "job.arch",
    accepted: [undefined, "amd64", "arm64"],
    refused: [{ value: "x86" }, { value: "AMD64" }, { value: null }, { value: "" }],
  },
  {
    rule: "attempts is an integer of 1 or more",
    at: "job.attempts",
    accepted: [undefined, 1, 2, 9007199254740991],
    refused: [0, -1, 1.5, "3", null, 9007199254740992].map((value) => ({ value })),
  },
  {
    rule: "volumes has at least one item",
    at: "job.volumes",
    accepted: [undefined, [{ type: "bucket", source: "a/b", mountPath: "/" }]],
    refused: [{ value: [] }, { value: null }, { value: {} }],
  },
  {
    rule: "a volume is a bucket, a model, a dataset or a space",
    at: "job.volumes",
    accepted: ["bucket", "model", "dataset", "space"].map((type) => [{ type, source: "a/b", mountPath: "/x" }]),
    refused: ["kernel", "user", "Bucket", undefined, null].map((type) => ({
      value: [{ type, source: "a/b", mountPath: "/x" }],
      names: "job.volumes[0].type",
    })),
  },
  {
    rule: "a volume's source is owner/name",
    at: "job.volumes",
    accepted: [[{ type: "model", source: "acme/a.model-1_0", mountPath: "/x" }]],
    refused: ["acme", "/acme", "acme/", "a/b/c", "", undefined, null].map((source) => ({
      value: [{ type: "model", source, mountPath: "/x" }],
      names: "job.volumes[0].source",
    })),
  },
  {
    rule: "a volume's mountPath starts with /",
    at: "job.volumes",
    accepted: ["/", "/data", "//", "/with space"].map((mountPath) => [{ type: "space", source: "a/b", mountPath }]),
    refused: ["data", "", " /data", "./data", undefined, null].map((mountPath) => ({
      value: [{ type: "space", source: "a/b", mountPath }],
      names: "job.volumes[0].mountPath",
    })),
  },
  {
    rule: "a revision is for repositories only",
    at: "job.volumes",
    accepted: ["model", "dataset", "space"].map((type) => [
      { type, source: "a/b", mountPath: "/x", revision: "refs/pr/1" },
    ]),
    refused: [
      {
        value: [{ type: "bucket", source: "a/b", mountPath: "/x", revision: "main" }],
        names: "job.volumes[0].revision",
      },
      { value: [{ type: "model", source: "a/b", mountPath: "/x", revision: null }], names: "job.volumes[0].revision" },
    ],
  },
  {
    rule: "a volume's readOnly is a boolean, its path a string",
    at: "job.volumes",
    accepted: [
      [{ type: "bucket", source: "a/b", mountPath: "/x", readOnly: true, path: "c/d" }],
      [{ type: "dataset", source: "a/b", mountPath: "/x", readOnly: false, path: "" }],
    ],
    refused: [
      {
        value: [{ type: "bucket", source: "a/b", mountPath: "/x", readOnly: "yes" }],
        names: "job.volumes[0].readOnly",
      },
      { value: [{ type: "bucket", source: "a/b", mountPath: "/x", path: 1 }], names: "job.volumes[0].path" },
    ],
  },
  {
    rule: "expose lists up to 20 ports, some of them public, since 2026-05-28",
    at: "job.expose",
    accepted: [
      undefined,
      { ports: [] },
      { ports: [1, 65_535], portsPublic: [1] },
      { ports: Array.from({ length: 20 }, (_, index) => index + 1), portsPublic: [] },
    ],
    refused: [
      { value: null },
      { value: {}, names: "job.expose.ports" },
      { value: { ports: [0] }, names: "job.expose.ports[0]" },
      { value: { ports: [65_536] }, names: "job.expose.ports[0]" },
      { value: { ports: ["80"] }, names: "job.expose.ports[0]" },
      { value: { ports: Array(21).fill(80) }, names: "job.expose.ports" },
      { value: { ports: [80], portsPublic: [1.5] }, names: "job.expose.portsPublic[0]" },
    ],
  },
  {
    rule: "ssh is an object with a switch, since 2026-05-28",
    at: "job.ssh",
    accepted: [undefined, { enabled: true }, { enabled: false }],
    refused: [{ value: null }, { value: true }, { value: { enabled: "yes" }, names: "job.ssh.enabled" }],
  },
  {
    rule: "resourceGroupId is an id in either case, since 2026-07-27",
    at: "job.resourceGroupId",
    accepted: [undefined, "0123456789abcdef01234567", "ABCDEF0123456789ABCDEF01"],
    refused: [null, "", "x", "0".repeat(23), 1].map((value) => ({ value })),
  },
];

/** The rules of the specification for the job in a response only. */
export const webhookJobResponseBounds: Bound[] = [
  {
    rule: "secrets is an array of names",
    at: "job.secrets",
    accepted: [undefined, [], ["A"], ["HF_TOKEN", "T"]],
    refused: [
      { value: { A: "x" } },
      { value: { A: null } },
      { value: null },
      { value: [null], names: "job.secrets[0]" },
      { value: [{ name: "A" }], names: "job.secrets[0]" },
    ],
  },
  ...["arch", "attempts", "volumes", "expose", "ssh", "resourceGroupId", "timeout", "retry", "tags"].map((field) => ({
    rule: "the fields of the other two shapes are rejected",
    at: `job.${field}`,
    accepted: [undefined],
    refused: [{ value: "amd64" }, { value: 1 }, { value: null }],
  })),
];
