import { WebhooksServer } from "hub-webhooks";
import { writeReply } from "./reply.ts";

const server = new WebhooksServer();
/** The name of the bot's account, which the Hub returns for the token. */
let botName: string | undefined;

server.webhook(
  "discussion_bot",
  // The scope "discussion" also matches "discussion.comment": all new comments, including the first.
  { scope: "discussion", action: "create", ignoreSelf: true, background: true },
  async ({ repo, discussion: { num, title }, comment }, { hub, log, signal }) => {
    if (!comment || comment.hidden) return;
    botName ??= (await hub.whoami({ signal })).name;
    // Matches @my-bot, but neither @my-bot-two nor me@my-bot.example.
    const mention = new RegExp(String.raw`(?<![\w@./])@${botName.replaceAll(".", "\\.")}(?![\w-]|\.\w)`, "i");
    const text = comment.content ?? "";
    if (!mention.test(text)) return log.info({ repo: repo.name, num }, `Skipped: no mention of @${botName}.`);
    const reply = await writeReply({ repo: repo.name, title, comment: text }, signal);
    // The marker identifies the reply to this comment, so the bot replies once, also after a crash.
    await hub.repo(repo).upsertComment(num, { marker: `reply-to-${comment.id}`, text: reply, signal });
    log.info({ repo: repo.name, num }, "Reply posted.");
  },
);

export default server;
