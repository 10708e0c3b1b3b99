import { relative } from "node:path";
import type { DevInfo, ReloadProblem } from "../../console/protocol/dev.ts";
import type { WebhookError } from "../../core/errors.ts";
import type { LoadFailure } from "../../server-file/load-failure.ts";
import type { DevState } from "../dev-event.ts";

export interface ConsoleStateOptions {
  /** The absolute path of the server file. */
  path: string;
  hasTunnel: boolean;
  /** Returns the current URLs and endpoints. */
  session: () => DevState;
  /** Called after each change. */
  onChange: () => void;
}

/** The state of a session as its console shows it: whether the server runs, and whether the tunnel is up. */
export class ConsoleState {
  readonly #options: ConsoleStateOptions;
  #server: DevInfo["state"] = "loading";
  #problem: ReloadProblem | undefined;
  #tunnelProblem: string | undefined;

  constructor(options: ConsoleStateOptions) {
    this.#options = options;
  }

  /** Sets whether the server runs. `failure`: why it does not. */
  setServer(state: DevInfo["state"], failure?: { error: WebhookError; isRestarted: boolean }): void {
    this.#server = state;
    this.#problem = failure && describeProblem(failure);
    this.#options.onChange();
  }

  /** Sets why the tunnel is down. `undefined`: it is up. */
  setTunnelProblem(reason: string | undefined): void {
    this.#tunnelProblem = reason;
    this.#options.onChange();
  }

  describe(): DevInfo {
    const { path, hasTunnel, session } = this.#options;
    const { url, publicUrl, hub, endpoints, inbox } = session();
    return {
      file: relative(process.cwd(), path),
      state: this.#server,
      ...(this.#problem && { problem: this.#problem }),
      ...{ url, publicUrl, hub, endpoints },
      ...(inbox !== undefined && { inbox }),
      ...(hasTunnel && {
        tunnel: this.#tunnelProblem === undefined ? { status: "up" } : { status: "down", reason: this.#tunnelProblem },
      }),
    };
  }
}

/** Describes why the server file does not run, with the source around the error. */
function describeProblem({ error, isRestarted }: { error: WebhookError; isRestarted: boolean }): ReloadProblem {
  const { message, cause } = error;
  const { stack, frame }: Partial<LoadFailure> = cause instanceof Error ? cause : {};
  return { message, isRestarted, ...(stack !== undefined && { stack }), ...(frame && { frame }) };
}
