import { describe, expect, test } from "vitest";
import { examplesOf, repositoriesOf } from "../../../src/dev/console/hub-parts.ts";

describe("The repositories of an endpoint", () => {
  test("are those that it watches and those that its filter names, without owners and patterns", () => {
    const endpoint = {
      watch: [
        { type: "dataset", name: "me/data" },
        { type: "org", name: "acme" },
      ] as const,
      repos: ["model:me/net", "dataset:me/*", "*:me/x"],
    };
    expect(repositoriesOf(endpoint)).toEqual(["dataset:me/data", "model:me/net"]);
    expect(examplesOf(endpoint)).toEqual(["dataset:acme/data"]);
  });
});
