import { Directive, Field, Int, ObjectType } from 'type-graphql';
import { digestKindWords } from '../schema/escrow.ts';
import { jobKindWords } from '../schema/job-kind.ts';
import { type CommitmentMaker, commitmentStatuses } from '../schema/output-commitment.ts';
import { wordEnum } from './graph-enum.ts';

/* What was bought and delivered, as rows of books and signed receipts both show it. */

export const JobKindWord = wordEnum(jobKindWords);
const CommitmentStatusWord = wordEnum(commitmentStatuses);
const DigestKindWord = wordEnum(digestKindWords);

const CommitmentMakerWord = wordEnum<CommitmentMaker>({
  graph: 'CommitmentMaker',
  description: 'Who made an output commitment.',
  meanings: {
    service: 'This service, which had the output in hand.',
    winner: 'The winner of a job of the board, on delivery. This service had not seen the output.',
    reporter: 'The party that recorded or reported the work. This service has not seen the output.',
  },
});

@Directive('@shareable')
@ObjectType({ description: 'What was delivered, by the hash of it.' })
export class OutputCommitment {
  @Field(() => CommitmentStatusWord, { description: 'Whether there is a hash with which an output can be compared.' })
  status!: string;
  @Field(() => String, { nullable: true, description: 'Of the output, in hex; null where there is none.' })
  hash!: string | null;
  @Field(() => DigestKindWord, { nullable: true, description: 'By what it is hashed; there wherever a hash is.' })
  kind!: string | null;
  @Field(() => String, { nullable: true, description: 'Why there is none.' })
  omissionRule!: string | null;
  @Field(() => CommitmentMakerWord, {
    nullable: true,
    description: 'Who made the commitment. Null where nothing is committed to, and under receipt policies 1 to 7.',
  })
  by!: CommitmentMaker | null;
  @Field(() => [String], {
    nullable: true,
    description:
      'Names of the members that the hash covers. Null if nothing is committed to, if this service has not seen the output, and under receipt policies 1 to 8.',
  })
  covers!: readonly string[] | null;
}

@Directive('@shareable')
@ObjectType({ description: 'What a paid job was meant to be.' })
export class FulfillmentIntent {
  @Field(() => JobKindWord, { description: 'What kind of work.' }) jobKind!: string;
  @Field(() => String, { nullable: true, description: 'What it was about.' }) resource!: string | null;
  @Field(() => String, { nullable: true, description: 'The treasury intent that it names.' }) intentId!: string | null;
  @Field(() => Int, { nullable: true, description: 'Which attempt within that intent, from 0.' })
  attemptIndex!: number | null;
}

@Directive('@shareable')
@ObjectType({ description: 'By whom a paid job was allowed, as far as that is known.' })
export class FulfillmentAuthorization {
  @Field(() => String, { nullable: true, description: 'Who paid.' }) payerWallet!: string | null;
  @Field(() => String, { nullable: true, description: 'Of the delegation that it was paid under.' })
  delegationHash!: string | null;
  @Field(() => String, { nullable: true, description: 'By which payment.' }) paymentRef!: string | null;
}
