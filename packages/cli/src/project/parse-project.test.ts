import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Problem } from "../problem.ts";
import { parseProject } from "./parse-project.ts";
import type { ProjectConfig } from "./project-config.ts";

const FULL = `# A voice agent
agent_name = "my-bot"
image = "me/my-bot:0.1"
secret_set = "my-bot-secrets"   # made with vocalhost secrets set
region = 'us-west'
agent_profile = "agent-1x"
max_session_duration = 3600
websocket_auth = "token"

[vendor_viva]
audio_filter = "tel"

[scaling]
min_agents = 1
max_agents = 10

[build]
context_dir = "."
dockerfile = "Dockerfile"

[build.exclude]
patterns = [
  "docs", # not needed
  "*.md",
]
`;

function problemOf(text: string | Uint8Array): Problem {
  try {
    parseProject(typeof text === "string" ? Buffer.from(text) : text, "vocalhost.toml");
  } catch (error) {
    assert.ok(error instanceof Problem, String(error instanceof Error ? error.stack : error));
    return error;
  }
  throw new assert.AssertionError({ message: `was taken: ${String(text)}` });
}

test("reads everything a project can say", () => {
  assert.deepEqual(parseProject(Buffer.from(FULL), "vocalhost.toml"), {
    agent_name: "my-bot",
    image: "me/my-bot:0.1",
    secret_set: "my-bot-secrets",
    region: "us-west",
    agent_profile: "agent-1x",
    max_session_duration: 3600,
    websocket_auth: "token",
    vendor_viva: { audio_filter: "tel" },
    scaling: { min_agents: 1, max_agents: 10 },
    build: { context_dir: ".", dockerfile: "Dockerfile", exclude: { patterns: ["docs", "*.md"] } },
  } satisfies ProjectConfig);
  assert.deepEqual(parseProject(Buffer.from(""), "vocalhost.toml"), {});
});

test("unknown keys are errors that suggest the nearest known one", () => {
  const table: [string, line: number, fix: string][] = [
    ['agent_nam = "x"', 1, "Did you mean agent_name?"],
    ['\n\nAgent-Name = "x"', 3, "Did you mean agent_name?"],
    ['profile = "agent-1x"', 1, "Did you mean agent_profile?"],
    ["[scaling]\nmin_agent = 1", 2, "Did you mean min_agents?"],
    ["[scaling]\nmin_instances = 1", 2, "Did you mean min_agents?"],
    ["scaling = { min_agents = 1,\n max_agnts = 2 }", 2, "Did you mean max_agents?"],
    ["[scaling]\n\nscaling.min_agents = 1", 3, "Did you mean"],
    ["max_agents = 2", 1, "max_agents belongs in [scaling]."],
    ['[scaling]\nregion = "eu"', 2, "region belongs before all tables."],
    ["[scale]\nmin_agents = 1", 1, "Did you mean scaling?"],
    ["[[scalings]]\nmin_agents = 1", 1, "Did you mean scaling?"],
    ["min-agent = 3", 1, "Did you mean min_agents in [scaling]?"],
    ["[scaling]\ncolour = 1", 2, "Known here: min_agents, max_agents"],
    ["__proto__ = 1", 1, "Known here: agent_name"],
    ['"a.b\\u00e9" = 1', 1, "Known here: agent_name"],
  ];
  for (const [text, line, fix] of table) {
    const { code, message, fixes } = problemOf(text);
    assert.equal(code, "config_invalid");
    assert.match(message, new RegExp(`^vocalhost\\.toml, line ${line}: unknown key "`), text);
    if (fix !== "Did you mean") assert.ok(fixes[0]?.startsWith(fix), `${text}: ${fixes[0]}`);
  }
});

