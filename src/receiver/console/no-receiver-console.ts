/*
 * Replaces `receiver-console.ts` in bundles for edge workers and browsers (see the "browser" field of package.json): the console
 * needs files on a disk.
 */

/** Adds no routes, so that the path of the console answers 404. */
export class ReceiverConsole {
  mount(): void {}
  close(): undefined {}
}
