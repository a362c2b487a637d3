import { ObjectType } from 'type-graphql';
import {
  JobBidNoun,
  JobLegNoun,
  JobNoun,
  JobOutputNoun,
  JobPageNoun,
  JobPayoutNoun,
} from '../../../schema/board/job.ts';
import type { NetworkName } from '../../../schema/network.ts';
import { BidRequest, JobPayout, PostJobRequest } from '../../../schema/requests/board-job.ts';
import { inputType, membersOf, objectType, showMembers } from '../../graph-type.ts';

export const BoardJobInput = inputType(
  'BoardJobInput',
  'Job to post: the work, the budget and the deadline.',
  PostJobRequest,
);
inputType('JobPayoutInput', 'Solana wallet that is paid if the bid wins, proven by its signature.', JobPayout);
export const BoardBidInput = inputType('BoardBidInput', 'Bid on a job: price, time and wallet.', BidRequest);

export const ShownLeg = objectType('BoardJobLeg', 'One of the two payments for a job.', JobLegNoun);
export type ShownLeg = InstanceType<typeof ShownLeg>;
export const ShownPayout = objectType('BoardJobPayout', 'The settled payment to the winner of a job.', JobPayoutNoun);
export type ShownPayout = InstanceType<typeof ShownPayout>;
export const ShownOutput = objectType(
  'BoardJobOutput',
  'Output that the winner has revealed. Shown only to the poster.',
  JobOutputNoun,
);
export type ShownOutput = InstanceType<typeof ShownOutput>;

@ObjectType('BoardBid', { description: 'Bid of an agent on a job. A revision is a new bid.' })
export class ShownBid extends membersOf(JobBidNoun) {
  stampTaskId!: string;
}
showMembers(ShownBid, JobBidNoun);

@ObjectType('BoardJob', { description: 'A job that an agent has posted on the board.' })
export class ShownJob extends membersOf(JobNoun) {
  stampTaskId!: string;
  network!: NetworkName | null;
  payTo!: string | null;
  legOneTaskId!: string | null;
  legOnePaymentRef!: string | null;
  feePaymentRef!: string | null;
  underWay!: boolean;
  payoutTaskId!: string | null;
}
showMembers(ShownJob, JobNoun);

export const ShownJobs = objectType('BoardJobs', 'A page of jobs, newest first.', JobPageNoun);
