import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionInfo } from "../../protocol/session.ts";
import { connection } from "../api/stream.ts";
import { Button } from "../components/button.tsx";
import { Mark } from "../components/mark.tsx";
import { dev } from "../state/dev.ts";
import { useShortcut } from "../state/keyboard.ts";
import { signOut } from "../state/sign-in.ts";
import { switchTheme, theme } from "../state/theme.ts";
import type { View } from "../views.tsx";
import { HelpDialog } from "./help-dialog.tsx";

/** The name, the navigation, the state of the connection, and the actions of the whole console. */
export function Header({
  views,
  current,
  session,
}: {
  views: readonly View[];
  current: View | undefined;
  session: Extract<SessionInfo, { signedIn: true }>;
}) {
  const [isHelpOpen, setHelpOpen] = useState(false);
  useShortcut("?", () => {
    setHelpOpen(true);
    return true;
  });
  const navigation = useRef<HTMLElement>(null);
  useEffect(() => {
    if (navigation.current) showCurrent(navigation.current);
  }, [current]);
  const themeLabel = `Theme: ${theme.value}`;
  return (
    <header class="header">
      <a class="brand" href="#/" title={`hub-webhooks ${session.version}`}>
        <Mark />
        <span class="brand-name">hub-webhooks</span>
        {session.place !== "receiver" && <span class="tag">{session.place}</span>}
      </a>
      <nav class="navigation" ref={navigation} aria-label="Views">
        {views.map((view) => (
          <a key={view.path} href={`#/${view.path}`} aria-current={view === current ? "page" : undefined}>
            {view.label}
          </a>
        ))}
      </nav>
      <div class="header-tools">
        <ConnectionState />
        <Button kind="ghost" icon={theme.value} label={themeLabel} onClick={switchTheme} />
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
