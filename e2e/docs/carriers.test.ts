import { accountVariables, carrierNames, carriers } from "@vocalhost/carriers";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const page = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), "utf8");
/** The cells of the rows of all tables of a page. */
const rows = (path: string): string[][] =>
  page(path)
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").map((cell) => cell.trim()));

test("the tables of the pages say of each carrier what its record says", () => {
  const accounts = rows("carriers/outbound.md");
  const methods = rows("carriers/README.md").find((cells) => cells[1] === "method");
  for (const name of carrierNames) {
    const { title, transfer, keys } = carriers[name];
    const needed = accounts.find((cells) => cells[1] === title)?.[2] ?? "";
    const told = [...needed.matchAll(/`([A-Z_]+)`/g)].map(([, variable]) => variable);
    assert.deepEqual(told, accountVariables(name, "dialling"), `account of ${title}`);
    const column = methods?.indexOf(title) ?? -1;
    const cell = (method: string): string =>
      rows("carriers/README.md").find((cells) => cells[1]?.startsWith(`\`${method}(`))?.[column] ?? "";
    assert.match(cell("transfer"), typeof transfer === "string" ? /^none/ : /^REST/, title);
    assert.match(cell("hangUp"), carriers[name].hangUp ? /^REST$/ : /^closes the stream$/, title);
    const pressed = { rest: /^REST$/, socket: /^message/, tones: /^tones/ }[keys?.over ?? "tones"];
    assert.match(cell("sendDtmf"), pressed, title);
  }
});

test("every page that lists the carriers lists all of them, in our order", () => {
  const listed = carrierNames.map((name) => `\`${name}\``).join(", ");
  for (const path of ["runner.md", "carriers/outbound.md", "hosted/rest.md"])
    assert.ok(page(path).includes(listed), path);
  for (const name of carrierNames)
    assert.ok(page("hosted/configuration.md").includes(`\`${name.toUpperCase()}_API_URL\``), name);
});