test("wrong values are named with their line, their key and what is wanted", () => {
  const table: [string, RegExp][] = [
    ["agent_name = 7", /line 1: agent_name must be text in quotes, not 7$/],
    ['agent_name = "My Bot"', /line 1: agent_name must be two or more of a-z/],
    ['agent_name = "start-here"', /line 1: agent_name must not begin with 'start'/],
    ['image = "me/bot"', /line 1: image must have the shape <repository>\/<name>:<tag>, not "me\/bot"$/],
    ["\nmax_session_duration = 5", /line 2: max_session_duration must be 60 or more, not 5$/],
    ["max_session_duration = 99999", /line 1: max_session_duration must be 14400 at most, not 99999$/],
    ["max_session_duration = 1.5", /line 1: max_session_duration must be a whole number, not 1\.5$/],
    ["max_session_duration = nan", /line 1: max_session_duration must be a whole number/],
    ['websocket_auth = "yes"', /line 1: websocket_auth must be one of none, token, not "yes"$/],
    [
      '[vendor_viva]\naudio_filter = "x"',
      /line 2: vendor_viva\.audio_filter must be one of tel, pro, not "x"$/,
    ],
    ["scaling = 3", /line 1: scaling must be a table, not 3$/],
    ["[scaling]\nmin_agents = -1", /line 2: scaling\.min_agents must be 0 or more, not -1$/],
    ["[scaling]\nmin_agents = 5\nmax_agents = 2", /line 2: scaling\.min_agents is 5, more than max_agents/],
    ["region = 1979-05-27", /line 1: region must be text in quotes, not /],
    ['[build.exclude]\npatterns = [\n "a",\n 3]', /line 4: build\.exclude\.patterns\.1 must be text/],
    [
      'image = "a/b:1"\nbuild_id = "123e4567-e89b-12d3-a456-426614174000"',
      /line 2: build_id and image cannot be used together/,
    ],
    ["region = us-west", /line 1, column \d+, at region: invalid value$/],
    ['region = "a"\nregion = "b"', /line 2, column \d+, at region: /],
    ["max_session_duration = 99999999999999999999", /line 1, column \d+, at max_session_duration: /],
    ['agent_name = "x', /line 1, column \d+, at agent_name: /],
    [`region = ${"[".repeat(10_000)}`, /line 1, column \d+, at region: /],
  ];
  for (const [text, message] of table) assert.match(problemOf(text).message, message, text);
});

test("all mistakes are told at once, in the order of the file", () => {
  const { message, fixes } = problemOf('agent_nam = "x"\nimage = 3\n[scaling]\nmin = 1\n');
  assert.deepEqual(message.split("\n"), [
    'vocalhost.toml, line 1: unknown key "agent_nam"',
    "vocalhost.toml, line 2: image must be text in quotes, not 3",
    'vocalhost.toml, line 4: unknown key "min" in [scaling]',
  ]);
  assert.equal(fixes[0], "Line 1: Did you mean agent_name?");
});

test("what is no text, or far too much of it, is refused", () => {
  assert.match(problemOf(Buffer.from("a = 1\nb = \xff", "latin1")).message, /line 2: this is not UTF-8/);
  assert.match(problemOf(`# ${"x".repeat(70_000)}`).message, /has 69 KiB; the limit is 64 KiB/);
});

test("a thousand mutated files: a config, or an error with line and key, never anything else", () => {
  let taken = 0;
  let refused = 0;
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
      const text = mutations.reduce((before, mutate) => mutate(before), FULL);
      const startMs = performance.now();
      try {
        parseProject(Buffer.from(text), "vocalhost.toml");
        taken += 1;
      } catch (error) {
        refused += 1;
        assert.ok(error instanceof Problem, error instanceof Error ? error.stack : String(error));
        checkProblem(error, text);
      }
      assert.ok(performance.now() - startMs < 20_000, "took too long");
    }),
    { numRuns: 1_000, seed: 20_260 },
  );
  assert.ok(refused > 500 && taken > 50, `refused ${refused}, taken ${taken}`);
});

