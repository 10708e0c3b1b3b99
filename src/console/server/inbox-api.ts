import type { InboxInfo } from "../protocol/inbox.ts";
import type { ConsoleResource } from "./console.ts";

/** The inbox that a console shows. */
export interface InboxSource {
  /** Never rejects because of the inbox: its errors are part of the answer. */
  read(): Promise<InboxInfo>;
}

/** The route of the inbox. */
export function inboxApi(source: InboxSource): ConsoleResource {
  return (app) => {
    app.get("/inbox", async (context) => context.json(await source.read()));
  };
}
