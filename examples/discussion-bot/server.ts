import { type Backoff, WebhooksServer, type WebhooksServerOptions } from "hub-webhooks";

/** The question to the bot. */
export interface Question {
  /** The repository and the title of the discussion, as context for the model. */
  repo: string;
  title: string;
  comment: string;
}

/** Writes the reply: any text model, or a few rules. */
export type TextModel = (question: Question, signal: AbortSignal) => Promise<string>;

/** A discussion. */
export interface Discussion {
  repo: { type: string; name: string };
  num: number;
}

/** The calls to the Hub: `start.ts` implements them, tests and the dry run replace them. */
export interface HubActions {
  postComment(discussion: Discussion, text: string, signal: AbortSignal): Promise<void>;
}

/** Options of the server, with the calls that it makes. */
export interface BotOptions extends WebhooksServerOptions {
  hub: HubActions;
  model: TextModel;
  /** The account of the bot: comments mention its name, payloads identify it by its id. */
  bot: { name: string; id: string };
  /** The wait before the first retry of a failed reply. Default `{ first: "5s" }`. */
  backoff?: Backoff;
}

/** Creates a server that replies to comments in which the bot is mentioned. */
export function createServer({ hub, model, bot, backoff = { first: "5s" }, ...options }: BotOptions): WebhooksServer {
  const server = new WebhooksServer(options);
  // Only the exact name: not @bot-two and not an address such as me@bot.example.
  const mention = new RegExp(String.raw`(?<![\w@./])@${bot.name.replaceAll(".", "\\.")}(?![\w-]|\.\w)`, "i");

  server.webhook(
    "discussion_bot",
    // A new discussion contains its first comment. Later comments have the scope discussion.comment, which is included.
    { scope: "discussion", action: "create", background: true, backoff },
    async ({ repo: { type, name }, discussion: { num, title }, comment }, { log, signal }) => {
      // Replying to its own comments would cause an endless loop.
      const isOwn = comment?.author.id === bot.id;
      if (!comment || comment.hidden || isOwn || !mention.test(comment.content ?? "")) {
        return log.info(
          { repo: name, discussion: num },
          `Nothing to reply to: ${isOwn ? "the bot's own words" : `no comment that mentions @${bot.name}`}.`,
        );
      }
      const reply = await model({ repo: name, title, comment: comment.content ?? "" }, signal);
      await hub.postComment({ repo: { type, name }, num }, reply, signal);
      log.info({ repo: name, discussion: num, comment: comment.id }, "The bot has replied.");
    },
  );
  return server;
}

/** For `hub-webhooks dev`: a dry run that prints the calls. */
export default createServer({
  bot: { name: "my-bot", id: "000000000000000000000000" },
  model: async ({ comment }) => `You wrote ${comment.length} characters, but no model is configured.`,
  hub: {
    async postComment({ repo, num }, text) {
      console.log(`Dry run: would post to discussion ${num} of ${repo.name}: ${text}`);
    },
  },
});
