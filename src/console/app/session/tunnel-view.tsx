import { Command } from "../components/command.tsx";
import { CopyButton } from "../components/copy-button.tsx";
import { Icon } from "../components/icon.tsx";
import { Loading } from "../components/loading.tsx";
import { Text } from "../components/text.tsx";
import { dev } from "../state/dev.ts";

/** The tunnel of the session, and the URLs that are reachable through it. */
export function TunnelView() {
  const info = dev.value;
  if (!info) return <Loading />;
  const { tunnel, publicUrl, endpoints } = info;
  const isUp = tunnel?.status === "up";
  return (
    <section class="page" aria-labelledby="tunnel-title">
      <h1 id="tunnel-title">Tunnel</h1>
      <p class="status" data-color={isUp ? "good" : "bad"}>
        <Icon name={isUp ? "succeeded" : "failed"} /> {isUp ? "Up" : "Down"}
        {tunnel?.reason !== undefined && (
          <span>
            : <Text value={tunnel.reason} /> The session reconnects by itself.
          </span>
        )}
      </p>
      <p>
        <code>
          <Text value={publicUrl} />
        </code>
        <CopyButton text={publicUrl} label="Copy the public URL" />
      </p>
      <p>Only webhooks are reachable through the tunnel. The console and the other pages stay on this machine.</p>
      {endpoints.map(({ name, url }) => (
        <article key={name} class="card">
          <h2>
            <Text value={name} />
          </h2>
          <Command text={url} />
        </article>
      ))}
    </section>
  );
}
