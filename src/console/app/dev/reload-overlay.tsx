import { useEffect, useRef, useState } from "preact/hooks";
import type { CodeFrame } from "../../protocol/session.ts";
import { sendJson } from "../api.ts";
import { dev } from "../resource.ts";
import { showToast } from "../state.ts";
import { Button, Code, Dialog, Text } from "../ui.tsx";
import "./dev.css";

const reloadedMs = 3_000;

/** Shows why the server file does not run, over any view, until the file is fixed or the overlay is closed. */
export function ReloadOverlay() {
  const problem = dev.value?.problem;
  const [closed, setClosed] = useState<string>();
  const state = dev.value?.state;
  const wasBroken = useRef(false);
  useEffect(() => {
    if (state === "broken") wasBroken.current = true;
    if (state !== "serving" || !wasBroken.current) return;
    wasBroken.current = false;
    showToast({ kind: "done", text: "Reloaded." }, { ms: reloadedMs });
  }, [state]);
  if (!problem || dev.value?.state !== "broken") return null;
  const { frame } = problem;
  // The session reports the same problem again when anything else in its state changes.
  const key = JSON.stringify([problem.message, problem.stack, frame]);
  if (closed === key) {
    return (
      <div class="reload-bar" role="alert">
        <span>
          <Text value={frame ? `${baseName(frame.file)}:${frame.line}` : dev.value.file} /> does not load.
        </span>
        <Button onClick={() => setClosed(undefined)}>Show the error</Button>
      </div>
    );
  }
  return (
    <Dialog title={`${dev.value.file} does not load`} isWide onClose={() => setClosed(key)}>
      <p class="reload-message" role="alert">
        <Text value={problem.message} />
      </p>
      {frame && <Frame frame={frame} />}
      {problem.stack !== undefined && (
        <details class="reload-stack" open={!frame}>
          <summary>Stack</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable with the keyboard */}
          <pre tabIndex={0}>
            <Text value={problem.stack} />
          </pre>
        </details>
      )}
      <p class="quiet">
        {problem.isRestarted
          ? "The server is restarting."
          : "Fix the file and save it: the session reloads it. Until then, deliveries receive a 503 response, and the Hub sends them again."}
      </p>
    </Dialog>
  );
}

function baseName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

function Frame({ frame: { file, line, column, lines } }: { frame: CodeFrame }) {
  return (
    <figure class="code-frame">
      <figcaption>
        <Code value={`${file}:${line}:${column}`} />
        <Button icon="external" onClick={() => sendJson("dev/open-editor", { file, line, column })}>
          Open in editor
        </Button>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable with the keyboard */}
      <pre tabIndex={0}>
        {lines.map(({ number, text, isError }) => (
          <div key={number} class={isError ? "code-line code-line-error" : "code-line"}>
            <span class="code-number">{isError ? `> ${number}` : number}</span>
            <Text value={text} />
          </div>
        ))}
      </pre>
    </figure>
  );
}
