/** Finds many values in a text, in time that does not depend on their number or contents. */
export interface ValueFinder {
  /** Returns their positions in order, with overlapping ones merged. */
  find(text: string): Span[];
  /** Returns how many characters at the end of the text begin a value. */
  beginsAtEnd(text: string): number;
}

export interface Span {
  from: number;
  to: number;
}

const ROOT = 0;
const NONE = -1; // no character has this number
const NODES_AT_ONCE = 16_384;

/**
 * Builds an Aho-Corasick automaton, because the engine refuses a regular expression of long values with an error that
 * quotes them. It has one node per character of the values, so it is built in steps that let other work run between
 * them.
 */
export function* buildValueFinder(values: readonly string[]): Generator<void, ValueFinder> {
  const graph = createGraph(values.reduce((sum, { length }) => sum + length, 1));
  const growing = createGrowing(graph);
  for (const value of values) {
    growing.insert(value);
    yield;
  }
  // A node's fallback is nearer to the root, so it must be linked first.
  const sorted = yield* byDepth(graph.depth.subarray(0, growing.nodes()));
  for (let at = 0; at < sorted.length; at += NODES_AT_ONCE) {
    growing.link(sorted.subarray(at, at + NODES_AT_ONCE));
    yield;
  }
  return finderIn(graph);
}

/** The part of the automaton that is kept. */
interface Graph {
  // Most nodes have one child, which is the next node; the map holds the few other edges.
  nextCharacter: Int32Array;
  hasBranches: Uint8Array;
  branches: Map<number, number>;
  fallback: Int32Array;
  depth: Int32Array;
  longestEnd: Int32Array;
}

function createGraph(nodesMax: number): Graph {
  return {
    nextCharacter: new Int32Array(nodesMax).fill(NONE),
    hasBranches: new Uint8Array(nodesMax),
    branches: new Map(),
    fallback: new Int32Array(nodesMax),
    depth: new Int32Array(nodesMax),
    longestEnd: new Int32Array(nodesMax),
  };
}

function childOf({ nextCharacter, hasBranches, branches }: Graph, node: number, character: number): number {
  if (nextCharacter[node] === character) return node + 1;
  return hasBranches[node] ? (branches.get(node * 0x10000 + character) ?? NONE) : NONE;
}

function step(graph: Graph, from: number, character: number): number {
  for (let node = from; ; node = graph.fallback[node]!) {
    const child = childOf(graph, node, character);
    if (child !== NONE) return child;
    if (node === ROOT) return ROOT;
  }
}

function createGrowing(graph: Graph) {
  const { nextCharacter, hasBranches, branches, fallback, depth, longestEnd } = graph;
  const parentOf = new Int32Array(depth.length);
  const characterOf = new Uint16Array(depth.length);
  let nodes = 1;

  function addEdge(node: number, character: number, child: number): void {
    if (child === node + 1) nextCharacter[node] = character;
    else {
      hasBranches[node] = 1;
      branches.set(node * 0x10000 + character, child);
    }
  }

  return {
    nodes: () => nodes,
    insert(value: string): void {
      let node = ROOT;
      for (let at = 0; at < value.length; at += 1) {
        const character = value.charCodeAt(at);
        let child = childOf(graph, node, character);
        if (child === NONE) {
          child = nodes;
          nodes += 1;
          depth[child] = at + 1;
          parentOf[child] = node;
          characterOf[child] = character;
          addEdge(node, character, child);
        }
        node = child;
      }
      longestEnd[node] = value.length;
    },
    link(sorted: Int32Array): void {
      for (const node of sorted) {
        if (depth[node]! > 1) fallback[node] = step(graph, fallback[parentOf[node]!]!, characterOf[node]!);
        longestEnd[node] ||= longestEnd[fallback[node]!]!;
      }
    },
  };
}

function finderIn(graph: Graph): ValueFinder {
  return {
    find(text) {
      const spans: Span[] = [];
      let node = ROOT;
      for (let at = 0; at < text.length; at += 1) {
        node = step(graph, node, text.charCodeAt(at));
        const length = graph.longestEnd[node]!;
        if (length > 0) addSpan(spans, { from: at + 1 - length, to: at + 1 });
      }
      return spans;
    },
    beginsAtEnd(text) {
      let node = ROOT;
      for (let at = 0; at < text.length; at += 1) node = step(graph, node, text.charCodeAt(at));
      return graph.depth[node]!;
    },
  };
}

function addSpan(spans: Span[], span: Span): void {
  for (let last = spans.at(-1); last && last.to > span.from; last = spans.at(-1)) {
    span.from = Math.min(span.from, last.from);
    spans.pop();
  }
  spans.push(span);
}

/** Sorts the nodes by depth. */
function* byDepth(depth: Int32Array): Generator<void, Int32Array> {
  const parts: { from: number; to: number }[] = [];
  for (let from = 0; from < depth.length; from += NODES_AT_ONCE)
    parts.push({ from, to: Math.min(from + NODES_AT_ONCE, depth.length) });
  let deepest = 0;
  for (const { from, to } of parts) {
    for (let node = from; node < to; node += 1) deepest = Math.max(deepest, depth[node]!);
    yield;
  }
  const start = new Int32Array(deepest + 2);
  for (const { from, to } of parts) {
    for (let node = from; node < to; node += 1) start[depth[node]! + 1]! += 1;
    yield;
  }
  for (let at = 1; at < start.length; at += 1) start[at]! += start[at - 1]!;
  const sorted = new Int32Array(depth.length);
  for (const { from, to } of parts) {
    for (let node = from; node < to; node += 1) {
      const place = start[depth[node]!]!;
      sorted[place] = node;
      start[depth[node]!] = place + 1;
    }
    yield;
  }
  return sorted;
}
