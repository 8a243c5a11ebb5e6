/** Finds many texts in another at once, in time that does not depend on how many there are or how they look. */
export interface ValueFinder {
  /** Where they are, in order; those that overlap are one. */
  find(text: string): Span[];
  /** How many characters at the end of the text begin one of them. */
  beginsAtEnd(text: string): number;
}

export interface Span {
  from: number;
  to: number;
}

const ROOT = 0;
const NONE = -1; // no character has this number

/** Aho and Corasick's automaton. A regular expression of long values is refused by the engine, aloud. */
export function createValueFinder(values: readonly string[]): ValueFinder {
  const nodesMax = values.reduce((sum, { length }) => sum + length, 1);
  // Most nodes have one child, and it is the next one; the few other edges are in the map.
  const nextCharacter = new Int32Array(nodesMax).fill(NONE);
  const hasBranches = new Uint8Array(nodesMax);
  const branches = new Map<number, number>();
  const fallback = new Int32Array(nodesMax);
  const depth = new Int32Array(nodesMax);
  const parentOf = new Int32Array(nodesMax);
  const characterOf = new Uint16Array(nodesMax);
  const longestEnd = new Int32Array(nodesMax);
  let nodes = 1;

  for (const value of values) insert(value);
  link();

  function childOf(node: number, character: number): number {
    if (nextCharacter[node] === character) return node + 1;
    return hasBranches[node] ? (branches.get(node * 0x10000 + character) ?? NONE) : NONE;
  }

  function addEdge(node: number, character: number, child: number): void {
    if (child === node + 1) nextCharacter[node] = character;
    else {
      hasBranches[node] = 1;
      branches.set(node * 0x10000 + character, child);
    }
  }

  function insert(value: string): void {
    let node = ROOT;
    for (let at = 0; at < value.length; at += 1) {
      const character = value.charCodeAt(at);
      let child = childOf(node, character);
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
  }

  // What a node falls back to is nearer to the root, so it must have been linked before.
  function link(): void {
    for (const node of byDepth(depth.subarray(0, nodes))) {
      if (depth[node]! > 1) fallback[node] = step(fallback[parentOf[node]!]!, characterOf[node]!);
      longestEnd[node] ||= longestEnd[fallback[node]!]!;
    }
  }

  function step(from: number, character: number): number {
    for (let node = from; ; node = fallback[node]!) {
      const child = childOf(node, character);
      if (child !== NONE) return child;
      if (node === ROOT) return ROOT;
    }
  }

  return {
    find(text) {
      const spans: Span[] = [];
      let node = ROOT;
      for (let at = 0; at < text.length; at += 1) {
        node = step(node, text.charCodeAt(at));
        const length = longestEnd[node]!;
        if (length > 0) addSpan(spans, { from: at + 1 - length, to: at + 1 });
      }
      return spans;
    },
    beginsAtEnd(text) {
      let node = ROOT;
      for (let at = 0; at < text.length; at += 1) node = step(node, text.charCodeAt(at));
      return depth[node]!;
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

/** The nodes, those of a smaller depth first. */
function byDepth(depth: Int32Array): Int32Array {
  const start = new Int32Array(depth.reduce((most, each) => Math.max(most, each), 0) + 2);
  for (const each of depth) start[each + 1]! += 1;
  for (let at = 1; at < start.length; at += 1) start[at]! += start[at - 1]!;
  const sorted = new Int32Array(depth.length);
  for (let node = 0; node < depth.length; node += 1) {
    const place = start[depth[node]!]!;
    sorted[place] = node;
    start[depth[node]!] = place + 1;
  }
  return sorted;
}
