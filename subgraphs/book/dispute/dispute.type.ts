import { DisputeStatusNoun, DisputesNoun, FiledDisputeNoun } from '../../../schema/dispute/dispute.ts';
import { DisputeRequest } from '../../../schema/requests/dispute.ts';
import { inputType, objectType } from '../../graph-type.ts';

/* GraphQL inputs and types of disputes. */

export const DisputeInput = inputType(
  'DisputeInput',
  'Dispute to file: the row, the claim and the evidence.',
  DisputeRequest,
);

export const FiledDispute = objectType(
  'FiledDispute',
  'A dispute, and whether this request filed it.',
  FiledDisputeNoun,
);
export const DisputeStatus = objectType(
  'DisputeStatus',
  'The latest judgement of a dispute: its number, hash and time, and whether it is final, without the claim and the verdict.',
  DisputeStatusNoun,
);
export type DisputeStatus = InstanceType<typeof DisputeStatus>;
export const Disputes = objectType('Disputes', 'A page of the disputes of a book, newest first.', DisputesNoun);
export type Disputes = InstanceType<typeof Disputes>;
