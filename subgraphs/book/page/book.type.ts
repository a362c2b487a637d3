import { Directive } from 'type-graphql';
import {
  AllowanceNoun,
  AllowanceSignatureNoun,
  BookNoun,
  BookOnGraph,
  BookTotalsNoun,
  GroupTotalNoun,
  IntentAttemptNoun,
  IntentSummaryNoun,
  RailTotalNoun,
  TotalsOnGraph,
} from '../../../schema/book/book-page.ts';
import { ReceiptKeyNoun } from '../../../schema/book/receipt-key.ts';
import { PageInfoNoun, RowConnectionNoun, RowEdgeNoun } from '../../../schema/book/row.ts';
import { objectType, withKey } from '../../graph-type.ts';

/* GraphQL types of books: pages of rows, sums, the allowance, and the receipts of rows. */

objectType('RailTotal', 'Sum of the rows of one rail.', RailTotalNoun);
export const BookTotals = objectType(
  'BookTotals',
  'Sums over all rows of the book that carry an amount, not only those of this page.',
  BookTotalsNoun,
  TotalsOnGraph,
);
export type BookTotals = InstanceType<typeof BookTotals>;

export const GroupTotal = objectType(
  'GroupTotal',
  'Sum of the rows that share a value, such as a model or a day, on one rail.',
  GroupTotalNoun,
);
export type GroupTotal = InstanceType<typeof GroupTotal>;

objectType(
  'IntentAttempt',
  'One attempt at an intent: a row that names the intent, of a call or of a payment to somebody else.',
  IntentAttemptNoun,
);
objectType('IntentSummary', 'Attempts at an intent on this book.', IntentSummaryNoun);

objectType(
  'AllowanceSignature',
  'Signature of the issuer over the canonical JSON (RFC 8785) of an allowance.',
  AllowanceSignatureNoun,
);
export const Allowance = objectType(
  'Allowance',
  'Remaining allowance of a book, signed over {agent_id, remaining, as_of}. The signature proves the amount; it cannot be spent.',
  AllowanceNoun,
);
export type Allowance = InstanceType<typeof Allowance>;

export const Book = withKey(
  objectType('Book', 'A book of an agent: its rows, its budget, and sums over all rows.', BookNoun, BookOnGraph),
  'agentId',
);
export type Book = InstanceType<typeof Book>;

objectType('PageInfo', 'Cursors of a page, and whether there are pages before and after it.', PageInfoNoun);
objectType('BookRowEdge', 'A row on a page, and its cursor.', RowEdgeNoun);
export const BookRowConnection = objectType(
  'BookRowConnection',
  'Rows of a book, newest first, page by page.',
  RowConnectionNoun,
);
export type BookRowConnection = InstanceType<typeof BookRowConnection>;

/** The cost of a connection counts as many edges as `first` or `last` requests. */
export const CONNECTION = Directive(
  '@listSize(assumedSize: 50, slicingArguments: ["first", "last"], sizedFields: ["edges"], requireOneSlicingArgument: false)',
);

/** A receipt by its key. The receipt subgraph resolves the other members. */
export const ReceiptReference = withKey(
  objectType('Receipt', 'A signed spend receipt: one leaf of the append-only log.', ReceiptKeyNoun),
  'taskId',
);
export type ReceiptReference = InstanceType<typeof ReceiptReference>;
