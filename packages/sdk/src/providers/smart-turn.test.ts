import assert from "node:assert/strict";
import { test } from "node:test";
import { smartTurn, type OnnxRuntime } from "./smart-turn.ts";

/** A runtime whose models return the given probability. */
function createRuntime() {
  const told = { probability: 0, loads: 0, shapes: [] as (readonly number[])[] };
  class Tensor {
    readonly data: Float32Array;
    constructor(_type: "float32", values: Float32Array, shape: readonly number[]) {
      assert.equal(
        values.length,
        shape.reduce((product, each) => product * each, 1),
      );
      told.shapes.push(shape);
      this.data = values;
    }
  }
  const runtime: OnnxRuntime = {
    InferenceSession: {
      create(model) {
        told.loads += 1;
        if (model === "missing.onnx") return Promise.reject(new Error("missing.onnx is not there"));
        return Promise.resolve({
          inputNames: ["input_features"],
          outputNames: ["logits"],
          run: (feeds) => {
            assert.ok(feeds["input_features"] instanceof Tensor);
            return Promise.resolve({ logits: { data: [told.probability] } });
          },
        });
      },
    },
    Tensor,
  };
  return { runtime, told };
}

const audio = { samples: new Int16Array(8_000), sampleRateHz: 8_000 };
const pause = (text: string) => ({ text, speechMs: 1_000, audio });

test("the tune and the words decide together", async () => {
  const { runtime, told } = createRuntime();
  const judge = smartTurn({ runtime, model: "turn.onnx" });
  const table: [number, string, number][] = [
    [0.9, "what time do you open", 200],
    [0.9, "What time do you open?", 200],
    [0.9, "twenty", 600],
    [0.9, "I would like to", 1_000],
    [0.1, "That is all.", 900],
    [0.1, "I would like a table", 1_500],
    [0.1, "", 1_500],
    [0.1, "and", 1_800],
  ];
  for (const [probability, text, silenceMs] of table) {
    told.probability = probability;
    judge.paused?.(pause(text));
    assert.equal(await judge.silenceMs(pause(text)), silenceMs, `"${text}" at ${probability}`);
  }
  assert.deepEqual(new Set(told.shapes.map(String)), new Set(["1,80,800"]));
});

test("judging begins with the pause, once, and the weights are loaded once for all", async () => {
  const { runtime, told } = createRuntime();
  const first = smartTurn({ runtime, model: "turn.onnx" });
  const second = smartTurn({ runtime, model: "turn.onnx", threshold: 0.95 });
  told.probability = 0.9;
  first.paused?.(pause(""));
  await first.silenceMs(pause("yes"));
  assert.equal(told.shapes.length, 1);
  assert.equal(await second.silenceMs(pause("what time do you open")), 1_500);
  assert.equal(told.loads, 1);
});

test("what cannot be loaded is told when it is needed", async () => {
  const { runtime } = createRuntime();
  const judge = smartTurn({ runtime, model: "missing.onnx" });
  judge.paused?.(pause("yes"));
  await assert.rejects(async () => judge.silenceMs(pause("yes")), /not there/);
  assert.throws(() => smartTurn({ runtime, model: "turn.onnx", threshold: 1 }), RangeError);
});
