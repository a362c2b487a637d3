import { timeText, usdcText } from '../../../receipt/page/check/texts.js';
import { elementOf } from './dom.js';

/*
 * What these pages show of a request: all that its approval would bind.
 */

/** By member of the answer, in the order in which they are shown. */
const labels = {
  status: 'Status',
  payer: 'Payer',
  amount: 'Amount',
  model: 'Model',
  doors: 'Door',
  agent_id: 'Book of agent',
  delegation_hash: 'Session',
  policy_code: 'Wanted by',
  asked_at: 'Asked',
  open_until: 'To be answered until',
  passes_until: 'Passes until',
  request_hash: 'Request',
  approval_id: 'Approval',
};

/** @type {Record<string, (value: any) => string>} */
const written = {
  amount: usdcText,
  doors: doors => doors.join(', '),
  asked_at: timeText,
  open_until: timeText,
  passes_until: timeText,
};

/** What an answer came to, by the status of its request. @type {Record<string, string>} */
export const outcomes = {
  open: 'Approve this call?',
  approved: 'Approved: this very call passes, once.',
  denied: 'Denied: the call stays refused.',
  expired: 'Its time is over: the call stays refused.',
  passed: 'Approved, and the call has passed.',
};

/** Terms and descriptions; what is null is not shown. @param {any} request */
export function factsOf(request) {
  return Object.entries(labels).flatMap(([name, label]) => {
    const value = request[name];
    if (value === null || value === undefined) return [];
    return [elementOf('dt', label), elementOf('dd', written[name]?.(value) ?? value)];
  });
}
