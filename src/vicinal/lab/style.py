"""The style sheet of the pages of the lab: light and dark, without external resources."""

CSS = """
:root {
  color-scheme: light dark;
  --page: #f4f5f7; --card: #ffffff; --ink: #1b1d22; --faint: #666c76; --rule: #dcdfe5; --accent: #2563b8;
  --good: #1c7a4a; --good-back: #e2f4ea; --bad: #b3361b; --bad-back: #fce8e2; --calm-back: #eceef2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14161a; --card: #1d2026; --ink: #e6e8ec; --faint: #a0a6b1; --rule: #363b44; --accent: #7db2f5;
    --good: #6fd6a0; --good-back: #173526; --bad: #ff9c82; --bad-back: #41211a; --calm-back: #2a2e36;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto,
  "DejaVu Sans", sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 0 0 .25rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p { margin: .4rem 0; max-width: 48rem; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 2px; }
code { font: .9em ui-monospace, "DejaVu Sans Mono", monospace; background: var(--calm-back); padding: .1em .35em;
  border-radius: 4px; white-space: nowrap; }
.lead, .faint, figcaption { color: var(--faint); }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 12px; padding: 1.5rem 1.6rem;
  margin: 1.5rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .6rem 0; font-size: .93rem; }
th { text-align: left; font-weight: 600; color: var(--faint); font-size: .82rem; border-bottom: 1px solid var(--rule);
  padding: .35rem .7rem .35rem 0; white-space: nowrap; }
td { border-bottom: 1px solid var(--rule); padding: .42rem .7rem .42rem 0; vertical-align: top; }
tr:last-child td { border-bottom: 0; }
td.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
td.why { color: var(--faint); font-size: .88rem; }
.verdict { display: inline-block; border-radius: 99px; padding: .05rem .6rem; font-size: .82rem; font-weight: 600;
  white-space: nowrap; background: var(--calm-back); color: var(--faint); }
.verdict.good { background: var(--good-back); color: var(--good); }
.verdict.bad { background: var(--bad-back); color: var(--bad); }
.bar { display: flex; height: .55rem; border-radius: 99px; overflow: hidden; background: var(--calm-back);
  min-width: 7rem; margin-top: .5rem; }
.bar i { display: block; } .bar .good { background: var(--good); } .bar .bad { background: var(--bad); }
.facts { display: flex; flex-wrap: wrap; gap: .3rem 1.6rem; color: var(--faint); font-size: .88rem; margin: .5rem 0; }
.plots { display: grid; gap: 1.2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr));
  margin-top: 1.2rem; }
.plots svg { width: 100%; height: auto; display: block; }
.plots svg text { font-family: system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif !important; }
figure { margin: 0; max-width: 44rem; }
details { margin-top: 1rem; } summary { cursor: pointer; color: var(--accent); }
@media print { .card { break-inside: avoid; } }
"""
