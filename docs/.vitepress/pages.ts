/** A page of the site. */
export interface Page {
  title: string;
  /** The path of its file below `docs/`, without `.md`. */
  path: string;
  /** One sentence for `llms.txt` and for search engines. */
  about: string;
}

export interface Section {
  title: string;
  pages: readonly Page[];
}

/** All pages in task order. The sidebar and `llms.txt` are made from this list. */
export const sections: readonly Section[] = [
  {
    title: "Start",
    pages: [
      {
        title: "Quick start",
        path: "quick-start",
        about: "Create a server, send it a first event, and change its handler, without an account.",
      },
    ],
  },
  {
    title: "Recipes",
    pages: [
      {
        title: "Run a recipe",
        path: "recipes/run-a-recipe",
        about: "Create a project from a recipe, test it, start it, and create its webhook.",
      },
      {
        title: "Retrain on push",
        path: "recipes/retrain-on-push",
        about: "Start a training job when a dataset changes.",
      },
      {
        title: "Reply to mentions",
        path: "recipes/reply-to-mentions",
        about: "Answer comments that mention a bot in discussions and pull requests.",
      },
      {
        title: "Review metadata",
        path: "recipes/review-metadata",
        about: "Check the card of a repository on each push, and comment on what is missing.",
      },
      {
        title: "Mirror a repository",
        path: "recipes/mirror-a-repository",
        about: "Copy each change of a dataset to another account.",
      },
      {
        title: "Check what becomes public",
        path: "recipes/check-public-repositories",
        about: "Open a checklist when a private repository becomes public.",
      },
    ],
  },
  {
    title: "Guides",
    pages: [
      {
        title: "Payloads and filters",
        path: "guides/payloads-and-filters",
        about: "Register handlers, choose the events that they receive, read the payload, and answer.",
      },
      {
        title: "Act on the Hub",
        path: "guides/act-on-the-hub",
        about: "Read files, comment, and commit in a handler, and ignore the events that the handler causes.",
      },
      {
        title: "Background, retries and idempotency",
        path: "guides/background",
        about: "Store a delivery, answer at once, and run its handler with retries.",
      },
      {
        title: "Operate deliveries",
        path: "guides/operate-deliveries",
        about:
          "Find, inspect, replay, and discard deliveries, and pause endpoints, in the console, a terminal, or code.",
      },
      {
        title: "Local development",
        path: "guides/local-development",
        about: "Run a server with reload on the local Hub, send test events, and open a tunnel from the real Hub.",
      },
      {
        title: "Console",
        path: "guides/console",
        about: "Open the web console, see endpoints, send events, and call its API.",
      },
      {
        title: "The local Hub",
        path: "guides/local-hub",
        about: "Run a Hub on your machine for development, tests and CI.",
      },
      {
        title: "Testing",
        path: "guides/testing",
        about: "Test handlers with and without HTTP, and whole bots against the local Hub.",
      },
      {
        title: "Register webhooks",
        path: "guides/register-webhooks",
        about: "Declare what an endpoint watches, and reconcile the webhooks on the Hub with it.",
      },
      {
        title: "Manage webhooks",
        path: "guides/manage-webhooks",
        about: "Create, change, enable, replay and delete webhooks with the command line and the client.",
      },
      {
        title: "Deploy to a Space",
        path: "guides/deploy-space",
        about: "Run a receiver in a Space, with a secret, an inbox that survives restarts, and sleep.",
      },
      {
        title: "Store deliveries in a bucket",
        path: "guides/bucket-inbox",
        about: "Keep deliveries in a Storage Bucket of the Hub, without a disk and without a database.",
      },
      {
        title: "Never miss an event",
        path: "guides/catch-up",
        about: "Derive the deliveries that a server missed, or deliver without a webhook by polling.",
      },
      {
        title: "Deploy to a server",
        path: "guides/deploy-server",
        about: "Run a receiver with Docker or systemd, behind a reverse proxy.",
      },
      {
        title: "Deploy to a worker",
        path: "guides/deploy-worker",
        about: "Run a receiver on Cloudflare Workers, Bun, Deno or any runtime with fetch.",
      },
      {
        title: "Run as a job",
        path: "guides/run-as-a-job",
        about: "Run an endpoint inside a Hub job that a webhook starts, without a server.",
      },
      {
        title: "Mount in another app",
        path: "guides/mount",
        about: "Add middleware, or mount a receiver in Hono, Express or Next.js.",
      },
      {
        title: "Security",
        path: "guides/security",
        about: "Set and rotate the secret, limit clients, and know what the receiver guarantees.",
      },
      {
        title: "Observe",
        path: "guides/observe",
        about: "Read the log, the landing page, health checks and metrics.",
      },
      {
        title: "Scale",
        path: "guides/scale",
        about: "Know the throughput of one receiver, and share an inbox between several.",
      },
    ],
  },
  {
    title: "Reference",
    pages: [
      {
        title: "Options",
        path: "reference/options",
        about: "Every option of servers, endpoints and launch, with its default.",
      },
      {
        title: "Answers",
        path: "reference/answers",
        about: "The status and body that a receiver answers to each kind of request.",
      },
      {
        title: "Errors",
        path: "reference/errors",
        about: "Every error code with its cause and fix.",
      },
      {
        title: "Environment variables",
        path: "reference/environment",
        about: "Every environment variable, its default, and the option that overrides it.",
      },
      {
        title: "Command line",
        path: "reference/cli",
        about: "Every command of hub-webhooks with its options.",
      },
      {
        title: "Hub API",
        path: "reference/hub-api",
        about: "The operations of the Hub that the client sends and the local Hub serves.",
      },
    ],
  },
  {
    title: "Help",
    pages: [
      {
        title: "Troubleshooting",
        path: "troubleshooting",
        about: "Find out why a handler does not run, runs twice, or why the Hub suspended a webhook.",
      },
      {
        title: "Migrate from Python",
        path: "migrate-from-python",
        about: "Move a program that uses WebhooksServer of huggingface_hub to TypeScript.",
      },
    ],
  },
  {
    title: "Contribute",
    pages: [
      {
        title: "Architecture",
        path: "contribute/architecture",
        about: "The folders of the source, the delivery pipeline, and how parts depend on each other.",
      },
      {
        title: "Decisions",
        path: "contribute/decisions",
        about: "Why the package is built as it is.",
      },
      {
        title: "Extend the console",
        path: "contribute/console",
        about: "Add a status, a column, a filter, a view, or an action to the console.",
      },
      {
        title: "Test the package",
        path: "contribute/testing",
        about: "Run and write the tests of this repository.",
      },
    ],
  },
];
