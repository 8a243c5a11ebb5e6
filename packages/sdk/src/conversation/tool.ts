import { z } from "zod";
import { checkOptions } from "../check-options.ts";
import type { Conversation } from "./conversation-options.ts";
import type { ToolDeclaration } from "./services.ts";

/** A function that the model can call. */
export interface Tool<Parameters extends z.ZodType = z.ZodType> {
  /** Tells the model what the tool does and when to use it. */
  description: string;
  /** Object schema of the arguments; `describe()` its fields. @default no arguments */
  parameters?: Parameters;
  /** Runs the tool. The model is given the result: text as it is, anything else as JSON. */
  run(args: z.infer<Parameters>, context: ToolContext): unknown;
  /** Said when the tool takes long and the bot is not speaking. */
  filler?: string | ((args: z.infer<Parameters>) => string);
  /** Milliseconds until the filler is said. @default 700 */
  fillerAfterMs?: number;
  /**
   * Effect of an interruption: aborts the tool's signal, or lets it finish and keeps the result.
   * @default "cancel"
   */
  whenInterrupted?: "cancel" | "finish";
  /** @default 30000 */
  timeoutMs?: number;
}

export interface ToolContext {
  /** Aborts on an interruption (unless the tool finishes then), on its timeout and when the session ends. */
  signal: AbortSignal;
  callId: string;
  conversation: Conversation;
}

/** Declares a tool whose arguments are typed and checked by its schema. */
export function tool<Parameters extends z.ZodType = z.ZodObject<Record<string, never>>>(
  definition: Tool<Parameters>,
): Tool {
  return definition;
}

export type Tools = Readonly<Record<string, Tool>>;

const NAME = /^[a-zA-Z0-9_-]{1,64}$/; // accepted by every vendor

/** Returns the declarations given to a model. Throws for a tool that no model could call. */
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

/** Parses a call's arguments. Returns the problem in words that a model can act on. */
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
