// @module-tag slow

import { expect, test } from "vitest";
import { HubClient } from "../../../src/client.ts";
import { openLocalHub } from "../../local-hub/support/hub.ts";
import { looks } from "../../support/browser.ts";
import { expectUsable, openServer, secret, shareBrowser } from "./open-console.ts";

const browser = shareBrowser();

test.each(looks)("The checks of a server run on request in $colorScheme, $width pixels wide", async (look) => {
  const localHub = await openLocalHub();
  const { url } = await openServer(
    (server) => {
      server.webhook("retrain", { watch: "dataset:local-user/data" }, () => "done");
      server.webhook("new", () => "done");
    },
    { hub: { hubUrl: localHub.url, token: "hf_local" } },
  );
  const { id } = await localHub.create({ url: `${url}/webhooks/retrain`, secret: "old-5ecret" });
  const page = await browser.open(url, { colorScheme: look.colorScheme, viewport: look.viewport, hash: "#/endpoints" });
  const requests: string[] = [];
  page.on("request", (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.getByRole("article", { name: "retrain" }).waitFor();
  const isCheck = (request: string) => request.includes("checks");
  expect(requests.filter(isCheck)).toEqual([]);

  await page.getByRole("button", { name: "Check the server" }).click();
  const panel = page.getByRole("region", { name: "Checks" });
  await panel.getByText("1 problem, 6 of 8 passed").waitFor();
  const [problem, step] = ["WEBHOOK_SECRET_DIFFERS", "ENDPOINT_UNWATCHED"].map((code) =>
    panel.getByRole("listitem").filter({ hasText: code }),
  );
  await problem?.getByText("A webhook has another secret than the server. Endpoint: retrain.").waitFor();
  await problem?.getByText(`npx hub-webhooks sync --public-url ${url} --adopt`).waitFor();
  await step?.getByText("Next step").waitFor();
  expect(await page.content()).not.toMatch(/5ecret|t0ken/);
  await expectUsable(page, { overlapped: [/navigation/] });

  await new HubClient({ hubUrl: localHub.url, token: "hf_local" }).webhooks.update(id, { secret });
  await panel.getByRole("button", { name: "Check again" }).click();
  await panel.getByText("0 problems, 6 of 7 passed").waitFor();
  expect(requests.filter((request) => isCheck(request) && request.startsWith("POST"))).toHaveLength(2);
  await page.getByRole("button", { name: "Check the server" }).click();
  expect(await panel.count()).toBe(0);
});

test("A failure of the checks is shown, and they can be tried again", async () => {
  const { url } = await openServer((server) => void server.webhook("retrain", () => "done"));
  browser.allow(/ERR_FAILED/);
  const page = await browser.open(url, { hash: "#/endpoints" });
  await page.route(`${url}/_console/api/checks`, (route) => route.abort());
  await page.getByRole("button", { name: "Check the server" }).click();
  const panel = page.getByRole("region", { name: "Checks" });
  await panel.getByText("The server is not reachable").waitFor();
  await page.unroute(`${url}/_console/api/checks`);
  await panel.getByRole("button", { name: "Try again" }).click();
  await panel.getByRole("button", { name: "Check again" }).waitFor();
});
