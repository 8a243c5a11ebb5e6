import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { Problem } from "./problem.ts";
import { createUi, type TaskUpdate, type Ui } from "./ui.ts";

function recorded(options: { isJson?: boolean; isTerminal?: boolean } = {}) {
  const texts = { output: "", errors: "" };
  const stream = (name: keyof typeof texts): NodeJS.WriteStream => {
    const target = new PassThrough() as unknown as NodeJS.WriteStream;
    target.isTTY = options.isTerminal ?? false;
    target.columns = 20;
    target.on("data", (piece: Buffer) => (texts[name] += piece.toString()));
    return target;
  };
  const ui: Ui = createUi({
    output: stream("output"),
    errors: stream("errors"),
    isJson: options.isJson ?? false,
  });
  return { ui, texts };
}

const problem = new Problem("odd", "It is odd", { why: "Because.", fixes: ["Even it."] });

test("results go to standard output, everything else to standard error", () => {
  const { ui, texts } = recorded();
  ui.note("by the way");
  ui.progress("never seen");
  ui.print("the result");
  ui.problem(problem);
  assert.deepEqual(texts, {
    output: "the result\n",
    errors: "by the way\nIt is odd\n  Because.\n  → Even it.\n",
  });
});

test("for programs there is JSON and nothing else", () => {
  const { ui, texts } = recorded({ isJson: true });
  ui.note("by the way");
  ui.problem(problem);
  assert.equal(texts.errors, "");
  assert.deepEqual(JSON.parse(texts.output), {
    ok: false,
    problem: { code: "odd", message: "It is odd", why: "Because.", fixes: ["Even it."] },
  });
});

test("a terminal has a progress line, which gives way to others", () => {
  const { ui, texts } = recorded({ isTerminal: true });
  ui.progress("a line that is longer than the terminal is wide");
  ui.progress("short");
  ui.print("result");
  assert.equal(texts.errors, "\r\u001b[Ka line that is long\r\u001b[Kshort\r\u001b[K");
});

test("what a server sent cannot drive the terminal", () => {
  const { ui, texts } = recorded();
  ui.note("\u001b[2Jgone\u001b]0;title\u0007");
  assert.equal(texts.errors, "gone\n");
});

test("a footer stays below what is said", () => {
  const { ui, texts } = recorded({ isTerminal: true });
  ui.footer(["one", "two, longer than the terminal is"]);
  ui.note("said");
  ui.footer([]);
  const plain = texts.errors.replaceAll("\u001b[2m", "").replaceAll("\u001b[22m", "");
  assert.equal(
    plain,
    "one\ntwo, longer than th\r\u001b[1A\u001b[Jsaid\none\ntwo, longer than th\r\u001b[1A\u001b[J",
  );
});

test("a task is seen on a terminal only, and is gone when it is over", async () => {
  const onTerminal = recorded({ isTerminal: true });
  const work = async (update: TaskUpdate): Promise<number> => {
    update(0.5, "half");
    return 7;
  };
  assert.equal(await onTerminal.ui.task("Working", work), 7);
  assert.equal(onTerminal.texts.errors, "\r\u001b[K⠋ Working\r\u001b[K");
  const elsewhere = recorded();
  assert.equal(await elsewhere.ui.task("Working", work), 7);
  elsewhere.ui.footer(["never seen"]);
  assert.deepEqual(elsewhere.texts, { output: "", errors: "" });
});
