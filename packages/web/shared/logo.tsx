export function Logo() {
  return (
    <svg aria-hidden="true" className="size-7 text-accent" viewBox="0 0 32 32">
      <rect width="32" height="32" rx="9" fill="currentColor" />
      <path
        d="M8 13.5v5M12 10v12M16 7v18M20 11.5v9M24 14v4"
        className="stroke-on-accent"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
    </svg>
  );
}
