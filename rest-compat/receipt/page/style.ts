/** Style of the page of a receipt or refusal, for light and dark screens and for paper. Color is never the only difference. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --quiet: #57606a; --paper: #fff; --card: #f6f8fa; --line: #d0d7de;
  --passed: #116329; --passed-card: #dafbe1; --failed: #a40e26; --failed-card: #ffebe9; --open: #57606a; --profile: #7d4e00; --profile-card: #fff8c5; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --quiet: #9aa5b1; --paper: #0d1117; --card: #161b22; --line: #3d444d;
  --passed: #56d364; --passed-card: #0f2a18; --failed: #ff8a80; --failed-card: #3d1214; --open: #9aa5b1; --profile: #f2cc60; --profile-card: #2e2508; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 1.5rem 1rem 3rem; background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", sans-serif; }
h1 { font-size: 1.1rem; font-weight: 600; color: var(--quiet); margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .75rem; }
p { margin: 0 0 .5rem; } a { color: inherit; } a, b, button, code, label, span { unicode-bidi: isolate; } code, .mono { font-family: ui-monospace, "Liberation Mono", Menlo, monospace; font-size: .9em; }
:focus-visible { outline: .2rem solid #0969da; outline-offset: .15rem; }
.profile { border: .2rem solid var(--profile); background: var(--profile-card); color: var(--profile); border-radius: .5rem; padding: .75rem 1rem; margin: 0 0 1rem; }
.profile strong { display: block; font-size: 1.9rem; line-height: 1.2; letter-spacing: .06em; text-transform: uppercase; }
#verdict { border: .15rem solid var(--open); border-left-width: .6rem; border-radius: .5rem; background: var(--card); padding: .9rem 1.1rem; margin: 0 0 1.75rem; }
#verdict .headline { font-size: 1.35rem; line-height: 1.3; font-weight: 700; margin: 0 0 .25rem; } #verdict .detail { margin: 0; }
#verdict[data-status=passed] { border-color: var(--passed); background: var(--passed-card); } #verdict[data-status=passed] .headline { color: var(--passed); }
#verdict[data-status=failed] { border-color: var(--failed); background: var(--failed-card); } #verdict[data-status=failed] .headline { color: var(--failed); font-size: 1.8rem; }
#verdict .headline::before { font-weight: 700; } #verdict[data-status=passed] .headline::before { content: "\\2713\\00a0" / ""; } #verdict[data-status=failed] .headline::before { content: "\\2717\\00a0" / ""; }
.sum { font-size: 2.1rem; line-height: 1.2; font-weight: 700; margin: 0; } .quiet { color: var(--quiet); }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .35rem 1.25rem; margin: 1.25rem 0 0; padding: 1rem 0; border: solid var(--line); border-width: .06rem 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
.checks { list-style: none; margin: 0; padding: 0; border-top: .06rem solid var(--line); }
.checks li { display: grid; grid-template-columns: 11rem 1fr; gap: 0 1rem; padding: .6rem 0; border-bottom: .06rem solid var(--line); break-inside: avoid; }
.status { font-weight: 600; color: var(--open); } .status::before { content: "\\2013\\00a0" / ""; }
[data-status=passed] > .status { color: var(--passed); } [data-status=passed] > .status::before { content: "\\2713\\00a0" / ""; }
[data-status=failed] > .status { color: var(--failed); } [data-status=failed] > .status::before { content: "\\2717\\00a0" / ""; }
[data-status=failed] { background: var(--failed-card); } .checks b { display: block; } .says { color: var(--quiet); }
ul { padding-left: 1.25rem; margin: 0; } li { overflow-wrap: anywhere; } nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
details { margin-top: 1rem; } summary { cursor: pointer; } pre { background: var(--card); border: .06rem solid var(--line); border-radius: .4rem; padding: .75rem; overflow-x: auto; font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
footer { margin-top: 2.5rem; color: var(--quiet); font-size: .9rem; }
@media (max-width: 36rem) { dl, .checks li { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } .sum { font-size: 1.5rem; } }
@page { size: A4; margin: 15mm; }
[data-verdict=failed] .sum, [data-verdict=failed] .sum + dl dd, [data-verdict=failed] .proves { text-decoration: line-through; }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } nav { display: none; } h2 { break-after: avoid; margin-top: 1.25rem; }
  #verdict, .profile, .checks li { break-inside: avoid; } .checks li { padding: .3rem 0; } }
`;
