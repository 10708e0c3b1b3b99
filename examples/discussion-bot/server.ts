import { WebhooksServer, type WebhooksServerOptions } from "hub-webhooks";

/** A comment that mentions the bot, with its context. */
export interface Question {
  repo: string;
  /** The title of the discussion. */
  title: string;
  comment: string;
}

/** A discussion of a repository. */
export interface Discussion {
  type: string;
  name: string;
  num: number;
}

/** The account of the bot, and the calls to the Hub and the text model. `start.ts` implements them. */
export interface Bot {
  /** The account that posts the replies. */
  account: { name: string; id: string };
  /** Returns the comments of the bot in a discussion. */
  ownComments(discussion: Discussion, signal: AbortSignal): Promise<readonly string[]>;
  /** Writes a reply with a text model, or with a few rules. */
  writeReply(question: Question, signal: AbortSignal): Promise<string>;
  postComment(discussion: Discussion, text: string, signal: AbortSignal): Promise<void>;
}

/** Creates a server that replies to comments that mention the bot. */
export function createServer(bot: Bot, options?: WebhooksServerOptions): WebhooksServer {
  const server = new WebhooksServer(options);
  const { account } = bot;
  // Matches @my-bot, but neither @my-bot-two nor me@my-bot.example.
  const mention = new RegExp(String.raw`(?<![\w@./])@${account.name.replaceAll(".", "\\.")}(?![\w-]|\.\w)`, "i");

  server.webhook(
    "discussion_bot",
    // The scope "discussion" also matches "discussion.comment": all new comments, including the first.
    // Two webhooks can deliver the same comment. With one delivery at a time, the second one finds the reply of the first.
    { scope: "discussion", action: "create", background: true, concurrency: 1 },
    async ({ repo: { type, name }, discussion: { num, title }, comment }, { log, signal }) => {
      const discussion = { type, name, num };
      const text = comment?.hidden ? "" : (comment?.content ?? "");
      // A reply can mention the bot, too.
      if (comment?.author.id === account.id) return log.info(discussion, "Skipped: the bot's own comment.");
      if (!mention.test(text)) return log.info(discussion, `Skipped: no mention of @${account.name}.`);
      // After a crash, the handler runs again. The hidden marker identifies the reply to this comment.
      const marker = `<!-- reply to ${comment?.id} -->`;
      const posted = await bot.ownComments(discussion, signal);
      if (posted.some((own) => own.includes(marker))) return log.info(discussion, "Skipped: already replied.");
      const reply = await bot.writeReply({ repo: name, title, comment: text }, signal);
      await bot.postComment(discussion, `${reply}\n\n${marker}`, signal);
      log.info(discussion, "Reply posted.");
    },
  );
  return server;
}

/** `hub-webhooks dev` runs this server, which prints what it would do. */
export default createServer({
  account: { name: "my-bot", id: "000000000000000000000000" },
  ownComments: async () => [],
  writeReply: async ({ comment }) => `Your comment has ${comment.length} characters.`,
  async postComment({ name, num }, text) {
    console.log(`Dry run: would post to discussion ${num} of ${name}: ${text}`);
  },
});
