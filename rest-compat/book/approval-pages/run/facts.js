import { timeText, usdcText } from '../../../receipt/page/texts.js';
import { elementOf } from './dom.js';

/*
 * What these pages show of a request: what it asks for, and all that its approval would bind.
 */

/** By member of the answer, in the order in which they are shown. */
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
  passes_until: 'The approved call passes until',
  request_hash: 'Hash of the request',
  approval_id: 'Id of this approval request',
};

/** @type {Record<string, string>} */
const policies = {
  tier2_approval_missing: 'It costs more than the book allows without an approval.',
  high_risk_approval_missing: 'The book counts calls of this endpoint as high risk.',
};

/** How it stands, and what that comes to. @type {Record<string, [string, string]>} */
const standings = {
  open: ['Waits for an answer', 'Approve this call?'],
  approved: ['Approved', 'Approved: this very call passes, once.'],
  denied: ['Denied', 'Denied: the call stays refused.'],
  passed: ['Approved, and used', 'Approved, and the call has passed.'],
};

/** One that nobody approved never had an approval that could expire. @param {any} request @returns {[string, string]} */
function standingOf({ status, decided_by }) {
  const unused = [
    'Approved, and not used in time',
    'It was approved, and the call did not come in time: it stays refused.',
  ];
  const unanswered = ['Not answered in time', 'Nobody answered in time: the call stays refused.'];
  if (status === 'expired') return /** @type {[string, string]} */ (decided_by === null ? unanswered : unused);
  return standings[status] ?? [status, status];
}

/** What an answer came to. @param {any} request */
export const outcomeOf = request => standingOf(request)[1];

/** @type {Record<string, (value: any, request: any) => string>} */
const written = {
  status: (_, request) => standingOf(request)[0],
  policy_code: code => policies[code] ?? code,
  amount: usdcText,
  doors: doors => doors.join(', '),
  asked_at: timeText,
  open_until: timeText,
  passes_until: timeText,
};

/** Terms and descriptions; what is null is not shown. @param {any} request */
export function factsOf(request) {
  const facts = Object.entries(labels).flatMap(([name, label]) => {
    const value = request[name];
    if (value === null || value === undefined) return [];
    return [elementOf('dt', label), elementOf('dd', written[name]?.(value, request) ?? value)];
  });
  return [...textOf(request), ...facts];
}

/** What it asks for, as the service has it; beside that, and never alone, what its caller says of it. @param {any} request */
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
    Object.assign(elementOf('dd', request_text), { className: 'said' }),
    ...(cut
      ? [elementOf('dt', 'Not shown'), elementOf('dd', `${left} more characters, which would be approved too.`)]
      : []),
    ...(note ? [elementOf('dt', 'The caller claims, and nobody has checked'), elementOf('dd', note)] : []),
  ];
}
