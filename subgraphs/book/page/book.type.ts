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
import { keyed, objectType } from '../../graph-type.ts';

/* How the graph shows books: rows page by page, sums, the allowance, and the receipts that rows name. */

objectType('RailTotal', 'What rows of one rail came to.', RailTotalNoun);
export const BookTotals = objectType(
  'BookTotals',
  'Sums over every row of the book that carries an amount, not over this page.',
  BookTotalsNoun,
  TotalsOnGraph,
);
export type BookTotals = InstanceType<typeof BookTotals>;

export const GroupTotal = objectType(
  'GroupTotal',
  'What the rows that have something in common came to, of one rail.',
  GroupTotalNoun,
);
export type GroupTotal = InstanceType<typeof GroupTotal>;

objectType('IntentAttempt', 'One attempt at a treasury intent.', IntentAttemptNoun);
objectType('IntentSummary', 'What a treasury intent came to on this book.', IntentSummaryNoun);

objectType('AllowanceSignature', 'A signature over canonical JSON.', AllowanceSignatureNoun);
export const Allowance = objectType(
  'Allowance',
  'The remaining allowance, signed over {agent_id, remaining, as_of}: to verify, not to spend.',
  AllowanceNoun,
);
export type Allowance = InstanceType<typeof Allowance>;

export const Book = keyed(
  objectType('Book', 'A book: its rows, the budget, and sums over all of it.', BookNoun, BookOnGraph),
  'agentId',
);
export type Book = InstanceType<typeof Book>;

objectType('PageInfo', 'What lies beyond a page of a connection.', PageInfoNoun);
objectType('BookRowEdge', 'A row in a connection.', RowEdgeNoun);
export const BookRowConnection = objectType(
  'BookRowConnection',
  'Rows of a book, newest first, page by page.',
  RowConnectionNoun,
);
export type BookRowConnection = InstanceType<typeof BookRowConnection>;

/** So many edges as either argument says. */
export const CONNECTION = Directive(
  '@listSize(assumedSize: 50, slicingArguments: ["first", "last"], sizedFields: ["edges"], requireOneSlicingArgument: false)',
);

/** A receipt by its key: the subgraph of receipts resolves the rest. */
export const ReceiptReference = keyed(
  objectType('Receipt', 'A signed spend receipt: one leaf of the append-only log.', ReceiptKeyNoun),
  'taskId',
);
export type ReceiptReference = InstanceType<typeof ReceiptReference>;
