import { Text } from "./text.tsx";

/** A message of the server. Parts in backticks are code. */
export function Message({ text }: { text: string }) {
  return (
    <>
      {text.split("`").map((part, index) =>
        index % 2 === 1 ? (
          <code>
            <Text value={part} />
          </code>
        ) : (
          <Text value={part} />
        ),
      )}
    </>
  );
}
