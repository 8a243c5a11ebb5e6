/** Returns text as a Markdown table takes it, in which neither HTML nor Vue sees anything. */
export function cell(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;")
    .replaceAll("{{", "&#123;&#123;");
}
