import { html } from '../../../schema/html.ts';
import { approvalPage } from './layout.ts';

/** The page at which a book's owner answers: it asks the agent's wallet, in whose browser it is open. */
export const ownerPage = approvalPage({
  title: 'Calls that want an approval',
  body: base_url => html`<main data-service="${base_url}"><h1>Calls that a book wants approved</h1>
<p>A call that its book has refused for want of an approval passes, once, if the wallet of the book’s agent signs for it. The session
shows what waits; the wallet alone answers. A Safe, or another contract wallet, may answer by
<code>POST /v1/agents/{agent_id}/book/approvals/{approval_id}</code>.</p>
<noscript><p>This page needs JavaScript. <code>POST /v1/agents/{agent_id}/book/approvals/{approval_id}</code> does the same.</p></noscript>
<fieldset id="work"><form id="open" hidden>
<label class="narrow">Agent id <input class="field" id="agent" inputmode="numeric" pattern="\\s*[1-9][0-9]*\\s*" title="A number" autocomplete="off" required></label>
<label class="wide">Session of its book <input class="field" id="session" type="password" pattern="\\s*[!-~]+\\s*" title="As it was given at registration" autocomplete="off" spellcheck="false" required></label>
<button class="first">Show what waits</button></form>
<p id="says" role="status" aria-live="polite"></p>
<div id="book" hidden><p>Wallet of the agent: <code id="wallet"></code></p><form id="wallets" class="choice" hidden><fieldset><legend>Which wallet is to be asked?</legend><div id="choices"></div></fieldset></form>
<div id="requests"></div>
<div class="buttons"><button type="button" id="again">Look again</button></div></div></fieldset>
<div class="buttons" id="closing" hidden><button type="button" id="close">Close the book</button></div>
</main><footer><p>The session is held by this page alone, and forgotten when the book or the page is closed. What is signed here moves no
money. All times are UTC.</p></footer>`,
  script: ['wallets', 'refusals', 'owner'],
});
