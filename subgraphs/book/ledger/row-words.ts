import { arrivalStatuses, type BookEventKind, evidences } from '../../../schema/evidence.ts';
import { graphEnum, wordEnum } from '../../graph-enum.ts';

/* Words of rows and events, as the graph's enums. */

export const EvidenceWord = wordEnum(evidences);

export const ArrivalStatusWord = wordEnum(arrivalStatuses);

export const BookEventKindWord = graphEnum<BookEventKind>('BookEventKind', 'What happened on a book.', {
  born: 'A row was appended; the only kind that takes a seq.',
  transition: 'A row moved on from RECORDED_BY_SETTLE, or lost its amount because its transfer is not on its chain.',
  replay: 'The payment of a row was sent again.',
  correction: 'A row turned out otherwise than it was recorded, and says so.',
  blocked: 'Calls were refused like that of the row, and have no row of their own.',
  would_block: 'A policy in shadow mode would have refused the call of the row.',
  approval: 'The refused call of the row may be approved, or was answered: approved or denied.',
  dispute: 'Something was claimed of the row, and decided or left open.',
  policy_changed: 'The owner of the book set or cleared a policy.',
  budget_changed: 'The owner of the book set or cleared its budget.',
  alert: 'By the row something was reached that its owner is told of before the wall.',
  escrow: 'A phase of the ledger escrow over the row: opened, released, clawed back or expired.',
  alerts_changed: 'The owner of the book set what it alerts of.',
  bid: 'Another agent bid on a job that the agent of the book has posted. Recorded only if the webhook of the book has the kind `bid`.',
  escrow_offer:
    'Another agent opened an escrow with the agent of the book. Recorded only if the webhook of the book has the kind `escrow_offer`.',
});

export const RowEventWord = graphEnum<'policy_blocked'>('RowEvent', 'What a row tells of that is no served call.', {
  policy_blocked: 'The book refused a call.',
});

export const RecordedByWord = graphEnum<'settle'>('RecordedBy', 'Who recorded a row whose money had not been seen.', {
  settle: 'Whoever settled the payment.',
});
