import { usdcText } from '../../../receipt/page/texts.js';
import { askService } from './ask.js';
import { byId, elementOf, page } from './dom.js';
import { factsOf, outcomeOf } from './facts.js';
import { isOver, unseenText, unsignedText, untakenText } from './refusals.js';
import { signedBy, walletToAsk, watchWallets } from './wallets.js';

/*
 * Shows the open approval requests of a book, and has the agent's wallet sign each answer. Only the variable below has the session, which
 * shows requests and cannot answer them.
 */

/** @typedef {{agent_id: string, session: string}} Book */
/**
 * Whether the book that was open when an action began is still open; otherwise the result is ignored. @typedef {() => boolean} StillOpen
 */

/** @type {Book | null} */
let book = null;
/** How often a book was closed. What began before the last time is ignored. */
let closings = 0;

const says = byId('says');
const work = byId('work');
/** The base URL that signatures name, also if the page is reached at another URL. */
const service = page.document.querySelector('main').dataset.service;

/**
 * Runs one action at a time, so that no button works while a wallet shows its question. @param {(stillOpen: StillOpen) => Promise<void>}
 * act
 */
async function alone(act) {
  const before = closings;
  const stands = () => closings === before;
  work.disabled = true;
  try {
    await act(stands);
  } finally {
    if (stands()) work.disabled = false;
  }
}

/** @param {string} agent_id */
const pathOf = agent_id => `v1/agents/${agent_id}/book/approvals`;

/** The wallet of an agent, which is public on the graph. @param {string} agent_id */
async function walletOf(agent_id) {
  const query = 'query ($agent_id: Int!) { agent(agentId: $agent_id) { wallet } }';
  const heard = await askService('graphql', {}, { query, variables: { agent_id: Number(agent_id) } });
  return { heard, wallet: heard.body.data?.agent?.wallet };
}

/** @param {Book} asked @param {Stands} stands */
async function showBook(asked, stands) {
  const heard = await askService(pathOf(asked.agent_id), { 'X-SVC-Session': asked.session });
  if (!stands()) return;
  if (heard.status !== 200) {
    if (heard.status === 401 || heard.status === 403) closeBook();
    says.textContent = unseenText(heard);
    return;
  }
  const agent = await walletOf(asked.agent_id);
  if (!stands()) return;
  if (typeof agent.wallet !== 'string') {
    says.textContent = unseenText(agent.heard);
    return;
  }
  book = asked;
  byId('session').value = '';
  byId('wallet').textContent = agent.wallet;
  const open = heard.body.approvals.filter((/** @type {any} */ { status }) => status === 'open');
  byId('requests').replaceChildren(...open.map((/** @type {any} */ request) => cardOf(request, agent.wallet)));
  byId('open').hidden = true;
  for (const id of ['book', 'closing']) byId(id).hidden = false;
  sayHowMany();
}

function sayHowMany() {
  const count = page.document.querySelectorAll('#requests form:not([hidden])').length;
  const waiting = count === 0 ? 'no call is' : count === 1 ? '1 call is' : `${count} calls are`;
  says.textContent = `Book of agent ${book?.agent_id}: ${waiting} waiting for an answer.`;
}

/** Ends what is in progress. A wallet may still show its question, but its answer is ignored. */
function closeBook() {
  closings += 1;
  work.disabled = false;
  book = null;
  byId('session').value = '';
  byId('requests').replaceChildren();
  for (const id of ['book', 'closing']) byId(id).hidden = true;
  byId('open').hidden = false;
  says.textContent = '';
}

const decisions = { approve: 'Approve', deny: 'Deny' };

/** @param {any} request @param {string} account that of the agent */
function cardOf(request, account) {
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
    alone(stands => answer({ request, account }, decision, parts, stands)).then(() => parts.tells.focus());
  });
  card.append(elementOf('h2', usdcText(request.amount)), parts.facts, parts.tells, parts.buttons);
  return card;
}

/**
 * @param {{request: any, account: string}} asked @param {string} decision @param {{facts: any, tells: any, buttons: any}} card
 * @param {Stands} stands
 */
async function answer({ request, account }, decision, { facts, tells, buttons }, stands) {
  const { approval_id, request_hash, agent_id } = request;
  const asked = walletToAsk(byId('wallets').elements.wallet?.value);
  if (asked.kind !== 'found') {
    tells.textContent = unsignedText(asked.why, account);
    return;
  }
  tells.textContent = `Open ${asked.wallet.name} to sign.`;
  const signed = await signedBy(asked.wallet, account, at_seconds => {
    if (!stands()) return null;
    const text = `svc.approval.${decision}|${service}|${approval_id}|${request_hash}|${at_seconds}`;
    tells.replaceChildren(`${asked.wallet.name} asks you to sign: `, elementOf('code', text));
    return text;
  });
  if (!stands()) return;
  if (signed.kind !== 'signed') {
    tells.textContent = unsignedText(signed.why, account);
    return;
  }
  const { signature: wallet_signature, at_seconds: signature_timestamp } = signed;
  const answered = { decision, wallet_signature, signature_timestamp };
  const heard = await askService(`${pathOf(agent_id)}/${approval_id}`, {}, answered);
  if (!stands()) return;
  const taken = heard.status === 200;
  if (taken) facts.replaceChildren(...factsOf(heard.body));
  tells.textContent = taken ? outcomeOf(heard.body) : untakenText(heard, account);
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
  alone(stands => showBook({ agent_id, session }, stands));
});
byId('again').addEventListener('click', () => {
  const again = book;
  if (again) alone(stands => showBook(again, stands));
});
byId('close').addEventListener('click', closeBook);
// Browsers may keep a page that is left, and show it again.
page.addEventListener('pagehide', closeBook);
byId('open').hidden = false;
