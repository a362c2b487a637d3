import 'reflect-metadata';
import { BookReplayNoun, IngressReceiptNoun, RowFulfillmentNoun } from '../../../schema/book/row-members.ts';
import { limits } from '../../../schema/limits.ts';
import '../../fulfillment.type.ts';
import { objectType } from '../../graph-type.ts';

/* What stands within a row's columns, and its events. */

export const RowFulfillment = objectType(
  'Fulfillment',
  'What was delivered for a row; members that its form lacks are null.',
  RowFulfillmentNoun,
);
export type RowFulfillment = InstanceType<typeof RowFulfillment>;

export const IngressReceipt = objectType(
  'IngressReceipt',
  'What moved a row on from RECORDED_BY_SETTLE to collected.',
  IngressReceiptNoun,
);
export type IngressReceipt = InstanceType<typeof IngressReceipt>;

// Events of old may lack the task.
export const BookReplay = objectType(
  'BookReplay',
  `The payment of a row was sent again, once or, beyond ${limits.replay_events_per_hour_max} in an hour, several times.`,
  BookReplayNoun.partial({ replay_of: true }),
);
export type BookReplay = InstanceType<typeof BookReplay>;
