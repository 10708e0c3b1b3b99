import { render } from "preact";
import "virtual:tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import { App } from "./app.tsx";
import { releaseVNodes } from "./release-vnodes.ts";
import { startClock } from "./state/clock.ts";
import { startKeyboard } from "./state/keyboard.ts";
import { followLocation } from "./state/route.ts";
import { startTheme } from "./state/theme.ts";

const root = document.getElementById("app");
if (root) {
  releaseVNodes();
  startTheme();
  followLocation();
  startClock();
  startKeyboard();
  render(<App />, root);
}
