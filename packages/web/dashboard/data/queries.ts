import { queryOptions } from "@tanstack/react-query";
import { api, personalApi } from "./api.ts";
import { chosenOrganization } from "./session.ts";

// Every key begins with the organisation, so that a switch never shows another's data.
const scoped = (...rest: unknown[]) => [chosenOrganization.get(), ...rest];

export const queries = {
  user: () => queryOptions({ queryKey: ["user"], queryFn: () => personalApi().user() }),
  organizations: () =>
    queryOptions({ queryKey: ["organizations"], queryFn: () => personalApi().organizations() }),
  signInMethods: () =>
    queryOptions({ queryKey: ["sign-in-methods"], queryFn: () => personalApi().authConfig() }),
  voiceFilter: () => queryOptions({ queryKey: scoped("voice-filter"), queryFn: () => api().voiceFilter() }),
  regions: () => queryOptions({ queryKey: scoped("regions"), queryFn: () => api().regions() }),
  agents: () =>
    queryOptions({
      queryKey: scoped("agents"),
      queryFn: () => api().agents.list({ includeRecord: true }),
    }),
  agent: (name: string, region: string | undefined) =>
    queryOptions({
      queryKey: scoped("agent", name, region),
      queryFn: () => api().agents.get(name, { region }),
    }),
  pool: (name: string, region: string | undefined) =>
    queryOptions({
      queryKey: scoped("pool", name, region),
      queryFn: () => api().agents.pool(name, { region }),
    }),
  deployments: (name: string, region: string | undefined) =>
    queryOptions({
      queryKey: scoped("deployments", name, region),
      queryFn: () => api().agents.deployments(name, { region }),
    }),
  sessions: (name: string, query: NonNullable<Parameters<ReturnType<typeof api>["sessions"]["list"]>[1]>) =>
    queryOptions({
      queryKey: scoped("sessions", name, query),
      queryFn: () => api().sessions.list(name, query),
    }),
  session: (name: string, sessionId: string) =>
    queryOptions({
      queryKey: scoped("session", name, sessionId),
      queryFn: () => api().sessions.get(name, sessionId),
    }),
  builds: () => queryOptions({ queryKey: scoped("builds"), queryFn: () => api().builds.list({ limit: 50 }) }),
  secretSets: () => queryOptions({ queryKey: scoped("secrets"), queryFn: () => api().secrets.list() }),
  keys: () => queryOptions({ queryKey: scoped("keys"), queryFn: () => api().keys.list() }),
  usage: (month?: string) =>
    queryOptions({ queryKey: scoped("usage", month ?? "now"), queryFn: () => api().usage(month) }),
  usageDays: (month?: string) =>
    queryOptions({ queryKey: scoped("usage-days", month ?? "now"), queryFn: () => api().usageDays(month) }),
  secretSet: (name: string) =>
    queryOptions({ queryKey: scoped("secrets", name), queryFn: () => api().secrets.get(name) }),
  properties: () =>
    queryOptions({ queryKey: scoped("properties"), queryFn: () => api().properties.schema() }),
  audit: (query: NonNullable<Parameters<ReturnType<typeof api>["audit"]>[0]>) =>
    queryOptions({ queryKey: scoped("audit", query), queryFn: () => api().audit(query) }),
  quotas: () => queryOptions({ queryKey: scoped("quotas"), queryFn: () => api().quotas() }),
  members: () => queryOptions({ queryKey: scoped("members"), queryFn: () => api().members.list() }),
};
