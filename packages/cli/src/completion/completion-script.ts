import type { CommandContext } from "../define-command.ts";
import { exitCodes } from "../problem.ts";
import type { CommandNode, OptionNode, Shell } from "./command-node.ts";

/** A script for the shell, made from the commands there are. */
export function completionScript(shell: Shell, tree: CommandNode): string {
  const places = placesOf(tree, tree.name);
  switch (shell) {
    case "bash":
      return bashScript(tree.name, places);
    case "zsh":
      return zshScript(tree.name, places);
    case "fish":
      return fishScript(tree.name, places);
    default:
      return shell satisfies never;
  }
}

/** A point in a command line where words can follow: after `vocalhost`, after `vocalhost call`. */
interface Place {
  path: string;
  node: CommandNode;
}

function placesOf(node: CommandNode, path: string): Place[] {
  return [
    { path, node },
    ...node.commands.flatMap((command) => placesOf(command, `${path} ${command.name}`)),
  ];
}

function bashScript(program: string, places: Place[]): string {
  const values = places.flatMap(({ path, node }) =>
    node.options
      .filter(({ takesValue }) => takesValue)
      .map((option) => {
        const when = option.names.map((name) => quoted(`${path} ${name}`)).join("|");
        const reply = option.values.length > 0 ? wordList(option.values) : "()";
        return `    ${when}) COMPREPLY=${reply}; return ;;`;
      }),
  );
  const words = places.map(
    ({ path, node }) => `    ${quoted(path)}) COMPREPLY=${wordList(wordsAt(node))} ;;`,
  );
  return [
    `_${program}() {`,
    `  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" place=${program} i`,
    `  for ((i = 1; i < COMP_CWORD; i++)); do`,
    `    case "$place \${COMP_WORDS[i]}" in`,
    `      ${knownPaths(places)}) place="$place \${COMP_WORDS[i]}" ;;`,
    `    esac`,
    `  done`,
    `  case "$place $previous" in`,
    ...values,
    `  esac`,
    `  case "$place" in`,
    ...words,
    `  esac`,
    `}`,
    `complete -o default -F _${program} ${program}`,
  ].join("\n");
}

function zshScript(program: string, places: Place[]): string {
  const values = places.flatMap(({ path, node }) =>
    node.options
      .filter(({ takesValue }) => takesValue)
      .map((option) => {
        const when = option.names.map((name) => quoted(`${path} ${name}`)).join("|");
        const reply =
          option.values.length > 0 ? `compadd -- ${option.values.map(quoted).join(" ")}` : "_files";
        return `    (${when}) ${reply}; return ;;`;
      }),
  );
  const words = places.map(({ path, node }) => {
    const described = [
      ...node.commands.map(({ name, summary }) => [name, summary] as const),
      ...node.values.map((value) => [value, ""] as const),
      ...node.options.map(({ names, help }) => [names[0] ?? "", help] as const),
    ].map(([name, about]) => quoted(`${name.replaceAll(":", "\\:")}:${about}`));
    const files = node.takesWords && node.values.length === 0 ? "; _files" : "";
    return `    (${quoted(path)}) items=(${described.join(" ")}); _describe ${quoted(path)} items${files} ;;`;
  });
  return [
    `#compdef ${program}`,
    `_${program}() {`,
    `  local place=${program} i`,
    `  local -a items`,
    `  for ((i = 2; i < CURRENT; i++)); do`,
    `    case "$place \${words[i]}" in`,
    `      (${knownPaths(places)}) place="$place \${words[i]}" ;;`,
    `    esac`,
    `  done`,
    `  case "$place \${words[CURRENT-1]}" in`,
    ...values,
    `  esac`,
    `  case "$place" in`,
    ...words,
    `  esac`,
    `}`,
    `if [ "\${funcstack[1]}" = "_${program}" ]; then _${program} "$@"; else compdef _${program} ${program}; fi`,
  ].join("\n");
}

function fishScript(program: string, places: Place[]): string {
  const lines = places.flatMap(({ path, node }) => {
    const start = `complete -c ${program} -n ${quoted(`__${program}_at ${path}`)}`;
    const noFiles = node.takesWords && node.values.length === 0 ? "" : " -f";
    return [
      ...node.commands.map(({ name, summary }) => `${start} -f -a ${name} -d ${quoted(summary)}`),
      ...node.values.map((value) => `${start} -f -a ${value}`),
      ...node.options.map((option) => `${start}${noFiles}${fishOption(option)} -d ${quoted(option.help)}`),
    ];
  });
  const known = places.slice(1).map(({ path }) => quoted(path));
  return [
    `function __${program}_at`,
    `  set -l place ${program}`,
    `  for word in (commandline -opc)[2..-1]`,
    `    switch "$place $word"`,
    `      case ${known.join(" ")}`,
    `        set place "$place $word"`,
    `    end`,
    `  end`,
    `  test "$place" = "$argv"`,
    `end`,
    ...lines,
  ].join("\n");
}

function fishOption(option: OptionNode): string {
  const names = option.names.map((name) =>
    name.startsWith("--") ? ` -l ${name.slice("--".length)}` : ` -s ${name.slice("-".length)}`,
  );
  const value = option.values.length > 0 ? ` -x -a ${quoted(option.values.join(" "))}` : " -r";
  return names.join("") + (option.takesValue ? value : "");
}

function wordsAt(node: CommandNode): string[] {
  return [
    ...node.commands.map(({ name }) => name),
    ...node.values,
    ...node.options.flatMap(({ names }) => names.slice(0, 1)),
  ];
}

function wordList(words: readonly string[]): string {
  return `($(compgen -W ${quoted(words.join(" "))} -- "$current"))`;
}

function knownPaths(places: Place[]): string {
  return places
    .slice(1)
    .map(({ path }) => quoted(path))
    .join("|");
}

/** For all three shells; their own quote is left out rather than escaped in three ways. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}

/** `vocalhost completion` */
export async function run(
  { shell }: { shell: Shell },
  { ui, isJson, tree }: CommandContext,
): Promise<number> {
  const script = completionScript(shell, tree());
  ui.print(isJson ? JSON.stringify({ ok: true, shell, script }) : script);
  return exitCodes.ok;
}
