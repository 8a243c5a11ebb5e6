import { useParams, useSearch } from "@tanstack/react-router";

/** The agent this page is about, from its address. */
export function useAgentName(): string {
  const { name } = useParams({ strict: false }) as { name?: string };
  return name ?? "";
}

/** In which region, of one in several; undefined: in its own. */
export function useAgentRegion(): string | undefined {
  const { region } = useSearch({ strict: false }) as { region?: unknown };
  return typeof region === "string" && region !== "" ? region : undefined;
}
