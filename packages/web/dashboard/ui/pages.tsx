import { Button } from "../../shared/button.tsx";

interface PagesProps {
  /** Rows on a page. */
  size: number;
  total: number;
  page: number;
  onPage: (page: number) => void;
}

/** Below a list with the newest first: where one is in it, and the way on. */
export function Pages({ size, total, page, onPage }: PagesProps) {
  const last = Math.max(0, Math.ceil(total / size) - 1);
  if (last === 0 && page === 0) return null;
  return (
    <nav
      aria-label="Pages of the list"
      className="flex items-center gap-3 border-t border-line px-5 py-3 text-sm"
    >
      <span className="text-muted">
        {page * size + 1}–{Math.min(total, (page + 1) * size)} of {total}
      </span>
      <div className="ml-auto flex gap-2">
        <Button size="small" disabled={page === 0} onClick={() => onPage(page - 1)}>
          Newer
        </Button>
        <Button size="small" disabled={page >= last} onClick={() => onPage(page + 1)}>
          Older
        </Button>
      </div>
    </nav>
  );
}
