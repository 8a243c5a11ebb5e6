/** Colours are properties, so that a page can choose its own: `vocalhost-talk { --vocalhost-accent: #b00 }`. */
export const STYLE = `
:host { all: initial; display: inline-block; }
.frame { display: inline-flex; flex-direction: column; align-items: flex-end; gap: 8px; font: 500 15px/1.3 system-ui, sans-serif; }
.floating { position: fixed; right: 20px; bottom: 20px; z-index: 2147483000; }
.row { display: flex; gap: 8px; }
[hidden] { display: none !important; }
.words { margin: 0; padding: 8px 12px; max-width: 260px; border-radius: 10px; color: #17211e; background: #fff;
  box-shadow: 0 2px 10px rgb(0 0 0 / 18%); font-weight: 400; font-size: 14px; }
button { font: inherit; padding: 12px 20px; border: 0; border-radius: 999px; cursor: pointer; }
button:focus-visible { outline: 3px solid var(--vocalhost-accent, #0a7463); outline-offset: 2px; }
button:disabled { opacity: .6; cursor: default; }
.talk { color: var(--vocalhost-on-accent, #fff); background: var(--vocalhost-accent, #0a7463);
  box-shadow: 0 2px 10px rgb(0 0 0 / 22%), 0 0 0 calc(var(--level, 0) * 12px) color-mix(in srgb, var(--vocalhost-accent, #0a7463) 35%, transparent); }
[data-phase="live"] .talk { background: #a32b1f; }
.mute { color: #17211e; background: #fff; box-shadow: 0 2px 10px rgb(0 0 0 / 18%); }
`;
