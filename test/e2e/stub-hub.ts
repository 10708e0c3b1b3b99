import { createServer } from "node:http";
import { listenOnPort } from "../support/free-port.ts";

/** A server that replaces the Hub while an example starts. */
export interface StubHub {
  url: string;
  close(): void;
}

/** Environment variables that the examples need to start. The values are not valid. */
export const exampleEnvironment = {
  HF_TOKEN: "hf_none",
  JOB_NAMESPACE: "acme",
  MODEL_NAME: "acme/net",
  BOT_NAME: "bot",
  TARGET_URL: "https://git.example",
  TARGET_TOKEN: "token_none",
};

/** Starts a server that answers all requests like `whoami-v2`, which some examples call when they start. */
export async function startStubHub(): Promise<StubHub> {
  const hub = createServer((_request, response) => response.end('{"id":"65b2f0a1c3d4e5f60718293a","name":"bot"}'));
  const port = await listenOnPort(hub);
  return { url: `http://127.0.0.1:${port}`, close: () => void hub.close() };
}
