// Plain JavaScript: see announce.js. The floor under the other two: what Node alone takes.
import { createServer } from "node:http";
import { announce, portOf } from "../announce.js";

const server = createServer((request, response) => {
  const chunks = /** @type {Buffer[]} */ ([]);
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(200, { "content-type": "application/json" }).end('{"received":true}');
  });
});
server.listen(0, "127.0.0.1", () => announce(portOf(server)));
