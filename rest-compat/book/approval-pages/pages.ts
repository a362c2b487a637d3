import { readFileSync } from 'node:fs';
import { Html, html } from '../../../schema/html.ts';
import { openingTags } from '../../receipt/page/layout.ts';
import { pagePolicy } from '../../receipt/page/policy.ts';
import { STYLE } from '../../receipt/page/style.ts';

/* The two pages on which people answer approval requests: the page of a link, and the page of a book's owner. */

const OWN_STYLE = `
[hidden] { display: none !important; } fieldset { border: 0; margin: 0; padding: 0; min-width: 0; } legend { padding: 0; font-weight: 600; }
form, .buttons { display: flex; flex-wrap: wrap; gap: 1rem; align-items: end; margin: 1.5rem 0 0; }
button { font: inherit; font-weight: 600; padding: .6rem 1.4rem; cursor: pointer; color: inherit; background: var(--card); border: .1rem solid var(--line); border-radius: .4rem; }
button, .field { min-height: 2.9rem; }
button[value=approve], button.first { color: var(--paper); background: var(--ink); border-color: var(--ink); } :disabled { cursor: default; } :disabled button { opacity: .5; }
label { display: block; } label input { font: inherit; color: inherit; }
label .field { display: block; margin-top: .25rem; padding: .5rem .6rem; width: 100%; background: var(--paper); border: .1rem solid var(--quiet); border-radius: .4rem; }
.narrow { flex: 0 1 8rem; } .wide { flex: 1 1 18rem; } .choice { margin: 1.5rem 0; } .choice label { margin-top: .5rem; }
article { margin: 1.75rem 0 0; padding: 1.1rem 1.25rem; border: .1rem solid var(--line); border-radius: .6rem; }
article h2 { font-size: 1.6rem; line-height: 1.2; margin: 0; } article dl { border-bottom: 0; padding-bottom: 0; font-size: .92rem; } article p { margin: 1.25rem 0 0; padding-left: .8rem; border-left: .3rem solid var(--quiet); font-weight: 600; overflow-wrap: anywhere; } article code { font-weight: 400; }
dd.request-text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
article p:empty { display: none; } article form { margin-top: 1.25rem; } #book { margin-top: 1.5rem; } #work > p { margin-top: 1.5rem; font-weight: 600; }
`;

interface ApprovalPageParts {
  readonly title: string;
  readonly body: (base_url: string) => Html;
  /** Modules of `run/`, each after those that it imports. */
  readonly script: readonly string[];
}

interface ApprovalPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly textAt: (base_url: string) => string;
}

/** A page that is the same for every visitor, contacts only this service, and cannot be framed. */
function approvalPage({ title, body, script: names }: ApprovalPageParts): ApprovalPage {
  const style = STYLE + OWN_STYLE;
  const own = ['bytes', 'dom', 'ask', 'facts', ...names].map(name => `./run/${name}.js`);
  const script = oneScript(
    ['../../../schema/bidi.js', '../../receipt/page/texts.js', ...own].map(path => new URL(path, import.meta.url)),
  );
  return {
    headers: {
      'content-security-policy': pagePolicy({ script, style }, "connect-src 'self'", "frame-ancestors 'none'"),
      'referrer-policy': 'no-referrer',
    },
    textAt: base_url =>
      html`${openingTags(title, style)}
<body>${body(base_url)}
<script type="module">${new Html(script)}</script>
</body></html>
`.text,
  };
}

/** The page of an approval link. It is the same for every visitor, because browsers do not send the part after the `#`. */
export const linkPage = approvalPage({
  title: 'Approve a call',
  body: () => html`<main><h1>Approve a call</h1>
<noscript><p>This page needs JavaScript. <code>POST /v1/approvals/{approval_id}</code> does the same.</p></noscript>
<p class="sum" id="message" role="status" aria-live="polite"></p><dl id="facts"></dl>
<form id="answer" hidden><button value="approve">Approve</button><button value="deny">Deny</button></form>
</main><footer><p>This link answers the request once. All times are UTC.</p></footer>`,
  script: ['link'],
});

/** The page on which the owner of a book answers with the agent's wallet in the same browser. */
export const ownerPage = approvalPage({
  title: 'Calls waiting for approval',
  body: base_url => html`<main data-service="${base_url}"><h1>Calls waiting for approval</h1>
<p>A call that the book refuses until it is approved is allowed once if the wallet of the agent signs an approval. The session only
shows the requests; only the wallet can answer them. A Safe or another contract wallet can answer by
<code>POST /v1/agents/{agent_id}/book/approvals/{approval_id}</code>.</p>
<noscript><p>This page needs JavaScript. <code>POST /v1/agents/{agent_id}/book/approvals/{approval_id}</code> does the same.</p></noscript>
<fieldset id="work"><form id="open" hidden>
<label class="narrow">Agent id <input class="field" id="agent" inputmode="numeric" pattern="\\s*[1-9][0-9]*\\s*" title="A number" autocomplete="off" required></label>
<label class="wide">Session of its book <input class="field" id="session" type="password" pattern="\\s*[!-~]+\\s*" title="The session that the registration returned" autocomplete="off" spellcheck="false" required></label>
<button class="first">Show requests</button></form>
<p id="message" role="status" aria-live="polite"></p>
<div id="book" hidden><p>Wallet of the agent: <code id="wallet"></code></p><form id="wallets" class="choice" hidden><fieldset><legend>Choose the wallet that signs</legend><div id="choices"></div></fieldset></form>
<div id="requests"></div>
<div class="buttons"><button type="button" id="again">Refresh</button></div></div></fieldset>
<div class="buttons" id="closing" hidden><button type="button" id="close">Close the book</button></div>
</main><footer><p>Only this page has the session, and forgets it when the book or the page is closed. A signature on this page moves no
money. All times are UTC.</p></footer>`,
  script: ['wallets', 'refusals', 'owner'],
});

/**
 * Joins modules to one script, because a page in one file cannot import. Each module follows those that it imports, and no two have a
 * top-level name in common.
 */
function oneScript(modules: readonly URL[]): string {
  return modules.map(module => withoutImports(readFileSync(module, 'utf8'))).join('\n');
}

function withoutImports(source: string): string {
  return source.replaceAll(/^import [^;]*;\n/gm, '').replaceAll(/^export (?=(async )?function |const )/gm, '');
}
