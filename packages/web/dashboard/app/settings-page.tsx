import { Link } from "@tanstack/react-router";
import { Icon } from "../../shared/icon.tsx";
import { Card } from "../ui/card.tsx";
import { Page } from "../ui/page.tsx";
import { settingsEntries } from "./navigation.tsx";

const about: Record<string, string> = {
  "/settings/keys": "Private keys manage, public keys start sessions.",
  "/settings/secrets": "Environment variables for your bots.",
  "/settings/regions": "Where agents run, and the default for new ones.",
  "/settings/members": "Who has access, and with which role.",
  "/settings/quotas": "What the organisation uses, and its limits.",
  "/settings/audit": "Who changed what, and when.",
};

/** The way to the settings where there is no side bar. */
export function SettingsPage() {
  return (
    <Page title="Settings">
      <Card flush>
        <ul className="divide-y divide-line">
          {settingsEntries.map(({ label, icon, to }) => (
            <li key={to}>
              <Link to={to} className="flex items-center gap-4 px-5 py-4 hover:bg-paper/70">
                <Icon name={icon} className="size-5 text-muted" />
                <span className="min-w-0 flex-1">
                  <span className="block font-medium">{label}</span>
                  <span className="block text-sm text-muted">{about[to]}</span>
                </span>
                <Icon name="chevron" className="size-4 text-muted" />
              </Link>
            </li>
          ))}
        </ul>
      </Card>
    </Page>
  );
}