function checkProblem({ message, fixes }: Problem, text: string): void {
  const lines = text.split("\n");
  for (const sentence of message.split("\n")) {
    const [, line] = /^vocalhost\.toml, line (\d+)(?:, column \d+)?(?:, at [\w.-]+)?: ./.exec(sentence) ?? [];
    assert.ok(line !== undefined || /^and \d+ more$/.test(sentence), `${sentence}\n---\n${text}`);
    if (line === undefined) continue;
    assert.ok(Number(line) >= 1 && Number(line) <= lines.length + 1, sentence);
    const unknown = /: unknown key ("(?:[^"\\]|\\.)*")(?! …)/.exec(sentence)?.[1];
    if (unknown === undefined || !/^"[\w-]+"$/.test(unknown)) continue;
    const key = JSON.parse(unknown) as string;
    assert.ok(lines[Number(line) - 1]?.includes(key), `${sentence} is not in line ${line}\n---\n${text}`);
  }
  assert.ok(fixes.length > 0);
  assert.doesNotMatch(message, /\n\s+at |undefined|\[object/);
}

type Mutate = (text: string) => string;

const position = fc.double({ min: 0, max: 1, noNaN: true });
const at = (text: string, part: number): number => Math.floor(part * text.length);
const piece = fc.oneof(
  fc.constantFrom(
    ..."=[]{}\"'#.,\n\\\t-_ 0".split(""),
    '"""',
    "'''",
    "[[",
    "]]",
    "\r\n",
    "\u0000",
    "\uFEFF",
    "é",
  ),
  fc.string({ maxLength: 5 }),
);
const value = fc.constantFrom(
  ...[
    "1",
    "-1",
    "0x10",
    "1e400",
    "true",
    '""',
    "[]",
    "{}",
    "{ a = 1 }",
    "[[1], { b = 2 }]",
    "1979-05-27T07:32:00Z",
  ],
  ...[
    "nan",
    "inf",
    "9007199254740993",
    '"\\u0000"',
    '"""\nlines\n"""',
    "'x'",
    "us-west",
    "",
    `"${"x".repeat(600)}"`,
  ],
);
const word = fc.constantFrom(
  ...[
    "agent_nam",
    "minagents",
    "Region",
    "secrets",
    "x",
    "vendor-viva",
    "toString",
    "constructor",
    "__proto__",
    "a.b",
  ],
);

function editLine(text: string, part: number, edit: (line: string) => string[]): string {
  const lines = text.split("\n");
  const index = Math.floor(part * lines.length);
  return lines.toSpliced(index, 1, ...edit(lines[index] ?? "")).join("\n");
}

const mutation: fc.Arbitrary<Mutate> = fc.oneof(
  fc.tuple(position, piece).map(([where, added]): Mutate => (text) => {
    return text.slice(0, at(text, where)) + added + text.slice(at(text, where));
  }),
  fc.tuple(position, fc.nat(8)).map(([where, length]): Mutate => (text) => {
    return text.slice(0, at(text, where)) + text.slice(at(text, where) + length);
  }),
  position.map(
    (where): Mutate =>
      (text) =>
        text.slice(0, at(text, where)),
  ),
  position.map(
    (where): Mutate =>
      (text) =>
        editLine(text, where, (line) => [line, line]),
  ),
  position.map(
    (where): Mutate =>
      (text) =>
        editLine(text, where, () => []),
  ),
  fc.tuple(position, value).map(([where, given]): Mutate => (text) => {
    return editLine(text, where, (line) => [line.replace(/=.*/, `= ${given}`)]);
  }),
  fc.tuple(position, word).map(([where, key]): Mutate => (text) => {
    return editLine(text, where, (line) => [line.replace(/^[\w.]+/, key)]);
  }),
  fc.tuple(position, word, value).map(([where, key, given]): Mutate => (text) => {
    return editLine(text, where, (line) => [`${key} = ${given}`, line]);
  }),
  fc.tuple(position, word).map(([where, table]): Mutate => (text) => {
    return editLine(text, where, (line) => [`[${table}]`, line]);
  }),
);
