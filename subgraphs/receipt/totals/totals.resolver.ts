import { GraphQLJSONObject } from 'graphql-scalars';
import { Args, Ctx, Directive, Query, Resolver } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { BookTotalRequest, ReceiptPath } from '../../../schema/requests/receipt.ts';
import { requirePossession } from '../../access.ts';
import { type Arguments, type ArgumentsOfBook, argumentsType, givenMembers } from '../../graph-type.ts';
import type { ReceiptContext } from '../context.ts';
import { requireNotHalted } from '../log/while-halted.ts';
import { bookTotal, type Proven, paymentProof, totalsStatement } from './proofs.ts';

/** A dozen statements, each of O(log n) rows. */
const PROOF_COST = 50;

const TotalArguments = argumentsType(BookPath, BookTotalRequest);
const ProofArguments = argumentsType(ReceiptPath);

/** What is signed behind the log of totals and payments, with its proofs. */
@Resolver()
export class TotalsResolver {
  @Query(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'The newest statement over all books’ totals and all payments, `svc402.log_totals.v1`; null before the first.',
  })
  async logTotals(@Ctx() { database }: ReceiptContext): Promise<JsonObject | null> {
    requireNotHalted(database);
    return shown(await totalsStatement(database));
  }

  @Directive(`@cost(weight: ${PROOF_COST})`)
  @Query(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'What a book came to by its collected receipts, with the proof under the newest statement, `svc402.book_total.v1`, ' +
      'for whoever possesses it.',
  })
  async bookTotal(
    @Args(() => TotalArguments) asked: ArgumentsOfBook,
    @Ctx() { principal, database }: ReceiptContext,
  ): Promise<JsonObject | null> {
    const agent_id = requirePossession(principal, asked.agentId);
    return shown(await bookTotal(database, agent_id, givenMembers(BookTotalRequest, asked).task_id ?? null));
  }

  @Directive(`@cost(weight: ${PROOF_COST})`)
  @Query(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'That the payment of a receipt backs it and no other, `svc402.payment_proof.v1`; public, as the receipt is. Null ' +
      'where it does not count, or not yet.',
  })
  async paymentProof(
    @Args(() => ProofArguments) asked: Arguments,
    @Ctx() { database }: ReceiptContext,
  ): Promise<JsonObject | null> {
    return shown(await paymentProof(database, givenMembers(ReceiptPath, asked).task_id));
  }
}

/** @throws Refusal unavailable while the log is halted */
function shown(proven: Proven): JsonObject | null {
  if (proven.kind === 'proven') return proven.document;
  if (proven.kind !== 'halted') return null;
  throw new Refusal('unavailable', { detail: 'The log is halted: nothing is stated of it.' });
}
