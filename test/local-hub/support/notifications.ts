import { expect } from "vitest";
import { type Notification, type NotificationPage, notificationPage } from "../../../src/hub/notifications.ts";
import type { RequestOptions, TestHub } from "./hub.ts";

type As = Pick<RequestOptions, "token">;

/** Returns a page of notifications for a query such as `?p=1`. */
export async function pageOf(hub: TestHub, query = "", as: As = {}): Promise<NotificationPage> {
  const { status, body, text } = await hub.request(`GET /api/notifications${query}`, as);
  expect(status, text).toBe(200);
  return notificationPage.parse(body);
}

/** Returns the notifications on all pages. */
export async function allOf(hub: TestHub, as: As = {}): Promise<Notification[]> {
  const all: Notification[] = [];
  for (let p = 0; ; p += 1) {
    const { notifications } = await pageOf(hub, `?p=${p}`, as);
    if (notifications.length === 0) return all;
    all.push(...notifications);
  }
}

/** Returns whether a notification has this type. */
export function isOf<Type extends Notification["type"]>(type: Type) {
  return (notification: Notification): notification is Extract<Notification, { type: Type }> =>
    notification.type === type;
}

/** Returns the id that deletes or marks a notification. */
export function idOf(notification: Notification): string {
  return discussionOf(notification).id;
}

/** Returns the participants of the discussion. */
export function participantsOf(notification: Notification): string[] {
  return discussionOf(notification).participating.map(({ user }) => user);
}

function discussionOf(notification: Notification) {
  if (notification.type === "paper") return notification.paperDiscussion;
  if (notification.type === "repo") return notification.discussion;
  return notification.type === "post" ? notification.post : notification.blog;
}
