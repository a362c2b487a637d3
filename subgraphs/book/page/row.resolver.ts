import { GraphQLJSONObject } from 'graphql-scalars';
import { Ctx, Directive, FieldResolver, Resolver, Root } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { BookContext } from '../context.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { ReceiptReference } from './book.type.ts';
import { replaysOf } from './row-json.ts';

/** What a row shows that is not its own: all else are its columns and their members (schema/book-row.ts). */
@Resolver(() => BookRow)
export class BookRowResolver {
  @FieldResolver(() => ReceiptReference, { nullable: true, description: 'Rows that were never paid have none.' })
  receipt(@Root() row: BookRow): ReceiptReference | null {
    return row.paymentRef === null ? null : { taskId: row.taskId };
  }

  /** Up to 200 events, read row by row. */
  @Directive('@cost(weight: 20)')
  @FieldResolver(() => [GraphQLJSONObject], {
    description:
      '{at, settlement_status, replay_of}, oldest first; beyond 20 in an hour one a minute, with first_at and count.',
  })
  replayEvents(@Root() row: BookRow, @Ctx() context: BookContext): Promise<JsonObject[]> | JsonObject[] {
    return row.replayCount === 0 ? [] : replaysOf(context.database, row);
  }
}
