import { existsSync, readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import { sections } from "./pages.ts";

interface SidebarItem {
  text: string;
  link?: string;
  collapsed?: boolean;
  items?: SidebarItem[];
}

/** Pages that the build of the site writes. They are not in the package. */
const generatedPages: SidebarItem[] = [
  { text: "Hub operations", link: "/reference/api/hub-operations" },
  { text: "API", link: "/reference/api/" },
];

/** The sidebar of the API reference, which TypeDoc writes. */
function readApiSidebar(): SidebarItem[] {
  const file = new URL("../reference/api/typedoc-sidebar.json", import.meta.url);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
}

/** Leaves all items open: the theme nests a button in each toggle, which is not accessible. */
function withoutToggles({ text, link, items = [] }: SidebarItem): SidebarItem {
  return { text, link, items: items.map(withoutToggles) };
}

export default defineConfig({
  title: "hub-webhooks",
  description: "Receive, manage, and develop Hugging Face Hub webhooks in TypeScript.",
  cleanUrls: true,
  // Part of llms.txt.
  srcExclude: ["node_modules/**", "llms-intro.md"],
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/mark.svg" }]],
  markdown: { theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" } },
  themeConfig: {
    logo: "/mark.svg",
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Quick start", link: "/quick-start" },
      { text: "Guides", link: "/guides/payloads-and-filters" },
      { text: "Reference", link: "/reference/options" },
      { text: "Troubleshooting", link: "/troubleshooting" },
    ],
    sidebar: {
      "/": sections.map(({ title, pages }) => ({
        text: title,
        items: [
          ...pages.map((page) => ({ text: page.title, link: `/${page.path}` })),
          ...(title === "Reference" ? generatedPages : []),
        ],
      })),
      "/reference/api/": [
        { text: "All guides", link: "/quick-start" },
        ...generatedPages,
        ...readApiSidebar().map((group) => ({ ...withoutToggles(group), text: `hub-webhooks/${group.text}` })),
      ],
    },
    docFooter: { prev: "Previous", next: "Next" },
  },
  transformPageData(pageData) {
    const path = pageData.relativePath.replace(/\.md$/, "");
    const page = sections.flatMap(({ pages }) => pages).find((candidate) => candidate.path === path);
    if (page) pageData.description = page.about;
  },
});
