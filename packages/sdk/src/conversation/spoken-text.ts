/** Returns the text that is spoken for written text: without markup, list marks and emoji. */
export function spokenText(text: string): string {
  return RULES.reduce((spoken, [pattern, replacement]) => spoken.replaceAll(pattern, replacement), text)
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ([,.;:!?])/g, "$1")
    .trim();
}

const RULES: [RegExp, string][] = [
  [/^[ \t]*```.*$/gm, ""],
  [/^[ \t]*\|?(?:\s*:?-{2,}:?\s*\|?)+\s*$/gm, ""], // below a table's header, and horizontal rules
  [/^[ \t]*\|(.*)\|[ \t]*$/gm, "$1"],
  [/[ \t]*\|[ \t]*/g, ", "],
  [/!?\[([^\]]*)\]\([^)]*\)/g, "$1"],
  [/^[ \t]*#{1,6}[ \t]+/gm, ""],
  [/^[ \t]*>[ \t]?/gm, ""],
  [/^[ \t]*[-*•+][ \t]+/gm, ""],
  [/<\/?[a-z][^<>]*>/gi, " "],
  [/\*\*|__|~~|`/g, ""],
  [/(^|[\s(])[*_](?=\S)/gm, "$1"],
  [/(\S)[*_](?=$|[\s).,;:!?])/gm, "$1"],
  [
    /(?![©®™])\p{Extended_Pictographic}(?:\u{FE0F}|\p{Emoji_Modifier}|\u{200D}\p{Extended_Pictographic})*/gu,
    "",
  ],
];
