import { dev } from "../resource.ts";
import { Command, CopyButton, Loading, StateLabel, Text, UrlText } from "../ui.tsx";
import "./dev.css";

export function TunnelView() {
  const info = dev.value;
  if (!info) return <Loading />;
  const { tunnel, publicUrl, endpoints } = info;
  const isUp = tunnel?.status === "up";
  return (
    <section class="page tunnel" aria-labelledby="tunnel-title">
      <h1 id="tunnel-title">Tunnel</h1>
      <div class="tunnel-state">
        <StateLabel label={isUp ? "Up" : "Down"} color={isUp ? "good" : "bad"} icon={isUp ? "succeeded" : "failed"} />
        <span class="copyable">
          <code>
            <UrlText value={publicUrl} />
          </code>
          <CopyButton text={publicUrl} label="Copy the public URL" />
        </span>
      </div>
      {tunnel?.reason !== undefined && (
        <p class="problem">
          <Text value={tunnel.reason} /> The session reconnects by itself.
        </p>
      )}
      <p class="quiet">
        Only webhooks are reachable through the tunnel. The console and the other pages stay on this machine.
      </p>
      <div class="tunnel-endpoints">
        {endpoints.map(({ name, url }) => (
          <article key={name} class="card">
            <h2>
              <Text value={name} />
            </h2>
            <Command text={url} />
          </article>
        ))}
      </div>
    </section>
  );
}
