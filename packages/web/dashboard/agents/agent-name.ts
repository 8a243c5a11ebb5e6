import { useParams } from "@tanstack/react-router";

/** The agent this page is about, from its address. */
export function useAgentName(): string {
  const { name } = useParams({ strict: false }) as { name?: string };
  return name ?? "";
}
