import { pagePolicy } from '../../rest-compat/receipt/page/policy.ts';
import { STYLE } from '../../rest-compat/receipt/page/style.ts';
import { Html, html } from '../../schema/html.ts';

/** What the page has beyond the page of a receipt: where files are dropped, and a verdict for each. */
const OWN_STYLE = `
.drop { display: block; border: .15rem dashed var(--quiet); border-radius: .5rem; padding: 2rem 1rem; text-align: center; cursor: pointer; }
.drop b { display: block; font-size: 1.35rem; } .drop input { margin-top: 1rem; max-width: 100%; font: inherit; color: inherit; }
.document { margin-top: 2.5rem; border-top: .06rem solid var(--line); } .document h2 { margin-top: 1rem; overflow-wrap: anywhere; }
.document[data-status=failed] { background: none; } .document[data-status=failed] dd { text-decoration: line-through; }
.verdict { border: .15rem solid var(--open); border-left-width: .6rem; border-radius: .5rem; background: var(--card); padding: .9rem 1.1rem; }
.verdict .headline { font-size: 1.35rem; line-height: 1.3; font-weight: 700; margin: 0 0 .25rem; } .verdict .detail { margin: 0; overflow-wrap: anywhere; }
[data-status=passed] > .verdict { border-color: var(--passed); background: var(--passed-card); } [data-status=passed] > .verdict .headline { color: var(--passed); }
[data-status=failed] > .verdict { border-color: var(--failed); background: var(--failed-card); } [data-status=failed] > .verdict .headline { color: var(--failed); font-size: 1.8rem; }
.verdict .headline::before { font-weight: 700; } [data-status=passed] > .verdict .headline::before { content: "\\2713\\00a0" / ""; }
[data-status=failed] > .verdict .headline::before { content: "\\2717\\00a0" / ""; } .checks { margin-top: 1rem; } .checks span { overflow-wrap: anywhere; }
section .profile { margin: 1rem 0 0; }
@media print { .drop { display: none; } .verdict { break-inside: avoid; } }
`;

/**
 * The page that verifies what is dropped on it, in one file: nothing is loaded from anywhere, and under its own policy it
 * can reach nobody. `program`: drop.js and all that it uses.
 */
export function verifierPage(program: string): string {
  // What stands in a script element ends at the first `</script`, wherever that is (HTML §4.12.1.3).
  const script = program.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const style = STYLE + OWN_STYLE;
  const policy = pagePolicy({ script, style }, "require-trusted-types-for 'script'", "trusted-types 'none'");
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="content-security-policy" content="${new Html(policy)}">
<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Verify receipts</title><link rel="icon" href="data:,"><style>${new Html(style)}</style></head>
<body><main><h1>Verify receipts, offline</h1>
<noscript><p>This page verifies in your browser, and needs JavaScript for that. <code>npm run verify</code> does the same.</p></noscript>
<label class="drop"><b>Drop files here</b>Receipts, refusals, audit documents, exports, claims and verdicts, as JSON;
and the key set of their issuer (<code>jwks.json</code>), which an audit document brings itself.<br>
<input type="file" id="files" multiple accept="application/json,.json"></label>
<p id="keys" class="quiet"></p>
<div id="results" aria-live="polite"></div>
</main><footer><p>Everything is checked by your own browser with this one file. It asks nobody, and nothing leaves this page.
Whether USDC moved the chain alone can say: <code>npm run verify -- FILE --rpc URL</code> looks there.</p></footer>
<script type="module">${new Html(script)}</script>
</body></html>
`.text;
}
