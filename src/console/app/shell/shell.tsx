import { useEffect } from "preact/hooks";
import type { SessionInfo } from "../../protocol/session.ts";
import { runStream } from "../api/stream.ts";
import { ReloadOverlay } from "../reload/reload-overlay.tsx";
import { announcement } from "../state/announcer.ts";
import { followDev } from "../state/dev.ts";
import { navigate, route } from "../state/route.ts";
import { type View, views } from "../views.tsx";
import { Header } from "./header.tsx";
import { Toasts } from "./toasts.tsx";
import "./shell.css";

type SignedIn = Extract<SessionInfo, { signedIn: true }>;

/** The frame around the views, for a signed-in user. */
export function Shell({ session }: { session: SignedIn }) {
  const offered = views.filter(({ feature }) => session.features.includes(feature));
  const current = findView(offered, route.value.path);
  useEffect(() => {
    const stop = new AbortController();
    void runStream(stop.signal);
    return () => stop.abort();
  }, []);
  useEffect(() => {
    if (route.value.path === "" && offered[0]) navigate(`#/${offered[0].path}`, { replace: true });
  });
  useEffect(() => (session.place === "dev" ? followDev() : undefined), [session.place]);
  useViewFocus(current);

  return (
    <div class="shell">
      <button type="button" class="skip-link" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <Header views={offered} current={current} session={session} />
      <main id="main" class="main" tabIndex={-1}>
        {current ? <current.component /> : route.value.path !== "" && <UnknownView />}
      </main>
      {session.place === "dev" && <ReloadOverlay />}
      <Toasts />
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
    </div>
  );
}

function findView(offered: readonly View[], path: string): View | undefined {
  const [first] = path.split("/");
  return offered.find((view) => view.path === first);
}

let lastView: View | undefined;

/** Moves the focus to a view when it is opened from another one, so that the keyboard and screen readers start there. */
function useViewFocus(view: View | undefined): void {
  useEffect(() => {
    if (!view) return;
    document.title = `${view.label} · hub-webhooks`;
    if (lastView && lastView !== view) document.getElementById("main")?.focus();
    lastView = view;
  }, [view]);
}

function UnknownView() {
  return (
    <div class="empty-state">
      <h1>This page does not exist here</h1>
      <p>
        Open a page from the navigation, or <a href="#/">go to the first one</a>.
      </p>
    </div>
  );
}
