import { useId, useState } from "preact/hooks";
import { watchedTypes, webhookDomains } from "../../../payload/watch.ts";
import type { WebhookDetails, WebhookInfo } from "../../protocol/hub.ts";
import type { FieldProblem as InvalidField } from "../../protocol/session.ts";
import { sendJson, toApiFailure } from "../api.ts";
import { formatRoute, navigate, showToast } from "../state.ts";
import { Button, Dialog, Problem, Select } from "../ui.tsx";

export function CreateWebhook({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Create webhook" onClose={onClose}>
      <WebhookForm
        action="Create webhook"
        initial={{ url: "", watched: [{ type: "dataset", name: "" }], domains: ["repo", "discussion"] }}
        onCancel={onClose}
        onSubmit={async ({ secret, ...fields }) => {
          const creation = { ...fields, url: fields.url ?? "", ...(secret && { secret }) };
          const { id } = await sendJson<WebhookDetails>("webhooks", creation);
          onClose();
          showToast({ kind: "done", text: "The webhook is created and enabled." });
          navigate(formatRoute("webhooks/one", { id }));
        }}
      />
    </Dialog>
  );
}

export function EditWebhook({ webhook, onClose }: { webhook: WebhookDetails; onClose: () => void }) {
  const { id, target, watched, domains, isSecretSet } = webhook;
  const url = target.kind === "url" ? target.url : undefined;
  return (
    <Dialog title="Edit webhook" onClose={onClose}>
      <WebhookForm
        action="Save"
        initial={{ url, watched, domains, isSecretSet }}
        onCancel={onClose}
        onSubmit={async ({ url: given, ...fields }) => {
          // An unchanged URL is left out, because secrets in it are masked.
          await sendJson("webhooks/update", { id, ...fields, ...(given !== url && { url: given }) });
          onClose();
          showToast({ kind: "done", text: "The webhook is changed." });
        }}
      />
    </Dialog>
  );
}

interface WebhookFields {
  /** Missing if the webhook starts a job. */
  url: string | undefined;
  watched: WebhookInfo["watched"];
  domains: readonly string[];
  /** Missing to keep the current secret, and `null` to remove it. */
  secret?: string | null;
}

const domainTexts: Readonly<Record<(typeof webhookDomains)[number], string>> = {
  repo: "repo: pushes, settings, moves, and deletions",
  discussion: "discussion: discussions, pull requests, and comments",
};

interface WebhookFormProps {
  action: string;
  initial: Omit<WebhookFields, "secret"> & { isSecretSet?: boolean };
  onSubmit: (fields: WebhookFields) => Promise<void>;
  onCancel: () => void;
}

