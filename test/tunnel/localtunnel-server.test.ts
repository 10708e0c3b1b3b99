import { expect, onTestFinished, test, vi } from "vitest";
import { requestTunnel } from "../../src/tunnel/localtunnel.ts";
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
  ["a number", 7, "127.0.0.1"],
])("A server that sends %s (%s) as its own address is contacted at %s", async (_name, ip, remoteHost) => {
  await using host = await startLocaltunnelServer({ answer: { ip } });
  expect((await requestTunnel(host.url, options)).remoteHost).toBe(remoteHost);
});

test.each([
  [undefined, 1],
  [0, 1],
  ["10", 1],
  [3, 3],
  [1e9, 10],
])("A server that allows %s connections gets %s", async (max_conn_count, connections) => {
  await using host = await startLocaltunnelServer({ answer: { max_conn_count } });
  expect((await requestTunnel(host.url, options)).connections).toBe(connections);
});

test.each([
  ["the id", { id: "my-bot" }, "my-bot"],
  ["the first label of the URL", { id: undefined, url: "https://quiet-owl.example.com" }, "quiet-owl"],
  ["undefined if the id is a path and the URL an IP address", { id: "../admin" }, undefined],
  ["undefined if the id is not a string", { id: { length: 5 } }, undefined],
])("The name of a tunnel is %s", async (_name, answer, name) => {
  await using host = await startLocaltunnelServer({ answer });
  expect((await requestTunnel(host.url, options)).name).toBe(name);
});

test.each([
  ["never ends", "x".repeat(70_000), /more than 64 KiB/],
  ["is a JSON string", `"https://example.com"`, /an unknown response instead of a tunnel/],
  ["is null", "null", /an unknown response instead of a tunnel/],
  ["is empty", "", /an unknown response instead of a tunnel/],
])("A response that %s is rejected", async (_name, answer, reason) => {
  await using server = await startLocalServer((_request, response) => {
    response.write(answer);
    if (answer.length < 70_000) response.end();
  });

  const registering = requestTunnel(`http://127.0.0.1:${server.port}`, options);
  await expect(registering).rejects.toMatchObject({ code: "TUNNEL_FAILED", message: expect.stringMatching(reason) });
});

test("A response with another status is closed without reading its body", async () => {
  const canceled = vi.spyOn(ReadableStream.prototype, "cancel");
  onTestFinished(() => canceled.mockRestore());
  await using server = await startLocalServer((_request, response) => void response.writeHead(500).write("endless"));
  await expect(requestTunnel(`http://127.0.0.1:${server.port}`, options)).rejects.toMatchObject({
    code: "TUNNEL_FAILED",
  });
  expect(canceled).toHaveBeenCalledOnce();
});

test("A response that ends early is reported as such", async () => {
  await using server = await startLocalServer((_request, response) => {
    response.writeHead(200, { "content-length": 1_000 });
    response.write(`{ "url": `, () => response.destroy());
  });

  const registering = requestTunnel(`http://127.0.0.1:${server.port}`, options);
  await expect(registering).rejects.toMatchObject({
    code: "TUNNEL_FAILED",
    message: expect.stringMatching(/closed the connection before the end/),
  });
});
