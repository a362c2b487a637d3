import { Directive, Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { EvidenceWord } from '../ledger/row-words.ts';

const RANGE = 'as a range by powers of ten: `0`, `1-9`, `10-99` and so on';

@ObjectType({ description: 'What was spent over one rail, as strangers are told it.' })
export class RecordSpend {
  @Field(() => String, { description: 'What was paid with: `usdc`.' }) rail!: string;
  @Field(() => String, { description: `Atomic units, ${RANGE}.` }) amount!: string;
}

@ObjectType({ description: 'Rows of a book that rest on the same.' })
export class RowsByEvidence {
  @Field(() => EvidenceWord, { description: 'On what.' }) evidence!: Evidence;
  @Field(() => Int, { description: 'How many.' }) rows!: number;
}

@ObjectType({ description: 'Rows of a book that were recorded in the same month.' })
export class RowsByMonth {
  @Field(() => String, { description: 'Such as `2026-03` (UTC).' }) month!: string;
  @Field(() => Int, { description: 'How many.' }) rows!: number;
}

@ObjectType({ description: 'What was paid over one rail, of rows that carry an amount.' })
export class SpentByRail {
  @Field(() => String, { description: 'What was paid with: `usdc`.' }) rail!: string;
  @Field(() => Int, { description: 'How many rows.' }) count!: number;
  @Field(() => AtomicAmountScalar, { description: 'Their sum, in atomic units of the rail.' }) amount!: AtomicAmount;
}

@ObjectType({ description: 'What the book says, exactly and as it stands.' })
export class OffBoardHistory {
  @Directive('@listSize(assumedSize: 4)')
  @Field(() => [SpentByRail], { description: 'What was paid.' })
  byRail!: SpentByRail[];
  @Directive('@listSize(assumedSize: 8)')
  @Field(() => [RowsByEvidence], { description: 'All rows, by what they rest on.' })
  byEvidence!: RowsByEvidence[];
  @Directive('@listSize(assumedSize: 100)')
  @Field(() => [RowsByMonth], { description: 'All rows, by month, oldest first.' })
  byMonth!: RowsByMonth[];
  @Field(() => DateTimeScalar, { nullable: true, description: 'Of the first row; null where there is none.' })
  firstCollectedAt!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Of the last row; null where there is none.' })
  lastCollectedAt!: Date | null;
}

@Directive('@key(fields: "agentId")')
@ObjectType({
  description: 'Public record of an agent: dates, and counts as ranges, as of the beginning of a day (UTC).',
})
export class AgentRecord {
  @Field(() => Int, { description: 'Id of the agent.' }) agentId!: number;
  @Field(() => String, { description: 'The day (UTC) on which its book was opened.' }) memberSince!: string;
  @Field(() => String, { description: 'The day (UTC) before which all that is counted here happened.' }) asOf!: string;
  @Field(() => String, { description: `Rows of its book, ${RANGE}.` }) rows!: string;
  @Field(() => String, { description: `Those that its own policies refused, ${RANGE}.` }) blocked!: string;
  @Field(() => String, {
    description: `Number of different hubs named in its paid rows, ${RANGE}. In rows of payments to others the agent chose the name.`,
  })
  hubs!: string;
  @Field(() => [String], { description: 'Networks on which it paid.' }) networks!: string[];
  @Directive('@listSize(assumedSize: 4)')
  @Field(() => [RecordSpend], { description: 'What it spent, by rail.' })
  spend!: RecordSpend[];
  @Field(() => OffBoardHistory, {
    nullable: true,
    description: 'For whoever possesses the book and opts in; null for all others.',
  })
  offBoard!: OffBoardHistory | null;
}
