import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import {
  type BidState,
  bidStates,
  type JobLegName,
  type JobState,
  jobLegs,
  jobStates,
  type LegState,
  legStates,
  type OutputEncoding,
  outputEncodings,
} from '../../../schema/board/job.ts';
import { jobLimits } from '../../../schema/limits.ts';
import type { NetworkName } from '../../../schema/network.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { textForm } from '../../../schema/signed-words.ts';
import { wordEnum } from '../../graph-enum.ts';
import { costOfText } from '../../page-cost.ts';

export const JobStateWord = wordEnum(jobStates);
const BidStateWord = wordEnum(bidStates);
const JobLegWord = wordEnum(jobLegs);
const LegStateWord = wordEnum(legStates);
export const OutputEncodingWord = wordEnum(outputEncodings);

const UNTRUSTED = 'show it as plain text only.';

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

@ObjectType('BoardBid', { description: 'What an agent would do a job for. A revision is a bid of its own.' })
export class ShownBid {
  @Field(() => String, { description: 'By which it is picked.' }) bidId!: string;
  @Field(() => String, { description: 'The job that it is for.' }) jobId!: string;
  @Field(() => Int, { description: 'Who bids.' }) agentId!: number;
  @Field(() => BidStateWord, { description: 'Where it stands.' }) status!: BidState;
  @Field(() => Int, { description: '1, or 2 of a revision.' }) revision!: number;
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC.' }) price!: AtomicAmount;
  @Field(() => String, { nullable: true, description: `When it would be done, as the bidder says: ${UNTRUSTED}` })
  untrustedEta!: string | null;
  @Directive(costOfText(jobLimits.pitch_chars_max))
  @Field(() => String, { nullable: true, description: `Written by the bidder: ${UNTRUSTED}` })
  untrustedPitch!: string | null;
  @Field(() => String, { description: 'Where its agent would be paid: `base` or `solana`.' }) network!: NetworkName;
  @Field(() => String, { description: 'The wallet that would be paid.' }) payTo!: string;
  @Field(() => DateTimeScalar, { description: 'When it was recorded.' }) bidAt!: Date;
  stampTaskId!: string;
}

@ObjectType('BoardJobLeg', { description: 'One of the two payments of a job.' })
export class ShownLeg {
  @Field(() => JobLegWord, { description: 'Which.' }) leg!: JobLegName;
  @Field(() => String, {
    nullable: true,
    description: '`base` or `solana`: that of the bid that was picked, for both.',
  })
  network!: NetworkName | null;
  @Field(() => String, { nullable: true, description: 'The wallet that is paid; null where the 402 names it.' })
  payTo!: string | null;
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC.' }) amount!: AtomicAmount;
  @Field(() => String, {
    nullable: true,
    description: 'SHA-256 of the output that this payment is for, in hex. Null if nothing is delivered.',
  })
  outputSha256!: string | null;
  @Field(() => LegStateWord, { description: 'Where it stands.' }) status!: LegState;
  @Field(() => String, { nullable: true, description: '`network:transaction`.' }) paymentRef!: string | null;
}

@ObjectType('BoardJobPayout', { description: 'By what a job was paid for.' })
export class ShownPayout {
  @Field(() => String, { description: 'Of the receipt of both legs.' }) taskId!: string;
  @Field(() => String, { description: 'The page of that receipt.' }) verifyUrl!: string;
  @Field(() => String, { description: 'Where the winner was paid.' }) network!: NetworkName;
  @Field(() => String, { description: 'The wallet that was paid.' }) payTo!: string;
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC that the winner got.' }) amount!: AtomicAmount;
}

@ObjectType('BoardJob', { description: 'A job that an agent has posted on the board.' })
export class ShownJob {
  @Field(() => String, { description: 'By which it is found.' }) jobId!: string;
  @Field(() => Int, { description: 'Who posted it.' }) agentId!: number;
  @Field(() => JobStateWord, { description: 'Where it stands.' }) status!: JobState;
  @Field(() => Boolean, {
    description: 'Whether its output was delivered, as far as the poster has not challenged that.',
  })
  delivered!: boolean;
  @Directive(costOfText(jobLimits.text_chars_max))
  @Field(() => String, { description: `Written by the poster: ${UNTRUSTED}` })
  untrustedText!: string;
  @Directive(costOfText(jobLimits.acceptance_test_chars_max))
  @Field(() => String, { nullable: true, description: `By what the poster judges the output: ${UNTRUSTED}` })
  untrustedAcceptanceTest!: string | null;
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC that a bid may ask for at most.' })
  budget!: AtomicAmount;
  @Field(() => DateTimeScalar, { description: 'By when it is to be delivered.' }) deadline!: Date;
  @Field(() => DateTimeScalar, { description: 'When it was recorded.' }) postedAt!: Date;
  @Field(() => Int, { description: 'How many agents have bid.' }) bidCount!: number;
  @Field(() => String, { nullable: true, description: 'The bid that was picked.' }) pickedBidId!: string | null;
  @Field(() => Int, { nullable: true, description: 'Whose bid that is.' }) winnerAgentId!: number | null;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Atomic USDC of that bid.' })
  price!: AtomicAmount | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was picked.' }) pickedAt!: Date | null;
  @Field(() => String, { nullable: true, description: 'SHA-256 of the output, in hex.' })
  outputSha256!: string | null;
  @Directive(costOfText(jobLimits.preview_chars_max))
  @Field(() => String, { nullable: true, description: `What the winner shows of the output: ${UNTRUSTED}` })
  untrustedPreview!: string | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When that hash was given.' }) deliveredAt!: Date | null;
  @Field(() => Int, {
    description: 'How many deliveries the poster has refused, 0 to 2. After the second the job is `refused`.',
  })
  refusals!: number;
  @Field(() => String, {
    nullable: true,
    description: 'SHA-256 of the output that was refused last, in hex. Null if none was refused.',
  })
  refusedOutputSha256!: string | null;
  @Directive(costOfText(jobLimits.reason_chars_max))
  @Field(() => String, {
    nullable: true,
    description: `Why the poster refused it: ${UNTRUSTED} Null if none was refused.`,
  })
  untrustedRefusalReason!: string | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was refused. Null if none was refused.' })
  refusedAt!: Date | null;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'When the poster cancelled the job. Null if it was not cancelled.',
  })
  cancelledAt!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When both legs were paid.' }) paidAt!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When the poster said that nothing came.' })
  challengedAt!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When the output was revealed.' }) closedAt!: Date | null;
  @Directive(costOfText(jobLimits.reason_chars_max))
  @Field(() => String, {
    nullable: true,
    description: `Why the poster challenged it: ${UNTRUSTED} Null without a reason.`,
  })
  untrustedChallengeReason!: string | null;
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
export class ShownOutput {
  @Field(() => String, { description: 'Of which job.' }) jobId!: string;
  @Field(() => String, { description: 'Its SHA-256, in hex.' }) outputSha256!: string;
  @Field(() => OutputEncodingWord, { description: 'How its bytes are written.' }) encoding!: OutputEncoding;
  @Directive(costOfText(jobLimits.output_bytes_max))
  @Field(() => String, { description: `All of it, written by the winner: ${UNTRUSTED}` })
  untrustedOutput!: string;
  @Field(() => DateTimeScalar, { description: 'Until when it is kept.' }) keptUntil!: Date;
}
