import { useEffect, useRef, useState } from "preact/hooks";
import type { SignInMethods, SignInRequest } from "../../protocol/session.ts";
import { type ApiFailure, loadSession, signIn, toApiFailure } from "../api.ts";
import { navigate, route } from "../state.ts";
import { Button, Loading, Mark, Problem } from "../ui.tsx";
import "./shell.css";

/** Signs in with the console token, or with the code of a one-time link. */
export function SignInPage({ methods }: { methods: SignInMethods | undefined }) {
  const code = readSignInCode(route.value.path);
  const [problem, setProblem] = useState<string>();
  const token = useRef<HTMLInputElement>(null);

  const send = async (request: SignInRequest) => {
    setProblem(undefined);
    try {
      await signIn(request);
    } catch (error) {
      setProblem(describeSignInFailure(toApiFailure(error), request));
      // A user who is signed in stays signed in.
      if ("code" in request) await loadSession();
      token.current?.focus();
      token.current?.select();
    }
  };

  useEffect(() => {
    document.title = "Sign in · hub-webhooks";
    if (code === undefined) return;
    // The code works once, so it must not stay in the history.
    void send({ code }).finally(() => navigate("#/", { replace: true }));
  }, [code]);

  if (code !== undefined || methods === undefined) return <Loading />;
  return (
    <main class="alone sign-in">
      <h1>
        <Mark size={32} /> hub-webhooks console
      </h1>
      <Problem text={problem} id="sign-in-problem" />
      {methods.token && (
        <form
          class="sign-in-form"
          onSubmit={(event) => {
            event.preventDefault();
            void send({ token: token.current?.value ?? "" });
          }}
        >
          <label for="token">Console token</label>
          <div class="sign-in-field">
            <input
              id="token"
              ref={token}
              class="input"
              type="password"
              autoComplete="current-password"
              required
              aria-describedby={problem ? "sign-in-problem token-hint" : "token-hint"}
            />
            <Button type="submit" kind="primary">
              Sign in
            </Button>
          </div>
          <p class="quiet" id="token-hint">
            The value of <code>CONSOLE_TOKEN</code> on the server.
          </p>
        </form>
      )}
      <LinkHelp methods={methods} />
    </main>
  );
}

function LinkHelp({ methods }: { methods: SignInMethods }) {
  return (
    <section class="quiet">
      <h2>{methods.token ? "Or use a one-time link" : "Use a one-time link"}</h2>
      {methods.linkFrom === "log" ? (
        <p>The link is in the log of the server. It works once, within an hour.</p>
      ) : (
        <p>
          <code>hub-webhooks {methods.linkFrom}</code> prints a sign-in link in its terminal when it starts.
          {methods.linkFrom === "dev" && (
            <>
              {" "}
              Press <kbd>o</kbd> there to open a new one.
            </>
          )}
        </p>
      )}
      {!methods.token && methods.linkFrom === "log" && (
        <p>
          To sign in with a token instead, set <code>CONSOLE_TOKEN</code> on the server and restart it.
        </p>
      )}
    </section>
  );
}

/** Returns the code of a one-time sign-in link, whose route is `#/sign-in/CODE`. */
export function readSignInCode(path: string): string | undefined {
  return /^sign-in\/(.+)$/.exec(path)?.[1];
}

function describeSignInFailure({ code, message }: ApiFailure, request: SignInRequest): string {
  if (code !== "SIGN_IN_INVALID") return message;
  return "code" in request
    ? "This sign-in link was used already or has expired. Get a new one."
    : "Wrong token. Check the value of CONSOLE_TOKEN on the server.";
}
