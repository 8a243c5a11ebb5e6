import assert from "node:assert/strict";
import { test } from "node:test";
import { planDockerfile } from "./plan-dockerfile.ts";

const options = {
  nameOf: (image: string) => `id-of-${image}`,
  labels: { whose: "ours" },
  args: ["npm_config_registry"],
};

test("engines get every image by its id, and labels before anything is made", () => {
  const plan = planDockerfile(
    `# syntax=docker/dockerfile:1
ARG VERSION=0.2.0
ARG TOOL="tool"
FROM --platform=linux/amd64 vocalhost/base:\${VERSION} AS made
RUN npm install \\
  # a comment in between
  --omit=dev
FROM vocalhost/base:$VERSION
COPY --from=made --chown=bot:bot /app ./
COPY --from=registry.example.com/$NOT@x ./
`.replace("registry.example.com/$NOT@x", "registry.example.com/tool:1 /tool"),
  );
  assert.deepEqual(plan.images, ["vocalhost/base:0.2.0", "registry.example.com/tool:1"]);
  assert.equal(
    plan.write(options),
    `ARG VERSION=0.2.0
ARG TOOL="tool"
FROM id-of-vocalhost/base:0.2.0 AS made
LABEL whose="ours"
ARG npm_config_registry
RUN npm install \\
  # a comment in between
  --omit=dev
FROM id-of-vocalhost/base:0.2.0
LABEL whose="ours"
ARG npm_config_registry
COPY --from=made --chown=bot:bot /app ./
COPY --from=id-of-registry.example.com/tool:1 /tool ./
`,
  );
});

test("no stage has the last word on whose it is", () => {
  const plan = planDockerfile('FROM a AS one\nLABEL whose=mine\nFROM b\nlabel "who"se=mine\nCMD x\n');
  assert.equal(
    plan.write({ ...options, args: [] }),
    `FROM id-of-a AS one
LABEL whose="ours"
LABEL whose=mine
LABEL whose="ours"
FROM id-of-b
LABEL whose="ours"
label "who"se=mine
CMD x
LABEL whose="ours"
`,
  );
});

test("stages and scratch are nobody's images", () => {
  const plan = planDockerfile("FROM scratch AS One\nFROM one\nCOPY --from=0 / /\n");
  assert.deepEqual(plan.images, []);
  assert.match(plan.write(options), /^FROM scratch AS One\n[^]*\nFROM one\n/);
});

test("what would reach past the walls of a build is refused, with its line", () => {
  const cases: [string, RegExp][] = [
    ["", /has no FROM/],
    ["RUN true\nFROM a", /line 1: the first instruction must be FROM/],
    ["FROM a\nADD http://169.254.169.254/x /x", /line 2: ADD takes files of the bot's folder only/],
    ['FROM a\nADD ["http://127.0.0.1/x", "/x"]', /ADD takes files/],
    ["FROM a\nENV X=http://127.0.0.1\nADD $X /x", /ADD takes files/],
    ["FROM a\nADD \\\n  git@example.com:x/y.git /x", /line 2: ADD takes files/],
    ["FROM a\nADD ht\\tp://127.0.0.1/x /x", /ADD takes files/],
    ["FROM a\nRUN --network=host curl 127.0.0.1", /RUN --network=host is not supported/],
    ["FROM a\nRUN --mount=type=bind,from=x,target=/x ls", /RUN --mount/],
    ["FROM a\nrun --security=insecure ls", /RUN --security/],
    ["FROM a\nCOPY --link x y", /COPY --link is not supported/],
    ["FROM a\nONBUILD ADD http://127.0.0.1 /x", /ONBUILD/],
    ["FROM a\nVOLUME /data", /VOLUME is not supported/],
    ["FROM a\nRUN <<EOF\nADD http://127.0.0.1 /\nEOF", /engines do not agree on <</],
    ["# escape=`\nFROM a", /escape character/],
    ["FROM $UNKNOWN", /cannot be told which image/],
    ["FROM ${A:+b}", /cannot be told which image/],
    ["ARG A=b\nFROM ${A\n", /cannot be told which image/],
    ["FROM a\nCOPY --from=$X a b", /write COPY --from=stage/],
    ["FROM a\n=x", /line 2: this is no instruction/],
    [`FROM a\n${"#".repeat(300_000)}`, /256 KiB/],
  ];
  for (const [text, problem] of cases) assert.throws(() => planDockerfile(text), problem, text.slice(0, 80));
});
