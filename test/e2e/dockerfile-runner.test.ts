import { describe, expect, test } from "vitest";
import { parseDockerIgnore } from "../support/dockerfile/ignore.ts";
import { parseDockerfile } from "../support/dockerfile/parse.ts";

describe("The Dockerfile runner refuses", () => {
  test.each([
    [
      "an unknown instruction",
      "FROM node:24-slim\nARG VERSION",
      /^Line 2, ARG VERSION: this instruction is not supported/,
    ],
    ["another base image", "FROM debian:12", /only node images/],
    ["a variable", "FROM node:24\nWORKDIR $HOME/app", /variables are not supported/],
    ["an unknown flag", "FROM node:24\nCOPY --chmod=755 . .", /the flag --chmod is not supported/],
    ["a path of this machine", "FROM node:24\nRUN mkdir /data", /absolute path/],
    ["an unknown user", "FROM node:24\nUSER postgres", /not a user of the node images/],
    ["a CMD for a shell", "FROM node:24\nCMD node server.ts", /write the command as a list/],
  ])("%s", (_what, text, message) => {
    expect(() => parseDockerfile(text)).toThrow(message);
  });
});

test("The last matching rule of a .dockerignore applies", () => {
  const ignore = parseDockerIgnore("*\n!src\n!package.json\nsrc/**/*.test.ts\n");
  const paths = [".env", "package.json", "src/index.ts", "src/server/launch.test.ts", "node_modules/hono/package.json"];
  expect(paths.filter((path) => !ignore.ignores(path))).toEqual(["package.json", "src/index.ts"]);
  expect(ignore.ignoresAllBelow("node_modules")).toBe(true);
  expect(ignore.ignoresAllBelow("src")).toBe(false);
});
