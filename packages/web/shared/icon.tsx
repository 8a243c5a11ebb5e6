/** Line drawings on a 24 × 24 field. */
const paths = {
  microphone: "M12 3a3 3 0 0 0-3 3v6a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3ZM5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3",
  "microphone-off":
    "M4 4l16 16M9 9.5V12a3 3 0 0 0 4.8 2.4M15 11.5V6a3 3 0 0 0-5.7-1.3M5.5 11.5a6.5 6.5 0 0 0 9.9 5.5M18.5 11.5a6.4 6.4 0 0 1-.6 2.8M12 18v3",
  speaker: "M4 9.5v5h3.5L12 18.5v-13L7.5 9.5H4ZM15.5 9a4 4 0 0 1 0 6M18 6.5a7.5 7.5 0 0 1 0 11",
  "hang-up":
    "M3.2 14.6c-.5-1-.3-2.3.5-3C6 9.5 8.9 8.5 12 8.5s6 1 8.3 3.1c.8.7 1 2 .5 3l-.6 1.2c-.3.6-1 .9-1.7.7l-2.6-.8c-.6-.2-1-.7-1-1.3v-1.7a10 10 0 0 0-5.8 0v1.7c0 .6-.4 1.1-1 1.3l-2.6.8c-.7.2-1.4-.1-1.7-.7l-.6-1.2Z",
  phone:
    "M6.6 3.5 9 4c.5.1.8.5.9 1l.5 2.9c.1.4-.1.9-.4 1.1L8.3 10.3a12 12 0 0 0 5.4 5.4l1.3-1.7c.3-.3.7-.5 1.1-.4l2.9.5c.5.1.9.4 1 .9l.5 2.4c.1.7-.3 1.4-1 1.6-1 .3-2 .5-3 .5A13 13 0 0 1 4 7.5c0-1 .2-2 .5-3 .2-.7 1-1.1 2.1-1Z",
  download: "M12 4v11M7 10.5l5 5 5-5M5 19.5h14",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2.5v2M12 19.5v2M4.5 4.5 6 6M18 18l1.5 1.5M2.5 12h2M19.5 12h2M4.5 19.5 6 18M18 6l1.5-1.5",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z",
  help: "M9.2 9.2a2.9 2.9 0 1 1 4.3 2.6c-.9.5-1.5 1.1-1.5 2.2M12 17.3v.2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z",
  log: "M4 6h.01M4 12h.01M4 18h.01M8.5 6H20M8.5 12H20M8.5 18H20",
  close: "M6 6l12 12M18 6 6 18",
  send: "M12 19V5M6 11l6-6 6 6",
  pause: "M9 5.5v13M15 5.5v13",
  play: "M8 5.5v13l10.5-6.5L8 5.5Z",
  trash: "M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7",
  copy: "M9 9h10v11H9zM5 15V4h10",
  check: "M5 12.5 10 17.5 19.5 7",
  chevron: "M9 6l6 6-6 6",
  warning: "M12 4 2.8 19.5h18.4L12 4ZM12 10v4.5M12 17v.2",
  voice: "M5 10.5v3M9 7.5v9M13 5v14M17 8.5v7M20.5 11v2",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, className = "size-5" }: { name: IconName; className?: string }) {
  return (
    <svg
      aria-hidden="true"
      className={`shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.75"
      viewBox="0 0 24 24"
    >
      <path d={paths[name]} />
    </svg>
  );
}
