import { useEffect } from "preact/hooks";
import { Shell } from "./shell/shell.tsx";
import { readSignInCode } from "./sign-in/sign-in-code.ts";
import { SignInPage } from "./sign-in/sign-in-page.tsx";
import { route } from "./state/route.ts";
import { session } from "./state/session.ts";
import { loadSession, sessionFailure } from "./state/sign-in.ts";
import { FailureState, Loading } from "./ui.tsx";

const retryMs = 3_000;

/** The whole page: the sign-in page, or the views. */
export function App() {
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
