const EVENT_MAX_CHARACTERS = 1024 * 1024;

/** Yields the events that an engine sends while it works: one JSON object a line. */
export async function* readEvents<Event>(stream: NodeJS.ReadableStream): AsyncGenerator<Event> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > EVENT_MAX_CHARACTERS) throw new Error("the container engine's answer makes no sense");
    for (const line of lines) if (line.trim() !== "") yield JSON.parse(line) as Event;
  }
  if (rest.trim() !== "") yield JSON.parse(rest) as Event;
}
