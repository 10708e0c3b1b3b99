import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { closeToast, toasts } from "../state/toasts.ts";

/** The results of actions, in a live region. */
export function Toasts() {
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
