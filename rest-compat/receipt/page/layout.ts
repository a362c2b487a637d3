import type { JsonObject } from '../../../schema/canonical-json.ts';
import { explorerPage } from '../../../schema/explorers.ts';
import { Html, html } from '../../../schema/html.ts';
import type { PageFacts } from './facts.ts';
import { pagePolicy } from './policy.ts';
import { STYLE } from './style.ts';

/** Parts of a page. All text is untrusted: others choose the names of models, hubs and resources. */
export interface PageParts {
  readonly title: string;
  /** Kind of the document, as a heading. */
  readonly kind: string;
  /** The most important fact, in large type. */
  readonly sum: Html;
  readonly profile: Html | '';
  readonly facts: readonly Html[];
  /** Checks of the audit document, and how to do each by other means. */
  readonly checks: readonly { readonly name: string; readonly how: string }[];
  readonly proves: readonly string[];
  readonly does_not_prove: readonly string[];
  readonly beside: readonly Html[];
  /** Links to other forms of the document. */
  readonly links: readonly (readonly [label: string, url: string])[];
  /** The audit document: what the page checks. */
  readonly evidence: JsonObject;
}

export const HTML = 'text/html; charset=utf-8';

type Headers = Readonly<Record<string, string>>;
const known = new Map<string | null, Headers>();

/**
 * The page loads nothing, runs only its own script and style, and cannot be framed. `program`: the script of the page. Null if it has none.
 */
export function pageHeaders(program: string | null): Headers {
  const found = known.get(program);
  if (found !== undefined) return found;
  const made = {
    'content-security-policy': pagePolicy({ script: program, style: STYLE }, "frame-ancestors 'none'"),
    'referrer-policy': 'no-referrer',
  };
  known.set(program, made);
  return made;
}

const NOT_CHECKED = 'Not checked here';

export function pageText(parts: PageParts, program: string): string {
  const { title, kind, sum, profile, facts, checks, proves, does_not_prove, beside, links, evidence } = parts;
  return html`${openingTags(title)}
<body><main>${profile}
<h1>${kind}</h1>
<div id="verdict" role="status" aria-live="polite"><p class="headline">${NOT_CHECKED}</p>
<p class="detail">The checks of this page run in your browser and need JavaScript. Without it, <code>npm run verify</code> does the same.</p></div>
<div class="sum">${sum}</div>
<dl>${facts}</dl>
<h2 id="checks">Checks</h2>
<ul id="made" class="checks" aria-labelledby="checks">${checks.map(checkItem)}</ul>
<h2>What this proves</h2><ul class="proves">${proves.map(item)}</ul>
<h2>What it does not prove</h2><ul>${does_not_prove.map(item)}</ul>
${beside}
<nav aria-labelledby="programs"><h2 id="programs">For programs</h2>
<ul>${links.map(([label, url]) => html`<li><a href="${url}">${label}</a></li>`)}</ul>
<details><summary>The evidence, as JSON</summary><pre tabindex="0" role="region" aria-label="The evidence">${JSON.stringify(evidence, null, 1)}</pre></details></nav>
</main><footer><p>Your browser makes every check above with the data of this page and the code of <code>npm run verify</code>, without contacting a server. All times are UTC.</p></footer>
<script type="application/json" id="evidence">${new Html(escapeForScript(evidence))}</script>
<script type="module">${new Html(program)}</script>
</body></html>
`.text;
}

export function openingTags(title: string, style = STYLE): Html {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<link rel="icon" href="data:,"><style>${new Html(style)}</style></head>`;
}

/** Without a less-than sign, JSON can neither end its element nor begin a comment (HTML §4.12.1.3). */
function escapeForScript(evidence: JsonObject): string {
  return JSON.stringify(evidence).replaceAll('<', '\\u003c');
}

const item = (text: string) => html`<li>${markCode(text)}</li>`;

/** Text between two backticks becomes code. */
export function markCode(text: string): Html[] {
  return text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

function checkItem({ name, how }: PageParts['checks'][number]): Html {
  return html`<li data-status="open"><span class="status">${NOT_CHECKED}</span><span><b>${name}</b> ${markCode(how)}</span></li>`;
}

/** The facts that are not shown elsewhere. */
export function factRows(facts: PageFacts, apart: ReadonlySet<string>): Html[] {
  return Object.entries(facts).flatMap(([name, text]) => {
    if (apart.has(name)) return [];
    return [name === 'Transaction' ? transactionRow(name, text, facts.Profile ?? '') : factRow(name, text)];
  });
}

/** A row of the list of facts. The browser compares it with the signed claims. */
export function factRow(name: string, text: string, label = name): Html {
  return html`<dt>${label}</dt><dd data-fact="${name}">${text}</dd>`;
}

/** The row of the transaction, with a link to its block explorer. */
function transactionRow(name: string, payment_ref: string, profile: string): Html {
  const page = explorerPage(payment_ref, profile);
  const link = page && html` <a href="${page.url}" rel="noreferrer noopener">Look it up on ${page.name}</a>`;
  return html`<dt>${name}</dt><dd><span data-fact="${name}">${payment_ref}</span>${link ?? ''}</dd>`;
}

/** A document of the development profile begins with a warning. */
export function profileBanner(signed: string): Html | '' {
  if (signed !== 'development') return '';
  return html`<p class="profile" role="note"><strong data-fact="Profile">${signed}</strong>Stand-ins were used: no real money moved.</p>`;
}
