import { timeText, usdcText } from '../../../receipt/page/texts.js';
import { elementOf } from './dom.js';

/*
 * Facts of an approval request: the text of the call, and all that an approval would bind.
 */

/** Labels by member of the response, in the order in which they are shown. */
const labels = {
  status: 'Status',
  payer: 'Payer',
  amount: 'Amount',
  model: 'Model',
  doors: 'Endpoint',
  agent_id: 'Book of agent',
  delegation_hash: 'Session',
  policy_code: 'Why it needs an approval',
  asked_at: 'Requested',
  open_until: 'Can be answered until',
  passes_until: 'The approved call is allowed until',
  request_hash: 'Hash of the request',
  approval_id: 'Id of this approval request',
};

/** @type {Record<string, string>} */
const policies = {
  tier2_approval_missing: 'It costs more than the book allows without an approval.',
  high_risk_approval_missing: 'The book counts calls of this endpoint as high risk.',
};

/** Label and sentence of each status. @type {Record<string, [string, string]>} */
const statusTexts = {
  open: ['Waiting for an answer', 'Approve this call?'],
  approved: ['Approved', 'Approved: this call is allowed once.'],
  denied: ['Denied', 'Denied: the call stays refused.'],
  passed: ['Approved and used', 'Approved, and the call was made.'],
};

/** An expired request was either not answered, or approved and not used. @param {any} request @returns {[string, string]} */
function statusTextOf({ status, decided_by }) {
  const unused = [
    'Approved, and not used in time',
    'It was approved, but the call was not made in time: it stays refused.',
  ];
  const unanswered = ['Not answered in time', 'There was no answer in time: the call stays refused.'];
  if (status === 'expired') return /** @type {[string, string]} */ (decided_by === null ? unanswered : unused);
  return statusTexts[status] ?? [status, status];
}

/** Sentence of the status. @param {any} request */
export const outcomeOf = request => statusTextOf(request)[1];

/** @type {Record<string, (value: any, request: any) => string>} */
const formatters = {
  status: (_, request) => statusTextOf(request)[0],
  policy_code: code => policies[code] ?? code,
  amount: usdcText,
  doors: doors => doors.join(', '),
  asked_at: timeText,
  open_until: timeText,
  passes_until: timeText,
};

/** Labels and values; null is not shown. @param {any} request */
export function factsOf(request) {
  const facts = Object.entries(labels).flatMap(([name, label]) => {
    const value = request[name];
    if (value === null || value === undefined) return [];
    return [elementOf('dt', label), elementOf('dd', formatters[name]?.(value, request) ?? value)];
  });
  return [...textOf(request), ...facts];
}

/** Text of the request and, only together with it, the note of the caller. @param {any} request */
function textOf({ status, request_text, request_text_characters, note }) {
  if (typeof request_text !== 'string')
    return status === 'open' ? [elementOf('dt', 'Text of the request'), elementOf('dd', 'Not available.')] : [];
  const shown = [...request_text].length;
  const cut = shown < request_text_characters;
  const label = cut
    ? `The first ${shown} of ${request_text_characters} characters of the request`
    : 'Text of the request';
  const left = request_text_characters - shown;
  return [
    elementOf('dt', label),
    Object.assign(elementOf('dd', request_text), { className: 'request-text' }),
    ...(cut
      ? [elementOf('dt', 'Not shown'), elementOf('dd', `${left} more characters, which would be approved too.`)]
      : []),
    ...(note ? [elementOf('dt', 'Note of the caller, not checked'), elementOf('dd', note)] : []),
  ];
}
