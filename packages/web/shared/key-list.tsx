interface KeyListProps {
  keys: readonly { keyName: string; action: string }[];
  className?: string;
}

/** Which key does what. */
export function KeyList({ keys, className = "" }: KeyListProps) {
  return (
    <dl className={`grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2 text-sm ${className}`}>
      {keys.map(({ keyName, action }) => (
        <div key={keyName} className="contents">
          <dt>
            <kbd className="inline-block min-w-8 rounded-md border border-line bg-sunken px-2 py-0.5 text-center font-mono text-xs">
              {keyName}
            </kbd>
          </dt>
          <dd>{action}</dd>
        </div>
      ))}
    </dl>
  );
}
