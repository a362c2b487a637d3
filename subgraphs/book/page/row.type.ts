import 'reflect-metadata';
import { BookReplayNoun, IngressReceiptNoun, RowFulfillmentNoun } from '../../../schema/book/row-members.ts';
import { limits } from '../../../schema/limits.ts';
import type { DocumentOf } from '../../../schema/noun.ts';
import '../../fulfillment.type.ts';
import { objectType } from '../../graph-type.ts';

/* GraphQL types of the structured columns of a row, and of its replay events. */

export const RowFulfillment = objectType(
  'Fulfillment',
  'What was bought and delivered for a row. Members that are not known of it are null.',
  RowFulfillmentNoun,
);
export type RowFulfillment = InstanceType<typeof RowFulfillment>;

export const IngressReceipt = objectType(
  'IngressReceipt',
  'Transfer by which the evidence of a row changed from RECORDED_BY_SETTLE to collected.',
  IngressReceiptNoun,
);
export type IngressReceipt = InstanceType<typeof IngressReceipt>;

/** `replay_of` is optional, because old events did not record it. */
export const ReplayNoun = BookReplayNoun.extend({
  replay_of: BookReplayNoun.shape.replay_of
    .optional()
    .describe('Task id of the row whose payment was sent again. Null in an old event, which did not record it.'),
});

export type Replay = DocumentOf<typeof ReplayNoun>;

export const BookReplay = objectType(
  'BookReplay',
  `Event of a row: its payment was sent again. After ${limits.replay_events_per_hour_max} events in an hour, one event represents several times.`,
  ReplayNoun,
);
export type BookReplay = InstanceType<typeof BookReplay>;
