/**
 * Loads the pages of a server that listens, and does not wait for them. They would be loaded when first asked for,
 * but Node 22 remembers a module that could not be read: a page that is first opened while the process is out of file
 * descriptors would fail until the next start.
 */
export function loadPages(): void {
  for (const load of [
    () => import("../landing/page.ts"),
    () => import("../landing/gather-info.ts"),
    () => import("../dashboard/dashboard.ts"),
    () => import("../../console/error-page.ts"),
  ]) {
    // A request for the page reports what is wrong.
    load().catch(() => {});
  }
}
