import type { CreateKey } from "@vocalhost/protocol";

export const KEYS_PER_KIND = 5;
const NUMBER_MAX = 1_000_000;

/** The dialog's inputs. */
export interface KeyForm {
  name: string;
  /** Undefined: all agents. */
  agents: string[] | undefined;
  ratePerMinute: string;
  concurrency: string;
}

export const emptyKeyForm: KeyForm = { name: "", agents: undefined, ratePerMinute: "", concurrency: "" };

export function keyProblems(form: KeyForm): Partial<Record<"ratePerMinute" | "concurrency", string>> {
  const problems: Partial<Record<"ratePerMinute" | "concurrency", string>> = {};
  for (const field of ["ratePerMinute", "concurrency"] as const)
    if (form[field].trim() !== "" && toLimit(form[field]) === undefined)
      problems[field] = `A whole number from 1 to ${NUMBER_MAX.toLocaleString("en")}, or empty`;
  return problems;
}

export function isComplete(form: KeyForm): boolean {
  const hasAgents = form.agents === undefined || form.agents.length > 0;
  return form.name.trim() !== "" && hasAgents && Object.keys(keyProblems(form)).length === 0;
}

export function toCreateKey(type: CreateKey["type"], form: KeyForm): CreateKey {
  const name = form.name.trim();
  if (type === "private") return { type, name };
  const ratePerMinute = toLimit(form.ratePerMinute);
  const concurrency = toLimit(form.concurrency);
  return {
    type,
    name,
    ...(form.agents ? { agents: form.agents } : {}),
    ...(ratePerMinute === undefined ? {} : { ratePerMinute }),
    ...(concurrency === undefined ? {} : { concurrency }),
  };
}

function toLimit(text: string): number | undefined {
  const value = /^\d{1,7}$/.test(text.trim()) ? Number(text) : 0;
  return value >= 1 && value <= NUMBER_MAX ? value : undefined;
}
