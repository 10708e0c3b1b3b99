import { expect, test } from "vitest";
import { registerLocaltunnel } from "../../src/tunnel/localtunnel-registration.ts";
import { startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { startLocalServer } from "./local-server.ts";

const options = { subdomain: undefined, signal: new AbortController().signal };

test.each([
  ["a public address", "203.0.113.7", "203.0.113.7"],
  ["an address of this machine", "127.0.0.2", "127.0.0.1"],
  ["an address of the private network", "192.168.1.1", "127.0.0.1"],
  ["the address of a cloud's metadata", "169.254.169.254", "127.0.0.1"],
  ["an IPv6 address", "::1", "127.0.0.1"],
  ["a host name", "localhost", "127.0.0.1"],
  ["no text", 7, "127.0.0.1"],
])("a server that names %s as its own is met at %s -> %s", async (_name, ip, remoteHost) => {
  await using host = await startLocaltunnelServer({ answer: { ip } });

  expect((await registerLocaltunnel(host.url, options)).remoteHost).toBe(remoteHost);
});

test.each([
  [undefined, 1],
  [0, 1],
  ["10", 1],
  [3, 3],
  [1e9, 10],
])("a server that allows %s connections gets %s", async (max_conn_count, connections) => {
  await using host = await startLocaltunnelServer({ answer: { max_conn_count } });

  expect((await registerLocaltunnel(host.url, options)).connections).toBe(connections);
});

test.each([
  ["its id", { id: "my-bot" }, "my-bot"],
  ["the first part of its URL", { id: undefined, url: "https://quiet-owl.example.com" }, "quiet-owl"],
  ["nothing, where the id is a path and the URL an address", { id: "../admin" }, undefined],
  ["nothing, where the id is no text", { id: { length: 5 } }, undefined],
])("the name of a tunnel is %s", async (_name, answer, name) => {
  await using host = await startLocaltunnelServer({ answer });

  expect((await registerLocaltunnel(host.url, options)).name).toBe(name);
});

test.each([
  ["never ends", "x".repeat(70_000), /at a length that no tunnel server needs/],
  ["is a JSON text", `"https://example.com"`, /something else instead of a tunnel/],
  ["is null", "null", /something else instead of a tunnel/],
  ["is empty", "", /something else instead of a tunnel/],
])("an answer that %s is no tunnel", async (_name, answer, reason) => {
  await using server = await startLocalServer((_request, response) => {
    response.write(answer);
    if (answer.length < 70_000) response.end();
  });

  const registering = registerLocaltunnel(`http://127.0.0.1:${server.port}`, options);

  await expect(registering).rejects.toMatchObject({ code: "TUNNEL_FAILED", message: expect.stringMatching(reason) });
});

test("an answer that breaks off is told as such", async () => {
  await using server = await startLocalServer((_request, response) => {
    response.writeHead(200, { "content-length": 1_000 });
    response.write(`{ "url": `, () => response.destroy());
  });

  const registering = registerLocaltunnel(`http://127.0.0.1:${server.port}`, options);

  await expect(registering).rejects.toMatchObject({
    code: "TUNNEL_FAILED",
    message: expect.stringMatching(/breaks off in the middle of its answer/),
  });
});
