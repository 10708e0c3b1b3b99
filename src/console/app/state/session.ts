import { signal } from "@preact/signals";
import type { SessionInfo, SignInMethods } from "../../protocol/session.ts";

type SignedIn = Extract<SessionInfo, { signedIn: true }>;

/** Signed out. `methods` is missing right after a session has ended, until the session is loaded again. */
interface SignedOut {
  signedIn: false;
  place: SessionInfo["place"];
  methods: SignInMethods | undefined;
}

/** The session, or `undefined` while it is loading. */
export const session = signal<SignedIn | SignedOut | undefined>(undefined);
