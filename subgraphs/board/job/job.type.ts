import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import {
  bidStates,
  JobBidNoun,
  JobLegNoun,
  JobOutputNoun,
  JobPayoutNoun,
  jobLegs,
  jobStates,
  legStates,
  outputEncodings,
  PostedJobNoun,
} from '../../../schema/board/job.ts';
import type { NetworkName } from '../../../schema/network.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { textForm } from '../../../schema/signed-words.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showMembers } from '../../graph-type.ts';

export const JobStateWord = wordEnum(jobStates);
const BidStateWord = wordEnum(bidStates);
const JobLegWord = wordEnum(jobLegs);
const LegStateWord = wordEnum(legStates);
export const OutputEncodingWord = wordEnum(outputEncodings);

@InputType({ description: 'What is to be done, for how much, and by when.' })
export class BoardJobInput {
  @Field(() => String, { description: 'What is to be done: plain text, up to 1,000 characters.' }) text!: string;
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC that a bid may ask for at most; up to 25 USDC.' })
  budget!: AtomicAmount;
  @Field(() => String, { description: 'RFC 3339, or a day, which ends in UTC; within 30 days.' }) deadline!: string;
  @Field(() => String, { nullable: true, description: 'By what the poster will judge the output, in plain text.' })
  acceptanceTest?: string | null;
}

@InputType({ description: 'An address on Solana to be paid to, proven by its signature.' })
export class JobPayoutInput {
  @Field(() => String, { description: '`solana`.' }) network!: string;
  @Field(() => String, { description: 'Whose USDC account is paid; it has to stand when the bid is picked.' })
  address!: string;
  @Field(() => String, {
    description: `Ed25519 signature of that address, in base58, over ${textForm('payout')}.`,
  })
  signature!: string;
  @Field(() => Int, { description: 'The Unix seconds in that text; within 300 seconds.' }) signatureTimestamp!: number;
}

@InputType({ description: 'What somebody would do a job for.' })
export class BoardBidInput {
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC, within the budget.' }) price!: AtomicAmount;
  @Field(() => String, { nullable: true, description: 'When it would be done, in words of the bidder.' })
  eta?: string | null;
  @Field(() => String, { nullable: true, description: 'Why this bid: plain text, up to 280 characters.' })
  pitch?: string | null;
  @Field(() => JobPayoutInput, { nullable: true, description: 'If not to the wallet of the agent on Base.' })
  payout?: JobPayoutInput | null;
}

const Bid = class {} as new () => MembersOf<typeof JobBidNoun>;
const Leg = class {} as new () => MembersOf<typeof JobLegNoun>;
const Payout = class {} as new () => MembersOf<typeof JobPayoutNoun>;
const Job = class {} as new () => MembersOf<typeof PostedJobNoun>;
const Output = class {} as new () => MembersOf<typeof JobOutputNoun>;

@ObjectType('BoardBid', { description: 'What an agent would do a job for. A revision is a bid of its own.' })
export class ShownBid extends Bid {
  stampTaskId!: string;
}

@ObjectType('BoardJobLeg', { description: 'One of the two payments of a job.' })
export class ShownLeg extends Leg {}

@ObjectType('BoardJobPayout', { description: 'By what a job was paid for.' })
export class ShownPayout extends Payout {}

@ObjectType('BoardJob', { description: 'A job that an agent has posted on the board.' })
export class ShownJob extends Job {
  stampTaskId!: string;
  network!: NetworkName | null;
  payTo!: string | null;
  legOneTaskId!: string | null;
  legOnePaymentRef!: string | null;
  feePaymentRef!: string | null;
  underWay!: boolean;
  payoutTaskId!: string | null;
}

@ObjectType('BoardJobs', { description: 'A page of jobs, newest first.' })
export class ShownJobs {
  @Field(() => [ShownJob], { description: 'Newest first.' }) jobs!: readonly ShownJob[];
  @Field(() => String, { nullable: true, description: '`before` of the next page; null where this is the last.' })
  next!: string | null;
}

@ObjectType('BoardJobOutput', { description: 'What a winner has revealed, for the poster alone.' })
export class ShownOutput extends Output {}

showMembers(ShownBid, JobBidNoun, { status: BidStateWord });
showMembers(ShownLeg, JobLegNoun, { leg: JobLegWord, status: LegStateWord });
showMembers(ShownPayout, JobPayoutNoun);
showMembers(ShownJob, PostedJobNoun, { status: JobStateWord });
showMembers(ShownOutput, JobOutputNoun, { encoding: OutputEncodingWord });
