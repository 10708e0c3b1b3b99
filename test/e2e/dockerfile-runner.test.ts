import { expect, test } from "vitest";
import { parseDockerfile, parseDockerIgnore } from "../support/dockerfile.ts";

test.each([
  ["an unknown instruction", "ARG VERSION"],
  ["another base image", "FROM debian:12"],
  ["a variable", "WORKDIR $HOME/app"],
  ["an unknown flag", "COPY --chmod=755 . ."],
  ["a path of this machine", "RUN mkdir data && ls /data"],
  ["an unknown user", "USER postgres"],
  ["a CMD for a shell", "CMD node server.ts"],
])("The Dockerfile runner refuses %s", (_what, line) => {
  expect(() => parseDockerfile(`FROM node:24-slim\n${line}\n`)).toThrow(line);
});

test("The last matching rule of a .dockerignore applies", () => {
  const ignore = parseDockerIgnore("*\n!src\n!package.json\nsrc/**/*.test.ts\n");
  const paths = [".env", "package.json", "src/index.ts", "src/server/launch.test.ts", "node_modules/hono/package.json"];
  expect(paths.filter((path) => !ignore.ignores(path))).toEqual(["package.json", "src/index.ts"]);
  expect(ignore.ignoresAllBelow("node_modules")).toBe(true);
  expect(ignore.ignoresAllBelow("src")).toBe(false);
});
