import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Outlet,
  redirect,
  retainSearchParams,
} from "@tanstack/react-router";
import { laterPage } from "./later-page.tsx";
import { Shell } from "./shell.tsx";
import { Button } from "../../shared/button.tsx";
import { Alert, Empty } from "../ui/notice.tsx";
import { LinkButton } from "../ui/link-button.tsx";
import { useTitle } from "../ui/page.tsx";
import { Toasts } from "../ui/toast.tsx";

const root = createRootRoute({ component: Root, notFoundComponent: NotFound, errorComponent: Crashed });

// Pages without a sign-in
const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: laterPage(() => import("../sign-in/sign-in-page.tsx").then(({ SignInPage }) => SignInPage)),
});
const owner = createRoute({
  getParentRoute: () => root,
  path: "/owner",
  component: laterPage(() => import("../sign-in/owner-page.tsx").then(({ OwnerPage }) => OwnerPage)),
});
const device = createRoute({
  getParentRoute: () => root,
  path: "/device",
  component: laterPage(() => import("../sign-in/device-page.tsx").then(({ DevicePage }) => DevicePage)),
});

// Pages that need a sign-in
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });
const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/agents", replace: true });
  },
});
const agents = createRoute({
  getParentRoute: () => shell,
  path: "/agents",
  component: laterPage(() => import("../agents/agents-page.tsx").then(({ AgentsPage }) => AgentsPage)),
});
const createAgent = createRoute({
  getParentRoute: () => shell,
  path: "/create-agent",
  component: laterPage(() =>
    import("../agents/create-agent-page.tsx").then(({ CreateAgentPage }) => CreateAgentPage),
  ),
});
const usage = createRoute({
  getParentRoute: () => shell,
  path: "/usage",
  component: laterPage(() => import("../usage/usage-page.tsx").then(({ UsagePage }) => UsagePage)),
});
const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  component: laterPage(() => import("./settings-page.tsx").then(({ SettingsPage }) => SettingsPage)),
});
const keys = createRoute({
  getParentRoute: () => shell,
  path: "/settings/keys",
  component: laterPage(() => import("../settings/keys-page.tsx").then(({ KeysPage }) => KeysPage)),
});
const secrets = createRoute({
  getParentRoute: () => shell,
  path: "/settings/secrets",
  component: laterPage(() => import("../settings/secrets-page.tsx").then(({ SecretsPage }) => SecretsPage)),
});
const regions = createRoute({
  getParentRoute: () => shell,
  path: "/settings/regions",
  component: laterPage(() => import("../settings/regions-page.tsx").then(({ RegionsPage }) => RegionsPage)),
});
const members = createRoute({
  getParentRoute: () => shell,
  path: "/settings/members",
  component: laterPage(() => import("../settings/members-page.tsx").then(({ MembersPage }) => MembersPage)),
});
const quotas = createRoute({
  getParentRoute: () => shell,
  path: "/settings/quotas",
  component: laterPage(() => import("../settings/quotas-page.tsx").then(({ QuotasPage }) => QuotasPage)),
});
const audit = createRoute({
  getParentRoute: () => shell,
  path: "/settings/audit",
  component: laterPage(() => import("../settings/audit-page.tsx").then(({ AuditPage }) => AuditPage)),
});

// One agent
const agent = createRoute({
  getParentRoute: () => shell,
  path: "/agents/$name",
  // The region of an agent in several regions is kept across its pages.
  validateSearch: ({ region }: Record<string, unknown>): { region?: string } =>
    typeof region === "string" ? { region } : {},
  search: { middlewares: [retainSearchParams(["region"])] },
  component: laterPage(() => import("../agents/agent-layout.tsx").then(({ AgentLayout }) => AgentLayout)),
});
const overview = createRoute({
  getParentRoute: () => agent,
  path: "/",
  component: laterPage(() => import("../agents/overview-page.tsx").then(({ OverviewPage }) => OverviewPage)),
});
const sessions = createRoute({
  getParentRoute: () => agent,
  path: "/sessions",
  component: laterPage(() =>
    import("../sessions/sessions-page.tsx").then(({ SessionsPage }) => SessionsPage),
  ),
});
const session = createRoute({
  getParentRoute: () => agent,
  path: "/sessions/$sessionId",
  component: laterPage(() => import("../sessions/session-page.tsx").then(({ SessionPage }) => SessionPage)),
});
const logs = createRoute({
  getParentRoute: () => agent,
  path: "/logs",
  component: laterPage(() => import("../logs/logs-page.tsx").then(({ LogsPage }) => LogsPage)),
});
const deployments = createRoute({
  getParentRoute: () => agent,
  path: "/deployments",
  component: laterPage(() =>
    import("../deployments/deployments-page.tsx").then(({ DeploymentsPage }) => DeploymentsPage),
  ),
});
const configuration = createRoute({
  getParentRoute: () => agent,
  path: "/settings",
  component: laterPage(() =>
    import("../agents/configuration-page.tsx").then(({ ConfigurationPage }) => ConfigurationPage),
  ),
});
const talk = createRoute({
  getParentRoute: () => agent,
  path: "/talk",
  component: laterPage(() => import("../talk/talk-page.tsx").then(({ TalkPage }) => TalkPage)),
});

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    owner,
    device,
    shell.addChildren([
      home,
      agents,
      createAgent,
      usage,
      settings,
      keys,
      secrets,
      regions,
      members,
      quotas,
      audit,
      agent.addChildren([overview, sessions, session, logs, deployments, configuration, talk]),
    ]),
  ]),
  scrollRestoration: true,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: Crashed, // of one page, so that the way to the others stays
});

/** A mistake in the page itself, or a part of it that could not be loaded after an update of the service. */
function Crashed({ error }: ErrorComponentProps) {
  return (
    <main className="mx-auto max-w-xl p-6">
      <h1 className="sr-only">This page crashed</h1>
      <Alert
        title="This page crashed"
        action={
          <Button size="small" icon="refresh" onClick={() => location.reload()}>
            Reload
          </Button>
        }
      >
        {error instanceof Error ? error.message : String(error)}
      </Alert>
    </main>
  );
}

function NotFound() {
  useTitle("Not found");
  return (
    <main className="mx-auto grid max-w-xl justify-items-center p-6">
      <h1 className="sr-only">Not found</h1>
      <Empty icon="help" title="This page does not exist">
        The address may be mistyped, or what it led to has been deleted.
      </Empty>
      <LinkButton to="/agents" icon="agents">
        All agents
      </LinkButton>
    </main>
  );
}

function Root() {
  return (
    <>
      <Outlet />
      <Toasts />
    </>
  );
}
