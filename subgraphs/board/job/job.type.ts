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
  'What is to be done, for how much, and by when.',
  PostJobRequest,
);
inputType('JobPayoutInput', 'An address on Solana to be paid to, proven by its signature.', JobPayout);
export const BoardBidInput = inputType('BoardBidInput', 'What somebody would do a job for.', BidRequest);

export const ShownLeg = objectType('BoardJobLeg', 'One of the two payments of a job.', JobLegNoun);
export type ShownLeg = InstanceType<typeof ShownLeg>;
export const ShownPayout = objectType('BoardJobPayout', 'By what a job was paid for.', JobPayoutNoun);
export type ShownPayout = InstanceType<typeof ShownPayout>;
export const ShownOutput = objectType(
  'BoardJobOutput',
  'What a winner has revealed, for the poster alone.',
  JobOutputNoun,
);
export type ShownOutput = InstanceType<typeof ShownOutput>;

@ObjectType('BoardBid', { description: 'What an agent would do a job for. A revision is a bid of its own.' })
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
export type ShownJobs = InstanceType<typeof ShownJobs> & { readonly jobs: readonly ShownJob[] };
