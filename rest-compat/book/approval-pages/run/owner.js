import { usdcText } from '../../../receipt/page/check/texts.js';
import { askService } from './ask.js';
import { byId, elementOf, page } from './dom.js';
import { factsOf, outcomes } from './facts.js';
import { isOver, unseenText, unsignedText, untakenText } from './refusals.js';
import { signedBy, walletToAsk, watchWallets } from './wallets.js';

/*
 * Shows a book's owner what waits for an answer, and has the agent's wallet sign each. The session is held in this variable
 * alone: it shows, and answers nothing.
 */

/** @typedef {{agent_id: string, session: string}} Book */

/** @type {Book | null} */
let book = null;

const says = byId('says');
const work = byId('work');

/** One thing at a time: no second press while a wallet asks its person. @param {() => Promise<void>} act */
async function alone(act) {
  work.disabled = true;
  try {
    await act();
  } finally {
    work.disabled = false;
  }
}

/** @param {string} agent_id */
const pathOf = agent_id => `v1/agents/${agent_id}/book/approvals`;

/** @param {Book} asked */
async function showBook(asked) {
  const heard = await askService(pathOf(asked.agent_id), { 'X-SVC-Session': asked.session });
  if (heard.status !== 200) {
    if (heard.status === 401 || heard.status === 403) closeBook();
    says.textContent = unseenText(heard);
    return;
  }
  book = asked;
  byId('session').value = '';
  const open = heard.body.approvals.filter((/** @type {any} */ { status }) => status === 'open');
  byId('requests').replaceChildren(...open.map(cardOf));
  byId('open').hidden = true;
  byId('book').hidden = false;
  sayHowMany();
}

function sayHowMany() {
  const count = page.document.querySelectorAll('#requests form:not([hidden])').length;
  const waiting = count === 0 ? 'nothing waits' : count === 1 ? '1 call waits' : `${count} calls wait`;
  says.textContent = `Book of agent ${book?.agent_id}: ${waiting} for an answer.`;
}

function closeBook() {
  book = null;
  byId('session').value = '';
  byId('requests').replaceChildren();
  byId('book').hidden = true;
  byId('open').hidden = false;
  says.textContent = '';
}

const decisions = { approve: 'Approve', deny: 'Deny' };

/** @param {any} request */
function cardOf(request) {
  const card = elementOf('article');
  const parts = { facts: elementOf('dl'), tells: elementOf('p'), buttons: elementOf('form') };
  parts.facts.replaceChildren(...factsOf(request));
  parts.tells.setAttribute('role', 'status');
  parts.tells.tabIndex = -1;
  parts.buttons.append(
    ...Object.entries(decisions).map(([value, label]) => Object.assign(elementOf('button', label), { value })),
  );
  parts.buttons.addEventListener('submit', (/** @type {any} */ event) => {
    event.preventDefault();
    const decision = event.submitter.value;
    alone(() => answer(request, decision, parts)).then(() => parts.tells.focus());
  });
  card.append(elementOf('h2', usdcText(request.amount)), parts.facts, parts.tells, parts.buttons);
  return card;
}

/** @param {any} request @param {string} decision @param {{facts: any, tells: any, buttons: any}} card */
async function answer(request, decision, { facts, tells, buttons }) {
  const { approval_id, request_hash, agent_id } = request;
  const asked = walletToAsk(byId('wallets').elements.wallet?.value);
  if (asked.kind !== 'found') {
    tells.textContent = unsignedText(asked.why);
    return;
  }
  tells.textContent = `${asked.wallet.name} is asked: open it.`;
  const signed = await signedBy(asked.wallet, at_seconds => {
    const text = `svc.approval.${decision}|${approval_id}|${request_hash}|${at_seconds}`;
    tells.replaceChildren(`${asked.wallet.name} asks you to sign: `, elementOf('code', text));
    return text;
  });
  if (signed.kind !== 'signed') {
    tells.textContent = unsignedText(signed.why);
    return;
  }
  const { account, signature: wallet_signature, at_seconds: signature_timestamp } = signed;
  const answered = { decision, wallet_signature, signature_timestamp };
  const heard = await askService(`${pathOf(agent_id)}/${approval_id}`, {}, answered);
  const taken = heard.status === 200;
  if (taken) facts.replaceChildren(...factsOf(heard.body));
  tells.textContent = taken ? (outcomes[heard.body.status] ?? heard.body.status) : untakenText(heard, account);
  buttons.hidden = taken || isOver(heard);
  sayHowMany();
}

watchWallets((id, { name }) => {
  const [choice, label] = [elementOf('input'), elementOf('label')];
  Object.assign(choice, { type: 'radio', name: 'wallet', value: id });
  label.append(choice, ` ${name}`);
  byId('choices').append(label);
  byId('wallets').hidden = byId('choices').children.length < 2;
});

byId('open').addEventListener('submit', (/** @type {any} */ event) => {
  event.preventDefault();
  const [agent_id, session] = [byId('agent').value.trim(), byId('session').value.trim()];
  alone(() => showBook({ agent_id, session }));
});
byId('again').addEventListener('click', () => {
  const again = book;
  if (again) alone(() => showBook(again));
});
byId('close').addEventListener('click', closeBook);
// A page that is left may be kept as it stands, to be shown again.
page.addEventListener('pagehide', closeBook);
byId('open').hidden = false;
