import { GraphQLJSONObject } from 'graphql-scalars';
import { Ctx, Directive, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import { IngressReceiptNoun, RowFulfillmentNoun } from '../../../schema/book/row-members.ts';
import { REPLAYS, rowFacts } from '../../../schema/book-row.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { withReceipt } from '../../../schema/evidence.ts';
import { shownOf } from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { ReceiptReference } from './book.type.ts';
import { BookReplay, IngressReceipt, ReplayNoun, RowFulfillment } from './row.type.ts';
import { replaysOf } from './row-json.ts';

/** Fields of a row that are neither columns nor members of columns (schema/book-row.ts). */
@Resolver(() => BookRow)
export class BookRowResolver {
  @FieldResolver(() => ReceiptReference, {
    nullable: true,
    description:
      'Receipt of the row. Null for a refused call, an inflow, a phase of an escrow between agents, and a correction.',
  })
  receipt(@Root() row: BookRow): ReceiptReference | null {
    const issued = withReceipt.includes(row.evidence) && row.fact('corrects', 'text') === null;
    return issued ? { taskId: row.taskId } : null;
  }

  @FieldResolver(() => RowFulfillment, {
    nullable: true,
    description: 'What was bought and delivered, and the commitment to it. Null if the row has none.',
  })
  fulfillment(@Root() { fulfillment }: BookRow): RowFulfillment | null {
    return fulfillment && shownOf(RowFulfillmentNoun, fulfillment);
  }

  @FieldResolver(() => IngressReceipt, {
    nullable: true,
    description: 'Transfer that was seen only after the row was recorded. Null for any other row.',
  })
  ingressReceipt(@Root() { ingressReceipt }: BookRow): IngressReceipt | null {
    return ingressReceipt && shownOf(IngressReceiptNoun, ingressReceipt);
  }

  /** Replays are read row by row, because most rows have none. */
  @Directive('@cost(weight: 2)')
  @Directive('@listSize(assumedSize: 4)')
  @FieldResolver(() => [BookReplay], {
    description: REPLAYS,
  })
  async replayEvents(@Root() row: BookRow, @Ctx() context: BookContext): Promise<BookReplay[]> {
    const replays = row.replayCount === 0 ? [] : await replaysOf(context.database, row);
    return replays.map(replay => shownOf(ReplayNoun, replay));
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
