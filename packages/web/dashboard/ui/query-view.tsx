import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Failed, Loading } from "./notice.tsx";

interface QueryViewProps<Data> {
  query: UseQueryResult<Data>;
  /** "agents": completes "Loading …". */
  what: string;
  children: (data: Data) => ReactNode;
}

/** Reading, failed, or what was read. A later failure leaves what is there and says that it is old. */
export function QueryView<Data>({ query, what, children }: QueryViewProps<Data>) {
  const retry = () => void query.refetch();
  if (query.data === undefined) {
    return query.error ? <Failed error={query.error} retry={retry} /> : <Loading what={what} />;
  }
  return (
    <>
      {query.error && <Failed error={query.error} retry={retry} />}
      {children(query.data)}
    </>
  );
}
