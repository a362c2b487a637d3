import { askService } from './ask.js';
import { byId, page } from './dom.js';
import { factsOf, outcomeOf } from './facts.js';

/*
 * What stands behind the # is read here and taken out of the address, so that no history and no look over a shoulder keeps it;
 * it goes out in a header, to this service alone. Looking asks GET, and a press POSTs: whatever opens links by itself
 * answers nothing.
 */

const [id, token] = page.location.hash.slice(1).split('.');
page.history.replaceState(null, '', page.location.pathname);

const SILENT = 'This link answers nothing.';

/** By status. @type {Record<number, string>} */
const refusals = { 404: SILENT, 409: 'It was answered otherwise meanwhile, or its time is over.' };

/** @param {object} [answer] */
async function askByLink(answer) {
  const path = `v1/approvals/${encodeURIComponent(id)}`;
  const { status, body: request } = await askService(path, { 'X-SVC-Approval': token }, answer);
  const known = status === 200;
  if (known) byId('facts').replaceChildren(...factsOf(request));
  byId('answer').hidden = !known || request.status !== 'open';
  byId('says').textContent = known
    ? outcomeOf(request)
    : (refusals[status] ?? 'The service could not be asked. Open the link once more.');
}

byId('answer').addEventListener('submit', (/** @type {any} */ event) => {
  event.preventDefault();
  askByLink({ decision: event.submitter.value });
});
// Another link in the same tab changes nothing but what stands behind the #.
page.addEventListener('hashchange', () => page.location.reload());
if (id && token) askByLink();
else byId('says').textContent = SILENT;
