import { createServer } from "node:http";
import { listenOnPort } from "../support/free-port.ts";

/** What stands in for the Hub while an example starts. */
export interface AnsweringHub {
  url: string;
  close(): void;
}

/** Variables of which each example needs some at its start; none is good for anything. */
export const exampleEnvironment = {
  HF_TOKEN: "hf_none",
  JOB_NAMESPACE: "acme",
  MODEL_NAME: "acme/net",
  BOT_NAME: "bot",
  TARGET_URL: "https://git.example",
  TARGET_TOKEN: "token_none",
};

/** Starts a server that answers every request as the Hub answers who one is: some examples ask that at the start. */
export async function startAnsweringHub(): Promise<AnsweringHub> {
  const hub = createServer((_request, response) => response.end('{"id":"65b2f0a1c3d4e5f60718293a","name":"bot"}'));
  const port = await listenOnPort(hub);
  return { url: `http://127.0.0.1:${port}`, close: () => void hub.close() };
}
