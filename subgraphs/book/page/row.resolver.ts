import { GraphQLJSONObject } from 'graphql-scalars';
import { Ctx, Directive, Field, FieldResolver, Int, ObjectType, Resolver, Root } from 'type-graphql';
import { rowFacts } from '../../../schema/book-row.ts';
import { toCamelKeys } from '../../../schema/camel.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { withReceipt } from '../../../schema/evidence.ts';
import { limits, rowLimits } from '../../../schema/limits.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { FulfillmentAuthorization, FulfillmentIntent, JobKindWord, OutputCommitment } from '../../fulfillment.type.ts';
import type { SettlementStatus } from '../../selling.ts';
import { SettlementStatusWord } from '../../words.ts';
import type { BookContext } from '../context.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { ReceiptReference } from './book.type.ts';
import { replaysOf } from './row-json.ts';

/* What stands inside of a row's columns, by the shapes that the specification gives. */

@ObjectType({ description: 'What was delivered for a row; members that its form lacks are null.' })
class Fulfillment {
  @Field(() => JobKindWord, { nullable: true, description: 'What kind of work.' }) jobKind!: string | null;
  @Field(() => String, { nullable: true, description: 'What it was about.' }) resource!: string | null;
  @Field(() => String, { nullable: true, description: 'The treasury intent that it names.' }) intentId!: string | null;
  @Field(() => Int, { nullable: true, description: 'Which attempt within that intent, from 0.' })
  attemptIndex!: number | null;
  @Field(() => OutputCommitment, { nullable: true, description: 'The hash of what was delivered.' })
  outputCommitment!: OutputCommitment | null;
  @Field(() => FulfillmentIntent, { nullable: true, description: 'In the envelope of a paid job alone.' })
  intent!: FulfillmentIntent | null;
  @Field(() => FulfillmentAuthorization, { nullable: true, description: 'In the envelope of a paid job alone.' })
  authorization!: FulfillmentAuthorization | null;
}

@ObjectType({ description: 'What moved a row on from RECORDED_BY_SETTLE to collected.' })
class IngressReceipt {
  @Field(() => String, { nullable: true, description: '`network:transaction` in which the money was seen.' })
  ref!: string | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was seen.' }) confirmedAt!: string | null;
}

@ObjectType({
  description: `The payment of a row was sent again, once or, beyond ${limits.replay_events_per_hour_max} in an hour, several times.`,
})
class BookReplay {
  @Field(() => DateTimeScalar, { description: 'When; of several the last time.' }) at!: string;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Of several, the first time.' }) firstAt!: string | null;
  @Field(() => Int, { nullable: true, description: 'How many it stands for, where they are several.' })
  count!: number | null;
  @Field(() => SettlementStatusWord, { description: 'Always `idempotent_replay`.' })
  settlementStatus!: SettlementStatus;
  @Field(() => String, { nullable: true, description: 'The task whose row it is.' }) replayOf!: string | null;
}

/** What a row shows that is not its own: all else are its columns and their members (schema/book-row.ts). */
@Resolver(() => BookRow)
export class BookRowResolver {
  @FieldResolver(() => ReceiptReference, {
    nullable: true,
    description: 'Its receipt; null where none was issued, as for a refused call.',
  })
  receipt(@Root() row: BookRow): ReceiptReference | null {
    const issued = withReceipt.includes(row.evidence) && row.fact('corrects', 'text') === null;
    return issued ? { taskId: row.taskId } : null;
  }

  @FieldResolver(() => Fulfillment, { nullable: true, description: 'What was delivered for it.' })
  fulfillment(@Root() { fulfillment }: BookRow): Fulfillment | null {
    return shaped<Fulfillment>(fulfillment);
  }

  @FieldResolver(() => IngressReceipt, { nullable: true, description: 'Where its money was seen, once it was.' })
  ingressReceipt(@Root() { ingressReceipt }: BookRow): IngressReceipt | null {
    return shaped<IngressReceipt>(ingressReceipt);
  }

  /** Events are read row by row; hardly any row has more than a few. */
  @Directive('@cost(weight: 2)')
  @Directive('@listSize(assumedSize: 4)')
  @FieldResolver(() => [BookReplay], {
    description: `When its payment was sent again, oldest first, the newest ${rowLimits.replays_shown_max}; beyond ${limits.replay_events_per_hour_max} in an hour one a minute.`,
  })
  async replayEvents(@Root() row: BookRow, @Ctx() context: BookContext): Promise<BookReplay[]> {
    const replays = row.replayCount === 0 ? [] : await replaysOf(context.database, row);
    return replays.map(replay => toCamelKeys(replay) as BookReplay);
  }

  @Directive(`@cost(weight: ${rowFacts.inflow_corrections.cost})`)
  @FieldResolver(() => [GraphQLJSONObject], { nullable: true, description: rowFacts.inflow_corrections.description })
  inflowCorrections(@Root() { inflowCorrections = null }: BookRow): readonly JsonObject[] | null {
    return inflowCorrections;
  }

  @Directive(`@cost(weight: ${rowFacts.inflow_corrections_count.cost})`)
  @FieldResolver(() => Int, { nullable: true, description: rowFacts.inflow_corrections_count.description })
  inflowCorrectionsCount(@Root() { inflowCorrectionsCount = null }: BookRow): number | null {
    return inflowCorrectionsCount;
  }

  @Directive(`@cost(weight: ${rowFacts.merged_by.cost})`)
  @FieldResolver(() => String, { nullable: true, description: rowFacts.merged_by.description })
  mergedBy(@Root() { mergedBy = null }: BookRow): string | null {
    return mergedBy;
  }

  @FieldResolver(() => String, { nullable: true, description: rowFacts.delegation_hash.description })
  delegationHash(@Root() { delegationHash = null }: BookRow): string | null {
    return delegationHash;
  }
}

/** JSON of a column by the names of the graph. */
function shaped<T>(column: JsonObject | null): T | null {
  return column === null ? null : (toCamelKeys(column) as T);
}
