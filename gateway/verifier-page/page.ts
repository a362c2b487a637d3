import { pagePolicy } from '../../rest-compat/receipt/page/policy.ts';
import { STYLE } from '../../rest-compat/receipt/page/style.ts';
import { Html, html } from '../../schema/html.ts';
import { documentEndings } from '../../subgraphs/receipt/verify/read-document.ts';

/** Style of the drop area and the verdicts, in addition to that of the page of a receipt. */
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
.verdict .headline { overflow-wrap: anywhere; } #paste { display: flex; gap: 1rem; align-items: end; margin: 1rem 0; } #paste label { flex: 1; } textarea { display: block; width: 100%; font: inherit; }
button { font: inherit; color: inherit; background: var(--card); border: .1rem solid var(--line); border-radius: .4rem; padding: .4rem .8rem; cursor: pointer; } progress { width: 100%; }
.wide { overflow-x: auto; margin-top: 1rem; } table { border-collapse: collapse; width: 100%; min-width: 46rem; table-layout: fixed; font-size: .85rem; } th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-top: .06rem solid var(--line); min-width: 9rem; overflow-wrap: anywhere; } td.status, th:nth-child(2) { min-width: 0; width: 7rem; white-space: nowrap; }
tr[data-status=failed] .status { color: var(--failed); font-weight: 700; } tr[data-status=passed] .status { color: var(--passed); }
@media print { .drop, #paste { display: none; } .verdict { break-inside: avoid; } }
`;

/**
 * The page that verifies files that are dropped on it. It is one file: no other resource is loaded, and its policy allows
 * connections to no host.
 * @param script run/drop.js with all modules that it uses, in one text that ends no script element
 */
export function verifierPage(script: string): string {
  const style = STYLE + OWN_STYLE;
  const policy = pagePolicy({ script, style }, "require-trusted-types-for 'script'", "trusted-types 'none'");
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="content-security-policy" content="${new Html(policy)}">
<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Verify receipts</title><link rel="icon" href="data:,"><style>${new Html(style)}</style></head>
<body><main><h1>Verify receipts, offline</h1>
<noscript><p>This page verifies in your browser, and needs JavaScript for that. <code>npm run verify</code> does the same.</p></noscript>
<label class="drop"><b>Drop files here</b>Receipts (JSON, COSE, JWT), refusals, audit documents, exports, bundles, claims, verdicts, reconciliations, totals,
checkpoints, agent cards, signed offers, and grants, acts and texts that wallets signed, up to 10,000; and the key set of their issuer
(<code>jwks.json</code>), which an audit document already contains.<br>
<input type="file" id="files" multiple accept="application/json,${documentEndings.join()}"></label>
<form id="paste"><label>Or paste documents, one to a line<textarea id="text" rows="3" spellcheck="false"></textarea></label>
<button>Verify</button></form>
<p id="keys" class="quiet"></p>
<div id="progress"></div>
<ul id="summary" aria-live="polite"></ul>
<div id="details"></div>
<div id="results" aria-live="polite"></div>
</main><footer><p>Everything is checked by your own browser with this one file. It contacts no server, and nothing leaves this page.
Only the chain can show whether USDC moved: <code>npm run verify -- FILE --rpc URL</code> looks there.</p></footer>
<script type="module">${new Html(script)}</script>
</body></html>
`.text;
}
