/** One element of a webhook's XML. */
export interface AnswerElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: readonly AnswerElement[];
  /** All text directly inside, without the white space around it. */
  text: string;
}

/** A webhook told the carrier something that it would not understand. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  readonly why: string | undefined;
  readonly fix: string | undefined;

  constructor(message: string, why?: string, fix?: string) {
    super(message);
    this.why = why;
    this.fix = fix;
  }
}

export function connectedStream(root: AnswerElement): AnswerElement {
  const oneWay = root.children.find(({ name }) => name === "Start");
  const connect = root.children.find(({ name }) => name === "Connect");
  if (!connect && oneWay)
    throw new AnswerError(
      "<Start><Stream> is one-way.",
      "The caller would hear nothing; use <Connect><Stream>.",
    );
  const stream = connect?.children.find(({ name }) => name === "Stream");
  return stream ?? noStream(root, "<Connect><Stream>");
}

export function noStream(root: AnswerElement, wanted: string): never {
  const verbs = root.children.map(({ name }) => `<${name}>`).join(", ") || "nothing";
  throw new AnswerError(`The webhook's response has no ${wanted}.`, `It has: ${verbs}.`);
}

export function streamUrl(text: string | undefined): URL {
  const url = URL.canParse(text ?? "") ? new URL(text ?? "") : undefined;
  if (url?.protocol === "wss:" || url?.protocol === "ws:") return url;
  throw new AnswerError("The <Stream> has no usable address.", `Expected wss://…, got "${text ?? ""}".`);
}

export function readParameters({ children }: Pick<AnswerElement, "children">): Record<string, string> {
  const parameters = children.filter(({ name }) => name === "Parameter");
  return Object.fromEntries(
    parameters.map(({ attributes }) => [attributes["name"] ?? "", attributes["value"] ?? ""]),
  );
}
