import { createHash } from 'node:crypto';
import { Html, html } from '../../schema/html.ts';
import { STYLE } from '../receipt/page/style.ts';

const OWN_STYLE = `
form { display: flex; gap: 1rem; margin: 1.5rem 0 0; } button { font: inherit; font-weight: 600; padding: .6rem 1.4rem; cursor: pointer; }
[hidden] { display: none; }
`;

/**
 * What stands behind the # is read here and taken out of the address, so that no history and no look over a shoulder keeps it;
 * it goes out in a header, to this service alone. Looking asks GET, and a press POSTs: whatever opens links by itself
 * answers nothing. What the request says of itself is a stranger's, and is written as text.
 */
const SCRIPT = `
const [id, token] = location.hash.slice(1).split('.');
history.replaceState(null, '', location.pathname);
const at = '/v1/approvals/' + encodeURIComponent(id);
const byId = name => document.getElementById(name);
const labels = { status: 'Status', payer: 'Payer', amount: 'Amount, atomic USDC', model: 'Model', doors: 'Door', agent_id: 'Book of agent',
  delegation_hash: 'Session', policy_code: 'Wanted by', asked_at: 'Asked', open_until: 'To be answered until', request_hash: 'Request' };
const said = { open: 'Approve this call?', approved: 'Approved: this very call passes, once.', denied: 'Denied: the call stays refused.',
  expired: 'Its time is over: the call stays refused.', passed: 'Approved, and the call has passed.' };
function show(request) {
  byId('says').textContent = said[request.status] ?? request.status;
  byId('facts').replaceChildren(...Object.entries(labels).flatMap(([name, label]) => {
    if (request[name] === null || request[name] === undefined) return [];
    const [term, value] = [document.createElement('dt'), document.createElement('dd')];
    term.textContent = label;
    value.textContent = String(request[name]);
    return [term, value];
  }));
  byId('answer').hidden = request.status !== 'open';
}
async function ask(method, body) {
  const headers = { 'X-SVC-Approval': token, ...(body && { 'content-type': 'application/json' }) };
  const answer = await fetch(at, { method, headers, ...(body && { body: JSON.stringify(body) }) }).catch(() => null);
  if (answer?.ok) return show(await answer.json());
  byId('answer').hidden = true;
  byId('says').textContent = answer?.status === 409 ? 'It was answered otherwise meanwhile, or its time is over.'
    : answer?.status === 404 ? 'This link answers nothing.' : 'The service could not be asked. Open the link once more.';
}
byId('answer').addEventListener('submit', event => { event.preventDefault(); ask('POST', { decision: event.submitter.value }); });
// Another link in the same tab changes nothing but what stands behind the #.
addEventListener('hashchange', () => location.reload());
if (id && token) ask('GET');
else byId('says').textContent = 'This link answers nothing.';
`;

const hashed = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The page of the link that a webhook is told: the same for everybody, since nobody sends it what stands behind the #. */
export function approvePage(): string {
  const style = STYLE + OWN_STYLE;
  const policy = [
    "default-src 'none'",
    `script-src ${hashed(SCRIPT)}`,
    `style-src ${hashed(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="content-security-policy" content="${new Html(policy)}">
<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Approve a call</title>
<link rel="icon" href="data:,"><style>${new Html(style)}</style></head>
<body><main><h1>A call that its book wants approved</h1>
<noscript><p>This page needs JavaScript. <code>POST /v1/approvals/{approval_id}</code> does the same.</p></noscript>
<p class="sum" id="says" role="status" aria-live="polite"></p><dl id="facts"></dl>
<form id="answer" hidden><button value="approve">Approve</button><button value="deny">Deny</button></form>
</main><footer><p>Who has this link answers once. All times are UTC.</p></footer>
<script type="module">${new Html(SCRIPT)}</script>
</body></html>
`.text;
}
