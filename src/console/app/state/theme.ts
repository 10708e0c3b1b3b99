import { signal } from "@preact/signals";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageKey = "hub-webhooks-theme";

/** The theme of the page. */
export const theme = signal<Theme>("system");

/** Applies the theme of `?__theme=`, or the one that was chosen before. */
export function startTheme(): void {
  const fromQuery = readTheme(new URLSearchParams(location.search).get("__theme"));
  apply(fromQuery ?? readTheme(readStored()) ?? "system");
}

/** Switches to the next theme and stores the choice. The first click always changes the colors. */
export function switchTheme(): void {
  const next = nextTheme(theme.value, { isSystemDark: matchMedia("(prefers-color-scheme: dark)").matches });
  apply(next);
  try {
    localStorage.setItem(storageKey, next);
  } catch {
    // The browser refuses storage. The theme lasts until the page is loaded again.
  }
}

/** Returns the theme after another one: the opposite of the system's, then the system's own colors, then `system`. */
function nextTheme(current: Theme, { isSystemDark }: { isSystemDark: boolean }): Theme {
  const [opposite, same]: readonly [Theme, Theme] = isSystemDark ? ["light", "dark"] : ["dark", "light"];
  if (current === "system") return opposite;
  return current === opposite ? same : "system";
}

function apply(next: Theme): void {
  theme.value = next;
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
}

function readTheme(text: string | null): Theme | undefined {
  return themes.find((name) => name === text);
}

function readStored(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}
