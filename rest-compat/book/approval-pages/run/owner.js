import { usdcText } from '../../../receipt/page/texts.js';
import { askService } from './ask.js';
import { byId, elementOf, page } from './dom.js';
import { factsOf, outcomeOf } from './facts.js';
import { answerFaultText, isOver, readFaultText, signFaultText } from './refusals.js';
import { chooseWallet, signText, watchWallets } from './wallets.js';

/*
 * Shows the open approval requests of a book, and has the agent's wallet sign each answer. Only the variable below has the session, which
 * shows requests and cannot answer them.
 */

/** @typedef {{agent_id: string, session: string}} Book */
/** Whether the book that was open when an action began is still open. @typedef {() => boolean} StillOpen */

/** @type {Book | null} */
let book = null;
/** How often a book was closed. What began before the last time is ignored. */
let closings = 0;

const heading = byId('message');
const work = byId('work');
/** The base URL that signatures name, also if the page is reached at another URL. */
const service = page.document.querySelector('main').dataset.service;

/**
 * Runs one action at a time, so that no button works while a wallet shows its question.
 * @param {(stillOpen: StillOpen) => Promise<void>} act
 */
async function runAlone(act) {
  const before = closings;
  const stillOpen = () => closings === before;
  work.disabled = true;
  try {
    await act(stillOpen);
  } finally {
    if (stillOpen()) work.disabled = false;
  }
}

/** @param {string} agent_id */
const pathOf = agent_id => `v1/agents/${agent_id}/book/approvals`;

/** The wallet of an agent, which is public on the graph. @param {string} agent_id */
async function walletOf(agent_id) {
  const query = 'query ($agent_id: Int!) { agent(agentId: $agent_id) { wallet } }';
  const response = await askService('graphql', {}, { query, variables: { agent_id: Number(agent_id) } });
  return { response, wallet: response.body.data?.agent?.wallet };
}

/** @param {Book} chosen @param {StillOpen} stillOpen */
async function showBook(chosen, stillOpen) {
  const response = await askService(pathOf(chosen.agent_id), { 'X-SVC-Session': chosen.session });
  if (!stillOpen()) return;
  if (response.status !== 200) {
    if (response.status === 401 || response.status === 403) closeBook();
    heading.textContent = readFaultText(response);
    return;
  }
  const agent = await walletOf(chosen.agent_id);
  if (!stillOpen()) return;
  if (typeof agent.wallet !== 'string') {
    heading.textContent = readFaultText(agent.response);
    return;
  }
  book = chosen;
  byId('session').value = '';
  byId('wallet').textContent = agent.wallet;
  const open = response.body.approvals.filter((/** @type {any} */ { status }) => status === 'open');
  byId('requests').replaceChildren(...open.map((/** @type {any} */ request) => cardOf(request, agent.wallet)));
  byId('open').hidden = true;
  for (const id of ['book', 'closing']) byId(id).hidden = false;
  sayHowMany();
}

function sayHowMany() {
  const count = page.document.querySelectorAll('#requests form:not([hidden])').length;
  const waiting = count === 0 ? 'no call is' : count === 1 ? '1 call is' : `${count} calls are`;
  heading.textContent = `Book of agent ${book?.agent_id}: ${waiting} waiting for an answer.`;
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
  heading.textContent = '';
}

const decisions = { approve: 'Approve', deny: 'Deny' };

/** @param {any} request @param {string} account that of the agent */
function cardOf(request, account) {
  const card = elementOf('article');
  const parts = { facts: elementOf('dl'), status: elementOf('p'), buttons: elementOf('form') };
  parts.facts.replaceChildren(...factsOf(request));
  parts.status.setAttribute('role', 'status');
  parts.status.tabIndex = -1;
  parts.buttons.append(
    ...Object.entries(decisions).map(([value, label]) => Object.assign(elementOf('button', label), { value })),
  );
  parts.buttons.addEventListener('submit', (/** @type {any} */ event) => {
    event.preventDefault();
    const decision = event.submitter.value;
    runAlone(stillOpen => answer({ request, account }, decision, parts, stillOpen)).then(() => parts.status.focus());
  });
  card.append(elementOf('h2', usdcText(request.amount)), parts.facts, parts.status, parts.buttons);
  return card;
}

/**
 * @param {{request: any, account: string}} approval @param {string} decision @param {{facts: any, status: any, buttons: any}} card
 * @param {StillOpen} stillOpen
 */
async function answer({ request, account }, decision, { facts, status, buttons }, stillOpen) {
  const { approval_id, request_hash, agent_id } = request;
  const chosen = chooseWallet(byId('wallets').elements.wallet?.value);
  if (chosen.kind !== 'found') {
    status.textContent = signFaultText(chosen.why, account);
    return;
  }
  status.textContent = `Open ${chosen.wallet.name} to sign.`;
  const signed = await signText(chosen.wallet, account, at_seconds => {
    if (!stillOpen()) return null;
    const text = `svc.approval.${decision}|${service}|${approval_id}|${request_hash}|${at_seconds}`;
    status.replaceChildren(`${chosen.wallet.name} asks you to sign: `, elementOf('code', text));
    return text;
  });
  if (!stillOpen()) return;
  if (signed.kind !== 'signed') {
    status.textContent = signFaultText(signed.why, account);
    return;
  }
  const { signature: wallet_signature, at_seconds: signature_timestamp } = signed;
  const answered = { decision, wallet_signature, signature_timestamp };
  const response = await askService(`${pathOf(agent_id)}/${approval_id}`, {}, answered);
  if (!stillOpen()) return;
  const accepted = response.status === 200;
  if (accepted) facts.replaceChildren(...factsOf(response.body));
  status.textContent = accepted ? outcomeOf(response.body) : answerFaultText(response, account);
  buttons.hidden = accepted || isOver(response);
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
  runAlone(stillOpen => showBook({ agent_id, session }, stillOpen));
});
byId('again').addEventListener('click', () => {
  const again = book;
  if (again) runAlone(stillOpen => showBook(again, stillOpen));
});
byId('close').addEventListener('click', closeBook);
// Browsers may keep a page that is left, and show it again.
page.addEventListener('pagehide', closeBook);
byId('open').hidden = false;
