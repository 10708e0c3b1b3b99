import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ConsoleFeature, SessionInfo } from "../../protocol/session.ts";
import { connection, runStream, signOut } from "../api.ts";
import { DeliveriesView } from "../deliveries/deliveries-view.tsx";
import { LogsView } from "../dev/logs-view.tsx";
import { ReloadOverlay } from "../dev/reload-overlay.tsx";
import { TunnelView } from "../dev/tunnel-view.tsx";
import { EndpointsView } from "../endpoints/endpoints-view.tsx";
import { EventsView } from "../hub/events-view.tsx";
import { JobsView } from "../hub/jobs-view.tsx";
import { WebhooksView } from "../hub/webhooks-view.tsx";
import { InboxView } from "../inbox/inbox-view.tsx";
import { dev, followDev } from "../resource.ts";
import {
  announcement,
  closeToast,
  isVisible,
  navigate,
  route,
  shortcuts,
  switchTheme,
  theme,
  toasts,
  useShortcut,
} from "../state.ts";
import { Button, Dialog, Icon, loadedLater, Mark } from "../ui.tsx";
import "./shell.css";

type SignedIn = Extract<SessionInfo, { signedIn: true }>;

const RepositoriesView = loadedLater(async () => (await import("../hub/repositories-view.tsx")).RepositoriesView);
const SendView = loadedLater(async () => (await import("../send/send-view.tsx")).SendView);

interface View {
  /** The view is shown where the server offers this feature, which is the first part of its routes, such as `#/deliveries/one`. */
  feature: ConsoleFeature;
  /** The name in the navigation and in the document's title. */
  label: string;
  component: ComponentType;
}

/** The views, in the order of the navigation. To add a view, add an entry. */
const views: readonly View[] = [
  { feature: "deliveries", label: "Deliveries", component: DeliveriesView },
  { feature: "endpoints", label: "Endpoints", component: EndpointsView },
  { feature: "inbox", label: "Inbox", component: InboxView },
  { feature: "webhooks", label: "Webhooks", component: WebhooksView },
  { feature: "events", label: "Events", component: EventsView },
  { feature: "send", label: "Send", component: SendView },
  { feature: "repositories", label: "Repositories", component: RepositoriesView },
  { feature: "jobs", label: "Jobs", component: JobsView },
  { feature: "logs", label: "Logs", component: LogsView },
  { feature: "tunnel", label: "Tunnel", component: TunnelView },
];

/** The frame around the views, for a signed-in user. */
export function Shell({ session }: { session: SignedIn }) {
  const offered = views.filter(({ feature }) => session.features.includes(feature));
  const current = findView(offered, route.value.path);
  // Browsers open at most six connections to a server, for all tabs together. A hidden tab must leave them to the others.
  const hasStream = isVisible.value;
  useEffect(() => {
    if (!hasStream) return;
    const stop = new AbortController();
    void runStream(stop.signal);
    return () => stop.abort();
  }, [hasStream]);
  useEffect(() => {
    if (route.value.path === "" && offered[0]) navigate(`#/${offered[0].feature}`, { replace: true });
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
  return offered.find((view) => view.feature === first);
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

/** The results of actions, in a live region. */
function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, kind, text, link }) => (
        <div key={id} class={`toast toast-${kind}`}>
          <Icon name={kind === "done" ? "succeeded" : "failed"} />
          <p>
            {text}{" "}
            {link && (
              <a href={link.hash} onClick={() => closeToast(id)}>
                {link.label}
              </a>
            )}
          </p>
          <Button kind="ghost" icon="close" label="Close message" onClick={() => closeToast(id)} />
        </div>
      ))}
    </div>
  );
}

/** The name, the navigation, the state of the connection, and the actions of the whole console. */
function Header({ views, current, session }: { views: readonly View[]; current: View | undefined; session: SignedIn }) {
  const [isHelpOpen, setHelpOpen] = useState(false);
  useShortcut("?", () => setHelpOpen(true));
  const navigation = useRef<HTMLElement>(null);
  useEffect(() => {
    if (navigation.current) showCurrent(navigation.current);
  }, [current]);
  return (
    <header class="header">
      <a class="brand" href="#/" title={`hub-webhooks ${session.version}`}>
        <Mark />
        <span class="brand-name">hub-webhooks</span>
        {session.place !== "receiver" && <span class="tag">{session.place}</span>}
      </a>
      <nav class="navigation" ref={navigation} aria-label="Views">
        {views.map((view) => (
          <a key={view.feature} href={`#/${view.feature}`} aria-current={view === current ? "page" : undefined}>
            {view.label}
          </a>
        ))}
      </nav>
      <div class="header-tools">
        <ConnectionState />
        <Button kind="ghost" icon={theme.value} label={`Theme: ${theme.value}`} onClick={switchTheme} />
        <Button kind="ghost" icon="help" label="Keyboard shortcuts" onClick={() => setHelpOpen(true)} />
        <Button kind="ghost" icon="signOut" label="Sign out" onClick={signOut} />
      </div>
      {isHelpOpen && <HelpDialog version={session.version} onClose={() => setHelpOpen(false)} />}
    </header>
  );
}

/**
 * Scrolls the navigation sideways to the current view, for phones. `scrollIntoView` would also move the place from which the Tab
 * key continues.
 */
function showCurrent(navigation: HTMLElement): void {
  const link = navigation.querySelector("[aria-current]");
  if (!link) return;
  const [outer, inner] = [navigation.getBoundingClientRect(), link.getBoundingClientRect()];
  if (inner.left < outer.left) navigation.scrollLeft -= outer.left - inner.left;
  else if (inner.right > outer.right) navigation.scrollLeft += inner.right - outer.right;
}

const connectionTexts = {
  connecting: "Connecting",
  live: "Live",
  reconnecting: "Reconnecting",
  broken: "Server not running",
} as const;

function ConnectionState() {
  const state = connection.value === "live" && dev.value?.state === "broken" ? "broken" : connection.value;
  return (
    <p class="connection" data-state={state} role="status">
      <span class="connection-dot" aria-hidden="true" />
      <span class="connection-text">{connectionTexts[state]}</span>
    </p>
  );
}

function HelpDialog({ version, onClose }: { version: string; onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {shortcuts.map(({ keys, description }) => (
          <div key={description}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">hub-webhooks {version}</p>
    </Dialog>
  );
}
