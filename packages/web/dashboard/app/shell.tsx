import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet, useNavigate } from "@tanstack/react-router";
import { ApiError } from "@vocalhost/protocol";
import { useEffect, type ReactNode } from "react";
import { Button } from "../../shared/button.tsx";
import { KeyList } from "../../shared/key-list.tsx";
import { useStore } from "../../shared/use-store.ts";
import { followEvents } from "../data/events.ts";
import { MeContext, type Me } from "../data/me.ts";
import { isSignedOut, toProblem } from "../data/problem.ts";
import { queries } from "../data/queries.ts";
import { chosenOrganization, sessionLost } from "../data/session.ts";
import { signOut } from "../sign-in/auth-requests.ts";
import { SignInFrame } from "../sign-in/sign-in-frame.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField } from "../ui/field.tsx";
import { Loading } from "../ui/notice.tsx";
import { CreateOrganizationDialog } from "./create-organization-dialog.tsx";
import { loadAllPages } from "./later-page.tsx";
import { BottomBar, SideBar, TopBar } from "./navigation.tsx";
import { helpOpen, shortcuts, singleKeys, useShortcuts } from "./shortcuts.ts";

/** Everything that is only for people who are signed in. */
export function Shell() {
  const user = useQuery(queries.user());
  const organizations = useQuery(queries.organizations());
  const chosen = useStore(chosenOrganization);
  const lost = useStore(sessionLost);
  const error = user.error ?? organizations.error;
  useSignInWhen(lost || isSignedOut(error));

  if (isSignedOut(error)) return <Waiting what="your account" />;
  if (error && !(user.data && organizations.data)) return <Refused error={error} />;
  if (!user.data || !organizations.data) return <Waiting what="your account" />;
  const list = organizations.data.organizations;
  const organization = list.find(({ name }) => name === chosen) ?? list[0];
  if (!organization) return <Refused />;
  return (
    <MeContext
      value={{
        userId: user.data.user.userId,
        email: user.data.user.emails[0]?.emailAddress ?? "",
        organization: organization.name,
        organizations: list,
        role: organization.role ?? "viewer",
      }}
    >
      <Organization name={organization.name} known={chosen}>
        <Frame />
      </Organization>
    </MeContext>
  );
}

/** Nothing is asked before the organisation is known. */
function Organization({
  name,
  known,
  children,
}: {
  name: Me["organization"];
  known: string;
  children: ReactNode;
}) {
  const queryClient = useQueryClient();
  useEffect(() => {
    chosenOrganization.set(name);
  }, [name]);
  useEffect(() => {
    if (known !== name) return undefined;
    const ending = new AbortController();
    void followEvents(queryClient, ending.signal);
    return () => ending.abort();
  }, [known, name, queryClient]);
  return known === name ? children : null;
}

function Frame() {
  useShortcuts();
  useEffect(() => void loadAllPages(), []);
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only z-50 rounded-lg bg-surface px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <SideBar />
      <div className="min-w-0 max-md:pb-20">
        <TopBar />
        <main id="main" tabIndex={-1} className="outline-none">
          <Outlet />
        </main>
      </div>
      <BottomBar />
      <HelpDialog />
      <CreateOrganizationDialog />
    </div>
  );
}

function useSignInWhen(signedOut: boolean): void {
  const navigate = useNavigate();
  useEffect(() => {
    if (!signedOut || location.pathname === "/sign-in") return;
    const next = location.pathname + location.search;
    void navigate({ to: "/sign-in", search: { next }, replace: true });
  }, [signedOut, navigate]);
}

function Waiting({ what }: { what: string }) {
  return (
    <main className="grid min-h-dvh place-items-center">
      <Loading what={what} />
    </main>
  );
}

/** Without an error: there is no organisation. */
function Refused({ error }: { error?: unknown }) {
  const { title, detail } =
    error === undefined || isStranger(error)
      ? {
          title: "You do not belong to an organisation",
          detail:
            "You are signed in, but not a member of any organisation yet. Ask an owner or admin for an invitation.",
        }
      : toProblem(error);
  return (
    <SignInFrame title={title} about={detail}>
      <div className="flex gap-2">
        <Button icon="refresh" onClick={() => location.reload()}>
          Try again
        </Button>
        <Button onClick={() => void signOut().then(() => location.assign("/sign-in"))}>Sign out</Button>
      </div>
    </SignInFrame>
  );
}

/** The service refuses this request only to accounts without an organisation. */
function isStranger(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403;
}

function HelpDialog() {
  const open = useStore(helpOpen);
  const keysOn = useStore(singleKeys) === "on";
  return (
    <Dialog open={open} title="Shortcuts and help" onClose={() => helpOpen.set(false)}>
      <KeyList keys={shortcuts} className="mt-3" />
      <div className="mt-4">
        <CheckField
          label="Use these shortcuts"
          checked={keysOn}
          onChange={(checked) => singleKeys.set(checked ? "on" : "off")}
        />
      </div>
      <p className="mt-3 text-sm text-muted">
        Everything this page does goes through the{" "}
        <a className="text-accent-deep underline underline-offset-2" href="/v1/docs">
          REST API
        </a>
        , so it can be scripted. The{" "}
        <a className="text-accent-deep underline underline-offset-2" href="/docs/">
          documentation
        </a>{" "}
        belongs to the version that runs here.
      </p>
    </Dialog>
  );
}
