import type { ApiFailure } from "../api/failure.ts";
import { Button } from "./button.tsx";
import { EmptyState } from "./empty-state.tsx";
import { Text } from "./text.tsx";

/** Replaces content that could not be loaded with the reason. */
export function FailureState({ failure, onRetry }: { failure: ApiFailure; onRetry: () => void }) {
  if (failure.code === "UNREACHABLE") {
    return (
      <EmptyState title="The server is not reachable">
        <p>Check that it is running. The console reconnects by itself.</p>
        <Button icon="replay" onClick={onRetry}>
          Try again
        </Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="This could not be loaded">
      <p>
        <Text value={failure.message} />
      </p>
      <p>
        <code>{failure.code}</code>
      </p>
      <Button icon="replay" onClick={onRetry}>
        Try again
      </Button>
    </EmptyState>
  );
}
