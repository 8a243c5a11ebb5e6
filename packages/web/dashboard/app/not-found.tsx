import { LinkButton } from "../ui/link-button.tsx";
import { Empty } from "../ui/notice.tsx";
import { useTitle } from "../ui/page.tsx";

export function NotFound() {
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
