import { askService } from './ask.js';
import { byId, page } from './dom.js';
import { factsOf, outcomeOf } from './facts.js';

/*
 * The part after the # is read and removed from the address, so that neither the history nor the address bar shows it. It is sent only to
 * this service, in a header. Opening the page sends a GET and pressing a button a POST, so that a program that opens links answers nothing.
 */

const [id, token] = page.location.hash.slice(1).split('.');
page.history.replaceState(null, '', page.location.pathname);

const INVALID_LINK = 'This link is not valid.';

/** By status. @type {Record<number, string>} */
const refusals = { 404: INVALID_LINK, 409: 'It was answered otherwise in the meantime, or has expired.' };

/** @param {object} [answer] */
async function askByLink(answer) {
  const path = `v1/approvals/${encodeURIComponent(id)}`;
  const { status, body: request } = await askService(path, { 'X-SVC-Approval': token }, answer);
  const known = status === 200;
  if (known) byId('facts').replaceChildren(...factsOf(request));
  byId('answer').hidden = !known || request.status !== 'open';
  byId('message').textContent = known
    ? outcomeOf(request)
    : (refusals[status] ?? 'The service could not be reached. Open the link again.');
}

byId('answer').addEventListener('submit', (/** @type {any} */ event) => {
  event.preventDefault();
  askByLink({ decision: event.submitter.value });
});
// Another link in the same tab only changes the part after the #.
page.addEventListener('hashchange', () => page.location.reload());
if (id && token) askByLink();
else byId('message').textContent = INVALID_LINK;
