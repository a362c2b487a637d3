/*
 * What did not come about, in plain words: whether the call is still open, and what to do. Beside the service's own text, which
 * is shown where this page knows no better.
 */

const STILL_OPEN = 'Nothing was answered: the call is still open.';

/** Why no wallet has signed: codes of EIP-1193 and EIP-1474, and what stood before one was asked. @type {Record<string, string>} */
const unsigned = {
  none:
    'No wallet was found in this browser: open this page in the one that has the wallet of the agent. Firefox may keep an older ' +
    'wallet out of this page, by the page’s own policy.',
  unchosen: 'There is more than one wallet here: choose above which is to be asked, and press again.',
  no_account: 'The wallet shows this page no account: unlock it, and press again.',
  4001: 'You have rejected it in the wallet.',
  4100: 'The wallet does not let this page ask: connect it to this page, and press again.',
  '-32002': 'The wallet is asking something already: open it, answer there, and press again.',
};

/** @param {string} why @param {string} account that of the agent */
export function unsignedText(why, account) {
  const missing = why === 'not_connected' && `Connect ${account} to this page in the wallet, and press again.`;
  return `${missing || (unsigned[why] ?? 'The wallet could not sign: press again.')} ${STILL_OPEN}`;
}

/** Why a book was not shown, by status. @type {Record<number, string>} */
const unseen = {
  0: 'The service could not be reached. Try again.',
  401: 'This session does not open the book of that agent.',
  403: 'This session does not open the book of that agent.',
  429: 'The service was asked too often. Try again in a minute.',
};

/** @param {{status: number, body: any}} heard */
export const unseenText = ({ status, body }) => unseen[status] ?? `The book could not be shown. ${body.detail ?? ''}`;

/** How a request is closed already. @type {Record<string, string>} */
const closed = {
  approved: 'It was approved meanwhile, and was not denied.',
  passed: 'It was approved meanwhile, and the call has passed.',
  denied: 'It was denied meanwhile: the call stays refused.',
  expired: 'Its time is over: the call stays refused.',
};

const NOT_BELIEVED = 'is not believed to have signed this. If it is a contract wallet, it has to be on Base.';
const NOT_NOW =
  'Between asking the wallet and its answer passed too much time, or the clock of this computer is wrong: press again.';
const NO_CHAIN = 'The service cannot ask the chain just now whether this wallet has signed: press again in a minute.';

/**
 * Why an answer was not taken, by code. `account`: that of the agent.
 * @type {Record<string, (body: any, account: string) => string>}
 */
const untaken = {
  control_proof_invalid: ({ error }, account) =>
    `${error?.param === 'signature_timestamp' ? NOT_NOW : `${account} ${NOT_BELIEVED}`} ${STILL_OPEN}`,
  approval_closed: ({ approval_status }) => closed[approval_status] ?? 'It was answered otherwise meanwhile.',
  not_found: () => 'There is no such request any more: the call stays refused.',
  rate_limited: () => `The service was asked too often: press again in a minute. ${STILL_OPEN}`,
  chain_unavailable: () => `${NO_CHAIN} ${STILL_OPEN}`,
};

const UNHEARD =
  'The service could not be reached, or has not said what came of it. Press again: the same answer given twice counts once.';

/** @param {{status: number, body: any}} heard @param {string} account */
export function untakenText({ status, body }, account) {
  if (status === 0) return UNHEARD;
  return untaken[body.code]?.(body, account) ?? `The service has not taken it. ${body.detail ?? ''}`;
}

/** Whether nothing can be answered any more. @param {{body: any}} heard */
export const isOver = ({ body }) => body.code === 'approval_closed' || body.code === 'not_found';
