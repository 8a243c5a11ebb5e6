// Writes what derives from the rows of the service's settings: the tables of the documentation and the form of `settings`
// in the chart's values. `e2e/docs/settings.test.ts` fails where they are not in step.
import type { Setting, Settings } from "@vocalhost/protocol";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { allSettings, settings } from "../packages/control-plane/src/main/config.ts";
import { regionalVariables } from "@vocalhost/drivers/driver-config";
import { defaultText } from "../packages/control-plane/src/main/show-settings.ts";

const REPOSITORY = resolve(import.meta.dirname, "..");
const PAGES = ["docs/hosted/configuration.md", "docs/rooms.md"];
const CHART = "deploy/helm/vocalhost/values.schema.json";
// The chart sets these itself, from other values.
const SET_BY_CHART =
  /^VOCALHOST_(?:PORT|HOST|DATA_DIR|DRIVER|PARTS|PUBLIC_URL|CONFIG|RESTARTS|CONTROLLER\w+|PEER_\w+|KUBERNETES_(?:SERVICE|NAMESPACE|LISTEN|READY_URL))$/;
const TABLE = /(<!-- settings: (\w+) -->\n)[^]*?(<!-- end of settings -->)/g;

/** The files with what derives from the rows, by path, as they should be but for their layout. */
export function settingsFiles(): Map<string, { text: string; groups: string[] }> {
  const pages = PAGES.map((path) => {
    const groups: string[] = [];
    const text = read(path).replaceAll(
      TABLE,
      (_, start: string, group: keyof typeof settings, end: string) => {
        groups.push(group);
        return `${start}\n${toTable(settings[group])}\n${end}`;
      },
    );
    return [path, { text, groups }] as const;
  });
  return new Map([...pages, [CHART, { text: chartSchema(), groups: [] }]]);
}

function toTable(rows: Settings): string {
  const lines = Object.values(rows).map((row) => `| \`${row.name}\` | ${defaultText(row)} | ${row.help} |`);
  return ["| variable | default | meaning |", "| --- | --- | --- |", ...lines, ""].join("\n");
}

function chartSchema(): string {
  const taken = allSettings.filter(({ name }) => name.startsWith("VOCALHOST_") && !SET_BY_CHART.test(name));
  const lines = taken.map((setting) => `"${setting.name}": ${JSON.stringify(chartForm(setting))}`);
  const form = `{
    "type": "object",
    "additionalProperties": false,
    "properties": {
      ${lines.join(",\n")}
    },
    "patternProperties": { "^(${regionalVariables.join("|")})__[A-Z_]+$": { "type": "string" } }
  }`;
  return read(CHART).replace(/(?<=^ {4}"settings": )\{[^]*?^ {4}\}/m, () => form);
}

/** Empty text is always right: it is the same as no setting. */
function chartForm({ schema }: Setting): object {
  const form = z.toJSONSchema(schema ?? z.string(), { io: "input", unrepresentable: "any" });
  if (form.enum) return { enum: ["", ...form.enum] };
  return form.pattern === undefined ? { type: "string" } : { type: "string", pattern: `^$|${form.pattern}` };
}

function read(path: string): string {
  return readFileSync(join(REPOSITORY, path), "utf8");
}

if (import.meta.main) {
  const files = settingsFiles();
  for (const [path, { text }] of files) writeFileSync(join(REPOSITORY, path), text);
  spawnSync("oxfmt", [...files.keys()], { cwd: REPOSITORY, stdio: "inherit" });
}
