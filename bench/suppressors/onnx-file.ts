// Writes ONNX files, as far as the layers of our network need it: the fields of onnx.proto by their numbers.

const FLOAT = 1;
const INT64 = 7;
const INT_ATTRIBUTE = 2;
const OPSET = 17;
const IR_VERSION = 8;

export interface Node {
  operator: string;
  inputs: string[];
  outputs: string[];
  attributes?: Record<string, number>;
}

export interface Constant {
  name: string;
  shape: number[];
  values: Float32Array | BigInt64Array;
}

export interface Value {
  name: string;
  shape: number[];
}

export interface Graph {
  nodes: Node[];
  constants: Constant[];
  inputs: Value[];
  outputs: Value[];
}

export function onnxFile({ nodes, constants, inputs, outputs }: Graph): Uint8Array {
  const graph = Buffer.concat([
    ...nodes.map((node) => message(1, nodeFields(node))),
    text(2, "layers"),
    ...constants.map((constant) => message(5, constantFields(constant))),
    ...inputs.map((value) => message(11, valueFields(value))),
    ...outputs.map((value) => message(12, valueFields(value))),
  ]);
  return Buffer.concat([
    number(1, IR_VERSION),
    message(7, [graph]),
    message(8, [text(1, ""), number(2, OPSET)]),
  ]);
}

function nodeFields({ operator, inputs, outputs, attributes = {} }: Node): Buffer[] {
  return [
    ...inputs.map((name) => text(1, name)),
    ...outputs.map((name) => text(2, name)),
    text(4, operator),
    ...Object.entries(attributes).map(([name, value]) =>
      message(5, [text(1, name), number(3, value), number(20, INT_ATTRIBUTE)]),
    ),
  ];
}

function constantFields({ name, shape, values }: Constant): Buffer[] {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return [
    ...shape.map((size) => number(1, size)),
    number(2, values instanceof Float32Array ? FLOAT : INT64),
    text(8, name),
    message(9, [bytes]),
  ];
}

function valueFields({ name, shape }: Value): Buffer[] {
  const sizes = message(
    2,
    shape.map((size) => message(1, [number(1, size)])),
  );
  return [text(1, name), message(2, [message(1, [number(1, FLOAT), sizes])])];
}

function number(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)]);
}

function text(field: number, value: string): Buffer {
  return message(field, [Buffer.from(value)]);
}

function message(field: number, parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}
