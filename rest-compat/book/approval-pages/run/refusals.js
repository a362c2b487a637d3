/*
 * Sentences for what failed: whether the call is still open, and what to do. For any other error the text of the service is shown.
 */

const STILL_OPEN = 'The request was not answered: the call is still open.';

/** Why no wallet has signed: codes of EIP-1193 and EIP-1474, and reasons before a wallet was called. @type {Record<string, string>} */
const signFaults = {
  none:
    'No wallet was found in this browser. Open this page in the browser that has the wallet of the agent. Firefox may block an older ' +
    'wallet because of the security policy of this page.',
  unchosen: 'There are several wallets: choose one above, and press again.',
  no_account: 'The wallet shows no account: unlock it, and press again.',
  4001: 'You rejected the request in the wallet.',
  4100: 'The wallet is not connected to this page: connect it, and press again.',
  '-32002': 'The wallet has an open question already: open it, answer there, and press again.',
};

/** @param {string} why @param {string} account that of the agent */
export function signFaultText(why, account) {
  const missing = why === 'not_connected' && `Connect ${account} to this page in the wallet, and press again.`;
  return `${missing || (signFaults[why] ?? 'The wallet could not sign: press again.')} ${STILL_OPEN}`;
}

/** Why a book was not shown, by status. @type {Record<number, string>} */
const readFaults = {
  0: 'The service could not be reached. Try again.',
  401: 'This session does not open the book of that agent.',
  403: 'This session does not open the book of that agent.',
  429: 'Too many requests. Try again in a minute.',
};

/** @param {{status: number, body: any}} response */
export const readFaultText = ({ status, body }) =>
  readFaults[status] ?? `The book could not be shown. ${body.detail ?? ''}`;

/** How a request was already closed. @type {Record<string, string>} */
const closedTexts = {
  approved: 'It was approved in the meantime, and was not denied.',
  passed: 'It was approved in the meantime, and the call was made.',
  denied: 'It was denied in the meantime: the call stays refused.',
  expired: 'It has expired: the call stays refused.',
};

const NOT_PROVEN = 'did not make this signature. A contract wallet must be on Base.';
const NOT_NOW = 'The wallet took too long to sign, or the clock of this computer is wrong: press again.';
const NO_CHAIN = 'The service cannot check the signature on the chain now: press again in a minute.';

/**
 * Why an answer was not accepted, by code. `account`: that of the agent.
 * @type {Record<string, (body: any, account: string) => string>}
 */
const answerFaults = {
  control_proof_invalid: ({ error }, account) =>
    `${error?.param === 'signature_timestamp' ? NOT_NOW : `${account} ${NOT_PROVEN}`} ${STILL_OPEN}`,
  approval_closed: ({ approval_status }) =>
    closedTexts[approval_status] ?? 'It was answered otherwise in the meantime.',
  not_found: () => 'The request no longer exists: the call stays refused.',
  rate_limited: () => `Too many requests: press again in a minute. ${STILL_OPEN}`,
  chain_unavailable: () => `${NO_CHAIN} ${STILL_OPEN}`,
};

const NO_RESPONSE =
  'The service could not be reached, or did not respond. Press again: the same answer given twice counts once.';

/** @param {{status: number, body: any}} response @param {string} account */
export function answerFaultText({ status, body }, account) {
  if (status === 0) return NO_RESPONSE;
  return answerFaults[body.code]?.(body, account) ?? `The answer was not accepted. ${body.detail ?? ''}`;
}

/** Whether the request can no longer be answered. @param {{body: any}} response */
export const isOver = ({ body }) => body.code === 'approval_closed' || body.code === 'not_found';
