import { options, render, type VNode } from "preact";
import "virtual:tokens.css";
import "./styles.css";
import { useEffect } from "preact/hooks";
import { loadSession, session, sessionFailure } from "./api.ts";
import { Shell } from "./shell/shell.tsx";
import { readSignInCode, SignInPage } from "./shell/sign-in-page.tsx";
import { followLocation, route, startClock, startKeyboard, startTheme } from "./state.ts";
import { FailureState, Loading } from "./ui.tsx";

const retryMs = 3_000;

/** The whole page: the sign-in page, or the views. */
function App() {
  const info = session.value;
  const isLoading = info === undefined || (!info.signedIn && info.methods === undefined);
  const isFailed = sessionFailure.value !== undefined;
  useEffect(() => {
    if (!isLoading) return;
    void loadSession();
    if (!isFailed) return;
    const timer = setInterval(loadSession, retryMs);
    return () => clearInterval(timer);
  }, [isLoading, isFailed]);

  if (info?.signedIn && readSignInCode(route.value.path) === undefined) return <Shell session={info} />;
  if (sessionFailure.value && isLoading) {
    return (
      <main class="alone">
        <FailureState failure={sessionFailure.value} onRetry={loadSession} />
      </main>
    );
  }
  if (isLoading) return <Loading />;
  return <SignInPage methods={info.signedIn ? undefined : info.methods} />;
}

declare module "preact" {
  /** What Preact's types leave out. Its builds have these names in all versions, because plugins depend on them. */
  interface VNode<P> {
    /** The component. */
    __c?: object | null;
    /** What the component rendered. */
    __k?: unknown;
    /** The parent. */
    __?: unknown;
  }
}

/**
 * Releases what a component rendered before, after it has rendered again.
 *
 * Preact leaves the vnode of an earlier rendering in the `children` of its parent. An unchanged child links earlier renderings to
 * later ones. Without this hook, a page with live data keeps all of them, with the removed elements.
 */
function releaseVNodes(): void {
  const latest = new WeakMap<object, VNode>();
  const next = options.diffed;
  options.diffed = (vnode) => {
    next?.(vnode);
    if (!vnode.__c) return;
    const earlier = latest.get(vnode.__c);
    latest.set(vnode.__c, vnode);
    if (earlier === undefined || earlier === vnode) return;
    earlier.__k = null;
    earlier.__ = null;
  };
}

const root = document.getElementById("app");
if (root) {
  releaseVNodes();
  startTheme();
  followLocation();
  startClock();
  startKeyboard();
  render(<App />, root);
}
