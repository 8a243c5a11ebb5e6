/** Bot and page together, and both end with whichever ends first. */
export const PAGE_DEV = 'concurrently --kill-others --names bot,page "vocalhost dev --no-open" "vite --open"';

/**
 * What the page of a project is made of. Pinned to what our own tests use, which a test compares: the clients fit each
 * other only in certain versions. A bot is deployed without any of it.
 */
export const PAGE_PACKAGES: Record<string, string> = {
  "@pipecat-ai/client-js": "1.13.1",
  "@pipecat-ai/client-react": "1.8.2",
  "@pipecat-ai/small-webrtc-transport": "1.10.8",
  "@types/react": "19.3.0",
  "@types/react-dom": "19.3.0",
  "@vitejs/plugin-react": "6.1.2",
  concurrently: "9.2.5",
  react: "19.3.1",
  "react-dom": "19.3.1",
  typescript: "7.0.2",
  vite: "8.3.4",
};
