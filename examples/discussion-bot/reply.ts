import { NonRetriableError } from "hub-webhooks";

/** A comment that mentions the bot, with its context. */
export interface Question {
  repo: string;
  /** The title of the discussion. */
  title: string;
  comment: string;
}

/** Writes a reply with a chat model, or a fixed reply if `MODEL_NAME` is not set. */
export async function writeReply({ repo, title, comment }: Question, signal: AbortSignal): Promise<string> {
  const { HF_TOKEN, MODEL_NAME, MODEL_URL, MODEL_TOKEN } = process.env;
  if (!MODEL_NAME) return "Thank you for the message. A maintainer will answer soon.";
  // Never send the token of the Hub to another server.
  const token = MODEL_TOKEN || (MODEL_URL ? undefined : HF_TOKEN);
  const response = await fetch(MODEL_URL || "https://router.huggingface.co/v1/chat/completions", {
    method: "POST",
    headers: { ...(token && { authorization: `Bearer ${token}` }), "content-type": "application/json" },
    body: JSON.stringify({
      model: MODEL_NAME,
      messages: [
        // Text of other users belongs in the user message only.
        { role: "system", content: "You answer comments in discussions of the Hugging Face Hub. Be brief and polite." },
        { role: "user", content: `In the discussion "${title}" about ${repo}:\n\n${comment}` },
      ],
    }),
    signal,
  });
  if (!response.ok) {
    const message = `The model server responded with ${response.status}.`;
    throw response.status === 429 || response.status >= 500 ? new Error(message) : new NonRetriableError(message);
  }
  const completion: { choices: { message: { content: string } }[] } = await response.json();
  const reply = completion.choices[0]?.message.content;
  if (!reply) throw new Error("The model returned no reply.");
  return reply;
}
