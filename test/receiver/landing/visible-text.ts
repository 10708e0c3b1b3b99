/** Returns the visible text of HTML, with single spaces. */
export function visibleText(html: string): string {
  const inline = html.replaceAll(/<wbr>|<\/?(?:span|mark|b|code|a|time)\b[^>]*>/g, "");
  return inline
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&")
    .replaceAll(/\s+/g, " ");
}
