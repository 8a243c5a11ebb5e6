import { ApiError } from "@vocalhost/protocol";
import { useSyncExternalStore, type ReactNode } from "react";
import { IconButton } from "../../shared/button.tsx";
import { Logo } from "../../shared/logo.tsx";
import { isDark, onThemeChange, toggleTheme } from "../../shared/theme.ts";
import { Alert, Failed } from "../ui/notice.tsx";
import { useTitle } from "../ui/page.tsx";
import { CookieRefusedError } from "./enter.ts";

/** A small centred page for visitors without a sign-in. */
export function SignInFrame({
  title,
  about,
  children,
}: {
  title: string;
  about?: ReactNode;
  children: ReactNode;
}) {
  const dark = useSyncExternalStore(onThemeChange, isDark);
  useTitle(title);
  return (
    <div className="grid min-h-dvh grid-rows-[auto_1fr]">
      <header className="flex h-14 items-center gap-2.5 px-4 sm:px-6">
        <Logo />
        <span className="font-semibold tracking-tight">Vocalhost</span>
        <div className="ml-auto">
          <IconButton
            icon={dark ? "sun" : "moon"}
            label={dark ? "Light theme" : "Dark theme"}
            onClick={toggleTheme}
          />
        </div>
      </header>
      <main className="grid content-start justify-items-center px-4 pt-[12vh] pb-10">
        <div className="w-full max-w-sm">
          <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
          {about && <p className="mt-1 text-pretty text-muted">{about}</p>}
          <div className="mt-6 grid gap-4">{children}</div>
        </div>
      </main>
    </div>
  );
}

export function SignInProblem({ error }: { error: unknown }) {
  if (error instanceof CookieRefusedError) {
    return (
      <Alert title="Your browser did not keep the sign-in">
        Browsers keep it only over HTTPS or on localhost. Open the dashboard at such an address.
      </Alert>
    );
  }
  if (error instanceof ApiError) {
    if (error.code === "INVALID_EMAIL_OR_PASSWORD" || error.code === "INVALID_EMAIL")
      return <Alert title="Wrong e-mail or password" />;
    if (error.status === 429) return <Failed error={error} />;
    if (error.status < 500) return <Alert title={error.message} />;
  }
  return <Failed error={error} />;
}