/** The fields of a webhook. Invalid fields show what the server found. */
function WebhookForm({ action, initial, onSubmit, onCancel }: WebhookFormProps) {
  const id = useId();
  const { isSecretSet, ...start } = initial;
  const [fields, setFields] = useState<WebhookFields>(start);
  const [problems, setProblems] = useState<readonly InvalidField[]>([]);
  const [problem, setProblem] = useState<string>();
  const problemOf = (...path: readonly (string | number)[]) =>
    problems.filter((one) => path.every((key, index) => one.path[index] === key)).map((one) => one.problem)[0];
  const submit = async () => {
    setProblem(undefined);
    setProblems([]);
    try {
      await onSubmit(fields);
    } catch (error) {
      const failure = toApiFailure(error);
      setProblems(failure.fields);
      setProblem(failure.message);
    }
  };
  const change = (changes: Partial<WebhookFields>) => setFields((last) => ({ ...last, ...changes }));
  const toggleDomain = (domain: string) =>
    change({
      domains: fields.domains.includes(domain)
        ? fields.domains.filter((other) => other !== domain)
        : [...fields.domains, domain],
    });
  return (
    <form class="form" onSubmit={(event) => event.preventDefault()}>
      {fields.url === undefined ? (
        <p class="quiet">This webhook starts a job. To change the job, use the API.</p>
      ) : (
        <div class="field">
          <label for={`${id}-url`}>URL</label>
          <input
            id={`${id}-url`}
            class="input"
            type="text"
            inputMode="url"
            placeholder="http://127.0.0.1:7860/webhooks/hello"
            autoComplete="off"
            spellcheck={false}
            value={fields.url}
            aria-invalid={problemOf("url") !== undefined}
            aria-describedby={`${id}-url-problem`}
            onInput={({ currentTarget }) => change({ url: currentTarget.value })}
          />
          <FieldProblem id={`${id}-url-problem`} text={problemOf("url")} />
        </div>
      )}
      <WatchedFields
        watched={fields.watched}
        problemOf={(...path) => problemOf("watched", ...path)}
        onChange={(watched) => change({ watched })}
      />
      <fieldset>
        <legend>Domains</legend>
        {webhookDomains.map((domain) => (
          <label class="check" key={domain}>
            <input type="checkbox" checked={fields.domains.includes(domain)} onChange={() => toggleDomain(domain)} />
            {domainTexts[domain]}
          </label>
        ))}
        <FieldProblem text={problemOf("domains")} />
      </fieldset>
      <div class="field">
        <label for={`${id}-secret`}>Secret</label>
        <input
          id={`${id}-secret`}
          class="input"
          type="password"
          autoComplete="off"
          placeholder={isSecretSet ? "Unchanged" : "Optional"}
          disabled={fields.secret === null}
          value={fields.secret ?? ""}
          aria-invalid={problemOf("secret") !== undefined}
          aria-describedby={`${id}-secret-problem`}
          onInput={({ currentTarget: { value } }) =>
            setFields(({ secret: _last, ...others }) => (value === "" ? others : { ...others, secret: value }))
          }
        />
        <FieldProblem id={`${id}-secret-problem`} text={problemOf("secret")} />
        {isSecretSet && (
          <label class="check">
            <input
              type="checkbox"
              checked={fields.secret === null}
              onChange={({ currentTarget: { checked } }) =>
                setFields(({ secret: _last, ...others }) => (checked ? { ...others, secret: null } : others))
              }
            />
            Remove the secret
          </label>
        )}
      </div>
      <Problem text={problem} />
      <div class="dialog-actions">
        <Button onClick={onCancel}>Cancel</Button>
        {/* Enter in a field presses the button, which ignores further clicks while it is pending. */}
        <Button kind="primary" type="submit" onClick={submit}>
          {action}
        </Button>
      </div>
    </form>
  );
}

function WatchedFields({
  watched,
  problemOf,
  onChange,
}: {
  watched: WebhookInfo["watched"];
  problemOf: (...path: readonly (string | number)[]) => string | undefined;
  onChange: (watched: WebhookInfo["watched"]) => void;
}) {
  const change = (index: number, changes: { type?: string; name?: string }) =>
    onChange(watched.map((item, at) => (at === index ? { ...item, ...changes } : item)));
  return (
    <fieldset>
      <legend>Watches</legend>
      {watched.map(({ type, name }, index) => (
        // Rows have no identity of their own.
        <div key={index}>
          <div class="row">
            <Select
              aria-label={`Type ${index + 1}`}
              value={type}
              options={watchedTypes}
              onChange={(chosen) => change(index, { type: chosen })}
            />
            <input
              class="input"
              type="text"
              aria-label={`Name ${index + 1}`}
              placeholder={type === "user" || type === "org" ? "acme" : "me/data"}
              autoComplete="off"
              spellcheck={false}
              value={name}
              aria-invalid={problemOf(index) !== undefined}
              onInput={({ currentTarget }) => change(index, { name: currentTarget.value })}
            />
            <Button
              kind="ghost"
              icon="close"
              label={`Remove ${type} ${name}`}
              disabled={watched.length === 1}
              onClick={() => onChange(watched.filter((_item, at) => at !== index))}
            />
          </div>
          <FieldProblem text={problemOf(index)} />
        </div>
      ))}
      <div>
        <Button icon="plus" onClick={() => onChange([...watched, { type: "dataset", name: "" }])}>
          Watch more
        </Button>
      </div>
    </fieldset>
  );
}

function FieldProblem({ id, text }: { id?: string; text: string | undefined }) {
  return (
    <p id={id} class="field-problem">
      {text}
    </p>
  );
}
