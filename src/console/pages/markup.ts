import type { html } from "hono/html";

/** A part of a page in which every interpolated value is escaped. */
export type Markup = ReturnType<typeof html>;
