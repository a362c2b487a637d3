import { GraphQLJSONObject } from 'graphql-scalars';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import type { BookContext } from '../context.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { ReceiptReference } from './book.type.ts';
import { replaysOf } from './replays-json.ts';

/** Birth facts that only some kinds of row carry, under the names by which the graph shows them. */
const textFacts = {
  event: 'event',
  policyCode: 'policy_code',
  reason: 'reason',
  policyKey: 'policy_key',
  spentAtomic: 'spent_atomic',
  capAtomic: 'cap_atomic',
  periodStart: 'period_start',
  refusalId: 'refusal_id',
  bucket: 'bucket',
} as const;

function text(facts: JsonObject, name: keyof typeof textFacts): string | null {
  const value: Json | undefined = facts[textFacts[name]];
  return typeof value === 'string' ? value : null;
}

@Resolver(() => BookRow)
export class BookRowResolver {
  @FieldResolver(() => ReceiptReference, { nullable: true, description: 'Rows that were never paid have none.' })
  receipt(@Root() row: BookRow): ReceiptReference | null {
    return row.paymentRef === null ? null : { taskId: row.taskId };
  }

  @FieldResolver(() => [GraphQLJSONObject], {
    description:
      '{at, settlement_status, replay_of}, oldest first; beyond 20 in an hour one a minute, with first_at and count.',
  })
  replayEvents(@Root() row: BookRow, @Ctx() context: BookContext): Promise<JsonObject[]> | JsonObject[] {
    return row.replayCount === 0 ? [] : replaysOf(context.database, row);
  }

  @FieldResolver(() => String, { nullable: true })
  event(@Root() { facts }: BookRow) {
    return text(facts, 'event');
  }
  @FieldResolver(() => String, { nullable: true })
  policyCode(@Root() { facts }: BookRow) {
    return text(facts, 'policyCode');
  }
  @FieldResolver(() => String, { nullable: true })
  reason(@Root() { facts }: BookRow) {
    return text(facts, 'reason');
  }
  @FieldResolver(() => String, { nullable: true })
  policyKey(@Root() { facts }: BookRow) {
    return text(facts, 'policyKey');
  }
  @FieldResolver(() => String, { nullable: true })
  spentAtomic(@Root() { facts }: BookRow) {
    return text(facts, 'spentAtomic');
  }
  @FieldResolver(() => String, { nullable: true })
  capAtomic(@Root() { facts }: BookRow) {
    return text(facts, 'capAtomic');
  }
  @FieldResolver(() => String, { nullable: true })
  periodStart(@Root() { facts }: BookRow) {
    return text(facts, 'periodStart');
  }
  @FieldResolver(() => String, { nullable: true, description: 'The signed refusal that says the same.' })
  refusalId(@Root() { facts }: BookRow) {
    return text(facts, 'refusalId');
  }
  @FieldResolver(() => String, { nullable: true })
  bucket(@Root() { facts }: BookRow) {
    return text(facts, 'bucket');
  }
  @FieldResolver(() => GraphQLJSONObject, { nullable: true })
  inflowClaim(@Root() { facts }: BookRow) {
    return facts.inflow_claim ?? null;
  }
  @FieldResolver(() => [GraphQLJSONObject], { nullable: true })
  inflowCorrections(@Root() { facts }: BookRow) {
    return facts.inflow_corrections ?? null;
  }
}
