import { z } from "zod";
import { checkOptions } from "../check-options.ts";
import type { Conversation } from "./conversation-options.ts";
import type { ToolDeclaration } from "./services.ts";

/** Something the model can have done. */
export interface Tool<Parameters extends z.ZodType = z.ZodType> {
  /** Tells the model what it is for. */
  description: string;
  /** An object schema; `describe()` its fields. @default no arguments */
  parameters?: Parameters;
  /** Its result is told to the model: text as it is, anything else as JSON. */
  run(args: z.infer<Parameters>, context: ToolContext): unknown;
  /** Said when the tool takes long and nothing else is being said. */
  filler?: string | ((args: z.infer<Parameters>) => string);
  /** How long is long. @default 700 */
  fillerAfterMs?: number;
  /** What an interruption does to it: aborts its signal, or lets it finish and keeps the result. @default "cancel" */
  whenInterrupted?: "cancel" | "finish";
  /** @default 30000 */
  timeoutMs?: number;
}

export interface ToolContext {
  /** Aborts when the user interrupts, unless the tool finishes then, when its time is up and when the session ends. */
  signal: AbortSignal;
  callId: string;
  conversation: Conversation;
}

/** Declares a tool; its arguments are typed and checked by its schema. */
export function tool<Parameters extends z.ZodType = z.ZodObject<Record<string, never>>>(
  definition: Tool<Parameters>,
): Tool {
  return definition;
}

export type Tools = Readonly<Record<string, Tool>>;

const NAME = /^[a-zA-Z0-9_-]{1,64}$/; // what every vendor takes

/** What a model is told of tools. Throws for one that no model could call. */
export function declareTools(tools: Tools): ToolDeclaration[] {
  return Object.entries(tools).map(([name, definition]) => {
    checkOptions(`Tool "${name}"`, definition, {
      description: true,
      parameters: true,
      run: true,
      filler: true,
      fillerAfterMs: true,
      whenInterrupted: true,
      timeoutMs: true,
    });
    const { description, parameters } = definition;
    if (!NAME.test(name))
      throw new TypeError(`Tool "${name}": a name has 1 to 64 letters, digits, underscores and hyphens`);
    const { $schema: _, ...schema } = z.toJSONSchema(parameters ?? z.object({}), { io: "input" }) as Record<
      string,
      unknown
    >;
    if (schema["type"] !== "object")
      throw new TypeError(`Tool "${name}": its parameters must be a z.object(), models know no other`);
    return { name, description, parameters: schema };
  });
}

/** Arguments as the tool wants them, or what is wrong with them, in words a model can act on. */
export function parseArguments(tool: Tool, json: string): { args: unknown } | { problem: string } {
  let given: unknown;
  try {
    given = json.trim() === "" ? {} : JSON.parse(json);
  } catch {
    return { problem: "The arguments are not valid JSON." };
  }
  const parsed = (tool.parameters ?? z.object({})).safeParse(given);
  return parsed.success ? { args: parsed.data } : { problem: z.prettifyError(parsed.error) };
}
