import { parseXml } from "../packages/cli/src/webhook/stream-instructions.ts";

export type XmlElement = ReturnType<typeof parseXml>;

/** Reads a document as strictly as a carrier would. */
export { parseXml as readXml };

/** The only child, which must have this name. */
export function onlyChild(parent: XmlElement, name: string): XmlElement {
  const [child, ...others] = parent.children;
  if (child?.name === name && others.length === 0) return child;
  throw new Error(`<${parent.name}> must hold <${name}> and nothing else`);
}
