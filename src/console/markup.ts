import type { html } from "hono/html";

/** A piece of the page in which everything that came from outside is escaped. */
export type Markup = ReturnType<typeof html>;
