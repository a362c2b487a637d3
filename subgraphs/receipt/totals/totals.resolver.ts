import { GraphQLJSONObject } from 'graphql-scalars';
import { Args, Ctx, Directive, Query, Resolver } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { BookTotalRequest, ReceiptPath } from '../../../schema/requests/receipt.ts';
import { requirePossession } from '../../access.ts';
import { type Arguments, type ArgumentsOfBook, argumentsType, givenMembers } from '../../graph-type.ts';
import type { ReceiptContext } from '../context.ts';
import { requireNotHalted } from '../log/halt-guard.ts';
import { bookTotal, paymentProof, type TotalsProof, totalsStatement } from './proofs.ts';

/** The cost of a proof is that of about twelve SQL statements, each of O(log n) rows. */
const PROOF_COST = 50;

const TotalArguments = argumentsType(BookPath, BookTotalRequest);
const ProofArguments = argumentsType(ReceiptPath);

/** Queries for the signed statement of totals and payments, and for the proofs under it. */
@Resolver()
export class TotalsResolver {
  @Query(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'Newest signed statement over the totals of all books and all payments (`svc402.log_totals.v1`). Null before the first statement, or on error.',
  })
  async logTotals(@Ctx() { database }: ReceiptContext): Promise<JsonObject | null> {
    requireNotHalted(database);
    return shown(await totalsStatement(database));
  }

  @Directive(`@cost(weight: ${PROOF_COST})`)
  @Query(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'Total of the collected receipts of a book, with its proof under the newest statement (`svc402.book_total.v1`). ' +
      'Requires possession of the book. Null before the first statement, if the newest one does not count the row of `taskId`, or on error.',
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
      'Proof that the payment of a receipt backs this receipt and no other (`svc402.payment_proof.v1`). Public. Null if ' +
      'no receipt has this task id, if nothing was paid for it or its payer is not proven, if it is not known which transfer paid, ' +
      'until a statement counts the receipt, or on error.',
  })
  async paymentProof(
    @Args(() => ProofArguments) asked: Arguments,
    @Ctx() { database }: ReceiptContext,
  ): Promise<JsonObject | null> {
    return shown(await paymentProof(database, givenMembers(ReceiptPath, asked).task_id));
  }
}

/** The document of a proof; null if there is none yet. @throws Refusal unavailable while the log is halted */
function shown(proven: TotalsProof): JsonObject | null {
  if (proven.kind === 'proven') return proven.document;
  if (proven.kind !== 'halted') return null;
  throw new Refusal('unavailable', {
    detail: 'The receipt log is halted, so no statement about it is made. Try again later.',
  });
}
